"""How decisions turn out, and which of them are to be looked at again."""

from datetime import datetime
from typing import Annotated, Any, Final

import msgspec

from pmem.core import checks
from pmem.core.filters import Filter, same_text
from pmem.core.outcomes import FIXES, describe_attempt, failed, is_due, latest_outcome, warns
from pmem.core.retention import changed, linked, valid_at
from pmem.core.selection import Selection, ticks
from pmem.core.trust import with_trust
from pmem.errors import InvalidValue
from pmem.memory.changes import ask_to_change, change
from pmem.memory.memories import put_new
from pmem.memory.requests import Added, AddRequest, Cited, Force, Places, Subject, Tags
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
    Relationship,
    State,
)

MOST_OUTCOMES = 100
"""A memory has so many outcomes at the most."""


WITHOUT: Final = (MemoryType.CONSTRAINT, MemoryType.ENTITY, MemoryType.DEAD_END)
"""Types of memories that turn out neither well nor badly."""


class OutcomeRequest(msgspec.Struct, frozen=True, kw_only=True):
    """How a memory turned out, and what happened; without a verdict its latest outcome goes."""

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
    """
    limits = workspace.settings.limits
    said = checks.text(request.text, "an outcome", limits.memory) if request.text.strip() else ""

    def apply(memory: Memory, event: Event) -> Memory:
        fields = _outcomes_now(memory, request, said, event)
        if not fields:
            return memory
        ask_to_change(workspace, memory, fields)
        return changed(memory, event, **fields)

    memory = change(workspace, Memory, request.reference, EventKind.UPDATE, apply)
    stands = memory.state is State.ACTIVE and valid_at(memory, workspace.now())
    step = ""
    if failed(memory) and stands:
        step = "say what holds instead with `pmem edit {} TEXT --supersede`"
    return OutcomeNoted(memory=memory, next_step=step)


def _outcomes_now(
    memory: Memory, request: OutcomeRequest, said: str, event: Event
) -> dict[str, Any]:
    """Return the fields that noting an outcome, or taking the latest back, changes."""
    known = memory.outcomes
    if request.verdict is None:
        if not known:
            raise InvalidValue(f"{short(memory.id)} has no outcome to remove", "see `pmem show`")
        latest = latest_outcome(memory)
        return {"outcomes": tuple(one for one in known if one is not latest)}
    if memory.type in WITHOUT:
        raise InvalidValue(
            f"{short(memory.id)} is of the type {memory.type}, which has no outcome",
            f"`pmem edit {short(memory.id)} --type decision` if it was one",
        )
    new = Consequence(at=event.at, by=event.actor, verdict=request.verdict, text=said)
    if known and msgspec.structs.replace(known[-1], by=new.by) == new:
        return {}
    if len(known) == MOST_OUTCOMES:
        raise InvalidValue(f"a memory cannot have more than {MOST_OUTCOMES} outcomes")
    return {"outcomes": (*known, new)} | ({"review_at": None} if is_due(memory, event.at) else {})


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


class TriedRequest(msgspec.Struct, frozen=True, kw_only=True):
    """What was tried, why it `failed`, and what `worked` instead; at least one of the two.

    What `worked` for something that is known to have failed needs no reason again. Both memories
    get the other fields, which are as in `AddRequest`.
    """

    tried: Annotated[str, asked("What was tried.", shown="TEXT", is_argument=True)]
    failed: Annotated[str | None, asked("Why it failed.")] = None
    worked: Annotated[str | None, asked("What worked instead.")] = None
    places: Places = ()
    cite: Cited = ()
    evidence: tuple[str, ...] = ()
    subject: Subject = None
    tags: Tags = ()
    app: str | None = None
    agent: str | None = None
    force: Force = False

    @property
    def named_app(self) -> str | None:
        """The app that it is for, by name."""
        return self.app


class Tried(msgspec.Struct, frozen=True, kw_only=True):
    """The dead end, and what fixes it: what adding each of them led to."""

    dead_end: Added
    fix: Added | None = None

    @property
    def noted(self) -> dict[str, str] | None:
        """What the log of operations says of it."""
        return self.dead_end.noted

    def to_plain(self) -> dict[str, Any]:
        """Return what became of both."""
        return {
            "dead_end": self.dead_end.to_plain(),
            "fix": None if self.fix is None else self.fix.to_plain(),
        }


def note_attempt(workspace: Workspace, request: TriedRequest) -> Tried:
    """Note what was tried and failed, and what worked instead, linked to it."""
    dead_end = _dead_end(workspace, request)
    if request.worked is None:
        return Tried(dead_end=dead_end)
    wanted = _like(request, content=request.worked, type=MemoryType.PROCEDURE)
    fix = put_new(workspace, wanted)
    if fix.action == "added" and dead_end.record is not None:
        link = Relationship(
            target=dead_end.record.id, type=FIXES, strength=1.0, created_at=workspace.now()
        )
        memory = linked(fix.memory, link, workspace.actor, workspace.now())
        fix = msgspec.structs.replace(fix, record=workspace.memories.put(memory))
    return Tried(dead_end=dead_end, fix=fix)


def _dead_end(workspace: Workspace, request: TriedRequest) -> Added:
    """Return the dead end that a request is about, known or new."""
    dead_ends = workspace.memories.select(Selection(wanted=Filter(types=(MemoryType.DEAD_END,))))
    alike = (one for one in dead_ends if warns(one) and same_text(one.tried, request.tried))
    known = next(alike, None)
    if known is not None and not request.force:
        return Added(action="suggested", record=known, reason="this dead end is known")
    if request.failed is None:
        raise InvalidValue(
            "nothing is known to have failed under these words", "say why with --failed"
        )
    wanted = _like(
        request,
        content=describe_attempt(request.tried, request.failed),
        type=MemoryType.DEAD_END,
        tried=request.tried,
        because=request.failed,
    )
    return put_new(workspace, wanted)


def _like(request: TriedRequest, **fields: Any) -> AddRequest:
    """Return a request for a memory that has what both of them get."""
    same = ("places", "cite", "evidence", "subject", "tags", "app", "agent")
    given = {name: getattr(request, name) for name in same}
    return AddRequest(**given, **fields, force=request.force)
