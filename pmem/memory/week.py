"""What the memory learned, changed and forgot since a moment, and who did it."""

from collections import Counter
from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any, Final

import msgspec

from pmem.core.changelog import Changed, Difference, Forgotten, Kept, Learned, compare
from pmem.core.filters import Filter
from pmem.core.selection import Selection
from pmem.errors import InvalidValue, NotFound
from pmem.project.views import at_moment
from pmem.project.workspace import Workspace
from pmem.values.records import Episode, Memory
from pmem.values.times import iso

WEEK: Final = timedelta(days=7)


class WeekRequest(msgspec.Struct, frozen=True, kw_only=True):
    """Since when to look back: seven days when None."""

    since: datetime | None = None


class Week(msgspec.Struct, frozen=True, kw_only=True):
    """What changed since a moment, each entry sorted by type, then by age.

    Attributes:
        since: That moment.
        until: The present.
        learned: What is recalled now and was not then.
        changed: What says something else now.
        forgotten: What is not recalled any more; what was purged leaves no trace.
        by: Who changed each record since then, by its id, the first first.
        people: In how many of these records each of them had a hand, the busiest first.
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
    """Compare the memory as it is with what it was at a moment, record by record.

    Raises:
        InvalidValue: The moment lies in the future.
    """
    now = workspace.now()
    since = request.since or now - WEEK
    if since > now:
        raise InvalidValue(f"{iso(since)} is still to come", "give a time in the past")
    fresh = Selection(wanted=Filter(states=(), updated_after=since))
    after: dict[str, Kept] = {one.id: one for one in workspace.memories.select(fresh)}
    after |= {one.id: one for one in workspace.episodes.select(fresh)}
    found = compare(_as_they_were(workspace, after, since), after)
    by = {entry.id: _actors(after[entry.id], since) for entry in _entries(found)}
    people = Counter(actor for actors in by.values() for actor in actors)
    return Week(
        since=since,
        until=now,
        **msgspec.structs.asdict(found),
        by=by,
        people=dict(people.most_common()),
    )


def _as_they_were(
    workspace: Workspace, records: Mapping[str, Kept], since: datetime
) -> dict[str, Kept]:
    then = at_moment(workspace, since)
    found: dict[str, Kept] = {}
    for identifier, record in records.items():
        store = then.memories if isinstance(record, Memory) else then.episodes
        try:
            found[identifier] = store.get(identifier)
        except NotFound:
            continue
    return found


def _entries(found: Difference) -> tuple[Learned | Changed | Forgotten, ...]:
    return (*found.learned, *found.changed, *found.forgotten)


def _actors(record: Memory | Episode, since: datetime) -> tuple[str, ...]:
    """Return who changed a record since a moment, each once."""
    return tuple(
        dict.fromkeys(event.actor for event in record.history if event.at >= since and event.actor)
    )
