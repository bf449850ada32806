"""What records lead to is there: nothing that a transaction writes may dangle."""

import os
from collections.abc import Callable, Collection, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import msgspec

from pmem.core.lifecycle.states import SUCCESSOR, successor_of, was_unseen
from pmem.core.retention import changed, unlinked
from pmem.errors import Damaged, NotFound, PmemError, Refused, StorageRefused
from pmem.storage.backend import Change
from pmem.storage.files.recordfile import read_bytes
from pmem.values.ids import short
from pmem.values.records import (
    KINDS,
    Chunk,
    Conversation,
    Episode,
    Event,
    EventKind,
    Memory,
    Record,
    RecordType,
)

if TYPE_CHECKING:
    from pmem.project.workspace import Workspace


def is_gone(workspace: "Workspace", type_: RecordType, identifier: str) -> bool:
    """Tell whether nothing has an id, or will have none once the transaction ends."""
    store = workspace.store(type_)
    if store.is_pending(identifier):
        return store.is_removed(identifier)
    if store.before(identifier) is not None:
        return False
    try:
        return _read_kept_record(workspace, type_, identifier) is None
    except Damaged:  # it is there, and cannot be used
        return False


def living(workspace: "Workspace", record: Any) -> Any:
    """Return a record without what leads nowhere; an UNLINK in its history says so."""
    event = workspace.event(EventKind.UNLINK)
    return cut(record, lambda type_, id_: is_gone(workspace, type_, id_), event)


def cut_what_leads_to(workspace: "Workspace", gone: set[tuple[RecordType, str]]) -> None:
    """Cut everything that leads to records that a transaction removes, before it ends."""
    types = {type_ for type_, _ in gone}
    owners = owners_of(types) | (types & {Memory, Episode})
    if workspace.reach is not None:
        _check_not_held(workspace, gone, owners)
    named = [
        record
        for store in workspace.stores
        if store.type in owners
        for record in store.find()
        if (type(record), _successor_of(record)) in gone
        or any(not it.is_part and (it.target, it.id) in gone for it in leads(record))
    ]
    identifiers = {identifier for _, identifier in gone}
    for problem in workspace.problems:  # before anything is read again, which may work then
        if problem.code == StorageRefused.code:
            raise StorageRefused(problem.message)
        _check_no_name(problem.path, identifiers)
    for record in named:
        cut_record = _without_successor(workspace, living(workspace, record))
        workspace.store(type(record)).put(cut_record)


def check_targets(workspace: "Workspace", changes: Sequence[Change]) -> None:
    """See that what a transaction is about to write leads to what is there.

    What led nowhere before may stay, so that its record can still be changed, and a chunk may be
    imported without its conversation: `pmem check` reports it, and `pmem resolve` mends it.
    """
    for change in changes:
        new = [] if change.record is None else _new_leads(workspace, change.type, change.record)
        lost = [lead for lead in new if is_gone(workspace, lead.target, lead.id)]
        if lost:
            first = min(lost, key=lambda lead: lead.id)
            raise NotFound(
                f"{KINDS[change.type]} {short(change.id)} would lead to {KINDS[first.target]}"
                f" {first.id}, which is gone",
                "look at what there is, and do it again",
            )


def living_news(workspace: "Workspace", record: Any) -> Any:
    """Return a record as `living` does, if it leads to more than it did on disk; else itself."""
    new = _new_leads(workspace, type(record), record)
    return living(workspace, record) if new else record


def _read_kept_record(workspace: "Workspace", type_: RecordType, identifier: str) -> Record | None:
    """Return a record as it is kept, whoever asks; None where there is none."""
    try:
        return workspace.whole.read(type_, identifier)
    except NotFound:
        return None


def _new_leads(workspace: "Workspace", type_: RecordType, record: Record) -> "set[Lead]":
    """Return where a record leads to and did not before; of parts of one thing nothing."""
    wanted = {lead for lead in leads(record) if not lead.is_part}
    if not wanted:
        return wanted
    old = workspace.store(type_).before(record.id)
    old = old or _read_kept_record(workspace, type_, record.id)
    return wanted if old is None else wanted.difference(leads(old))


def _without_successor(workspace: "Workspace", record: Any) -> Any:
    """Note in a record that what took its place is purged, where that was done knowingly.

    Otherwise it still says what it gave way to, and `pmem check` reports it.
    """
    successor = _successor_of(record)
    if not successor or not is_gone(workspace, type(record), successor):
        return record
    try:
        removed = workspace.whole.read(type(record), successor)
    except (NotFound, Damaged):  # it had gone before
        return record
    if was_unseen(removed, record.id):
        return record
    return changed(record, workspace.event(EventKind.UNLINK, **{SUCCESSOR: successor}))


def _successor_of(record: Record) -> str:
    return successor_of(record) if isinstance(record, Memory | Episode) else ""


def _check_not_held(
    workspace: "Workspace", gone: set[tuple[RecordType, str]], owners: set[RecordType]
) -> None:
    """See that nothing leads to records that whoever asks may not see, and so not mend."""
    assert workspace.reach is not None
    for record in (record for type_ in owners for record in workspace.whole.scan(type_)):
        held = [
            lead.id for lead in leads(record) if not lead.is_part and (lead.target, lead.id) in gone
        ]
        if held and not workspace.reach.admits(record):
            raise Refused(
                f"{workspace.reach.who} may not delete {min(held)} for good: something that it "
                "may not see refers to that",
                "`pmem rm` removes it for now",
            )


def _check_no_name(path: str, gone: set[str]) -> None:
    """See that a file that cannot be used holds no link that would be left uncut."""
    try:
        data = read_bytes(path)[0]
    except (OSError, PmemError):
        return  # nobody can tell, and what is to go must not wait for it
    for identifier in sorted(gone):
        if identifier.encode() in data and identifier not in os.path.basename(path):
            raise Damaged(f"{path} refers to {identifier} and cannot be used")


class Pointer(NamedTuple):
    """A field of an owner's records that names others, of the target's type.

    `is_part` says that both are parts of one thing, a conversation and a chunk of it: of what is
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
            value = getattr(record, pointer.field)
            for item in value if isinstance(value, tuple) else filter(None, [value]):
                identifier = item if isinstance(item, str) else item.target
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
    fresh: dict[str, Any] = {}
    for pointer in POINTERS:
        value = getattr(record, pointer.field) if pointer.owner is type(record) else None
        if value is None or pointer.is_part:
            continue
        ids = value if isinstance(value, tuple) else (value,)
        left = tuple(one for one in ids if not is_gone(pointer.target, one))
        if left != ids:
            fresh[pointer.field] = left if value is ids else None
    if not fresh:
        return record
    if isinstance(record, Episode | Conversation):
        return changed(record, event, **fresh)
    return msgspec.structs.replace(record, **fresh)
