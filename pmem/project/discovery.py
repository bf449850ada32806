"""Finding the memory folder of a place, and telling whether it may be used."""

import os
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any, Final

from pmem.errors import NoProject, PmemError, Refused
from pmem.project.configuration import CONFIG_FILE, read_config, user_config
from pmem.storage.files.worktree import is_linked, top_of, way_out
from pmem.storage.git.tracked import LOCAL
from pmem.values.config import checked


def discover(
    start: str,
    name: str = ".project-memory",
    environment: Mapping[str, str] | None = None,
    safe_folders: Any = None,
) -> str:
    """Return the memory folder of a place: there, or in the nearest parent that has one.

    `start` may be the memory folder itself; `safe_folders` is the setting of that name where the
    caller gives it.

    Raises:
        NoProject: There is none; or git has one that is not checked out, or another work tree.
        Refused: It is a link, leads out of its work tree, or lies in a parent and belongs to
            another user.
    """
    folder, found_above = _nearest(start, name, environment or {})
    check_borders(folder, environment or {}, found_above=found_above, allowed=safe_folders)
    return folder


def check_new(folder: str, environment: Mapping[str, str] | None = None) -> None:
    """See that a new memory folder would not be a second one beside that of the repository."""
    place, name = os.path.split(os.path.abspath(folder))
    top = top_of(place)
    if top is not None and (not os.path.isdir(folder) or _is_left_over(folder, environment or {})):
        _check_work_tree(top, place, name, environment or {})


def memory_above(folder: str, environment: Mapping[str, str] | None = None) -> str | None:
    """Return the memory folder that serves a place now, where a new one would hide it.

    It has the same name, in a parent within the same work tree, and may be used.
    """
    place, name = os.path.split(os.path.abspath(folder))
    while not os.path.exists(os.path.join(place, ".git")):
        parent = os.path.dirname(place)
        if parent == place:
            return None
        place = parent
        above = os.path.join(place, name)
        if os.path.isdir(above):
            with suppress(PmemError):
                check_borders(above, environment or {}, found_above=True)
                return above
    return None


def _check_work_tree(top: str, start: str, name: str, environment: Mapping[str, str]) -> None:
    """See that a work tree lacks no memory that git, or another work tree, has."""
    from pmem.storage.git.work_trees import explain_absence, explain_submodule

    inside = os.path.relpath(start, top).replace(os.sep, "/")
    parts = [] if inside == "." else inside.split("/")
    folders = ["/".join((*parts[:count], name)) for count in range(len(parts), -1, -1)]
    missing = [one for one in folders if _is_missing(os.path.join(top, one))]
    why = explain_absence(top, missing, environment)
    if why is None and parts and not _names_in(start):
        why = explain_submodule(top, inside, environment)
    if why is None and is_linked(top):
        why = _explain_other_tree(top, folders, environment)
    if why is not None:
        raise NoProject(*why)


def _explain_other_tree(
    top: str, folders: Sequence[str], environment: Mapping[str, str]
) -> tuple[str, str] | None:
    from pmem.storage.git.work_trees import other_work_trees

    others = other_work_trees(top, environment)
    for folder in folders:
        for tree in others:
            if os.path.isdir(os.path.join(tree.folder, folder)):
                place = os.path.join(tree.folder, os.path.dirname(folder)).rstrip(os.sep)
                return f"this work tree has no memory, but the one at {place} has one", (
                    f"commit it there and merge it here, or use it there with -C {place}"
                )
    return None


def _nearest(start: str, name: str, environment: Mapping[str, str]) -> tuple[str, bool]:
    """Find the memory folder for a place, and tell whether a parent of the place has it."""
    place = here = os.path.abspath(start)
    if not os.path.isdir(place):
        raise NoProject(f"there is no folder {place}", "give one that exists")
    if os.path.basename(place) == os.path.basename(name) and os.path.isdir(place):
        return place, False
    while True:
        folder = os.path.join(place, name)
        if os.path.isdir(folder) and not _is_left_over(folder, environment):
            return folder, place != here
        if os.path.lexists(os.path.join(place, ".git")):
            _check_work_tree(place, here, name, environment)
        parent = os.path.dirname(place)
        if parent == place:
            raise NoProject(f"there is no {name} in {here} or any parent")
        place = parent


