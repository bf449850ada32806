"""The screens of records: lists, one record, and why a context has each of its items."""

from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any, Final

from pmem.cli.screens.drawing import Row, ScreenView, bar, drawn_rows, folded, hung, wrapped
from pmem.cli.screens.stories import memory_text, who_did
from pmem.cli.session import Line, Span
from pmem.core.lifecycle.presence import state_mark, validity_mark
from pmem.core.retention import valid_at
from pmem.core.trust import Trust, mark_of, origin_mark, trust_of
from pmem.values.ids import short
from pmem.values.records import Episode, Event, EventKind, Fact, Memory, State, Status

if TYPE_CHECKING:
    from pmem.conversation.conversations import Overview
    from pmem.core.context.parts import Context
    from pmem.memory.reading import MemoryListing, NameListing, ShownRecord


def memory_screen(found: "MemoryListing", view: ScreenView) -> Iterator[Line]:
    """Draw a list of memories."""
    at = found.moment or view.now
    rows = []
    for memory in found.items:
        is_stale, is_disputed = memory.id in found.stale, memory.id in found.disputed
        marks = marks_of(memory, at, stale=is_stale, disputed=is_disputed)
        cells = [(short(memory.id), "cyan"), marks, (memory.type, "dim")]
        mark = origin_mark(found.origins.get(memory.id)).strip(" ()")
        rows.append(Row(cells, memory_text(memory), _memory_tail(memory, at, view, mark)))
    yield from drawn_rows(rows, view)
    yield from legend((row.cells[1] for row in rows), view)


