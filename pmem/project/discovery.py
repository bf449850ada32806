"""Finding the memory folder of a place, and telling whether it may be used."""

import os
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from pmem.errors import NoProject, PmemError
from pmem.project.borders import check_borders


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
        NoProject: Neither the place nor any parent has one.
        Refused: It is a link, leads out of its work tree, or lies in a parent and belongs to
            another user.
    """
    folder, found_above = _nearest(start, name)
    check_borders(folder, environment or {}, found_above=found_above, allowed=safe_folders)
    return folder


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


def _nearest(start: str, name: str) -> tuple[str, bool]:
    """Find the memory folder for a place, and tell whether a parent of the place has it."""
    place = here = os.path.abspath(start)
    if not os.path.isdir(place):
        raise NoProject(f"there is no folder {place}", "give one that exists")
    if os.path.basename(place) == os.path.basename(name) and os.path.isdir(place):
        return place, False
    while True:
        folder = os.path.join(place, name)
        if os.path.isdir(folder):
            return folder, place != here
        parent = os.path.dirname(place)
        if parent == place:
            raise NoProject(f"there is no {name} in {os.path.abspath(start)} or any parent")
        place = parent
