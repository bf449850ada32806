"""The commands about what decisions led to: outcome, due."""

from collections.abc import Iterator
from typing import Annotated

import typer

from pmem.cli.asking import asks
from pmem.cli.memory import memory_line
from pmem.cli.session import Answer, CommandSession, Line
from pmem.core.outcomes import is_due
from pmem.core.visible import one_visible_line
from pmem.errors import UsageError
from pmem.memory.outcomes import DueListing, DueRequest, OutcomeRequest
from pmem.operations import table
from pmem.values.ids import short
from pmem.values.times import day


@asks(OutcomeRequest)
def outcome(
    session: CommandSession,
    request: OutcomeRequest,
    retract: Annotated[bool, typer.Option("--retract", help="Remove its latest outcome.")] = False,
) -> Answer:
    """Note how a decision turned out.

    Contexts show a decision that went badly as a dead end. Constraints, entities and dead ends have
    no outcome.
    """
    if retract is (request.verdict is not None):
        raise UsageError("give either a verdict or --retract", "a verdict is good, bad or mixed")
    done = session.run(table.OUTCOME, request)
    step = done.next_step.format(short(done.memory.id))
    word = "removed an outcome of " if retract else "noted "
    line: Line = [(word, "green"), *memory_line(done.memory)]
    return Answer(data=done, lines=[line], note=f"next: {step}" if step else "")


def due(
    ctx: typer.Context,
    within: Annotated[
        str | None,
        typer.Option(metavar="TIME", help="Also what is due within this time, such as 2w."),
    ] = None,
) -> Answer:
    """List what needs another look, the most overdue first.

    Memories that wait for something to happen (`--review-if`) come after those that are due.
    """
    session: CommandSession = ctx.obj
    found = session.run(table.DUE, DueRequest(until=session.ahead(within)))
    note = (
        "" if found.items else "nothing is due; `pmem edit REF --review 4w` asks for another look"
    )
    return Answer(data=found, lines=_due_lines(found), note=note)


def _due_lines(found: DueListing) -> Iterator[Line]:
    for number, memory in enumerate(found.items):
        if number == found.total - found.waiting:
            yield [("not due; look again if this happens:", "bold")]
        yield memory_line(memory)
        if memory.review_at is not None:
            word = "due since" if is_due(memory, found.moment) else "due"
            yield [(f"     {word} {day(memory.review_at).strip()}", "dim")]
        if memory.review_if:
            yield [(f"     if {one_visible_line(memory.review_if)}", "dim")]
