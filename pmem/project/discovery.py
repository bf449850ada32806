"""Finding the memory folder of a place, and telling whether it may be used."""

import os
from collections.abc import Mapping
from typing import Any

from pmem.errors import NoProject
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
