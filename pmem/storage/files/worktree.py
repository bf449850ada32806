"""The git work tree around a folder, looked at without git: no process, a few looks at the disk."""

import os
import re
from collections.abc import Mapping
from typing import Final

MEMORY_FOLDER: Final = ".project-memory"
"""What the folder of a memory is called, unless settings say otherwise."""
_GIT: Final = ".git"
_COMMON: Final = "commondir"
_LONGEST: Final = 4096
_MOST_REFS: Final = 1 << 24
"""Bytes of packed references, or of the end of a log of them, at the most."""
_SYMBOLIC: Final = b"ref:"
_HOPS: Final = 5
_REMOTES: Final = "refs/remotes/"
_OWN: Final = ("HEAD", "MERGE_HEAD", "CHERRY_PICK_HEAD", "REVERT_HEAD", "REBASE_HEAD")
_PACKED_REMOTE: Final = rb" refs/remotes/([^/\n]+)/"
_MADE: Final = (
    rb"([0-9a-f]+) ([0-9a-f]+) [^\t\n]*\t(?:"
    rb"(?P<own>commit(?P<amended> \(amend\))?(?! \(cherry-pick\))|revert"
    rb"|(?:merge|pull)[^\t\n]*: (?:Merge made|In-index merge))|commit|cherry-pick|am"
    rb"|(?:pull |rebase)[^:\n]*\((?:pick|reword|edit|squash|fixup|continue)\))"
)
"""A line of a log of references that tells of a commit which was made here.

`own` is what was written here, not only repeated.
"""


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


def has_plain_refs(top: str) -> bool:
    """Tell whether the references of a repository are files that are read here."""
    return not os.path.isdir(os.path.join(shared_git_folder(top), "reftable"))


def merging(top: str) -> list[str]:
    """Return what is being merged, picked, reverted or rebased in a work tree, by ids."""
    return [found for name in _OWN[1:] if (found := _target(top, name))]


def ref_target(top: str, name: str) -> str:
    """Return the id that a branch, a tag or `HEAD` stands for, as git looks names up; or nothing.

    That of an annotated tag is the tag's own.
    """
    for form in ("{}", "refs/{}", "refs/tags/{}", "refs/heads/{}", "refs/remotes/{}"):
        full = form.format(name)
        if full in _OWN or full.startswith("refs/"):
            found = _target(top, full)
            if found:
                return found
    return _target(top, f"{_REMOTES}{name}/HEAD")


def shared_branch(top: str) -> str:
    """Return the name of the upstream's default branch.

    Where there is no upstream it is HEAD; nothing where its default branch is not known.
    """
    remotes = _remotes(top)
    usual = [name for name in ("upstream", "origin") if name in remotes]
    if not usual and len(remotes) != 1:
        return "HEAD"
    remote = usual[0] if usual else min(remotes)
    branches = (f"{_REMOTES}{remote}/{name}" for name in ("HEAD", "main", "master"))
    return next((name for name in branches if _target(top, name)), "")


def made_here(top: str) -> dict[str, tuple[str, ...]]:
    """Return the commits that the logs of a repository's work trees and branches tell were made.

    For each that says something of its own, and does not only repeat another one, it has the
    commit itself, and the one before where that was amended.
    """
    shared = shared_git_folder(top)
    logs = [os.path.join(shared, "logs", "HEAD")]
    for folder in ("worktrees", os.path.join("logs", "refs", "heads")):  # its tree may be gone
        for place, _, names in os.walk(os.path.join(shared, folder)):
            is_log = folder != "worktrees" or os.path.basename(place) == "logs"
            logs += [os.path.join(place, name) for name in names if is_log]
    found: dict[str, tuple[str, ...]] = {}
    for log in logs:
        for one in re.finditer(_MADE, _end_of(log)):
            before, commit = one[1].decode(), one[2].decode()
            if one["own"] is None:
                found.setdefault(commit, ())
            else:
                found[commit] = (commit, before) if one["amended"] else (commit,)
    return found


def _target(top: str, name: str, hops: int = _HOPS) -> str:
    folder = _git_folder(top) if name in _OWN else shared_git_folder(top)
    try:
        with open(os.path.join(folder, *name.split("/")), "rb") as file:
            told = file.read(_LONGEST)
    except (OSError, ValueError):
        before = _packed(top).partition(b" %b\n" % os.fsencode(name))
        told = before[0].rpartition(b"\n")[2] if before[1] else b""
    if told.startswith(_SYMBOLIC):
        to = os.fsdecode(told.removeprefix(_SYMBOLIC).strip())
        is_sound = to.startswith("refs/") and ".." not in to.split("/")
        return _target(top, to, hops - 1) if is_sound and hops else ""
    identifier = told.partition(b"\n")[0].strip()
    return identifier.decode() if re.fullmatch(rb"[0-9a-f]{40,64}", identifier) else ""


def _packed(top: str) -> bytes:
    return _end_of(os.path.join(shared_git_folder(top), "packed-refs"))


def _remotes(top: str) -> set[str]:
    """Return the names of the remotes of which anything was fetched."""
    folder = os.path.join(shared_git_folder(top), *_REMOTES.strip("/").split("/"))
    found = {os.fsdecode(name) for name in re.findall(_PACKED_REMOTE, _packed(top))}
    try:
        return found.union(os.listdir(folder))
    except OSError:
        return found


def _end_of(path: str) -> bytes:
    try:
        with open(path, "rb") as file:
            size = os.fstat(file.fileno()).st_size
            file.seek(max(0, size - _MOST_REFS))
            return file.read(_MOST_REFS)
    except OSError:
        return b""
