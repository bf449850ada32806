"""The command that builds contexts."""

from collections.abc import Iterator
from typing import Annotated, Literal

import typer

from pmem.cli import options
from pmem.cli.session import Answer, CommandSession
from pmem.core.context.parts import Context
from pmem.operations import table
from pmem.search.context_request import ContextRequest

Format = Literal["markdown", "json", "messages"]
Only = Literal["memories", "conversation"]
_START = 50


def context(
    ctx: typer.Context,
    query: Annotated[
        str | None, typer.Argument(metavar="[QUERY|-]", help="What the context is for.")
    ] = None,
    budget: Annotated[
        int | None, typer.Option(help="Tokens at the most [the context window less reserves].")
    ] = None,
    thread: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="Also say what is new since this thread last asked."),
    ] = None,
    conversation: Annotated[
        str | None, typer.Option(metavar="REF", help="The conversation to go on with [current].")
    ] = None,
    app: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="The app that it is for [the conversation's]."),
    ] = None,
    format: Annotated[Format, typer.Option(help="How to write it.")] = "markdown",  # noqa: A002
    explain: Annotated[
        bool,
        typer.Option("--explain", help="Say on standard error what became of every candidate."),
    ] = False,
    only: Annotated[Only | None, typer.Option(help="Leave out conversations, or memories.")] = None,
    ids: Annotated[bool, typer.Option("--ids", help="Name memories by their short ids.")] = False,
    trust: options.Trusted = None,
    at: options.At = None,
) -> Answer:
    """Write the block that a model reads, within a token budget."""
    session: CommandSession = ctx.obj
    request = ContextRequest(
        query=None if query is None else session.input(query, "the query"),
        budget=budget,
        thread=thread,
        conversation=conversation,
        agent=session.asker and session.concerned,
        app=app,
        format=format,
        trust=trust,
        only=only,
        ids=ids,
        **session.when(at),
    )
    built = session.run(table.CONTEXT, request)
    note = f"{built.tokens:,} of {built.budget:,} tokens"
    if not built.text:
        note += ": the budget is too small for anything"
    return Answer(
        data=built,
        raw=built.text and built.text.rstrip("\n") + "\n",
        note="\n".join([*built.notes, *(_fates(built) if explain else ()), note]),
    )


def _fates(built: Context) -> Iterator[str]:
    """Yield what became of every candidate: shown where and for how much, or left out and why."""
    for part in built.sections:
        yield f"{part.name}: {part.tokens:,} tokens"
        for item in part.items:
            start = " ".join(item.text.split())[:_START]
            yield f"  shown {item.id}{_scored(item.score)}  {start}"
    for left in built.omitted:
        yield f"left out {left.id}{_scored(left.score)}: {left.reason.replace('_', ' ')}"


def _scored(score: float | None) -> str:
    return "" if score is None else f"  score {score:.3f}"
