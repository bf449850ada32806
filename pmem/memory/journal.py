"""Looking at what the memory did: the log of all events, one record's story, the audit trail."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from datetime import datetime, timedelta
from itertools import chain
from typing import Annotated, Any, Final

import msgspec

from pmem.core import checks
from pmem.core.changelog import Changed, Forgotten, Kept, Learned, compare
from pmem.core.filters import EVERYTHING, Filter
from pmem.core.journal import (
    AuditRow,
    Historic,
    JournalEntry,
    JournalStep,
    Wanted,
    entry,
    log,
    row,
    steps,
)
from pmem.core.operations import LoggedOperation
from pmem.core.policy import CATEGORY_OF_KIND
from pmem.core.retention import MemoryVersion, versions
from pmem.core.selection import NOTED, Selection
from pmem.errors import InvalidValue, NotFound
from pmem.memory.reading import get
from pmem.project.workspace import Workspace
from pmem.storage.local.logs import Operations
from pmem.storage.local.proposals import ProposalOutcome
from pmem.storage.store import Store
from pmem.values.fields import AsOf, asked
from pmem.values.records import KINDS, Event, Memory, plain
from pmem.values.times import iso

SHOWN: Final = 10


class Journal(msgspec.Struct, frozen=True, kw_only=True):
    """Events that pass the filters, the newest last, and how many there are in all.

    `unconfirmed` counts the memories that agents noted and nobody has confirmed.
    """

    items: tuple[JournalEntry, ...]
    total: int
    unconfirmed: int = 0


class Ran(msgspec.Struct, frozen=True, kw_only=True):
    """Operations, the newest last, and how many there are in all."""

    items: tuple[LoggedOperation, ...]
    total: int

    def to_plain(self) -> dict[str, Any]:
        """Return each with its status, and how many there are."""
        items = [{**plain(item), "status": item.status} for item in self.items]
        return {"items": items, "total": self.total}


class EventsRequest(msgspec.Struct, frozen=True, kw_only=True):
    """Which events to list: the newest of those that pass, at the most so many; all when 0.

    `reference` leaves those of the record that it means; `at` lists those up to then.
    """

    wanted: Wanted = Wanted()
    reference: str | None = None
    limit: Annotated[int, asked("Only the newest N; 0 for all.", flag="--limit -n", least=0)] = (
        SHOWN
    )
    at: AsOf = None
    revision: str | None = None

    @property
    def named_categories(self) -> tuple[str, ...]:
        """The categories of the kinds that it asks for by name."""
        return tuple(filter(None, map(CATEGORY_OF_KIND.get, self.wanted.kinds)))

    @property
    def named_app(self) -> str | None:
        """The app whose records it asks for by name."""
        return self.wanted.app


class RanRequest(msgspec.Struct, frozen=True, kw_only=True):
    """Which operations to list: the newest of a time, at the most so many; all when 0."""

    after: datetime | None = None
    before: datetime | None = None
    limit: int = SHOWN


class HistoryRequest(msgspec.Struct, frozen=True, kw_only=True):
    """Which record's history is to be shown, as it was at a moment or a revision if given."""

    reference: str
    at: datetime | None = None
    revision: str | None = None


class History(msgspec.Struct, frozen=True, kw_only=True):
    """What happened to one record, the oldest event first, and what each event led to."""

    steps: tuple[JournalStep, ...]

    def to_plain(self) -> tuple[Event, ...]:
        """Return the events."""
        return tuple(step.event for step in self.steps)


class VersionListing(msgspec.Struct, frozen=True, kw_only=True):
    """What a memory has said, the first version first."""

    id: str
    items: tuple[MemoryVersion, ...]


class AuditRequest(msgspec.Struct, frozen=True, kw_only=True):
    """Whose audit trail is meant: all, or what concerns one user; as it was, if a time is given."""

    user: Annotated[str | None, asked("Only memories about this user.", completes="user")] = None
    at: AsOf = None
    revision: str | None = None


