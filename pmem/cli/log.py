"""`pmem log`: what happened to all records, to one, or between two revisions."""

import shlex
from itertools import takewhile
from typing import Final, Literal

import msgspec

from pmem.cli.asking import asks, own
from pmem.cli.render import drawn
from pmem.cli.session import Answer, CommandSession, Line
from pmem.core.journal import Wanted
from pmem.core.operations import LoggedOperation
from pmem.core.trust import RecordOrigin
from pmem.errors import NotFound, UsageError
from pmem.memory.journal import SHOWN, EventsRequest, HistoryRequest, Journal, Ran, RanRequest
from pmem.operations import table
from pmem.values.ids import short
from pmem.values.times import iso

_IDLE: Final = "nothing ran since the log began"
_NOTHING: Final = "nothing happened yet; `pmem add` begins"
_DOUBTS: Final[dict[RecordOrigin | None, str]] = {
    RecordOrigin.OUTSIDE: "`pmem check origin` shows what it said in the last commit",
    RecordOrigin.BROUGHT: "`pmem log {} --git` shows who brought it",
}

Format = Literal["text", "markdown"]


@asks(EventsRequest)
def log(
    session: CommandSession,
    request: EventsRequest,
    of: str | None = own(
        "A record, or two git revisions [all records].",
        shown="[REF|A..B]",
        completes="any",
        is_argument=True,
    ),
    git: bool = own("Show the commits that changed a record."),
    versions: bool = own("List the texts of a memory, numbered."),
    format: Format = own("How to write a range.", "text"),  # noqa: A002
    operations: bool = own("Show what ran in this clone instead."),
) -> Answer:
    """Show what happened to all records or to one, the newest first.

    Between two git revisions it shows what was learned, changed and forgotten.
    """
    is_range = of is not None and ".." in of
    moment = EventsRequest(at=request.at, revision=request.revision)
    if format != "text" and not is_range:
        raise UsageError("--format markdown goes with two git revisions", "such as `main..HEAD`")
    is_one = of is not None and not is_range
    if (git or versions) and (git is versions or not is_one or request != moment):
        hint = "write `pmem log REF --git` or `pmem log REF --versions`"
        raise UsageError("--git and --versions each go with one record, and with --at only", hint)
    if operations:
        return _ran(session, request, of)
    if of is not None and is_range:
        if request != EventsRequest():
            raise UsageError("two git revisions go without filters", "leave them out")
        from pmem.cli.review import changelog_answer

        return changelog_answer(session, of, format)
    try:
        if of is not None and (git or versions):
            from pmem.cli.review import provenance_answer

            asked = HistoryRequest(reference=of, at=request.at, revision=request.revision)
            if git:
                return provenance_answer(session, asked)
            told = session.run(table.VERSIONS, asked)
            told = msgspec.structs.replace(told, items=told.items[::-1])
            lines: list[Line] = []
            for each in told.items:
                by = f"  {iso(each.created_at)}  {each.actor or '-'}"
                talk = f"  (conversation {short(each.conversation)})" if each.conversation else ""
                text = f"  {' '.join(each.content.split())}{talk}"
                lines.append([(f"v{each.number}", "cyan"), (by, ""), (text, "")])
            return Answer(data=told, lines=lines)
        return _events(session, request, of)
    except NotFound as error:
        if of is not None:
            error.hint += "; a range of git is written as main..HEAD"
        raise


def _events(session: CommandSession, request: EventsRequest, of: str | None) -> Answer:
    """Show the events of one record, or of all: of those that concern the agent that asks."""
    agent = session.concerned if of is None and session.asker else None
    wanted = msgspec.structs.replace(request.wanted, agent=agent)
    request = msgspec.structs.replace(request, wanted=wanted, reference=of)
    found = session.run(table.EVENTS, request)
    found = msgspec.structs.replace(found, items=found.items[::-1])
    is_filtered = wanted != Wanted() or of is not None
    nothing = "no event passes the filters" if is_filtered else _NOTHING
    screen = "stories.log_screen" if of is None else "stories.story_screen"
    return Answer(
        data=found,
        screen=drawn(session, screen, found.items),
        note=_notes(session, found, request.limit, is_of_all=of is None)
        if found.items
        else nothing,
    )


def _notes(session: CommandSession, found: Journal, limit: int, *, is_of_all: bool) -> str:
    """Say how many more events there are, what waits for a person, and what tells of doubts."""
    said = "noted by agents, not confirmed: `pmem inbox --kind noted`"
    waiting = f"{found.unconfirmed} {said}" if found.unconfirmed and is_of_all else ""
    origin = None if is_of_all else found.items[0].origin
    name = short(found.items[0].id)
    doubt = _DOUBTS[origin].format(name) if origin in _DOUBTS else ""
    return "\n".join(filter(None, (_more(session, found, limit), waiting, doubt)))


def _ran(session: CommandSession, request: EventsRequest, of: str | None) -> Answer:
    after, before = request.wanted.after, request.wanted.before
    timed = EventsRequest(wanted=Wanted(after=after, before=before), limit=request.limit)
    if of is not None or request != timed or session.asker:
        raise UsageError("--operations takes --limit, --since and --until only")
    found = session.run(
        table.OPERATIONS, RanRequest(after=after, before=before, limit=request.limit)
    )
    found = msgspec.structs.replace(found, items=found.items[::-1])
    note = _more(session, found, request.limit) or _IDLE * (not found.items)
    return Answer(data=found, lines=map(_ran_line, found.items), note=note)


def _ran_line(item: LoggedOperation) -> Line:
    sim = "" if item.sim is None else f"{item.sim:.2f}"
    shown = " ".join(map(short, item.shown))
    parts = (item.memory and short(item.memory), item.category, item.thread, item.actor, shown, sim)
    about = "  ".join(part for part in parts if part)
    return [
        (iso(item.ts.replace(microsecond=0)), "dim"),
        (f"  {item.node:<8} {item.op:<9} ", "cyan"),
        (f"{item.status:<7}" if about else item.status, "" if item.status == "ok" else "yellow"),
        (f"  {about}" if about else "", "dim"),
    ]


def _more(session: CommandSession, found: Journal | Ran, limit: int) -> str:
    """Say how many more there are, and how to see them where the limit is the usual one."""
    more = found.total - len(found.items)
    options = tuple(takewhile("--".__ne__, session.arguments))
    line = shlex.join(("pmem", *options, "-n", "0", *session.arguments[len(options) :]))
    return f"{more:,} more{f': `{line}`' * (limit == SHOWN)}" if more else ""
