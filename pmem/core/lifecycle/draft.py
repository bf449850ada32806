"""A plan in the making: what its steps leave behind is what the next ones start from."""

from collections import defaultdict
from collections.abc import Callable, Iterable
from datetime import datetime

from pmem.core.lifecycle import merging
from pmem.core.lifecycle.plan import Action, Kept, Touched, UpkeepStep
from pmem.values.records import Episode, Event, EventKind, Memory, State

Links = defaultdict[str, set[str]]
"""By what they lead to, the ids of the records with links."""


class Draft:
    """A plan in the making: records as they will be, and the steps so far."""

    def __init__(
        self,
        records: Iterable[Kept],
        actor: str,
        now: datetime,
        count: Callable[[str], int] = len,
    ) -> None:
        self.records: dict[str, Kept] = {record.id: record for record in records}
        self.steps: list[UpkeepStep] = []
        self.actor = actor
        self.now = now
        self.count = count

    def event(self, kind: EventKind, **detail: object) -> Event:
        """Return an event of this run."""
        return Event(
            event=kind, at=self.now, actor=self.actor, source=merging.SOURCE, detail=detail
        )

    def take(
        self,
        action: Action,
        why: str,
        *news: Kept,
        advice: str = "",
        rests_on: tuple[Kept, ...] = (),
    ) -> None:
        """Add a step that leaves records as given."""
        touched = tuple(Touched(old=self.records.get(new.id), new=new) for new in news)
        self.records.update((new.id, new) for new in news)
        self.steps.append(
            UpkeepStep(action=action, why=why, touched=touched, advice=advice, rests_on=rests_on)
        )

    def memory(self, identifier: str) -> Memory:
        """Return a memory as it stands in the plan so far."""
        found = self.records[identifier]
        assert isinstance(found, Memory)
        return found

    def active(self) -> list[Memory]:
        """Return the active memories as they stand in the plan so far, by id."""
        return [
            record
            for _, record in sorted(self.records.items())
            if isinstance(record, Memory) and record.state is State.ACTIVE
        ]

    def active_episodes(self) -> list[Episode]:
        """Return the active episodes as they stand in the plan so far, by id."""
        return [
            record
            for _, record in sorted(self.records.items())
            if isinstance(record, Episode) and record.state is State.ACTIVE
        ]

    def leading_to(self) -> Links:
        """Return, by what they lead to, the ids of the records with links."""
        found: Links = defaultdict(set)
        for id_, record in self.records.items():
            for target in targets(record):
                found[target].add(id_)
        return found


def targets(record: Kept) -> list[str]:
    """Return the ids of the memories that a record leads to."""
    if isinstance(record, Episode):
        return list(record.linked_memories)
    return [link.target for link in record.relationships]
