"""How decisions turn out, and which of them are to be looked at again."""

from datetime import datetime
from typing import Annotated, Any, Final

import msgspec

from pmem.core import checks
from pmem.core.filters import Filter
from pmem.core.outcomes import failed, is_due, latest_outcome
from pmem.core.retention import changed, valid_at
from pmem.core.selection import Selection, ticks
from pmem.core.trust import with_trust
from pmem.errors import InvalidValue
from pmem.memory.changes import change
from pmem.project.workspace import Workspace
from pmem.values.fields import Ref, asked
from pmem.values.ids import short
from pmem.values.records import (
    Consequence,
    Event,
    EventKind,
    Memory,
    MemoryType,
    OutcomeVerdict,
    State,
)

MOST_OUTCOMES = 100
"""A memory has so many outcomes at the most."""


WITHOUT: Final = (MemoryType.CONSTRAINT, MemoryType.ENTITY, MemoryType.DEAD_END)
"""Types of memories that turn out neither well nor badly."""


class OutcomeRequest(msgspec.Struct, frozen=True, kw_only=True):
    """How a memory, usually a decision, turned out, and what happened.

    Without a verdict its latest outcome is removed.
    """

    reference: Ref
    verdict: Annotated[
        OutcomeVerdict | None, asked("How it turned out.", shown="good|bad|mixed", is_argument=True)
    ] = None
    text: Annotated[
        str, asked("What happened.", shown="[TEXT|-]", reading="text", is_argument=True)
    ] = ""


class DueRequest(msgspec.Struct, frozen=True, kw_only=True):
    """What is to be looked at again until a moment, now when None."""

    until: datetime | None = None


class DueListing(msgspec.Struct, frozen=True, kw_only=True):
    """Memories to look at again, the longest overdue first, then those that a condition waits for.

    `due` is how many have a date that has passed at the `moment` of the list, `waiting` how many
    have no date that has come, only a condition.
    """

    items: tuple[Memory, ...]
    due: int
    waiting: int
    moment: datetime
    total: int

    def to_plain(self) -> dict[str, Any]:
        """Return the memories with how far each can be trusted, and how many are due."""
        return {
            "items": list(map(with_trust, self.items)),
            "due": self.due,
            "waiting": self.waiting,
            "total": self.total,
        }


class OutcomeNoted(msgspec.Struct, frozen=True, kw_only=True):
    """A memory with its outcomes; `next_step` says what to do where it went badly."""

    memory: Memory
    next_step: str = ""

    def to_plain(self) -> Memory:
        """Return the memory."""
        return self.memory


def note_outcome(workspace: Workspace, request: OutcomeRequest) -> OutcomeNoted:
    """Note how a memory turned out, or take the latest outcome back.

    What is noted was looked at, so a date that has passed goes.

    Raises:
        NotFound, Ambiguous: The reference.
        InvalidValue: The text is too long, there are too many outcomes, there is none to take
            back, or the memory is of a type that has none.
        Withheld: An agent asks, and a person wrote the memory: it waits for a person.
    """
    limits = workspace.settings.limits
    said = checks.text(request.text, "an outcome", limits.memory) if request.text.strip() else ""

    def apply(memory: Memory, event: Event) -> Memory:
        if request.verdict is None:
            return _without_latest(workspace, memory, event)
        if memory.type in WITHOUT:
            raise InvalidValue(
                f"{short(memory.id)} is of the type {memory.type}, which has no outcome",
                f"`pmem edit {short(memory.id)} --type decision` if it was one",
            )
        known = memory.outcomes
        same = known and (known[-1].verdict, known[-1].text) == (request.verdict, said)
        if same and known[-1].at == event.at:
            return memory
        if len(known) == MOST_OUTCOMES:
            raise InvalidValue(f"a memory cannot have more than {MOST_OUTCOMES} outcomes")
        new = Consequence(at=event.at, by=event.actor, verdict=request.verdict, text=said)
        fields: dict[str, Any] = {"outcomes": (*known, new)}
        if is_due(memory, event.at):
            fields["review_at"] = None
        return _with_fields(workspace, memory, event, fields)

    memory = change(workspace, Memory, request.reference, EventKind.UPDATE, apply)
    stands = memory.state is State.ACTIVE and valid_at(memory, workspace.now())
    step = ""
    if failed(memory) and stands:
        step = "say what holds instead with `pmem edit {} TEXT --supersede`"
    return OutcomeNoted(memory=memory, next_step=step)


def _without_latest(workspace: Workspace, memory: Memory, event: Event) -> Memory:
    if not memory.outcomes:
        raise InvalidValue(f"{short(memory.id)} has no outcome to remove", "see `pmem show`")
    latest = latest_outcome(memory)
    left = tuple(one for one in memory.outcomes if one is not latest)
    return _with_fields(workspace, memory, event, {"outcomes": left})


def _with_fields(
    workspace: Workspace, memory: Memory, event: Event, fields: dict[str, Any]
) -> Memory:
    if workspace.caller.agent is not None:
        from pmem.memory.proposals import gate_edit

        gate_edit(workspace, memory, fields)
    return changed(memory, event, **fields)


def list_due(workspace: Workspace, request: DueRequest) -> DueListing:
    """Return the active memories that are to be looked at again."""
    until = request.until or workspace.now()
    store, now = workspace.memories, workspace.now()
    dated = store.select(
        Selection(wanted=Filter(), below=(("review_at", ticks(until) + 1),)), ("review_at",)
    )
    waiting = store.select(Selection(wanted=Filter(), least=(("review_if", 1),)), ("created",))
    items = tuple({one.id: one for one in (*dated, *waiting)}.values())
    due = sum(is_due(one, now) for one in dated)
    left = len(items) - len(dated)
    return DueListing(items=items, due=due, waiting=left, moment=now, total=len(items))
