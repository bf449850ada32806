"""The command that sees whether what memories cite still holds."""

from collections.abc import Iterator
from typing import Annotated

import typer

from pmem.cli.session import Answer, CommandSession, Line
from pmem.core.citations import CitationState, Lines
from pmem.core.visible import one_visible_line
from pmem.errors import UsageError
from pmem.memory.accepting import AcceptedCitation
from pmem.memory.changes import RecordsRequest
from pmem.memory.citations import BrokenCitation, Verified, VerifyRequest
from pmem.operations import table
from pmem.values.records import Citation

_COLOURS = {CitationState.MOVED: "yellow", CitationState.CHANGED: "red", CitationState.GONE: "red"}


def verify(
    ctx: typer.Context,
    reference: Annotated[
        list[str] | None, typer.Argument(metavar="[REF]...", help="Only these memories [all].")
    ] = None,
    update: Annotated[
        bool, typer.Option("--update", help="Update citations of code that moved.")
    ] = False,
    accept: Annotated[
        bool,
        typer.Option("--accept", help="They still hold: cite the text as it is now."),
    ] = False,
) -> Answer:
    """Check whether the code that memories cite still says the same."""
    session: CommandSession = ctx.obj
    if accept:
        return _accepted_answer(session, tuple(reference or ()), update=update)
    request = VerifyRequest(references=tuple(reference or ()), update=update)
    done = session.run(table.VERIFY, request)
    return Answer(
        data=done,
        lines=(line for finding in done.items for line in _lines(finding)),
        note=_summary(done, named=bool(reference)),
        exit_code=1 if done.stale else 0,
    )


def _accepted_answer(
    session: CommandSession, references: tuple[str, ...], *, update: bool
) -> Answer:
    """Say of the memories that are named that they still hold.

    Raises:
        UsageError: None is named, or they are to be updated as well.
    """
    if update:
        raise UsageError("--accept and --update exclude each other", "give one of them")
    if not references:
        raise UsageError("--accept needs memories", "name those that still hold, one by one")
    done = session.run(table.ACCEPT, RecordsRequest(references=references))
    return Answer(
        data=done,
        lines=(_accepted_line(each) for each in done.items),
        note="" if done.items else "what is cited stands as it was; nothing to accept",
    )


def _accepted_line(each: AcceptedCitation) -> Line:
    was, now = one_visible_line(each.was), one_visible_line(each.now)
    return [
        (each.short, "cyan"),
        (" accepted ", "green"),
        (now if was == now else f"{was} -> {now}", "bold"),
        (f"  {each.text}", "dim"),
    ]


def _lines(finding: BrokenCitation) -> Iterator[Line]:
    place = _place(finding.file, finding, finding.lines)
    yield [
        (finding.short, "cyan"),
        (f" {finding.state:<8}", _COLOURS[finding.state]),
        (one_visible_line(place), "bold"),
        (_whither(finding), ""),
        (f"  {finding.text}", "dim"),
    ]


def _whither(finding: BrokenCitation) -> str:
    if finding.now is None:
        return f" ({finding.reason})" if finding.reason else ""
    return f" -> {one_visible_line(_place(finding.now.file, finding, finding.now.lines))}"


def _place(file: str, finding: BrokenCitation, lines: Lines | None) -> str:
    """Say what is cited, or would be, in a file."""
    return Citation(file=file, lines=lines, symbol=finding.symbol, digest="").place


def _summary(done: Verified, *, named: bool) -> str:
    total = sum(done.counts.values())
    if not total and named:
        return "what was named cites no file"
    if not total:
        return "no memory cites a file; `pmem add --cite FILE:10-20` makes one that does"
    parts = [f"{count} {state}" for state, count in done.counts.items() if count]
    said = f"{total} citation{'s' * (total > 1)}: {', '.join(parts)}"
    if done.updated:
        said += f"; {done.updated} updated"
    elif done.counts[CitationState.MOVED]:
        said += "; `pmem verify --update` cites what has moved where it is now"
    if done.counts[CitationState.CHANGED] or done.counts[CitationState.GONE]:
        said += "; `pmem inbox` settles what has changed"
    if not done.complete:
        said += "\nthe project is too large to be looked through: a text may have moved further"
    return said