def _is_missing(folder: str) -> bool:
    """Return whether nothing, or nothing but what git does not track, is left of a folder."""
    if not os.path.lexists(folder):
        return True
    if not os.path.isdir(folder) or os.path.islink(folder):
        return False
    inner = (os.path.join(folder, name) for name in _names_in(folder) if name != LOCAL)
    return all(os.path.isdir(one) and not _names_in(one) for one in inner)


def _names_in(folder: str) -> list[str]:
    """Return the names in a folder; one that may not be read is not empty."""
    try:
        return os.listdir(folder)
    except OSError:
        return [""]


def _is_left_over(folder: str, environment: Mapping[str, str]) -> bool:
    """Return whether only what git does not track is left of a memory folder that it tracks."""
    if os.path.lexists(os.path.join(folder, CONFIG_FILE)) or not _is_missing(folder):
        return False
    top = top_of(os.path.dirname(folder))
    if top is None:
        return False
    from pmem.storage.git.work_trees import explain_absence

    place = os.path.relpath(folder, top).replace(os.sep, "/")
    return explain_absence(top, [place], environment) is not None


_ROOT: Final = 0
_SETTING: Final = "safe_folders"
_VARIABLE: Final = "PMEM_SAFE_FOLDERS"


def check_borders(
    root: str,
    environment: Mapping[str, str],
    *,
    found_above: bool = False,
    allowed: Any = None,
) -> None:
    """See that a memory folder is one itself, within its work tree, and nobody else's.

    Nothing in the folder is read. One that was `found_above` where it was looked for must belong
    to whoever runs this, as nobody named it. `allowed` is the setting `safe_folders` where the
    caller gives it.
    """
    path = os.path.normpath(root)
    against = ""
    if os.path.islink(path):
        against = f"{path} is a link to {os.readlink(path)}, and not followed as a memory folder"
    elif top := way_out(path):
        against = f"{path} leads out of its work tree {top}, to {os.path.realpath(path)}"
    elif found_above:
        against = _belongs_to_others(path, environment)
    if against and not _is_allowed(path, environment, allowed):
        raise Refused(
            against,
            f"if you trust it, name it in {_SETTING} of your own config.toml"
            f" or in {_VARIABLE}: {path}",
        )


def _belongs_to_others(path: str, environment: Mapping[str, str]) -> str:
    """Say whose a folder is, if that is neither who runs this nor who became root to run it."""
    if os.name == "nt":
        return ""
    owner, own = os.lstat(path).st_uid, os.geteuid()
    before = environment.get("SUDO_UID", "") if own == _ROOT else ""
    if owner == own or str(owner) == before:
        return ""
    return f"{path}, in a folder above this one, belongs to another user (number {owner})"


def _is_allowed(path: str, environment: Mapping[str, str], allowed: Any) -> bool:
    """Tell whether the user names a memory folder as safe, or the project that has it."""
    given = allowed if allowed is not None else environment.get(_VARIABLE)
    if given is None:
        given = read_config(user_config(environment)).get(_SETTING, ())
    named = {_normalise_path(os.path.expanduser(name)) for name in checked(_SETTING, given)}
    return "*" in named or bool(
        named & {_normalise_path(path), _normalise_path(os.path.dirname(path))}
    )


def _normalise_path(path: str) -> str:
    """Return a path in the one form that it is compared in: only the last name may be a link."""
    if not os.path.isabs(path):
        return path
    folder, name = os.path.split(os.path.normpath(path))
    return os.path.join(os.path.realpath(folder), name)
