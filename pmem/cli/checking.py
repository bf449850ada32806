"""What is wrong: with the records, with the next commit, with merges that were made."""

from collections.abc import Sequence
from typing import Annotated, Literal

import typer

from pmem.cli.session import Answer, CommandSession
from pmem.core import findings
from pmem.core.findings import Finding
from pmem.errors import UsageError
from pmem.operations import table
from pmem.upkeep import integrity
from pmem.values.requests import NoArguments, RangeRequest

Format = Literal["text", "github", "gitlab"]


def check(
    ctx: typer.Context,
    staged: Annotated[
        bool, typer.Option("--staged", help="Look only at what is staged for the next commit.")
    ] = False,
    merges: Annotated[
        str | None,
        typer.Option("--merges", metavar="A..B", help="Redo the merges between two git revisions."),
    ] = None,
    full: Annotated[bool, typer.Option("--full", help="Check unchanged records too.")] = False,
    strict: Annotated[bool, typer.Option("--strict", help="Fail on warnings too.")] = False,
    format_: Annotated[
        Format, typer.Option("--format", help="For people, or for the CI of GitHub or GitLab.")
    ] = "text",
) -> Answer:
    """Check the memory for errors; exits with 1 if there are any.

    It reads a sound record again only when that has changed.

    It warns of texts that give orders to the model that reads them, and of doubts that merged
    branches left. Warnings only fail with --strict.

    With --staged it only judges what the next commit brings: for a commit hook.
    """
    session: CommandSession = ctx.obj
    if session.json and format_ != "text":
        raise UsageError("--json and --format exclude each other", "give one of them")
    if staged and merges is not None:
        raise UsageError("--staged and --merges exclude each other", "give one of them")
    fails = _any if strict else _wrong
    session.quiet = True  # the findings are the answer; they need no repeating
    if merges is not None:
        redone = session.run(table.CHECK_MERGES, RangeRequest(revisions=merges))
        code = int(fails(redone.findings))
        looked_at = _count_text(redone.merges, "merge")
        return _answer(session, redone, redone.findings, looked_at, format_, code)
    if staged:
        checked = session.run(table.CHECK_STAGED, NoArguments())
    else:
        checked = session.run(table.CHECK, integrity.CheckRequest(full=full))
    code = int(fails(checked.findings))
    looked_at = _count_text(checked.records, "record")
    return _answer(session, checked, checked.findings, looked_at, format_, code)


def scan(
    ctx: typer.Context,
    staged: Annotated[
        bool, typer.Option("--staged", help="Look only at what is staged for the next commit.")
    ] = False,
    history: Annotated[
        bool, typer.Option("--history", help="Look at every version that git can reach.")
    ] = False,
    format_: Annotated[
        Format, typer.Option("--format", help="For people, or for the CI of GitHub or GitLab.")
    ] = "text",
) -> Answer:
    """Look for secrets in the memory; exits with 1 if there are any.

    pmem checks everything that comes in through it; this finds what got in another way. It never
    shows the secrets themselves.
    """
    session: CommandSession = ctx.obj
    if session.json and format_ != "text":
        raise UsageError("--json and --format exclude each other", "give one of them")
    if staged and history:
        raise UsageError("--staged and --history exclude each other", "give one of them")
    from pmem.upkeep.secret_scan import ScanRequest

    done = session.run(table.SCAN, ScanRequest(staged=staged, history=history))
    looked_at = _count_text(done.files, "version" if history else "file")
    return _answer(session, done, done.findings, looked_at, format_, int(bool(done.findings)))


def _answer(
    session: CommandSession,
    data: object,
    found: Sequence[Finding],
    looked_at: str,
    format_: Format,
    code: int,
) -> Answer:
    """Tell what was found, as people or a CI read it."""
    if format_ != "text":
        tell = findings.github if format_ == "github" else findings.gitlab
        raw = tell(found, integrity.place_of(session.workspace))
        return Answer(data=data, raw=raw, exit_code=code)
    colours = ("bold", "red", "")
    count = (_count_text(len(found), "finding"), "red" if code else "green")
    return Answer(
        data=data,
        lines=[
            *(list(zip(findings.text(each), colours, strict=True)) for each in found),
            [(f"{looked_at}, ", ""), count],
        ],
        exit_code=code,
    )


def _count_text(count: int, what: str) -> str:
    return f"{count} {what}{'s' * (count != 1)}"


def _wrong(found: Sequence[Finding]) -> bool:
    """Tell whether anything is wrong, warnings aside."""
    return any(getattr(finding, "severity", "error") == "error" for finding in found)


def _any(found: Sequence[Finding]) -> bool:
    return bool(found)
