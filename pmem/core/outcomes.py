"""Outcomes of decisions: how they are shown, and which decisions are due for another look."""

import re
from collections.abc import Iterable
from datetime import datetime
from typing import Final

from pmem.core import checks
from pmem.core.lines import shortened
from pmem.errors import InvalidValue
from pmem.values.ids import short
from pmem.values.records import Consequence, Memory, MemoryType, OutcomeVerdict, Settlement
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


FIXES: Final = "fixes"
"""The type of the link from what worked to the dead end that it avoids."""
ERROR: Final = "error:"
COMMIT: Final = "commit:"
MOST_EVIDENCE: Final = 50
_EVIDENCE: Final = rf"(?:{ERROR}|{COMMIT})[0-9a-z]{{4,64}}"
_ENDS: Final = ".!?…。！？"


def describe_attempt(tried: str, because: str) -> str:
    """Return a dead end as one text, which is what searches read."""
    return f"Tried: {_sentence(tried)} It failed: {_sentence(because)}"


def check_evidence(values: Iterable[str]) -> tuple[str, ...]:
    """Return what proves a failure, each once.

    Each is `error:` and a fingerprint, or `commit:` and an id.

    Raises:
        InvalidValue: One is neither, or there are too many.
    """
    evidence = tuple(dict.fromkeys(values))
    for each in evidence:
        if not re.fullmatch(_EVIDENCE, each):
            raise InvalidValue(
                f"{each!r} is no evidence", "write error:FINGERPRINT or commit:ID, in lower case"
            )
    if len(evidence) > MOST_EVIDENCE:
        raise InvalidValue(f"a memory cannot have more than {MOST_EVIDENCE} pieces of evidence")
    return evidence


def warns(memory: Memory) -> bool:
    """Tell whether a memory is a dead end that nobody has settled."""
    return memory.type is MemoryType.DEAD_END and memory.settled is None


def settle(memory: Memory, reason: str, by: str, at: datetime) -> Settlement | None:
    """Return why a dead end is none any more; None where an empty reason makes it one again."""
    if memory.type is not MemoryType.DEAD_END:
        raise InvalidValue(
            f"memory {short(memory.id)} is no dead end: its type is {memory.type}",
            "only dead ends are settled",
        )
    if not reason.strip():
        return None
    if memory.settled is not None and memory.settled.reason == reason.strip():
        return memory.settled
    return Settlement(
        at=at, by=by, reason=checks.text(reason, "a reason", checks.MOST_WORD_CHARACTERS)
    )


def _sentence(text: str) -> str:
    said = " ".join(text.split())
    return said if said.endswith(tuple(_ENDS)) else f"{said}."
