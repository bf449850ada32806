"""The commands that look over the memory: week, and the names that `list` counts."""

from collections.abc import Iterator
from functools import partial
from typing import Annotated, Final

import typer

from pmem.cli.changelog import draw_sections, section_lines
from pmem.cli.session import Answer, CommandSession, Line
from pmem.memory.overviews import NameListing, NamesRequest, Naming
from pmem.memory.week import Week, WeekRequest
from pmem.operations import table
from pmem.values.times import day

_NOTHING: Final = {
    "tags": "no memory has a tag: `pmem edit REF --add-tag TAG`",
    "subjects": "no memory has a subject: `--subject` gives one",
}


def week(
    ctx: typer.Context,
    since: Annotated[
        str | None, typer.Argument(metavar="[TIME]", help="Since when [7 days ago].")
    ] = None,
) -> Answer:
    """Show what changed this week, and by whom."""
    session: CommandSession = ctx.obj
    found = session.run(table.WEEK, WeekRequest(since=session.time(since)))
    note = "" if found.total else f"nothing changed since {day(found.since)}"
    return Answer(
        data=found, lines=_week_lines(found), screen=partial(_draw_week, session, found), note=note
    )


def _draw_week(session: CommandSession, found: Week, width: int) -> Iterator[Line]:
    from pmem.cli.screens.wrapping import all_hung

    yield from all_hung(_week_head(found), width)
    yield from draw_sections(session, found, width, found.by)


def names_answer(session: CommandSession, of: Naming) -> Answer:
    """List the tags or the subjects, and how many memories have each."""
    found = session.run(table.NAMES, NamesRequest(of=of))
    lines: Iterator[Line] = (
        [(f"{item.count:>5}  ", "dim"), (f"{day(item.latest)}  ", "dim"), (item.name, "cyan")]
        for item in found.items
    )
    return Answer(
        data=found,
        lines=lines,
        screen=partial(_draw_names, session, found, of.removesuffix("s")),
        note="" if found.items else _NOTHING[of],
    )


def _draw_names(
    session: CommandSession, found: NameListing, what: str, width: int
) -> Iterator[Line]:
    from pmem.cli.screens.lists import name_screen
    from pmem.cli.screens.view import view_of

    return name_screen(found, what, view_of(session, width))


def _week_lines(found: Week) -> Iterator[Line]:
    yield from _week_head(found)
    yield from section_lines(found, found.by)


def _week_head(found: Week) -> Iterator[Line]:
    if found.total:
        counts = {name: len(getattr(found, name)) for name in ("learned", "changed", "forgotten")}
        said = ", ".join(f"{number} {name}" for name, number in counts.items() if number)
        people = ", ".join(f"{name} {number}" for name, number in found.people.items())
        yield [(f"since {day(found.since)}: ", "dim"), (said, "bold"), (f" ({people})", "dim")]
