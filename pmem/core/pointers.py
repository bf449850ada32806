"""What of a record leads to another one, which must be there: the table, and how to cut it.

Where something came from is told and leads nowhere: a memory's source, an episode's conversation
and the memory that a fact became outlive what they name, and may never have been in this clone.
"""

from collections.abc import Callable, Collection, Iterator
from typing import Any, Final, NamedTuple

import msgspec

from pmem.core.retention import changed, unlinked
from pmem.values.records import Chunk, Conversation, Episode, Event, Memory, Record, RecordType


class Pointer(NamedTuple):
    """A field of a record that names others.

    Attributes:
        owner: the type of the record that has it.
        field: its name.
        target: the type of the records that it leads to.
        is_part: whether both are parts of one thing, a conversation and a chunk of it: of what is
            lost somebody must know, so it is reported and never cut.
    """

    owner: RecordType
    field: str
    target: RecordType
    is_part: bool = False


POINTERS: Final = (
    Pointer(Memory, "relationships", Memory),
    Pointer(Episode, "linked_memories", Memory),
    Pointer(Conversation, "active_facts", Memory),
    Pointer(Conversation, "milestones", Episode),
    Pointer(Conversation, "chunks", Chunk, is_part=True),
    Pointer(Chunk, "merged_into", Chunk),
    Pointer(Chunk, "conversation", Conversation, is_part=True),
)
"""Every field that must lead to what is there."""


class Lead(NamedTuple):
    """One id that a record leads to, the type of what it names, and whether they are parts."""

    target: RecordType
    id: str
    is_part: bool


def leads(record: Record) -> Iterator[Lead]:
    """Yield where a record leads."""
    for pointer in POINTERS:
        if pointer.owner is type(record):
            for identifier in _ids(getattr(record, pointer.field)):
                yield Lead(pointer.target, identifier, pointer.is_part)


def owners_of(targets: Collection[RecordType]) -> set[RecordType]:
    """Return the types of the records that can lead to records of some types."""
    return {pointer.owner for pointer in POINTERS if pointer.target in targets}


def cut(record: Record, is_gone: Callable[[RecordType, str], bool], event: Event) -> Any:
    """Return a record without what leads nowhere; itself where all is there."""
    if isinstance(record, Memory):
        targets = {link.target for link in record.relationships}
        lost = {target for target in targets if is_gone(Memory, target)}
        return unlinked(record, lost, None, event.actor, event.at) if lost else record
    left = {
        pointer.field: _without_gone(getattr(record, pointer.field), pointer.target, is_gone)
        for pointer in POINTERS
        if pointer.owner is type(record) and not pointer.is_part
    }
    fresh = {name: value for name, value in left.items() if value != getattr(record, name)}
    if not fresh:
        return record
    if isinstance(record, Episode | Conversation):
        return changed(record, event, **fresh)
    return msgspec.structs.replace(record, **fresh)


def _without_gone(
    value: Any, target: RecordType, is_gone: Callable[[RecordType, str], bool]
) -> Any:
    if isinstance(value, tuple):
        return tuple(item for item in value if not is_gone(target, item))
    return None if value is not None and is_gone(target, value) else value


def _ids(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif value is not None:
        yield from (item if isinstance(item, str) else item.target for item in value)