class Trail(msgspec.Struct, frozen=True, kw_only=True):
    """The audit trail, the newest event last, and how many events it has."""

    items: tuple[AuditRow, ...]
    total: int


def list_events(workspace: Workspace, request: EventsRequest) -> Journal:
    """Return what happened to memories, episodes and conversations, the newest last."""
    from pmem.project.origins import Doubts  # other commands load this module and need none

    checks.limit(request.limit)
    wanted, limit = request.wanted, request.limit
    stores = _stores(workspace, wanted)
    about = Filter(app=wanted.app, user=wanted.user, agent=wanted.agent, states=())
    concerned = Selection(wanted=about)
    if request.reference is not None:
        found = log([_historic(workspace, request.reference)], wanted)
    elif limit and not wanted.asks_events:
        latest = (  # the records to which the latest events happened, so many of each kind
            store.select(concerned, ("-happened", "-id"), limit) for store in stores
        )
        found = log(chain.from_iterable(latest), wanted)
    else:
        found = log(_all(workspace, wanted), wanted)
    shown = found[-limit:]  # all of them where it is 0
    is_whole = request.reference is not None or not limit or wanted.asks_events
    total = len(found)
    if not is_whole:
        tallies = (store.tally(concerned, ("events",)) for store in stores)
        total = sum(events * many for tally in tallies for (events,), many in tally.items())
    unconfirmed = workspace.memories.count(NOTED)
    origins = Doubts(workspace).of(step.record for step in shown)
    items = tuple(entry(step, origins.get(step.record.id)) for step in shown)
    return Journal(items=items, total=total, unconfirmed=unconfirmed)


def list_versions(workspace: Workspace, request: HistoryRequest) -> VersionListing:
    """Return all that a memory has said."""
    _, identifier = workspace.resolve(request.reference, Memory)
    memory = workspace.memories.get(identifier)
    return VersionListing(id=memory.id, items=versions(memory))


def list_operations(workspace: Workspace, request: RanRequest) -> Ran:
    """Return what ran in this clone, the newest last; the log is bounded and forgets the oldest."""
    checks.limit(request.limit)
    after, before = request.after, request.before
    found = [
        item
        for item in ran(workspace)
        if (after is None or item.ts >= after) and (before is None or item.ts < before)
    ]
    return Ran(items=tuple(found[-request.limit :]), total=len(found))


def ran(workspace: Workspace) -> Iterable[LoggedOperation]:
    """Return what ran in this clone, about records that whoever asks may see, or about none."""
    found = Operations(workspace.own.root).all()
    if workspace.reach is None:
        return found
    stores: tuple[Store[Any], ...] = (workspace.memories, workspace.episodes)
    seen = {record.id for store in stores for record in store.find(EVERYTHING)}
    return [
        msgspec.structs.replace(item, shown=tuple(one for one in item.shown if one in seen))
        for item in found
        if item.memory is None or item.memory in seen
    ]


def show_history(workspace: Workspace, request: HistoryRequest) -> History:
    """Return what happened to one record, and what each event led to, in its history's order."""
    return History(steps=tuple(steps(_historic(workspace, request.reference))))


def audit(workspace: Workspace, request: AuditRequest) -> Trail:
    """Return the audit trail, the newest event last; what was purged has left none.

    One user's has what happened to the memories that concern this user, and what was decided
    about proposals that did.
    """
    rows = _trail(workspace, request.user)
    return Trail(items=tuple(rows), total=len(rows))


def _trail(workspace: Workspace, user: str | None) -> list[AuditRow]:
    wanted = Wanted(user=user)
    rows = [row(step) for step in log(_all(workspace, wanted), wanted)]
    if workspace.is_past or not workspace.own.is_ours:
        return rows
    decisions = workspace.own.proposals.read().decisions
    told = [
        _decision(item)
        for item in decisions
        if item.decision != "approved" and user in (None, item.user)  # that has its own event
    ]
    return sorted([*rows, *told], key=lambda item: item.ts) if told else rows


