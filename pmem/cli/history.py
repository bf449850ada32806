"""The commands that take in what the project's own history and records say."""

from typing import Annotated

import typer

from pmem.cli import render
from pmem.cli.left_out import left_out_lines
from pmem.cli.session import Answer, CommandSession, Line
from pmem.conversation.decision_records import DecisionsRequest
from pmem.conversation.git_history import MOST, HistoryImported, HistoryImportRequest
from pmem.core.visible import one_visible_line
from pmem.operations import table


def git(
    ctx: typer.Context,
    revisions: Annotated[
        str, typer.Argument(metavar="[RANGE]", help="A branch, or a range such as v1.0..HEAD.")
    ] = "HEAD",
    limit: Annotated[
        int, typer.Option(min=1, help="At most N proposals, the surest first.")
    ] = MOST,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Print what would be proposed; write nothing.")
    ] = False,
) -> Answer:
    """Propose what the project's commits say, as pending facts.

    Reverts become dead ends, trailers such as Constraint: and Rejected: become what they say, and
    messages that give a reason become decisions and facts. `pmem inbox facts` shows them, and
    `pmem inbox accept` makes memories of the right ones. Importing again adds nothing.
    """
    session: CommandSession = ctx.obj
    told = render.progress(session, "commits")
    request = HistoryImportRequest(revisions=revisions, limit=limit, dry_run=dry_run, progress=told)
    done = session.run(table.IMPORT_GIT, request)
    return Answer(data=done, lines=_history_lines(done), note=_history_note(done))


def _history_lines(done: HistoryImported) -> list[Line]:
    would = "would be " * done.dry_run
    figures = (
        f"{done.commits} commits: {done.added} facts {would}proposed, {done.unchanged} known, "
        f"{len(done.skipped)} skipped"
    )
    lines: list[Line] = [[(figures, "")]]
    if done.dry_run:
        lines += [
            [
                (one.commit[:10], "yellow"),
                (f" {one.confidence:.2f} {one.type:<10} ", "dim"),
                (one_visible_line(one.content), ""),
            ]
            for one in done.items
        ]
    return lines


def _history_note(done: HistoryImported) -> str:
    told = [f"skipped {item.where}: it {item.why}" for item in done.skipped]
    if done.added and not done.dry_run:
        told.append("`pmem inbox facts` shows them, `pmem inbox accept` keeps one")
    return "\n".join(told)


def adr(
    ctx: typer.Context,
    files: Annotated[
        list[str],
        typer.Argument(metavar="DIR...", help="A folder of records, such as docs/decisions."),
    ],
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Print what would be added; write nothing.")
    ] = False,
) -> Answer:
    """Import architecture decision records that were taken.

    It reads Nygard's form, MADR's and those of adr-tools and log4brains. A decision is valid from
    its date, cites its section, and names the rejected options. A superseded one gives way to its
    successor. Records that are proposed, rejected, deprecated, withdrawn or superseded by nothing
    here are left out, with the reason, and their memories archived. Import again after a change.
    """
    session: CommandSession = ctx.obj
    request = DecisionsRequest(paths=tuple(files), dry_run=dry_run)
    done = session.run(table.IMPORT_DECISIONS, request)
    would = "would be " * done.dry_run
    figures = (
        f"{done.added} {would}added, {done.updated} updated, {done.unchanged} unchanged, "
        f"{done.superseded} superseded, {len(done.skipped)} left out"
    )
    figures += f", {done.archived} {would}archived" * (done.archived > 0)
    lines: list[Line] = [[(figures, "")], *left_out_lines(done.left_out)]
    notes = [f"left out {item.where}: it {item.why}" for item in done.skipped]
    return Answer(data=done, lines=lines, note="\n".join(notes))
