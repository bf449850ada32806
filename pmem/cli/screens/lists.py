"""How lists look on a terminal: of memories, facts, episodes and conversations."""

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import TYPE_CHECKING

from pmem.cli.screens.view import Row, ScreenView, cell, column, drawn_rows
from pmem.cli.screens.wrapping import cells
from pmem.cli.session import Line
from pmem.core.lifecycle.out_of_recall import state_mark, validity_mark
from pmem.core.trust import Trust, shown, trust_of
from pmem.values.ids import short
from pmem.values.records import Episode, Fact, Memory, Status

if TYPE_CHECKING:
    from pmem.conversation.conversations import Overview
    from pmem.memory.overviews import NameListing
    from pmem.memory.reading import MemoryListing
import sys
from collections.abc import Iterable
from enum import StrEnum
from typing import Any, Final

from pmem.cli.screens.wrapping import wrapped
from pmem.core.retention import valid_at
from pmem.values.records import State


def memory_screen(found: "MemoryListing", view: ScreenView) -> Iterator[Line]:
    """Draw a list of memories."""
    at = found.moment or view.now
    signs = [
        marks_of(
            memory,
            trust_of(memory),
            at,
            stale=memory.id in found.stale,
            disputed=memory.id in found.disputed,
        )
        for memory in found.items
    ]
    width, types = column(signs), column(memory.type for memory in found.items)
    rows = (
        Row(
            [
                *cell(short(memory.id), 8, "cyan"),
                *marked(own, width),
                *cell(memory.type, types, "dim"),
            ],
            memory_text(memory),
            _memory_tail(memory, at, view),
        )
        for memory, own in zip(found.items, signs, strict=True)
    )
    yield from drawn_rows(rows, view)
    yield from legend(signs, view.width)


def memory_text(memory: Memory) -> Line:
    """Return what a memory says on one line, its subject first."""
    subject = [(f"{folded(memory.subject)}: ", "bold")] if memory.subject else []
    return [*subject, (folded(memory.content), "")]


def _memory_tail(memory: Memory, at: datetime, view: ScreenView) -> Line:
    """Tell a memory's tags, its age, and what has no sign of its own."""
    trust = trust_of(memory)
    told = [
        *(f"#{folded(tag)}" for tag in memory.tags),
        view.when(memory.created_at),
        shown(trust if trust is Trust.MEDIUM else None).strip(" ()"),
    ]
    mark = state_mark(memory.state) or validity_mark(memory, at)
    state = _state_tail(mark)
    return [("  ".join(filter(None, told)), "dim"), *([("  ", ""), *state] if state else [])]


def _state_tail(mark: str) -> Line:
    return [(mark.strip(" ()"), "magenta")] if mark else []


def fact_screen(facts: Sequence[Fact], view: ScreenView, *, every: bool) -> Iterator[Line]:
    """Draw a list of facts."""
    types = column(fact.type for fact in facts)
    standings = column(fact.standing for fact in facts) if every else 0
    rows = (
        Row(
            [
                *cell(short(fact.id), 8, "cyan"),
                *cell(f"{fact.confidence:.0%}", 4),
                *cell(fact.type, types, "dim"),
                *cell(fact.standing, standings, "dim"),
            ],
            [*_said_by(fact), (folded(fact.content), "")],
            [(view.when(fact.extracted_at), "dim")],
        )
        for fact in facts
    )
    return drawn_rows(rows, view)


def _said_by(fact: Fact) -> Line:
    return [(f"{folded(fact.user)}: ", "bold")] if fact.user else []


def name_screen(found: "NameListing", what: str, view: ScreenView) -> Iterator[Line]:
    """Draw a list of tags or subjects below a heading."""
    if not found.items:
        return
    counts = max(len("memories"), *(len(f"{item.count:,}") for item in found.items))
    times = max(len("latest"), *(cells(view.when(item.latest)) for item in found.items))
    yield [(f"{'memories':>{counts}}  {'latest':<{times}}  {what}", "dim")]
    rows = (
        Row(
            [(f"{item.count:>{counts},}  ", ""), *cell(view.when(item.latest), times, "dim")],
            [(folded(item.name), "cyan")],
            [],
        )
        for item in found.items
    )
    yield from drawn_rows(rows, view)


def episode_screen(episodes: Sequence[Episode], view: ScreenView) -> Iterator[Line]:
    """Draw a list of episodes."""
    signs = [marks_of(episode, trust_of(episode), view.now) for episode in episodes]
    width, types = column(signs), column(_type(episode) for episode in episodes)
    rows = (
        Row(
            [
                *cell(short(episode.id), 8, "cyan"),
                *marked(own, width),
                *cell(f"{episode.significance:.0%}", 4),
                *cell(view.when(episode.created_at), view.when_width, "dim"),
                *cell(_type(episode), types, "dim"),
            ],
            [(folded(episode.title), "")],
            _state_tail(state_mark(episode.state)),
        )
        for episode, own in zip(episodes, signs, strict=True)
    )
    yield from drawn_rows(rows, view)
    yield from legend(signs, view.width)


def conversation_screen(items: "Sequence[Overview]", view: ScreenView) -> Iterator[Line]:
    """Draw a list of conversations."""
    statuses = column(item.status for item in items)
    rows = (
        Row(
            [
                *cell(short(item.id), 8, "cyan"),
                *cell(item.status, statuses, "green" if item.status is Status.ACTIVE else "dim"),
                *cell(view.when(item.started_at), view.when_width, "dim"),
            ],
            [(folded(item.title or item.external_id or ""), "")],
            [(f"{item.turns:,} message{'s' * (item.turns != 1)}", "dim")],
        )
        for item in items
    )
    return drawn_rows(rows, view)


def folded(text: str) -> str:
    """Return a text on one line."""
    return " ".join(text.split())


def _type(episode: Episode) -> str:
    return episode.type.replace("_", " ")


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
