"""The log of events, and how the story of one record reads."""

from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from functools import partial
from typing import Annotated, Final

import typer

from pmem.cli import options
from pmem.cli.event_words import COLOURS, VALUE, change_lines, details_of, sides, who_did
from pmem.cli.panels import padded
from pmem.cli.screens.wrapping import cells
from pmem.cli.session import Answer, CommandSession, Line
from pmem.core.journal import JournalEntry, JournalKind, JournalStep, Wanted
from pmem.core.operations import LoggedOperation
from pmem.core.versions import MemoryVersion
from pmem.errors import UsageError
from pmem.memory.journal import SHOWN, EventsRequest, Journal, RanRequest
from pmem.operations import table
from pmem.values.ids import short
from pmem.values.records import EventKind
from pmem.values.times import iso

_WHOLE: Final = 4000
"""Characters of a reason in the history of one record: no reason has more."""
_ACTOR: Final = 12
"""Columns of a name in the log."""

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
    app: Annotated[str | None, typer.Option(help="Only of this app.")] = None,
    user: Annotated[str | None, typer.Option(help="Only of this user.")] = None,
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
        screen=partial(_draw_log, session, found),
        note=_journal_note(found, filtered=wanted != Wanted() or record is not None),
    )


def _draw_log(session: CommandSession, found: Journal, width: int) -> Iterable[Line]:
    from pmem.cli.screens.stories import log_screen
    from pmem.cli.screens.view import view_of

    return log_screen(found.items, view_of(session, width))


def _ran(session: CommandSession, after: str | None, before: str | None, limit: int) -> Answer:
    request = RanRequest(after=session.time(after), before=session.time(before), limit=limit)
    found = session.run(table.OPERATIONS, request)
    return Answer(
        data=found,
        lines=(_ran_line(item) for item in found.items),
        note="" if found.items else "nothing ran since the log began",
    )


def _ran_line(item: LoggedOperation) -> Line:
    parts = [item.memory and short(item.memory), item.category, item.thread, item.actor]
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
            (who_did(event.actor, event.agent, event.source), "cyan"),
        ]
        if event.event is EventKind.ADD and step.text:
            yield [(f"    {step.text}", "")]
        for name in event.before:
            yield from change_lines(name, event.before, step.after)
        for said in details_of(event.detail, _WHOLE):
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
    yield "".join(f"  {said}" for said in details_of(entry.detail)), "cyan"


def _changes(entry: JournalEntry) -> list[str]:
    return [
        f"{name}: {' → '.join(sides(name, entry.before, entry.after, VALUE))}"
        for name in entry.before
    ]


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


def _second(at: datetime) -> str:
    return iso(at.replace(microsecond=0))


def _in_column(entry: JournalEntry) -> str:
    """Say who did something where there is little room: a long name hides no agent."""
    names = (entry.actor, entry.agent, entry.source)
    return who_did(*(padded(name, min(_ACTOR, cells(name))) for name in names))


def _journal_note(found: Journal, *, filtered: bool) -> str:
    if found.total > len(found.items) > 0:
        return f"the newest {len(found.items):,} of {found.total:,} events; --limit 0 shows all"
    if found.items:
        return ""
    return "no event passes the filters" if filtered else "nothing happened yet; `pmem add` begins"
