"""How present a record still is: which kinds fade, how fast, and how answers show it.

A project does not forget by the calendar. Decisions, constraints, procedures, preferences and
goals, what is pinned, and what apps remember are kept however old they are. S2's manner, in which
everything but what is pinned fades alike, is there for those who set it.
"""

from collections.abc import Mapping
from datetime import datetime
from typing import Final, TypeVar

import msgspec
from msgspec.structs import replace

from pmem.core.retention import decay, valid_at
from pmem.values.config import Settings
from pmem.values.records import Access, Episode, EventKind, Memory, MemoryType, State
from pmem.values.times import HALF_LIFE_DAYS, day

Recalled = TypeVar("Recalled", bound=Memory | Episode)

_USES: Final = (EventKind.ADD, EventKind.UPDATE, EventKind.RESTORE)
"""Events that somebody brings about who cares for the record; upkeep has a hand in all others."""


def last_use(record: Memory | Episode) -> datetime:
    """Return when a record was last recalled, written or restored.

    Links, merges and what takes it out of recall do not count: that is no use of it.
    """
    times = [event.at for event in record.history if event.event in _USES]
    times += [record.access.last_at] if record.access.last_at else []
    return max([record.created_at, *times])


def said_at(memory: Memory) -> datetime:
    """Return since when a memory has said what it says."""
    changes = [event.at for event in memory.history if "content" in event.before]
    return max([memory.created_at, *changes])


def presence(memory: Memory, now: datetime, half_life_days: float) -> float:
    """Return how present a memory still is, from 0 to 1; see `retention.decay`."""
    return decay(last_use(memory), memory.access.count, now, half_life_days)


def with_recalls(record: Recalled, recalls: Access) -> Recalled:
    """Return a record with recalls folded in; nothing else about it changes."""
    times = [at for at in (record.access.last_at, recalls.last_at) if at is not None]
    folded = Access(
        count=record.access.count + recalls.count, last_at=max(times) if times else None
    )
    return replace(record, access=folded)


class FadingRules(msgspec.Struct, frozen=True, kw_only=True):
    """Days without use that halve what fades, by a memory's type, and those of episodes.

    A type that is not named never fades; with `keeps_apps`, nor does what apps remember. `least`
    active memories stay whatever fades.
    """

    half_lives: Mapping[MemoryType, float]
    episodes: float
    keeps_apps: bool
    least: int


def fading_rules(settings: Settings) -> FadingRules:
    """Return what fades, as the settings say: what is bound to its time, or as in S2 all alike."""
    if settings.decay == "s2":
        alike = dict.fromkeys(MemoryType, float(HALF_LIFE_DAYS))
        return FadingRules(half_lives=alike, episodes=HALF_LIFE_DAYS, keeps_apps=False, least=0)
    given = settings.fading
    half_lives = {
        MemoryType.FACT: given.facts,
        MemoryType.ENTITY: given.entities,
        MemoryType.INSIGHT: given.insights,
    }
    return FadingRules(
        half_lives=half_lives, episodes=given.facts, keeps_apps=True, least=given.least
    )


def half_life_of(memory: Memory, rules: FadingRules) -> float | None:
    """Return the days without use that halve a memory; None for one that never fades."""
    if memory.pinned or (rules.keeps_apps and memory.scope.app is not None):
        return None
    return rules.half_lives.get(memory.type)


OUT_OF_RECALL: Final = (State.ARCHIVED, State.SUPERSEDED, State.MERGED)
"""The states of what is not recalled; what was removed nobody wants to be told of."""


def state_mark(state: State | None) -> str:
    """Mark what is out of recall; what is recalled, or has no state, needs no mark."""
    return "" if state in (None, State.ACTIVE) else f" ({state.replace('_', ' ')})"


def validity_mark(memory: Memory, at: datetime | None) -> str:
    """Mark a memory that does not hold any more, or not yet.

    Without a moment nothing is marked.
    """
    if at is None or valid_at(memory, at):
        return ""
    if memory.valid_until is None or at < memory.valid_from:
        return " (not valid yet)"
    return f" (expired {day(memory.valid_until)})"


def describe_matches(found: Mapping[str, int]) -> str:
    """Say how many memories out of recall match a search."""
    states = " and ".join(f"{number} {state}" for state, number in found.items())
    match = "memory matches" if sum(found.values()) == 1 else "memories match"
    return f"{states} {match}"


def state_option(found: Mapping[str, int]) -> str:
    """Return the option of `search` that shows matches out of recall."""
    return "--all-states" if len(found) > 1 else f"--state {next(iter(found))}"
