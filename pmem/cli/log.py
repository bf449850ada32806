"""The command that shows what happened: to all records, to one, or between two revisions."""

from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from functools import partial
from typing import Annotated, Final, Literal

import msgspec
import typer

from pmem.cli.asking import asks
from pmem.cli.changelog import changelog_answer, provenance_answer
from pmem.cli.event_words import COLOURS, VALUE, change_lines, details_of, sides, who_did
from pmem.cli.panels import padded
from pmem.cli.screens.wrapping import cells
from pmem.cli.session import Answer, CommandSession, Line
from pmem.core.journal import JournalEntry, JournalStep, Wanted
from pmem.core.operations import LoggedOperation
from pmem.core.versions import MemoryVersion
from pmem.errors import UsageError
from pmem.memory.journal import (
    SHOWN,
    EventsRequest,
    History,
    HistoryRequest,
    Journal,
    RanRequest,
)
from pmem.operations import table
from pmem.values.ids import short
from pmem.values.records import EventKind
from pmem.values.times import iso

_WHOLE: Final = 4000
"""Characters of a reason in the history of one record: no reason has more."""
_ACTOR: Final = 12
"""Columns of a name in the log."""

Format = Literal["text", "markdown"]


@asks(EventsRequest)
def log(
    session: CommandSession,
    request: EventsRequest,
    of: Annotated[
        str | None,
        typer.Argument(metavar="[REF|A..B]", help="A record, or two git revisions [all records]."),
    ] = None,
    git: Annotated[
        bool, typer.Option("--git", help="Show the commits that changed a record.")
    ] = False,
    versions: Annotated[
        bool, typer.Option("--versions", help="List the texts of a memory, numbered.")
    ] = False,
    format: Annotated[Format, typer.Option(help="How to write a range.")] = "text",  # noqa: A002
    operations: Annotated[
        bool, typer.Option("--operations", help="Show what ran in this clone instead.")
    ] = False,
) -> Answer:
    """Show what happened to all records or to one, the newest first.

    Between two git revisions it shows what was learned, changed and forgotten.
    """
    is_range = of is not None and ".." in of
    is_bare = request == EventsRequest()
    if format != "text" and not is_range:
        raise UsageError("--format markdown goes with two git revisions", "such as `main..HEAD`")
    is_alone = of is not None and not is_range and request.wanted == Wanted()
    if (git or versions) and (git is versions or not is_alone):
        raise UsageError("--git and --versions each go with one record", "name it: `pmem log REF`")
    if operations:
        return _ran(session, request, of)
    if of is not None and is_range:
        if not is_bare:
            raise UsageError("two git revisions go without filters", "leave them out")
        return changelog_answer(session, of, format)
    scoped = msgspec.structs.replace(request.wanted, agent=session.asker and session.concerned)
    if of is not None and request.wanted == Wanted() and request.limit == SHOWN:
        history = HistoryRequest(reference=of, at=request.at, revision=request.revision)
        return _of_record(session, history, git=git, versions=versions)
    request = msgspec.structs.replace(request, wanted=scoped, record=of)
    found = session.run(table.EVENTS, request)
    found = msgspec.structs.replace(found, items=found.items[::-1])
    return Answer(
        data=found,
        lines=_log(found.items),
        screen=partial(_draw_log, session, found),
        note=_journal_note(found, filtered=scoped != Wanted() or of is not None),
    )


def _of_record(
    session: CommandSession, request: HistoryRequest, *, git: bool, versions: bool
) -> Answer:
    if git:
        return provenance_answer(session, request)
    if versions:
        listing = session.run(table.VERSIONS, request)
        listing = msgspec.structs.replace(listing, items=listing.items[::-1])
        return Answer(data=listing, lines=list(map(version_line, listing.items)))
    found = session.run(table.HISTORY, request)
    found = msgspec.structs.replace(found, steps=found.steps[::-1])
    draw = partial(_draw_story, session, found)
    return Answer(data=found, lines=story_lines(found.steps), screen=draw)


def _draw_story(session: CommandSession, found: History, width: int) -> Iterable[Line]:
    from pmem.cli.screens.stories import story_screen
    from pmem.cli.screens.view import view_of

    return story_screen(found.steps, view_of(session, width))


def _draw_log(session: CommandSession, found: Journal, width: int) -> Iterable[Line]:
    from pmem.cli.screens.stories import log_screen
    from pmem.cli.screens.view import view_of

    return log_screen(found.items, view_of(session, width))


def _ran(session: CommandSession, request: EventsRequest, of: str | None) -> Answer:
    """Show what ran in this clone, at the times that a request names."""
    after, before = request.wanted.after, request.wanted.before
    timed = EventsRequest(wanted=Wanted(after=after, before=before), limit=request.limit)
    if of is not None or request != timed or session.asker:
        raise UsageError("--operations takes --limit, --since and --until only")
    found = session.run(
        table.OPERATIONS, RanRequest(after=after, before=before, limit=request.limit)
    )
    found = msgspec.structs.replace(found, items=found.items[::-1])
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
        return f"{found.total - len(found.items):,} more: `pmem log -n 0` shows all"
    if found.items:
        return ""
    return "no event passes the filters" if filtered else "nothing happened yet; `pmem add` begins"
