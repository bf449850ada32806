"""A plan: its steps, what each changes, and a name by which the plan is recognised.

Each step of a plan starts from the records as the steps before it leave them (`Draft`).
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import datetime
from enum import StrEnum
from hashlib import blake2b
from typing import Any, Final

import msgspec

from pmem.core.retention import json_value
from pmem.values.ids import short
from pmem.values.records import KINDS, Episode, Event, EventKind, Memory, State, dump_line

Kept = Memory | Episode
SOURCE: Final = "consolidate"
"""Who made a change, where upkeep did."""
_SILENT: Final = ("history", "updated_at", "tokens", "id", "schema")
_TIMES: Final = ("valid_until", "valid_from", "purge_at", "created_at")
_NAME_BYTES: Final = 5


class Action(StrEnum):
    """What a step does."""

    FOLD = "fold"
    ARCHIVE = "archive"
    MERGE = "merge"
    LINK = "link"
    INSIGHT = "insight"
    EXPIRE = "expire"
    PURGE = "purge"


class Touched(msgspec.Struct, frozen=True, kw_only=True):
    """A record that a step changes: as it was, and as it will be.

    `old` is None for a record that the step makes, `new` for one that it deletes for good.
    """

    old: Kept | None
    new: Kept | None

    @property
    def record(self) -> Kept:
        """The record, in whichever form there is; the older one first."""
        found = self.old or self.new
        assert found is not None
        return found

    def differences(self) -> tuple[dict[str, Any], dict[str, Any]]:
        """Return the fields that change, as JSON: what they were, and what they will be."""
        if self.old is None or self.new is None:
            return _state(self.old), _state(self.new)
        pairs = [
            (name, getattr(self.old, name), getattr(self.new, name))
            for name in self.old.__struct_fields__
            if name not in _SILENT
        ]
        changed = [(name, was, will) for name, was, will in pairs if was != will]
        return (
            {name: json_value(was) for name, was, _ in changed},
            {name: json_value(will) for name, _, will in changed},
        )


class UpkeepStep(msgspec.Struct, frozen=True, kw_only=True):
    """One thing to do, and why; all of its records change together, or none does.

    `advice` is what a person may want to do about it. What it `rests_on` is not changed, but must
    still be active and say the same when the step is done.
    """

    action: Action
    why: str
    touched: tuple[Touched, ...]
    advice: str = ""
    rests_on: tuple[Kept, ...] = ()

    @property
    def name(self) -> str:
        """Ten characters that stay the same while the step would do the same.

        When it is done does not count, nor do recalls.
        """
        digest = blake2b(self.action.encode(), digest_size=_NAME_BYTES)
        for part in self.touched:
            record = part.record
            known = record.id if part.old is not None else ""
            digest.update(dump_line([known, text_of(record), *map(_lasting, part.differences())]))
        return digest.hexdigest()


class Notice(msgspec.Struct, frozen=True, kw_only=True):
    """Two records that look alike, and why upkeep leaves them alone."""

    records: tuple[str, str]
    texts: tuple[str, str]
    score: float
    why: str


class UpkeepPlan(msgspec.Struct, frozen=True, kw_only=True):
    """What upkeep would do, in order; `waiting` pairs are left for the next run."""

    steps: tuple[UpkeepStep, ...]
    notices: tuple[Notice, ...] = ()
    waiting: int = 0


def plan_name(steps: Iterable[str]) -> str:
    """Return ten characters that stay the same while a plan does."""
    return blake2b("".join(steps).encode(), digest_size=_NAME_BYTES).hexdigest()


def text_of(record: Kept) -> str:
    """Return what a record says."""
    return record.content if isinstance(record, Memory) else f"{record.title}: {record.summary}"


def kind_of(record: Kept) -> str:
    """Return what a record is called."""
    return KINDS[type(record)]


def named(record: Kept) -> str:
    """Return a record's kind and short id, for a sentence."""
    return f"{kind_of(record)} {short(record.id)}"


def groups(steps: Sequence[UpkeepStep]) -> Iterator[list[UpkeepStep]]:
    """Yield the steps that share records together, in the order of the plan."""
    parents = list(range(len(steps)))
    first: dict[str, int] = {}
    for place, step in enumerate(steps):
        for part in step.touched:
            other = _root(parents, first.setdefault(part.record.id, place))
            parents[max(other, _root(parents, place))] = min(other, _root(parents, place))
    found: dict[int, list[UpkeepStep]] = {}
    for place, step in enumerate(steps):
        found.setdefault(_root(parents, place), []).append(step)
    yield from found.values()


def _root(parents: list[int], place: int) -> int:
    while parents[place] != place:
        parents[place] = parents[parents[place]]
        place = parents[place]
    return place


def _state(record: Kept | None) -> dict[str, Any]:
    return {} if record is None else {"state": str(record.state)}


def _lasting(fields: dict[str, Any]) -> dict[str, Any]:
    """Leave out when something happened, and how often something was recalled."""
    kept = {name: value for name, value in fields.items() if name not in (*_TIMES, "access")}
    if "relationships" in kept:
        kept["relationships"] = [
            {name: value for name, value in link.items() if name != "created_at"}
            for link in kept["relationships"]
        ]
    return kept


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
        return Event(event=kind, at=self.now, actor=self.actor, source=SOURCE, detail=detail)

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
