"""What decisions led to: how that reads beside them, and which are to be looked at again."""

from datetime import datetime
from typing import Final

from pmem.core.shortening import shortened
from pmem.values.records import Consequence, Memory, OutcomeVerdict
from pmem.values.times import iso

_LONGEST: Final = 80
"""Characters of an alternative, or of what happened, beside a memory."""
_MOST: Final = 2
"""So many alternatives are named beside it."""
_MONTH: Final = len("2026-11")
_DAY: Final = len("2026-11-21")
_WENT: Final = {
    OutcomeVerdict.GOOD: "went well",
    OutcomeVerdict.BAD: "went badly",
    OutcomeVerdict.MIXED: "had mixed results",
}


def failed(memory: Memory) -> bool:
    """Tell whether the latest outcome of a memory says that it failed."""
    return bool(memory.outcomes) and latest_outcome(memory).verdict is OutcomeVerdict.BAD


def told_with(memory: Memory) -> str:
    """Return what stands behind a memory's text: what it was taken instead of, how it went."""
    parts = []
    if memory.instead_of:
        named = "; ".join(_short(each) for each in memory.instead_of[:_MOST])
        parts.append(f" (instead of {named})")
    if memory.outcomes:
        parts.append(f" ({how_it_went(memory, _MONTH)})")
    return "".join(parts)


def how_it_went(memory: Memory, precision: int = _DAY) -> str:
    """Return the latest outcome of a memory that has one: `went badly 2026-11-19: too slow`."""
    latest = latest_outcome(memory)
    said = f": {_short(latest.text)}" if latest.text else ""
    return f"{_WENT[latest.verdict]} {iso(latest.at)[:precision]}{said}"


def is_due(memory: Memory, at: datetime) -> bool:
    """Tell whether a memory is to be looked at again by a moment."""
    return memory.review_at is not None and memory.review_at <= at


def latest_outcome(memory: Memory) -> Consequence:
    """Return the latest outcome of a memory that has one."""
    return max(memory.outcomes, key=lambda outcome: outcome.at)


def _short(text: str) -> str:
    return shortened(" ".join(text.split()), _LONGEST)
