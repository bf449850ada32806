"""The git work tree around a folder, looked at without git: no process, a few looks at the disk."""

import os
from collections.abc import Mapping
from typing import Final

MEMORY_FOLDER: Final = ".project-memory"
"""What the folder of a memory is called, unless settings say otherwise."""
_GIT: Final = ".git"
_COMMON: Final = "commondir"
_LONGEST: Final = 4096


def top_of(folder: str) -> str | None:
    """Return the top of the work tree around a folder; None where there is none.

    Links of its absolute path are not resolved, so that those above the work tree (such as /tmp on
    macOS) do not matter.
    """
    place = os.path.normpath(folder)
    while not os.path.lexists(os.path.join(place, _GIT)):
        parent = os.path.dirname(place)
        if parent == place:
            return None
        place = parent
    return place


def project_top(memory: str) -> str:
    """Return the top of the repository around a memory folder, else the folder that holds it."""
    holder = os.path.dirname(os.path.abspath(memory))
    return top_of(holder) or holder


def on_disk(path: str) -> str:
    """Return a path with the spelling of the disk, where that is another form of the same name.

    One that is not there in any form comes back as it is.
    """
    if path.isascii() or os.path.lexists(path):
        return path
    from unicodedata import normalize

    folder, name = os.path.split(path)
    folder = on_disk(folder)
    try:
        there = os.listdir(folder or os.curdir)
    except OSError:
        return path
    wanted = normalize("NFC", name)
    return os.path.join(
        folder, next((one for one in there if normalize("NFC", one) == wanted), name)
    )


def name_in(top: str, path: str) -> str:
    """Return a file's name seen from a project's top, with slashes; empty where it is not in it.

    A link stands for what it leads to.
    """
    try:
        top, real = os.path.realpath(top), os.path.realpath(on_disk(path))
        inside = os.path.commonpath((top, real)) == top and top != real
    except (OSError, ValueError):  # a zero byte, or another drive
        return ""
    return os.path.relpath(real, top).replace(os.sep, "/") if inside else ""


def way_out(folder: str) -> str:
    """Return the top of the work tree that a folder leads out of by a link; nothing else."""
    top = top_of(folder)
    place = os.path.normpath(folder)
    if top is None or not _has_link(place, top):
        return ""
    inside = os.path.join(os.path.realpath(top), "")
    return "" if os.path.realpath(place).startswith(inside) else top


def place_in(top: str, path: str) -> str:
    """Return a path in a work tree as git knows it; a link at its end is not followed."""
    folder, name = os.path.split(os.path.normpath(path))
    if _has_link(folder, top):
        folder, top = os.path.realpath(folder), os.path.realpath(top)
    return os.path.relpath(os.path.join(folder, name), top)


def _has_link(place: str, top: str) -> bool:
    """Tell whether a folder, or one between it and a folder above it, is a link."""
    while place != top:
        if os.path.islink(place):
            return True
        place = os.path.dirname(place)
    return False


def index_of(top: str) -> str:
    """Return where the index of a work tree is, whether or not it exists."""
    return os.path.join(_git_folder(top), "index")


def in_main_tree(folder: str) -> str:
    """Return a folder of a second work tree where it is in the repository's main one.

    Returns:
        The same folder where it is no second work tree's, or the main one has none there.
    """
    top = top_of(folder)
    if top is None or not is_linked(top):
        return folder
    shared = shared_git_folder(top)
    if os.path.basename(shared) != _GIT:
        return folder
    place = os.path.relpath(os.path.normpath(folder), top)
    main = os.path.join(os.path.dirname(shared), place)
    return main if os.path.isdir(main) and not os.path.islink(main) else folder


def is_linked(top: str) -> bool:
    """Return whether `git worktree add` made a work tree; a submodule is none."""
    if not os.path.isfile(os.path.join(top, _GIT)):
        return False
    try:
        return os.path.isfile(os.path.join(_git_folder(top), _COMMON))
    except OSError:
        return False


def shared_git_folder(top: str) -> str:
    """Return the git folder that all work trees of a repository share; empty where none is read."""
    try:
        own = _git_folder(top)
        with open(os.path.join(own, _COMMON), "rb") as file:
            return os.path.normpath(os.path.join(own, os.fsdecode(file.read(_LONGEST).strip())))
    except FileNotFoundError:
        return own
    except OSError:
        return ""


def _git_folder(top: str) -> str:
    """Return where git keeps what is a work tree's own."""
    own = os.path.join(top, _GIT)
    if not os.path.isfile(own):
        return own
    with open(own, "rb") as file:  # a second work tree's, or a submodule's
        told = file.read(_LONGEST).removeprefix(b"gitdir:").strip()
    return os.path.join(top, os.fsdecode(told))


def own_folder(environment: Mapping[str, str]) -> str:
    """Return the memory folder of whoever runs this, whether or not it exists."""
    home = environment.get("XDG_DATA_HOME", "")
    if not os.path.isabs(home):  # it would be another memory in each folder
        user = environment.get("HOME") or os.path.expanduser("~")
        home = os.path.join(user, ".local", "share")
    return os.path.join(home, "pmem", MEMORY_FOLDER)