def _memory_tail(memory: Memory, at: datetime, view: ScreenView, mark: str) -> Line:
    tags = [f"#{folded(tag)}" for tag in memory.tags]
    trust = mark_of(Trust.MEDIUM).strip(" ()") if trust_of(memory) is Trust.MEDIUM else ""
    told = "  ".join(filter(None, (*tags, view.when(memory.created_at), trust)))
    state = (state_mark(memory.state) or validity_mark(memory, at)).strip(" ()")
    doubt = (f"  {mark}" if mark else "", "red")
    return [(told, "dim"), doubt, (f"  {state}" if state else "", "magenta")]


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
    end = getattr(record, "valid_until", None)
    is_over = end is not None and end <= now and record.state is State.ACTIVE
    signs = {
        "*": getattr(record, "pinned", False),
        "x": is_over and not valid_at(record, now),
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


_MINOR: Final = frozenset(
    "importance category tokens events valid_from significance valence source".split()
)
"""What is told on one line below all else."""
_TOLD: Final = frozenset(
    "type subject summary title tags pinned created_at updated_at relationships linked_memories"
    " access".split()
)
"""What the screen tells in its own words."""
_CHANGES: Final = frozenset(EventKind) - {EventKind.ADD, EventKind.LINK, EventKind.UNLINK}
_NUMBERS: Final = 7
_WIDEST_BAR: Final = 40


def record_screen(found: "ShownRecord", view: ScreenView) -> Iterator[Line]:
    """Draw one record: what it says first, who wrote it, what belongs to it."""
    from pmem.cli.memory import fields_of, title_of

    record: Any = found.record
    marks = marks_of(record, view.now, stale=bool(found.stale), disputed=bool(found.disputed))
    kind = folded(str(getattr(record, "type", "")).replace("_", " "))
    head = [(f"{record.id}  ", "bold cyan"), (marks[0] and f"{marks[0]} ", marks[1])]
    head.append(("  ".join(filter(None, (title_of(record), kind))), "dim"))
    yield from hung(head, view.width)
    yield from _text_lines(record, view)
    yield [("", "")]
    fields = {}
    for name, value in fields_of(record):
        if name not in _TOLD and (name, value) != ("state", "active"):
            at = getattr(record, name, None)
            fields[name] = view.when(at) if isinstance(at, datetime) else value
    minor = [f"{_plain(name)} {fields.pop(name)}" for name in [*fields] if name in _MINOR]
    others = (_named_row(name, told) for name, told in fields.items())
    rows = [*_people(record, view), *_belongings(found, view), *others]
    yield from drawn_rows(rows, view, most=0)
    if minor:
        yield from wrapped([("  ·  ".join(minor), "dim")], view.width)
    yield from legend([marks], view)


def _text_lines(record: Any, view: ScreenView) -> Iterator[Line]:
    text = getattr(record, "content", None) or getattr(record, "summary", None)
    if not text:
        return
    yield [("", "")]
    subject = getattr(record, "subject", None)
    if subject:
        yield from wrapped([("  ", ""), (folded(subject), "bold")], view.width, hang=2)
    for line in text.split("\n"):
        own = len(line) - len(line.lstrip(" "))
        yield from wrapped([(f"  {line}", "")], view.width, hang=min(own + 2, view.width // 2))


def _people(record: Any, view: ScreenView) -> Iterator[Row]:
    def told(event: Event) -> str:
        who = folded(who_did(event.actor, event.agent, event.source))
        return f"{view.when(event.at)} by {who}"

    history: tuple[Event, ...] = getattr(record, "history", ())
    written = next((event for event in history if event.event is EventKind.ADD), None)
    if written is not None:
        yield _named_row("written", told(written))
    elif hasattr(record, "created_at"):
        yield _named_row("written", view.when(record.created_at))
    if changes := [event for event in history if event.event in _CHANGES]:
        many = f"{len(changes)} times, last " * (len(changes) > 1)
        yield _named_row("changed", many + told(changes[-1]))


def _belongings(found: "ShownRecord", view: ScreenView) -> Iterator[Row]:
    """Yield what a record is filed under, links to, was used for, and what speaks against it."""
    record: Any = found.record
    tags = getattr(record, "tags", ())
    if tags:
        yield _named_row("tags", "  ".join(f"#{folded(tag)}" for tag in tags))
    for link in found.links:
        text = ("not here", "dim") if link.text is None else (folded(link.text), "")
        yield Row([(_plain(link.type), "dim")], [(short(link.id), "cyan"), ("  ", ""), text])
    if isinstance(record, Memory | Episode):
        last = record.access.last_at
        many = "once" if found.recalls == 1 else f"{found.recalls:,} times"
        many += f", last saved {view.when(last)}" if last else ""
        yield _named_row("recalled", many if found.recalls else "never")
    if found.use is not None:
        used = f"in {found.use.used} of {found.use.shown} sessions that were shown it"
        yield _named_row("used", used)
    if mark := origin_mark(found.origin).strip(" ()"):
        yield _named_row("origin", mark, "red")
    if found.stale:
        yield _named_row("stale", ", ".join(found.stale), "red")
    for field, value in found.disputed.items():
        told = f"{_plain(field)}: {value} (the other side of a merge; `pmem resolve REF` decides)"
        yield _named_row("conflict", told, "red")


def _named_row(name: str, value: str, style: str = "dim") -> Row:
    return Row([(_plain(name), style)], [(value, "")])


def _plain(name: str) -> str:
    return name.replace("_", " ")


def receipt_screen(built: "Context", note: str, view: ScreenView) -> Iterator[Line]:
    """Draw what each section of a context took of the budget, then what is in and out, and why."""
    from pmem.core.context.parts import nearest_left_out
    from pmem.search.context_reasons import say_why

    def row(identifier: str, text: str, why: str, score: float | None) -> Row:
        scored = "" if score is None else f" ({score:.2f})"
        head = [("  " + short(identifier), "cyan")]
        return Row(head, [(folded(text), "")], [(f"{why}{scored}", "dim")])

    yield from _bars(built, view)
    for part in built.sections:
        yield [("", "")]
        yield [(f"in: {part.name}", "bold")]
        rows = [
            row(item.id, item.text, item.reason or say_why(item.why or part.name), item.score)
            for item in part.items
        ]
        yield from drawn_rows(rows, view)
    if built.omitted:
        yield [("", "")]
        nearest = nearest_left_out(built)
        which = f", the nearest {len(nearest)}" * (len(nearest) < len(built.omitted))
        yield [(f"left out: {len(built.omitted):,}{which}", "bold")]
        rows = [row(left.id, left.text, say_why(left.reason), left.score) for left in nearest]
        yield from drawn_rows(rows, view)
    yield [("", "")]
    yield from ([(said, "")] for said in (*built.notes, note))


def _bars(built: "Context", view: ScreenView) -> Iterator[Line]:
    spent = [(part.name, len(part.items), part.tokens) for part in built.sections]
    rest = built.tokens - sum(tokens for _, _, tokens in spent)
    spent += [("frame", 0, rest), ("free", 0, built.budget - built.tokens)]
    room = view.width - max(len(name) for name, _, _ in spent) - 2 * _NUMBERS - 12
    heading = ("section", f"{'items':>{_NUMBERS}}", f"{'tokens':>{_NUMBERS}}")
    rows = [Row([(said, "dim") for said in heading], [("share", "dim")])]
    for name, items, tokens in spent:
        share = max(0, tokens) / built.budget
        drawn = bar(share, max(4, min(_WIDEST_BAR, room)))
        counts = (f"{items or '':>{_NUMBERS}}", ""), (f"{tokens:>{_NUMBERS},}", "")
        colour = "dim" if name == "free" else "green"
        rows.append(Row([(name, ""), *counts], [(drawn, colour), (f" {share:>4.0%}", "")]))
    return drawn_rows(rows, view)
