"""The log of events, and how the story of one record reads."""

from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from typing import Annotated, Any, Final

import typer

from pmem.cli import options
from pmem.cli.panels import cells, cut_line, padded
from pmem.cli.session import Answer, CommandSession, Line
from pmem.core.journal import JournalEntry, JournalKind, JournalStep, Wanted, one_line
from pmem.core.operations import LoggedOperation
from pmem.core.versions import MemoryVersion
from pmem.errors import UsageError
from pmem.memory.journal import SHOWN, EventsRequest, Journal, RanRequest
from pmem.operations import table
from pmem.values.ids import is_id, short
from pmem.values.records import EventKind
from pmem.values.times import iso

COLOURS: Final = {
    EventKind.ADD: "green",
    EventKind.UPDATE: "yellow",
    EventKind.DELETE: "red",
    EventKind.TTL: "red",
    EventKind.MERGE: "magenta",
    EventKind.SUPERSEDE: "magenta",
    EventKind.ARCHIVE: "blue",
    EventKind.RESTORE: "green",
    EventKind.LINK: "cyan",
    EventKind.UNLINK: "cyan",
}
_NARROW: Final = 60
"""Columns below which lines are left whole: cut, they would say nothing."""
_VALUE: Final = 40
_WHOLE: Final = 4000
"""Characters of a reason in the history of one record: no reason has more."""
_REASONS: Final = ("reason", "failure")
_LONG_VALUE: Final = 200
_ONE_LINE: Final = 72
"""Characters of a change that fit on one line of a story."""
_SHARED: Final = 20
"""Characters before the first difference of two long values that are shown."""
_ACTOR: Final = 12
"""Columns of a name in the log."""
_UNSAID: Final = ("replaced", "branch")
"""What an event holds for pmem alone, or for another part of the same event."""
_PROSE: Final = ("content", "subject", "title", "summary", "context", "outcome")

When = Annotated[str | None, typer.Option("--after", metavar="TIME", help="At this time or later.")]
Until = Annotated[str | None, typer.Option("--before", metavar="TIME", help="Before this time.")]


def events(
    ctx: typer.Context,
    limit: Annotated[
        int, typer.Option("--limit", "-n", min=0, help="Only the newest N; 0 for all.")
    ] = SHOWN,
    event: Annotated[
        list[EventKind] | None,
        typer.Option(case_sensitive=False, help="Only these events; repeatable."),
    ] = None,
    kind: Annotated[
        list[JournalKind] | None, typer.Option(help="Only of these kinds of records; repeatable.")
    ] = None,
    record: Annotated[str | None, typer.Option(metavar="REF", help="Only of this record.")] = None,
    by: Annotated[
        str | None, typer.Option(metavar="ACTOR", help="Only by this person or program.")
    ] = None,
    app: options.App = None,
    user: options.User = None,
    after: When = None,
    before: Until = None,
    at: options.At = None,
    operations: Annotated[
        bool, typer.Option("--operations", help="Show what ran in this clone instead.")
    ] = False,
) -> Answer:
    """Show what happened to all records, the newest last."""
    session: CommandSession = ctx.obj
    if operations:
        if event or kind or record or by or app or user or session.asker or at:
            raise UsageError("--operations takes --limit, --after and --before only")
        return _ran(session, after, before, limit)
    wanted = Wanted(
        kinds=tuple(kind or ()),
        events=tuple(event or ()),
        app=app,
        user=user,
        agent=session.asker and session.concerned,
        actor=by,
        after=session.time(after),
        before=session.time(before),
    )
    request = EventsRequest(wanted=wanted, record=record, limit=limit, **session.when(at))
    found = session.run(table.EVENTS, request)
    return Answer(
        data=found,
        lines=_log(found.items),
        screen=lambda width: _fit_lines(_log(found.items), width),
        note=_journal_note(found, filtered=wanted != Wanted() or record is not None),
    )


def _ran(session: CommandSession, after: str | None, before: str | None, limit: int) -> Answer:
    request = RanRequest(after=session.time(after), before=session.time(before), limit=limit)
    found = session.run(table.OPERATIONS, request)
    return Answer(
        data=found,
        lines=(_ran_line(item) for item in found.items),
        note="" if found.items else "nothing ran since the log began",
    )


