"""What takes records out of recall, and what brings them back: by hand, one by one."""

from collections.abc import Iterator, Sequence
from contextlib import suppress
from datetime import datetime
from typing import Annotated, Any, Final

import msgspec

from pmem.core import checks
from pmem.core.filters import Filter
from pmem.core.lifecycle.neighbours import Neighbour
from pmem.core.lifecycle.states import SUPERSEDES, can_move, closed, moved, restored, successor_of
from pmem.core.operations import UPKEEP
from pmem.core.outcomes import ERROR
from pmem.core.retention import linked
from pmem.core.trust import inherited
from pmem.errors import Ambiguous, InvalidValue, NotFound, Refused
from pmem.memory.changes import (
    EDITABLE,
    ChangedRecords,
    RecordsRequest,
    Removable,
    RestoreRequest,
    change_all,
    out_of_recall,
    records_named,
)
from pmem.memory.links import link_again
from pmem.memory.memories import add, edited_fields, edited_parts
from pmem.memory.reading import get, message_named
from pmem.memory.requests import Added, AddRequest, EditRequest, Force
from pmem.project.caller import check_leave
from pmem.project.own_memory import open_own
from pmem.project.references import is_gone
from pmem.project.workspace import Workspace
from pmem.values.fields import Admit, Ref, as_it_is, asked, refs
from pmem.values.ids import short
from pmem.values.records import (
    JUDGEMENTS,
    KINDS,
    Access,
    Chunk,
    Conversation,
    Event,
    EventKind,
    Memory,
    Record,
    Relationship,
    Source,
    State,
)
from pmem.values.times import iso


class Superseded(msgspec.Struct, frozen=True, kw_only=True):
    """A memory that holds from now on, the one that held until now, and what it contradicts."""

    memory: Memory
    superseded: Memory
    neighbours: tuple[Neighbour, ...] = ()

    def to_plain(self) -> Memory:
        """Return the memory that holds from now on."""
        return self.memory


class SupersedeByRequest(msgspec.Struct, frozen=True, kw_only=True):
    """A memory that does not hold any longer, and the one that holds instead."""

    reference: str
    successor: str


class PurgeRequest(msgspec.Struct, frozen=True, kw_only=True):
    """Which records are to be deleted for good; `force` takes those too that were not removed."""

    references: Annotated[tuple[str, ...], refs(completes="any")]
    force: Annotated[bool, asked("Delete even what was not removed first.")] = False


_NOT_PASSED_ON: Final[dict[str, Any]] = {
    "citations": (), "outcomes": (), "settled": None, "stops_edits": False,
    "review_at": None, "review_if": None,
}  # fmt: skip
"""What is said of a memory alone, and not of the one that takes its place."""


def remove(workspace: Workspace, request: RecordsRequest) -> ChangedRecords[Removable]:
    """Remove memories and episodes so that they can still be restored."""
    if workspace.caller.agent is not None:
        from pmem.memory.proposals import gate_removals

        found = records_named(workspace, request.references)
        gate_removals(workspace, [one for one in found if can_move(one.state, EventKind.DELETE)])
    gone: list[str] = []

    def apply(record: Removable, event: Event) -> Removable:
        new = out_of_recall(workspace, record, event)
        gone.extend([record.id] if new is record else [])
        return new

    done = change_all(workspace, request.references, EventKind.DELETE, apply)
    return ChangedRecords(records=tuple(done), unchanged=frozenset(gone))


def restore(workspace: Workspace, request: RestoreRequest) -> ChangedRecords[Removable]:
    """Bring memories and episodes back to `active` as they were, whatever took them out of it."""
    references = request.references
    if request.since is not None or request.by is not None:
        left = list(_left_recall(workspace, request))
        if not left:
            raise NotFound("nothing has left recall in that way", "`pmem log` shows what happened")
        if request.dry_run:
            return ChangedRecords(records=tuple(left))
        references = (*references, *(record.id for record in left))
    elif request.dry_run:
        return ChangedRecords(records=tuple(records_named(workspace, references)))

    def apply(record: Removable, event: Event) -> Removable:
        if not can_move(record.state, event.event):
            return record
        if isinstance(record, Memory) and record.scope.app is not None:
            from pmem.memory.app_limit import check_room

            check_room(workspace, record.scope.app)
        return restored(record, event)

    done = change_all(workspace, references, EventKind.RESTORE, apply)
    return ChangedRecords(records=tuple(done))


