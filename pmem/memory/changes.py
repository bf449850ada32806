"""How one record, or several together, change under the lock."""

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Annotated, Any, Final, Generic, Literal, TypeVar

import msgspec

from pmem.core.lifecycle.states import can_move, moved
from pmem.core.retention import changed, purge_time
from pmem.core.selection import NOTED
from pmem.core.trust import Trust, may_be_marked, noted_by, trust_of
from pmem.errors import Ambiguous, NotFound, Refused
from pmem.project.workspace import Workspace
from pmem.storage.store import Store
from pmem.values.fields import DryRun, asked, refs
from pmem.values.ids import short
from pmem.values.records import Episode, Event, EventKind, Memory, Record

Removable = Memory | Episode
"""What has states, and a history that explains them."""


R = TypeVar("R", bound=Record)
T = TypeVar("T")


class ChangedRecords(msgspec.Struct, Generic[R], frozen=True, kw_only=True):
    """Records as they now are, or last were, as they were named; `unchanged` were so before."""

    records: tuple[R, ...]
    unchanged: frozenset[str] = frozenset()

    def to_plain(self) -> Any:
        """Return them; a single one by itself."""
        return self.records[0] if len(self.records) == 1 else self.records


class RecordsRequest(msgspec.Struct, frozen=True, kw_only=True):
    """Which records are meant; all of them change, or none."""

    references: Annotated[tuple[str, ...], refs(completes="record")]


class RestoreRequest(RecordsRequest, frozen=True, kw_only=True):
    """Which records are to come back: those named, or all that left recall since a moment.

    `by` is `consolidate` for those alone that upkeep took out of recall. With `dry_run` it is only
    told which they are.
    """

    references: Annotated[tuple[str, ...], refs(completes="removed")] = ()
    since: Annotated[
        datetime | None, asked("All that left recall since this time.", reading="time")
    ] = None
    by: Annotated[
        str | None, asked("All that consolidate took out.", choices=Literal["consolidate"])
    ] = None
    dry_run: DryRun = False


K = TypeVar("K", bound=Removable)
EDITABLE: Final = (Memory, Episode)


def change(
    workspace: Workspace,
    type_: type[K],
    reference: str,
    kind: EventKind,
    apply: Callable[[K, Event], K],
) -> K:
    """Apply a change to one record, in a transaction; an equal result is not written.

    What else `apply` names is resolved in there, under the lock; it returns the same record where
    there is nothing to change.
    """
    _, identifier = workspace.resolve(reference, type_)
    store: Store[K] = workspace.store(type_)
    return _apply(workspace, store.get(identifier), kind, apply)


def change_all(
    workspace: Workspace,
    references: Sequence[str],
    kind: EventKind,
    apply: Callable[[Removable, Event], Removable],
) -> list[Removable]:
    """Apply a change to several memories and episodes, each once, or to none; see `change`."""
    found = records_named(workspace, references)
    return [_apply(workspace, record, kind, apply) for record in found]


def records_named(workspace: Workspace, references: Sequence[str]) -> list[Removable]:
    """Return the memories and episodes that references mean, each once."""
    named = dict.fromkeys(workspace.resolve(reference, *EDITABLE) for reference in references)
    return [workspace.store(type_).get(identifier) for type_, identifier in named]


def _apply(workspace: Workspace, record: K, kind: EventKind, apply: Callable[[K, Event], K]) -> K:
    new = apply(record, workspace.event(kind))
    return record if new is record else workspace.store(type(record)).put(new)


def check_mark(memory: Memory) -> None:
    """See that a person wrote a memory that is to stop edits; it is Refused otherwise."""
    if not may_be_marked(memory):
        raise Refused(
            f"no person wrote {short(memory.id)}, so it cannot stop edits",
            "add what is to stop them yourself, and mark that",
        )


def vouched(workspace: Workspace, memory: Memory, event: Event) -> Memory:
    """Return a memory that a person has looked at, which is trusted from now on."""
    is_person = workspace.caller.agent is None and workspace.caller.app is None
    if not is_person or trust_of(memory) is Trust.HIGH:
        return memory
    return changed(memory, msgspec.structs.replace(event, detail={"reviewed": True}))


def ask_to_change(workspace: Workspace, memory: Memory, fields: Mapping[str, Any]) -> None:
    """Hold back what an agent changes and a person must agree to; see `proposals.gate_edit`."""
    if workspace.caller.agent is not None:
        from pmem.memory.proposals import gate_edit

        gate_edit(workspace, memory, fields)


def out_of_recall(workspace: Workspace, record: K, event: Event) -> K:
    """Return a record as `rm` leaves it; itself where it is out of recall already."""
    if not can_move(record.state, event.event):
        return record
    return moved(record, event, purge_at=purge_time(event.at, workspace.settings.purge_days))


def only_one(reference: str, what: str, fitting: Mapping[str, T], hint: str) -> T:
    """Return what a reference means of what it fits, by the ids that are shown."""
    if not fitting:
        raise NotFound(f"no {what} has an id that starts with {reference!r}", hint)
    if len(fitting) > 1:
        shown = ", ".join(sorted(fitting)[:10])
        raise Ambiguous(f"{reference!r} fits the {what}s {shown}", "give more of the id")
    return next(iter(fitting.values()))


class Confirmed(msgspec.Struct, frozen=True, kw_only=True):
    """The memories that are trusted from now on."""

    items: tuple[Memory, ...]


class ConfirmRequest(msgspec.Struct, frozen=True, kw_only=True):
    """Whose memories are right: all that this agent noted."""

    agent: Annotated[str, asked("Also all memories that this agent noted.", shown="NAME")]


def list_noted(workspace: Workspace) -> list[tuple[str, Memory]]:
    """Return the active memories that no person has confirmed, with the agents that noted them."""
    return [(noted_by(memory), memory) for memory in workspace.memories.select(NOTED)]


def confirm(workspace: Workspace, request: ConfirmRequest) -> Confirmed:
    """Trust all that an agent noted: a person has looked at it."""
    found = [one for agent, one in list_noted(workspace) if agent == request.agent]
    event = workspace.event(EventKind.UPDATE)
    kept = (vouched(workspace, one, event) for one in found)
    return Confirmed(items=tuple(map(workspace.memories.put, kept)))
