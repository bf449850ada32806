"""Is there surely nothing to say of a tool's call? A look that loads next to nothing.

Most calls touch what no memory is about, or what was said before. Only where something may be to
be said, or where that cannot be told at once, is the memory opened (see decision 49).
"""

import json
import os
from collections.abc import Iterable, Mapping, Sequence

from pmem.assistants.tool_calls import TouchedFile
from pmem.storage.files.worktree import in_main_tree, name_in, project_top
from pmem.storage.git.tracked import foreign
from pmem.storage.index.applying import Found, applying, proven
from pmem.storage.local.shown_keys import (
    MOST_TOUCHED,
    known_at_once,
    stop_key_of,
    touch_key_of,
    touched_count,
)

_STOPS = b'"stops_edits"'


def named(near: str, here: str, files: Iterable[TouchedFile]) -> list[TouchedFile]:
    """Return files by their names in the project, without those that are not in it.

    Args:
        near: The memory folder, or where it would be.
        here: Where a path that is not absolute begins.
        files: By their paths.
    """
    top = project_top(near)
    found = []
    for each in files:
        name = name_in(top, os.path.join(here, each.path))
        if name:
            found.append(
                TouchedFile(name, is_edit=each.is_edit, texts=each.texts, lines=each.lines)
            )
    return found


def is_own(folder: str, environment: Mapping[str, str]) -> bool:
    """Tell whether what a clone keeps for itself is there, and did not come with the project.

    Args:
        folder: The memory folder.
        environment: The environment's variables.
    """
    return not foreign(folder, environment)


def ids_to_tell(
    folder: str, thread: str, files: Sequence[str], *, edits: bool
) -> tuple[str, ...] | None:
    """Return the memories that apply to files, unless a thread has surely been told of all.

    Args:
        folder: The memory folder.
        thread: The thread's name; empty if it has none.
        files: Seen from the project's top.
        edits: Whether a file is edited, which a memory may stop.

    Returns:
        Ids; nothing where there is nothing to say, and None where that cannot be told at once.
    """
    found = applying(folder, files)
    return None if found is None else _unless_told(folder, thread, found, edits=edits)


def ids_of_error(folder: str, evidence: str) -> tuple[str, ...] | None:
    """Return the memories that name an error as their evidence; None where that cannot be told.

    Args:
        folder: The memory folder.
        evidence: The error and its fingerprint.
    """
    found = proven(folder, evidence)
    return None if found is None else tuple(found)


def _unless_told(folder: str, thread: str, found: Found, *, edits: bool) -> tuple[str, ...]:
    if not found or not thread:
        return tuple(found)
    known = known_at_once(in_main_tree(folder), thread)
    if edits and any(
        _STOPS in data and stop_key_of(id_) not in known for id_, data in found.items()
    ):
        return tuple(found)
    if touched_count(known) >= MOST_TOUCHED:
        return ()
    told = (touch_key_of(id_, json.loads(data)["content"]) in known for id_, data in found.items())
    return () if all(told) else tuple(found)
