"""The command that builds contexts."""

from collections.abc import Iterator
from functools import partial
from typing import Final

import msgspec

from pmem.cli.asking import asks, own
from pmem.cli.session import Answer, CommandSession, Line
from pmem.core.context.parts import Context, nearest_left_out
from pmem.core.context.reasons import REASONS, say_why
from pmem.core.shortening import shortened
from pmem.operations import table
from pmem.search.context_request import ContextRequest
from pmem.values.ids import short

_START: Final = 50


@asks(ContextRequest)
def context(
    session: CommandSession,
    request: ContextRequest,
    no_mine: bool = own("Leave out your own memory."),
) -> Answer:
    """Print what a model should read first, within a token budget."""
    request = msgspec.structs.replace(
        request,
        agent=session.asker and session.concerned,
        omitted=session.json,
        mine=not no_mine,
    )
    built = session.run(table.CONTEXT, request)
    how = "estimated" if built.tokenizer == "estimate" else "counted"
    note = f"{built.tokens:,} of {built.budget:,} tokens, {how}"
    if not built.text:
        note += ": the budget is too small for anything"
    return Answer(
        data=built,
        raw=built.text and built.text.rstrip("\n") + "\n",
        note="\n".join([*built.notes, *(_fates(built) if request.explain else ()), note]),
        receipt=partial(_draw_receipt, session, built, note) if request.explain else None,
    )


def _draw_receipt(session: CommandSession, built: Context, note: str, width: int) -> Iterator[Line]:
    from pmem.cli.screens.receipt import receipt_screen
    from pmem.cli.screens.view import view_of
    from pmem.cli.screens.wrapping import all_hung

    yield from receipt_screen(built, REASONS, view_of(session, width))
    yield [("", "")]
    yield from all_hung(([(said, "")] for said in (*built.notes, note)), width)


def _fates(built: Context) -> Iterator[str]:
    """Yield a receipt: what each section cost, and why each candidate is in or out."""
    for part in built.sections:
        share = part.tokens / built.budget
        many = f"{len(part.items)} item{'s' * (len(part.items) != 1)}"
        yield f"{part.name}: {many}, {part.tokens:,} tokens, {share:.0%} of the budget"
        for item in part.items:
            why = item.reason or say_why(item.why or part.name)
            yield f"  in   {_start(item.id, item.text)}  {why}{_scored(item.score)}"
    nearest = nearest_left_out(built)
    if built.omitted:
        hidden = len(built.omitted) > len(nearest)
        which = f"; the nearest {len(nearest)}, --json has all" * hidden
        yield f"left out: {len(built.omitted)}{which}"
    for left in nearest:
        why = say_why(left.reason)
        yield f"  out  {_start(left.id, left.text)}  {why}{_scored(left.score)}"


def _start(identifier: str, text: str) -> str:
    start = shortened(" ".join(text.split()), _START)
    return f"{short(identifier)}  {start:<{_START}}"


def _scored(score: float | None) -> str:
    return "" if score is None else f" (score {score:.2f})"