def _left_recall(workspace: Workspace, request: RestoreRequest) -> Iterator[Removable]:
    """Yield what was removed, archived or merged since a moment; what was replaced stays so."""
    wanted = Filter(states=(State.ARCHIVED, State.MERGED, State.SOFT_DELETED))
    for store in (workspace.memories, workspace.episodes):
        for record in store.find(wanted):
            event = next((one for one in reversed(record.history) if "state" in one.before), None)
            if event is None or (request.since is not None and event.at < request.since):
                continue
            if request.by is None or event.source == UPKEEP:
                yield record


def supersede(workspace: Workspace, request: EditRequest) -> Superseded:
    """Let a new memory take the place of one, which held until now, and differ in what is asked."""
    fields = edited_fields(workspace, request)
    if request.stops_edits:
        raise InvalidValue("a new memory stops no edits yet", "mark it once it is there")
    old = _active(workspace, request.reference)
    uncited = msgspec.structs.replace(request, cite=(), uncite=())
    fields |= edited_parts(workspace, old, uncited, fields)
    check_leave(workspace, old, "propose it: `pmem edit` without --supersede")
    if all(value == getattr(old, name) for name, value in fields.items()):
        raise InvalidValue(
            f"the new memory would say the same as {old.id}", "give what is new about it"
        )
    new = _successor(workspace, old, fields)
    if new.valid_from > workspace.now():
        raise InvalidValue(
            f"the new memory holds only from {iso(new.valid_from)}; until then neither would",
            f"add it by itself, and end {short(old.id)} with `pmem edit --valid-until`",
        )
    done = _replace_memory(workspace, old, new, new.valid_from)
    new, neighbours, _ = link_again(workspace, done.memory)
    if neighbours:
        workspace.memories.put(new)
    return msgspec.structs.replace(done, memory=new, neighbours=neighbours)


def supersede_by(workspace: Workspace, request: SupersedeByRequest) -> Superseded:
    """Let a memory that exists take the place of another one, which held until now."""
    old = _active(workspace, request.reference)
    new = _active(workspace, request.successor)
    check_leave(workspace, old, "propose its removal with `pmem rm`")
    if old.id == new.id:
        raise InvalidValue(
            f"memory {old.id} cannot take its own place", "name the memory that does"
        )
    return _replace_memory(workspace, old, new, workspace.now())


def purge(workspace: Workspace, request: PurgeRequest) -> ChangedRecords[Record]:
    """Delete records for good, with every link to them; conversations with their chunks.

    What was learned of a conversation stays, and so does the message that a memory was learned of:
    notes name them.
    """
    gone = [get(workspace, reference) for reference in request.references]
    for record in gone:
        if not request.force and getattr(record, "state", None) is not State.SOFT_DELETED:
            first = "run `pmem rm` first, or " if isinstance(record, EDITABLE) else ""
            raise Refused(
                f"{KINDS[type(record)]} {record.id} is not removed, and purging is final",
                f"{first}give --force",
            )
        if isinstance(record, EDITABLE):
            check_leave(workspace, record, "propose its removal with `pmem rm`")
        if isinstance(record, Chunk):
            owner = record.conversation
            raise Refused(f"chunk {record.id} goes only with its conversation, {owner}")
        workspace.store(type(record)).remove(record.id)
        if isinstance(record, Conversation):
            parts = {one.id for one in workspace.chunks.find() if one.conversation == record.id}
            for chunk in parts.union(record.chunks):  # those named too: a damaged one tells nothing
                workspace.chunks.remove(chunk)
    workspace.notes += _what_stays(workspace, gone)
    return ChangedRecords(records=tuple(gone))


