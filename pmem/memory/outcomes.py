"""How decisions turn out, and which of them are to be looked at again."""

from datetime import datetime
from typing import Any

import msgspec

from pmem.core import checks
from pmem.core.filters import Filter
from pmem.core.outcomes import failed, is_due
from pmem.core.retention import changed
from pmem.core.selection import Selection, ticks
from pmem.core.trust import with_trust
from pmem.errors import InvalidValue
from pmem.memory.changes import change
from pmem.project.workspace import Workspace
from pmem.values.records import Consequence, Event, EventKind, Memory, OutcomeVerdict

MOST_OUTCOMES = 100
"""A memory has so many outcomes at the most."""


class OutcomeRequest(msgspec.Struct, frozen=True, kw_only=True):
    """How a memory, usually a decision, turned out, and what happened."""

    reference: str
    verdict: OutcomeVerdict
    text: str = ""


class DueRequest(msgspec.Struct, frozen=True, kw_only=True):
    """What is to be looked at again until a moment, now when None."""

    until: datetime | None = None


class DueListing(msgspec.Struct, frozen=True, kw_only=True):
    """Memories to look at again, the longest overdue first, then those that a condition waits for.

    `due` is how many have a date that has passed at the `moment` of the list.
    """

    items: tuple[Memory, ...]
    due: int
    moment: datetime
    total: int

    def to_plain(self) -> dict[str, Any]:
        """Return the memories with how far each can be trusted, and how many are due."""
        return {"items": list(map(with_trust, self.items)), "due": self.due, "total": self.total}


class OutcomeNoted(msgspec.Struct, frozen=True, kw_only=True):
    """A memory with its outcomes; `next_step` says what to do where it went badly."""

    memory: Memory
    next_step: str = ""

    def to_plain(self) -> Memory:
        """Return the memory."""
        return self.memory


def note_outcome(workspace: Workspace, request: OutcomeRequest) -> OutcomeNoted:
    """Note how a memory turned out; it is looked at, so a date that has passed goes.

    Raises:
        NotFound, Ambiguous: The reference.
        InvalidValue: The text is too long, or there are too many outcomes.
        Withheld: An agent asks, and a person wrote the memory: it waits for a person.
    """
    limits = workspace.settings.limits
    said = checks.text(request.text, "an outcome", limits.memory) if request.text.strip() else ""

    def apply(memory: Memory, event: Event) -> Memory:
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
        if workspace.caller.agent is not None:
            from pmem.memory.proposals import gate_edit

            gate_edit(workspace, memory, fields)
        return changed(memory, event, **fields)

    memory = change(workspace, Memory, request.reference, EventKind.UPDATE, apply)
    step = "say what holds instead with `pmem edit {} TEXT --supersede`" if failed(memory) else ""
    return OutcomeNoted(memory=memory, next_step=step)


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
    return DueListing(items=items, due=due, moment=now, total=len(items))
