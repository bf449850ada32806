"""Marks beside memories that need a second look, and the legend that explains them."""

import sys
from collections.abc import Iterable, Iterator
from datetime import datetime
from enum import StrEnum
from typing import Any, Final

from pmem.cli.screens.wrapping import wrapped
from pmem.cli.session import Line
from pmem.core.retention import valid_at
from pmem.core.trust import Trust
from pmem.values.records import Memory, State


class Mark(StrEnum):
    """What a memory is marked for; the sign is plain, so that every terminal shows it."""

    PINNED = "*"
    EXPIRED = "x"
    STALE = "~"
    DISPUTED = "!"
    LOW_TRUST = "?"


_MEANINGS: Final = {
    Mark.PINNED: "pinned",
    Mark.EXPIRED: "expired",
    Mark.STALE: "stale: what it cites has changed",
    Mark.DISPUTED: "disputed between branches",
    Mark.LOW_TRUST: "low trust",
}
_STYLES: Final = {Mark.PINNED: "cyan", Mark.LOW_TRUST: "magenta"}
_WRONG: Final = "red"


def marks_of(
    record: Any, trust: Trust | None, now: datetime, *, stale: bool = False, disputed: bool = False
) -> str:
    """Return the signs of a record, each once."""
    signs = {
        Mark.PINNED: getattr(record, "pinned", False),
        Mark.EXPIRED: isinstance(record, Memory) and _is_expired(record, now),
        Mark.STALE: stale,
        Mark.DISPUTED: disputed,
        Mark.LOW_TRUST: trust is Trust.LOW,
    }
    return "".join(sign for sign, holds in signs.items() if holds)


def marked(signs: str, width: int) -> Line:
    """Return signs in their column, each in its colour; nothing where no row has any."""
    if not width:
        return []
    coloured = [(sign, _STYLES.get(Mark(sign), _WRONG)) for sign in signs]
    return [*coloured, (" " * (width - len(signs) + 1), "")]


def legend(signs: Iterable[str], width: int) -> Iterator[Line]:
    """Yield what the signs on a terminal mean; nothing where there are none."""
    if width == sys.maxsize:
        return
    seen = set("".join(signs))
    said = [f"{mark} {meaning}" for mark, meaning in _MEANINGS.items() if mark in seen]
    if said:
        yield [("", "")]
        yield from wrapped([("   ".join(said), "dim")], width)


def _is_expired(memory: Memory, now: datetime) -> bool:
    is_over = memory.valid_until is not None and memory.valid_until <= now
    return memory.state is State.ACTIVE and is_over and not valid_at(memory, now)