def _what_stays(workspace: Workspace, gone: Sequence[Record]) -> Iterator[str]:
    """Say which records and messages still have words of what is gone."""
    ids = {record.id for record in gone if isinstance(record, Conversation)}
    memories = workspace.memories.find() if ids else ()
    episodes = workspace.episodes.find() if ids else ()
    learned = [short(one.id) for one in memories if one.source.conversation in ids]
    learned += [short(one.id) for one in episodes if one.conversation in ids]
    if learned:
        yield f"what was learned of it stays; `pmem purge --force {' '.join(learned)}` deletes it"
    for said in (one.source.message for one in gone if isinstance(one, Memory)):
        with suppress(NotFound, Ambiguous):
            if said and not message_named(workspace, said).message.removed:
                yield f"its message stays; `pmem conversation rm {short(said)}` removes the text"


def _active(workspace: Workspace, reference: str) -> Memory:
    memory = workspace.memories.get(workspace.resolve(reference, Memory)[1])
    if memory.state is not State.ACTIVE:
        successor = successor_of(memory)
        raise InvalidValue(
            f"memory {memory.id} is {memory.state.replace('_', ' ')}, not active",
            f"{short(successor)} holds instead" if successor else "`pmem restore` brings it back",
        )
    return memory


def _successor(workspace: Workspace, old: Memory, fields: dict[str, Any]) -> Memory:
    """Make a memory like another one but for some fields; it holds from now on."""
    now = workspace.now()
    made_of = {} if workspace.caller.agent is None else inherited(old)
    event = workspace.event(EventKind.ADD, **{SUPERSEDES: old.id}, **made_of)
    fresh = {"valid_from": now, "valid_until": old.valid_until, **_NOT_PASSED_ON, **fields}
    checks.validity(fresh["valid_from"], fresh["valid_until"])
    kept = tuple(
        link
        for link in old.relationships
        if link.type not in JUDGEMENTS and not is_gone(workspace, Memory, link.target)
    )
    return msgspec.structs.replace(
        old,
        id=workspace.new_id(),
        created_at=now,
        updated_at=now,
        source=Source(),
        access=Access(),
        relationships=kept,
        history=(event,),
        **fresh,
    )


def _replace_memory(workspace: Workspace, old: Memory, new: Memory, end: datetime) -> Superseded:
    now, actor = workspace.now(), workspace.actor
    link = Relationship(target=old.id, type=SUPERSEDES, strength=1.0, created_at=now)
    event = workspace.event(EventKind.SUPERSEDE, by=new.id)
    return Superseded(
        memory=workspace.memories.put(linked(new, link, actor, now)),
        superseded=workspace.memories.put(moved(old, event, valid_until=closed(old, end))),
    )


class ShareRequest(msgspec.Struct, frozen=True, kw_only=True):
    """Which memory of one's own is copied, and whether even beside a similar one."""

    reference: Ref
    force: Force = False
    admit: Admit = as_it_is


def share(workspace: Workspace, request: ShareRequest) -> Added:
    """Copy a memory of one's own into a project, unless there is one that says the same."""
    own = open_own(workspace)
    try:
        _, identifier = own.resolve(request.reference, Memory)
    except NotFound:
        raise NotFound(
            f"no memory of your own has an id that starts with {request.reference!r}",
            "`pmem list --mine` shows ids",
        ) from None
    memory = own.memories.get(identifier)
    if memory.state is not State.ACTIVE:
        raise InvalidValue(
            f"your memory {short(memory.id)} is {memory.state.replace('_', ' ')}",
            f"bring it back with `pmem restore --mine {short(memory.id)}`",
        )
    return add(workspace, request.admit(_copy_of(memory, force=request.force), "the memory"))


_COPIED: Final = (
    *("content", "type", "category", "subject", "tags", "importance", "valid_from", "valid_until"),
    *("places", "tried", "because", "instead_of", "review_at", "review_if"),
)
"""Whether it is pinned, and for whom it is, its owner decided; what it cites stands elsewhere."""


def _copy_of(memory: Memory, *, force: bool) -> AddRequest:
    """Return what adds the same to a project."""
    errors = tuple(each for each in memory.evidence if each.startswith(ERROR))
    copied = {name: getattr(memory, name) for name in _COPIED}
    return AddRequest(**copied, source=Source(memory=memory.id), evidence=errors, force=force)