def _ran_line(item: LoggedOperation) -> Line:
    parts = [item.memory and short(item.memory), item.category, item.thread]
    if item.sim is not None:
        parts.append(f"{item.sim:.2f}")
    about = "  ".join(part for part in parts if part)
    return [
        (_second(item.ts), "dim"),
        (f"  {item.node:<8} {item.op:<9} ", "cyan"),
        (f"{item.status:<7}" if about else item.status, "" if item.status == "ok" else "yellow"),
        (f"  {about}" if about else "", "dim"),
    ]


def story_lines(steps: Iterable[JournalStep]) -> Iterator[Line]:
    """Yield a record's history for people: a block for each event, what changed below it."""
    for step in steps:
        event = step.event
        yield [
            (_second(event.at), "dim"),
            (f"  {event.event:<9} ", COLOURS[event.event]),
            (_who(event.actor, event.agent, event.source), "cyan"),
        ]
        if event.event is EventKind.ADD and step.text:
            yield [(f"    {step.text}", "")]
        for name in event.before:
            yield from change_lines(name, event.before, step.after)
        for said in _details(event.detail, _WHOLE):
            yield [(f"    {said}", "")]


def _log(entries: Sequence[JournalEntry]) -> Iterator[Line]:
    """Yield a line for each event; the actors stand in a column of their own."""
    actors = [_in_column(entry) for entry in entries]
    width = max(map(cells, actors), default=0)
    for entry, actor in zip(entries, actors, strict=True):
        yield [
            (_second(entry.at), "dim"),
            (f"  {entry.event:<9} ", COLOURS[entry.event]),
            (short(entry.id), "cyan"),
            (f"  {padded(actor, width)}  ", "dim"),
            *_event_lines(entry),
        ]


def _event_lines(entry: JournalEntry) -> Iterator[tuple[str, str]]:
    """Say what an event was about; an update of the text itself says it twice already."""
    changes = _changes(entry) if entry.event is EventKind.UPDATE else []
    text = entry.text or f"({entry.kind})"
    tells_itself = entry.event is EventKind.UPDATE and "content" in entry.before
    if not tells_itself:
        yield text + "  " * bool(changes), ""
    yield "; ".join(changes), "yellow"
    yield "".join(f"  {said}" for said in _details(entry.detail)), "cyan"


def _changes(entry: JournalEntry) -> list[str]:
    return [
        f"{name}: {' → '.join(sides(name, entry.before, entry.after, _VALUE))}"
        for name in entry.before
    ]


def change_lines(name: str, before: dict[str, Any], after: dict[str, Any]) -> Iterator[Line]:
    """Yield a change on one line where it fits, else each side on a line of its own.

    Args:
        name: The field's name.
        before: Earlier values by field.
        after: Later values by field.
    """
    was, *became = sides(name, before, after, _LONG_VALUE)
    label = name.replace("_", " ")
    if len(label) + len(was) + sum(map(len, became)) <= _ONE_LINE:
        new = [(" → ", ""), *((side, "green") for side in became)] if became else []
        yield [(f"    {label}: ", "bold"), (was, "red"), *new]
        return
    yield [(f"    {label}:", "bold")]
    yield [("      - ", ""), (was, "red")]
    yield from ([("      + ", ""), (side, "green")] for side in became)


def version_line(version: MemoryVersion) -> Line:
    """Say on one line what a version says, since when, and by whom.

    Args:
        version: One text of a memory.
    """
    told = f"  (conversation {short(version.conversation)})" if version.conversation else ""
    return [
        (f"v{version.number}", "cyan"),
        (f"  {iso(version.created_at)}  {version.actor or '-'}", ""),
        (f"  {' '.join(version.content.split())}{told}", ""),
    ]


def sides(name: str, before: dict[str, Any], after: dict[str, Any], most: int) -> list[str]:
    """Say what a field was and, where that is known, what it became.

    Args:
        name: The field's name.
        before: Earlier values by field.
        after: Later values by field, where they are known.
        most: Characters of each side.
    """
    if name not in after:
        return [_say_value(name, before[name], most)]
    was, became = before[name], after[name]
    confirmed = _confirmed(was, became) if name == "citations" else []
    if confirmed:
        return [f"confirmed against {one_line(', '.join(confirmed), most)}"]
    if isinstance(was, str) and isinstance(became, str):
        was, became = _excerpt(was, became, most), _excerpt(became, was, most)
    return [_say_value(name, was, most), _say_value(name, became, most)]


