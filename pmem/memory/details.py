"""What a person who looks at one record wants to know: its links, and how often it was used."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

import msgspec

from pmem.core.selection import Selection
from pmem.memory.recalls import waiting
from pmem.project.workspace import Workspace
from pmem.values.records import Episode, Memory

if TYPE_CHECKING:
    from pmem.memory.reading import ShownRecord


class LinkedText(msgspec.Struct, frozen=True, kw_only=True):
    """Where a link leads, and what is kept there; None where it may not be seen or is gone."""

    id: str
    type: str
    text: str | None


def with_details(workspace: Workspace, shown: "ShownRecord") -> "ShownRecord":
    """Return a record with what only a person who looks at one wants to know.

    Args:
        shown: The record, and what speaks against it.
    """
    record = shown.record
    if not isinstance(record, Memory | Episode):
        return shown
    unsaved = {} if workspace.is_past else waiting(workspace)
    extra = unsaved[record.id].count if record.id in unsaved else 0
    return msgspec.structs.replace(
        shown, links=tuple(_linked_texts(workspace, record)), recalls=record.access.count + extra
    )


def _linked_texts(workspace: Workspace, record: Memory | Episode) -> Iterator[LinkedText]:
    """Yield where the links of a record lead, in their order."""
    if isinstance(record, Memory):
        ties = [(link.type, link.target) for link in record.relationships]
    else:
        ties = [("about", target) for target in record.linked_memories]
    if not ties:
        return
    wanted = Selection(ids=tuple(target for _, target in ties))
    found = {memory.id: memory.content for memory in workspace.memories.select(wanted)}
    for type_, target in ties:
        text = found.get(target)
        yield LinkedText(
            id=target, type=type_, text=None if text is None else workspace.mask.text(text)
        )
