"""How present a record still is: when somebody last cared, and what has faded since."""

from datetime import datetime
from typing import Final, TypeVar

from msgspec.structs import replace

from pmem.core.retention import decay
from pmem.values.records import Access, Episode, EventKind, Memory

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
