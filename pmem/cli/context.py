"""The command that builds contexts."""

import msgspec

from pmem.cli.asking import asks, own
from pmem.cli.render import drawn
from pmem.cli.session import Answer, CommandSession
from pmem.operations import table
from pmem.search.context_request import ContextRequest


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
