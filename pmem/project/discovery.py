"""Finding the memory folder of a place, and telling whether it may be used."""

import os
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from pmem.errors import NoProject, PmemError
from pmem.project.borders import check_borders
from pmem.project.configuration import CONFIG_FILE
from pmem.storage.files.worktree import is_linked, top_of
from pmem.storage.git.tracked import LOCAL


def discover(
    start: str,
    name: str = ".project-memory",
    environment: Mapping[str, str] | None = None,
    safe_folders: Any = None,
) -> str:
    """Find the memory folder for a place: in it, or in the nearest parent that has one.

    Args:
        start: Where to look from; the memory folder itself will do.
        name: What memory folders are called here.
        environment: The environment's variables.
        safe_folders: The setting of that name where the caller gives it.

    Returns:
        The memory folder's absolute path.

    Raises:
        NoProject: Neither the place nor any parent has one; or git has one that is not checked
            out, or another work tree of the repository has one.
        Refused: It is a link, leads out of its work tree, or lies in a parent and belongs to
            another user.
    """
    folder, found_above = _nearest(start, name, environment or {})
    check_borders(folder, environment or {}, found_above=found_above, allowed=safe_folders)
    return folder


def check_new(folder: str, environment: Mapping[str, str] | None = None) -> None:
    """See that a new memory folder would not be a second one beside that of the repository.

    Args:
        folder: The memory folder that would be new.
        environment: The environment's variables.

    Raises:
        NoProject: See `check_checked_out` and `check_work_trees`.
    """
    place, name = os.path.split(os.path.abspath(folder))
    top = top_of(place)
    if top is not None and (not os.path.isdir(folder) or _is_left_over(folder, environment or {})):
        check_checked_out(top, place, name, environment)
        if is_linked(top):
            check_work_trees(top, place, name, environment)


def memory_above(folder: str, environment: Mapping[str, str] | None = None) -> str | None:
    """Return the memory folder that serves a place now, where a new one would hide it.

    Args:
        folder: The memory folder that would be new.
        environment: The environment's variables.

    Returns:
        The path of one of the same name in a parent, within the same work tree; None where there
        is none, or where it may not be used.
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


def check_checked_out(
    top: str, start: str, name: str, environment: Mapping[str, str] | None = None
) -> None:
    """See that git does not track a memory folder which is missing from the work tree.

    Args:
        top: The work tree's top.
        start: A folder of the work tree; the memory would be there or in a folder above.
        name: What memory folders are called here.
        environment: The environment's variables.

    Raises:
        NoProject: It does; the hint has the command that brings the folder.
    """
    from pmem.storage.git.checked_out import explain_absence, explain_submodule

    inside = os.path.relpath(start, top).replace(os.sep, "/")
    parts = [] if inside == "." else inside.split("/")
    folders = ["/".join((*parts[:count], name)) for count in range(len(parts), -1, -1)]
    missing = [one for one in folders if _is_missing(os.path.join(top, one))]
    why = explain_absence(top, missing, environment or {})
    if why is None and parts and not os.listdir(start):
        why = explain_submodule(top, inside, environment or {})
    if why is not None:
        raise NoProject(*why)


def check_work_trees(
    top: str, start: str, name: str, environment: Mapping[str, str] | None = None
) -> None:
    """See that no other work tree of the repository has the memory that this one lacks.

    Args:
        top: The work tree's top.
        start: See `check_checked_out`.
        name: See `check_checked_out`.
        environment: The environment's variables.

    Raises:
        NoProject: One has; with the ways to use it.
    """
    from pmem.storage.git.work_trees import other_work_trees

    folder = start
    while folder:
        for tree in other_work_trees(folder, environment or {}):
            if os.path.isdir(os.path.join(tree.folder, name)):
                raise NoProject(
                    f"this work tree has no memory, but the one at {tree.folder} has one",
                    f"commit it there and merge it here, or use it there with -C {tree.folder}",
                )
        folder = "" if folder == top else os.path.dirname(folder)


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
            check_checked_out(place, here, name, environment)
            if is_linked(place):
                check_work_trees(place, here, name, environment)
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
    inner = (os.path.join(folder, name) for name in os.listdir(folder) if name != LOCAL)
    return all(os.path.isdir(one) and not os.listdir(one) for one in inner)


def _is_left_over(folder: str, environment: Mapping[str, str]) -> bool:
    """Return whether only what git does not track is left of a memory folder that it tracks."""
    if os.path.lexists(os.path.join(folder, CONFIG_FILE)) or not _is_missing(folder):
        return False
    top = top_of(os.path.dirname(folder))
    if top is None:
        return False
    from pmem.storage.git.checked_out import explain_absence

    place = os.path.relpath(folder, top).replace(os.sep, "/")
    return explain_absence(top, [place], environment) is not None
