"""The tags and subjects that `list` counts."""

from collections.abc import Iterator
from functools import partial
from typing import Final

from pmem.cli.session import Answer, CommandSession, Line
from pmem.memory.overviews import NameListing, NamesRequest, Naming
from pmem.operations import table
from pmem.values.times import day

_NOTHING: Final = {
    "tags": "no memory has a tag: `pmem edit REF --add-tag TAG`",
    "subjects": "no memory has a subject: `--subject` gives one",
}


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