def _confirmed(was: Any, became: Any) -> list[str]:
    """Name the places whose text is cited as it is now, where the same places are cited."""
    if not all(isinstance(side, list) and all(map(_is_citation, side)) for side in (was, became)):
        return []
    if list(map(_place, was)) != list(map(_place, became)):
        return []
    return [_place(new) for old, new in zip(was, became, strict=True) if old != new]


def _is_citation(value: Any) -> bool:
    return isinstance(value, dict) and value.keys() >= {"file", "digest"}


def _excerpt(text: str, other: str, most: int) -> str:
    """Return a text from shortly before the place where it begins to differ from another."""
    folded, compared = (" ".join(part.split()) for part in (text, other))
    if max(len(folded), len(compared)) <= most:
        return folded
    pairs = enumerate(zip(folded, compared, strict=False))
    same = next((place for place, (one, two) in pairs if one != two), len(compared))
    start = max(0, min(same, len(folded)) - _SHARED)
    return f"{'…' * bool(start)}{folded[start:]}"


def _details(detail: dict[str, Any], reason: int = _VALUE) -> Iterator[str]:
    """Say what an event holds beside the earlier values: links by what they mean.

    Args:
        detail: What it holds.
        reason: Characters of a reason, and of a failure, at the most.
    """
    for name, value in detail.items():
        if name == "link" and isinstance(value, dict):
            yield f"{_link(value)}{_replaced_ids(detail.get('replaced'))}"
        elif name == "removed" and isinstance(value, list):
            yield from (f"no longer {_link(link)}" for link in value if isinstance(link, dict))
        elif name not in _UNSAID and value not in (None, "", [], {}):
            most = reason if name in _REASONS else _VALUE
            yield f"{name.replace('_', ' ')}: {_say_value(name, value, most)}"


def _link(link: dict[str, Any]) -> str:
    strength = link.get("strength")
    shown = "" if strength is None else f" ({strength})"
    return f"{link.get('type')} {short(str(link.get('target')))}{shown}"


def _replaced_ids(links: Any) -> str:
    known = [link for link in links if isinstance(link, dict)] if isinstance(links, list) else []
    return f", was ({known[0].get('strength')})" if known else ""


def _say_value(name: str, value: Any, most: int) -> str:
    """Say a value from a history, as JSON holds it, in words."""
    if isinstance(value, dict):
        return (
            one_line(_place(value) if _is_citation(value) else _parts(value, most), most) or "none"
        )
    if isinstance(value, list):
        return one_line(", ".join(_say_value(name, part, most) for part in value), most) or "none"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if not isinstance(value, str):
        return "not set" if value is None else str(value)
    if name in _PROSE:
        return f'"{one_line(value, most)}"'
    return short(value) if is_id(value) else one_line(value.replace("_", " "), most)


def _parts(value: dict[str, Any], most: int) -> str:
    return " ".join(f"{key}={_say_value(key, part, most)}" for key, part in value.items())


def _place(cited: dict[str, Any]) -> str:
    """Say what is cited, whatever else a history may hold there."""
    if isinstance(cited.get("symbol"), str):
        return f"{cited['file']}::{cited['symbol']}"
    lines = cited.get("lines")
    numbers = dict.fromkeys(map(str, lines)) if isinstance(lines, list) else ()
    return f"{cited['file']}{':' * bool(numbers)}{'-'.join(numbers)}"


def _second(at: datetime) -> str:
    return iso(at.replace(microsecond=0))


def _who(actor: str, agent: str, source: str) -> str:
    """Say who did something: a person, or the agent that did it for them in brackets."""
    who = actor or agent or source or "-"
    return f"{who} ({agent})" if actor and agent else who


def _in_column(entry: JournalEntry) -> str:
    """Say who did something where there is little room: a long name hides no agent."""
    names = (entry.actor, entry.agent, entry.source)
    return _who(*(padded(name, min(_ACTOR, cells(name))) for name in names))


def _fit_lines(lines: Iterable[Line], width: int) -> Iterable[Line]:
    """Cut lines to a terminal's width, unless it is too narrow for that."""
    return lines if width < _NARROW else (cut_line(line, width) for line in lines)


def _journal_note(found: Journal, *, filtered: bool) -> str:
    if found.total > len(found.items) > 0:
        return f"the newest {len(found.items):,} of {found.total:,} events; --limit 0 shows all"
    if found.items:
        return ""
    return "no event passes the filters" if filtered else "nothing happened yet; `pmem add` begins"
