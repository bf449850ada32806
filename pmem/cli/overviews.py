"""The tags and subjects that `list` counts."""

from collections.abc import Iterator
from typing import Final

from pmem.cli.render import drawn
from pmem.cli.session import Answer, CommandSession, Line
from pmem.memory.overviews import NamesRequest, Naming
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
        screen=drawn(session, "lists.name_screen", found, of.removesuffix("s")),
        note="" if found.items else _NOTHING[of],
    )
