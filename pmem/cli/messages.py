"""The commands that change one message of a conversation."""

from collections.abc import Iterator
from typing import Annotated

import typer

from pmem.cli.conversation import message_line
from pmem.cli.session import Answer, CommandSession, Line
from pmem.conversation.message_changes import MarkRequest, RemovedMessage, RemoveMessageRequest
from pmem.errors import UsageError
from pmem.operations import table
from pmem.values.ids import short

Reference = Annotated[str, typer.Argument(metavar="MESSAGE", help="The id of a message.")]


def mark(
    ctx: typer.Context,
    message: Reference,
    importance: Annotated[
        float | None, typer.Option(metavar="N", help="How much it counts, from 0 to 1.")
    ] = None,
    scored: Annotated[
        bool, typer.Option("--scored", help="Let its content say how much it counts.")
    ] = False,
    pin: Annotated[
        bool | None, typer.Option("--pin/--unpin", help="Pin it: a pinned one is never pruned.")
    ] = None,
) -> Answer:
    """Say how much a message counts, or pin it.

    A pinned message is never pruned. Contexts show it word for word, also once it has moved into
    a chunk.
    """
    session: CommandSession = ctx.obj
    if importance is not None and scored:
        raise UsageError("--importance and --scored say different things", "give one of them")
    request = MarkRequest(message=message, importance=importance, scored=scored, pinned=pin)
    done = session.run(table.MARK, request)
    line: Line = [("marked ", "green"), (short(done.message.id), "cyan"), ("  ", "")]
    return Answer(data=done, lines=[[*line, *message_line(done.message)]])


def remove(
    ctx: typer.Context,
    message: Reference,
    reason: Annotated[str | None, typer.Option(metavar="TEXT", help="Why; it is kept.")] = None,
) -> Answer:
    """Remove the text of one message, and keep its trace.

    Its place, who spoke, when, who removed it and why are kept. What was made of it stays, and is
    named. Where the message was committed, git has its text.
    """
    session: CommandSession = ctx.obj
    done = session.run(table.REMOVE_MESSAGE, RemoveMessageRequest(message=message, reason=reason))
    line: Line = [("removed the text of ", "green"), (short(done.message.id), "cyan")]
    return Answer(data=done, lines=[line], note="\n".join(_derived(done)))


def _derived(done: RemovedMessage) -> Iterator[str]:
    """Yield what was made of the message, a line for each kind."""
    for what, found in (("a memory", done.memories), ("an episode", done.episodes)):
        if found:
            named = ", ".join(map(short, found))
            yield f"{what} was made of it and stays: {named}; `pmem rm` takes it out of recall"
