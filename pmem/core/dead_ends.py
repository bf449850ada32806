"""Dead ends: what was tried, why it failed, and whether that still warns anybody."""

import re
from collections.abc import Iterable
from datetime import datetime
from typing import Final

from pmem.core import checks
from pmem.errors import InvalidValue
from pmem.values.ids import short
from pmem.values.records import Memory, MemoryType, Settlement

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
    """Return why a dead end is none any more, or None where an empty reason makes it one again.

    Raises:
        InvalidValue: The memory is no dead end.
    """
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