def _decision(decision: ProposalOutcome) -> AuditRow:
    """Return the trail's row for something that was never remembered."""
    known = {"field": decision.field, "agent": decision.agent, "user": decision.user}
    return AuditRow(
        id=f"{decision.id}:0",
        memory_id=decision.id,
        event=f"CONSENT_{decision.decision.upper()}",
        old_ref=None,
        new_ref=decision.digest,
        actor=decision.actor or None,
        meta={"kind": "proposal", **{name: value for name, value in known.items() if value}},
        ts=decision.at,
    )


def _stores(workspace: Workspace, wanted: Wanted) -> list[Store[Any]]:
    """Return the stores of the records that keep a history; only memories concern someone."""
    stores: tuple[Any, ...] = (workspace.memories, workspace.episodes, workspace.conversations)
    if (wanted.app, wanted.user, wanted.agent) != (None, None, None):
        stores = stores[:1]
    return [store for store in stores if not wanted.kinds or KINDS[store.type] in wanted.kinds]


def _all(workspace: Workspace, wanted: Wanted) -> Iterator[Historic]:
    for store in _stores(workspace, wanted):
        yield from store.find(EVERYTHING)


def _historic(workspace: Workspace, reference: str) -> Historic:
    record = get(workspace, reference)
    if isinstance(record, Historic):
        return record
    raise InvalidValue(
        f"{KINDS[type(record)]} {record.id} keeps no history",
        "memories, episodes and conversations do",
    )


WEEK: Final = timedelta(days=7)


class WeekRequest(msgspec.Struct, frozen=True, kw_only=True):
    """Since when to look back: seven days when None."""

    since: datetime | None = None


class Week(msgspec.Struct, frozen=True, kw_only=True):
    """What changed since a moment, each entry sorted by type, then by age.

    What was purged leaves no trace. `by` says who changed each record since then, by its id, the
    first first, and `people` in how many of these each had a hand, the busiest first.
    """

    since: datetime
    until: datetime
    learned: tuple[Learned, ...]
    changed: tuple[Changed, ...]
    forgotten: tuple[Forgotten, ...]
    by: Mapping[str, tuple[str, ...]]
    people: Mapping[str, int]

    @property
    def total(self) -> int:
        """How many entries there are."""
        return len(self.learned) + len(self.changed) + len(self.forgotten)

    def to_plain(self) -> dict[str, Any]:
        """Return the entries, who made them, and how many there are."""
        return {**msgspec.structs.asdict(self), "total": self.total}


def look_back(workspace: Workspace, request: WeekRequest) -> Week:
    """Compare the memory as it is with what it was at a moment, record by record."""
    from pmem.project.views import at_moment

    now = workspace.now()
    since = request.since or now - WEEK
    if since > now:
        raise InvalidValue(f"{iso(since)} is still to come", "give a time in the past")
    fresh = Selection(wanted=Filter(states=(), updated_after=since))
    after: dict[str, Kept] = {one.id: one for one in workspace.memories.select(fresh)}
    after |= {one.id: one for one in workspace.episodes.select(fresh)}
    then, before = at_moment(workspace, since), dict[str, Kept]()
    for identifier, record in after.items():
        with suppress(NotFound):
            before[identifier] = then.store(type(record)).get(identifier)
    found = compare(before, after)
    by = {
        entry.id: tuple(
            dict.fromkeys(
                event.actor
                for event in after[entry.id].history
                if event.at >= since and event.actor
            )
        )
        for entry in (*found.learned, *found.changed, *found.forgotten)
    }
    people = Counter(actor for actors in by.values() for actor in actors)
    return Week(
        since=since,
        until=now,
        **msgspec.structs.asdict(found),
        by=by,
        people=dict(people.most_common()),
    )
