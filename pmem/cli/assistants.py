"""The commands that stand between the memory and coding assistants."""

from typing import Annotated

import typer

from pmem.assistants.events import EVENTS, TAKEN, event_of
from pmem.cli.hook import answer
from pmem.cli.session import Answer, CommandSession
from pmem.errors import UsageError


def hook(
    ctx: typer.Context,
    event: Annotated[str, typer.Argument(metavar="EVENT", help=f"{', '.join(EVENTS)}.")],
    harness: Annotated[
        str, typer.Option(metavar="NAME", help=f"Who calls: {', '.join(TAKEN)}.")
    ] = "",
) -> Answer:
    """Answer a hook of a coding assistant, which says on standard input what happened.

    A session's start is answered with a context, a prompt with what answers it and this session
    has not been shown. The other events note where the session's transcript is. It always exits
    with 0; on any trouble the answer is empty, and the memory's log says why. `pmem setup` tells
    the assistants to call it; PMEM_HOOKS=off and the setting hooks.enabled keep it quiet.
    """
    session: CommandSession = ctx.obj
    known = event_of(event)
    if known is None:
        raise UsageError(f"there is no event {event!r}", f"give one of {', '.join(EVENTS)}")
    text = answer(known, harness, session.directory or "", session.environment)
    return Answer(data={"answer": text}, raw=text)
