"""`pmem context`, `pmem delta`, `pmem checkpoint`: what a model reads, what is new, saved state."""

from typing import Final

import msgspec

from pmem.cli.asking import asks, own
from pmem.cli.render import drawn
from pmem.cli.session import Answer, CommandSession, Line, listed
from pmem.core import exactjson
from pmem.core.visible import escaped
from pmem.operations import table
from pmem.search import threads
from pmem.search.context_request import ContextRequest
from pmem.values.fields import NoArguments
from pmem.values.records import dump_line
from pmem.values.times import iso

_EXAMPLE: Final = 'give one object, such as {"context": "step 3"}'


@asks(ContextRequest)
def context(
    session: CommandSession,
    request: ContextRequest,
    no_mine: bool = own("Leave out your own memory."),
) -> Answer:
    """Print what a model should read first, within a token budget."""
    request = msgspec.structs.replace(
        request, agent=session.asker and session.concerned, omitted=session.json, mine=not no_mine
    )
    session.take_in_at_terminal()
    built = session.run(table.CONTEXT, request)
    how = "estimated" if built.tokenizer == "estimate" else "counted"
    note = f"{built.tokens:,} of {built.budget:,} tokens, {how}"
    if not built.text:
        note += ": the budget is too small for anything"
    return Answer(
        data=built,
        raw=built.text and built.text.rstrip("\n") + "\n",
        note="\n".join([*built.notes, note]),
        receipt=drawn(session, "lists.receipt_screen", built, note) if request.explain else None,
    )


@asks(NoArguments)
def delta(
    session: CommandSession,
    _: NoArguments,
    thread: str = own("Who asks: a session's name.", ..., shown="NAME", completes="thread"),
) -> Answer:
    """Show what is new to a thread since it last asked.

    A thread's first call sets where it starts. With --read-only, the same is shown again next
    time.
    """
    found = session.run(table.DELTA, threads.ThreadRequest(thread=thread))
    lines: list[Line] = [[(line, "")] for line in found.lines]
    return Answer(data=found, lines=lines, note=_delta_note(session, found))


@asks(threads.SaveRequest, state={})
def save(
    session: CommandSession,
    request: threads.SaveRequest,
    state: str | None = own("The state, a JSON object.", shown="JSON|-", is_argument=True),
) -> Answer:
    """Save a thread's state in place of the one saved before."""
    value = exactjson.read_given(session.input(state, "the state"), "the state", _EXAMPLE)
    request = msgspec.structs.replace(request, state=value)
    saved = session.run(table.SAVE_CHECKPOINT, request)
    return Answer(data=saved, lines=[[("saved ", "green"), *_line(saved)]])


@asks(threads.CheckpointRequest)
def load(session: CommandSession, request: threads.CheckpointRequest) -> Answer:
    """Print a thread's state as it was saved last."""
    loaded = session.run(table.LOAD_CHECKPOINT, request)
    return Answer(data=loaded, raw=escaped(dump_line(loaded.state).decode()) + "\n")


@asks(threads.CheckpointsRequest)
def list_(session: CommandSession, request: threads.CheckpointsRequest) -> Answer:
    """List checkpoints, the last saved first."""
    found = session.run(table.CHECKPOINTS, request)
    nothing = "no checkpoint; `pmem checkpoint save` saves one"
    return listed(found, nothing, lines=map(_line, found.items))


@asks(threads.CheckpointRequest)
def remove(session: CommandSession, request: threads.CheckpointRequest) -> Answer:
    """Remove a thread's saved state for good."""
    gone = session.run(table.REMOVE_CHECKPOINT, request)
    return Answer(data=gone, lines=[[("removed ", "green"), (request.thread, "")]])


def _line(item: threads.CheckpointInfo) -> Line:
    user = f"  of {item.user}" if item.user else ""
    return [
        (item.thread, "cyan"),
        (user, ""),
        (f"  {item.size} bytes  {iso(item.updated_at)}", "dim"),
    ]


def _delta_note(session: CommandSession, found: threads.Delta) -> str:
    if not found.revision:
        return "a new thread, which could not be noted: it starts once it asks where pmem may write"
    if found.total:
        untold = found.revision == found.since and not session.read_only
        return "this could not be noted as told and is told again next time" if untold else ""
    if found.since:
        return f"nothing new since revision {found.since}"
    return "a new thread: what there is counts as seen"
