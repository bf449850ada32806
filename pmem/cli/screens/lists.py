"""How lists look on a terminal: of memories, facts, episodes and conversations."""

from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any, Final

from pmem.cli.screens.view import Row, ScreenView, drawn_rows
from pmem.cli.screens.wrapping import wrapped
from pmem.cli.session import Line, Span
from pmem.core.lifecycle.presence import state_mark, validity_mark
from pmem.core.retention import valid_at
from pmem.core.trust import Trust, shown, trust_of
from pmem.core.visible import subject_before
from pmem.values.ids import short
from pmem.values.records import Episode, Fact, Memory, State, Status

if TYPE_CHECKING:
    from pmem.conversation.conversations import Overview
    from pmem.memory.overviews import NameListing
    from pmem.memory.reading import MemoryListing


def memory_screen(found: "MemoryListing", view: ScreenView) -> Iterator[Line]:
    """Draw a list of memories."""
    at = found.moment or view.now
    rows = []
    for memory in found.items:
        is_stale, is_disputed = memory.id in found.stale, memory.id in found.disputed
        marks = marks_of(memory, at, stale=is_stale, disputed=is_disputed)
        cells = [(short(memory.id), "cyan"), marks, (memory.type, "dim")]
        rows.append(Row(cells, memory_text(memory), _memory_tail(memory, at, view)))
    yield from drawn_rows(rows, view)
    yield from legend((row.cells[1] for row in rows), view)


def memory_text(memory: Memory) -> Line:
    """Return what a memory says on one line, its subject first."""
    content = folded(memory.content)
    return [(subject_before(folded(memory.subject or ""), content), "bold"), (content, "")]


def _memory_tail(memory: Memory, at: datetime, view: ScreenView) -> Line:
    """Tell a memory's tags, its age, and what has no sign of its own."""
    tags = [f"#{folded(tag)}" for tag in memory.tags]
    trust = shown(Trust.MEDIUM).strip(" ()") if trust_of(memory) is Trust.MEDIUM else ""
    told = "  ".join(filter(None, (*tags, view.when(memory.created_at), trust)))
    state = (state_mark(memory.state) or validity_mark(memory, at)).strip(" ()")
    return [(told, "dim"), (f"  {state}" if state else "", "magenta")]


def fact_screen(facts: Sequence[Fact], view: ScreenView, *, every: bool) -> Iterator[Line]:
    """Draw a list of facts."""
    rows = (
        Row(
            [
                (short(fact.id), "cyan"),
                (f"{fact.confidence:.0%}", ""),
                (fact.type, "dim"),
                (fact.standing if every else "", "dim"),
            ],
            [(f"{folded(fact.user)}: " if fact.user else "", "bold"), (folded(fact.content), "")],
            [(view.when(fact.extracted_at), "dim")],
        )
        for fact in facts
    )
    return drawn_rows(rows, view)


def name_screen(found: "NameListing", what: str, view: ScreenView) -> Iterator[Line]:
    """Draw a list of tags or subjects below a heading."""
    head = Row([("memories", "dim"), ("latest", "dim")], [(what, "dim")])
    rows = (
        Row(
            [(f"{item.count:>8,}", ""), (view.when(item.latest), "dim")],
            [(folded(item.name), "cyan")],
        )
        for item in found.items
    )
    return drawn_rows([head, *rows] if found.items else (), view)


def episode_screen(episodes: Sequence[Episode], view: ScreenView) -> Iterator[Line]:
    """Draw a list of episodes."""
    rows = [
        Row(
            [
                (short(episode.id), "cyan"),
                marks_of(episode, view.now),
                (f"{episode.significance:.0%}", ""),
                (view.when(episode.created_at), "dim"),
                (episode.type.replace("_", " "), "dim"),
            ],
            [(folded(episode.title), "")],
            [(state_mark(episode.state).strip(" ()"), "magenta")],
        )
        for episode in episodes
    ]
    yield from drawn_rows(rows, view)
    yield from legend((row.cells[1] for row in rows), view)


def conversation_screen(items: "Sequence[Overview]", view: ScreenView) -> Iterator[Line]:
    """Draw a list of conversations."""
    rows = (
        Row(
            [
                (short(item.id), "cyan"),
                (item.status, "green" if item.status is Status.ACTIVE else "dim"),
                (view.when(item.started_at), "dim"),
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


_MEANINGS: Final = {
    "*": "pinned",
    "x": "expired",
    "~": "stale: what it cites has changed",
    "!": "disputed between branches",
    "?": "low trust",
}
"""What a record is marked for; the signs are plain, so that every terminal shows them."""


def marks_of(record: Any, now: datetime, *, stale: bool = False, disputed: bool = False) -> Span:
    """Return the signs of a record or of a hit, each once."""
    signs = {
        "*": getattr(record, "pinned", False),
        "x": isinstance(record, Memory) and _is_expired(record, now),
        "~": stale,
        "!": disputed,
        "?": trust_of(record) is Trust.LOW,
    }
    shown = "".join(sign for sign, holds in signs.items() if holds)
    return shown, "cyan" if shown == "*" else "red"


def legend(marks: Iterable[Span], view: ScreenView) -> Iterator[Line]:
    """Yield what the marks on a terminal mean; nothing where there are none."""
    seen = {sign for signs, _ in marks for sign in signs}
    said = [f"{mark} {meaning}" for mark, meaning in _MEANINGS.items() if mark in seen]
    if said and not view.is_pipe:
        yield [("", "")]
        yield from wrapped([("   ".join(said), "dim")], view.width)


def _is_expired(memory: Memory, now: datetime) -> bool:
    is_over = memory.valid_until is not None and memory.valid_until <= now
    return memory.state is State.ACTIVE and is_over and not valid_at(memory, now)
