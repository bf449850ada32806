"""The commands that take in what the project's own history and records say."""

import msgspec

from pmem.cli import render
from pmem.cli.asking import asks
from pmem.cli.left_out import left_out_lines
from pmem.cli.session import Answer, CommandSession, Line
from pmem.conversation.decision_records import DecisionsRequest
from pmem.conversation.git_history import HistoryImported, HistoryImportRequest
from pmem.core.visible import one_visible_line
from pmem.operations import table


@asks(HistoryImportRequest)
def git(session: CommandSession, request: HistoryImportRequest) -> Answer:
    """Propose what the project's commits say, as pending facts.

    Reverts become dead ends, trailers such as Constraint: and Rejected: become what they say, and
    messages that give a reason become decisions and facts. `pmem inbox facts` shows them, and
    `pmem inbox accept` makes memories of the right ones. Importing again adds nothing.
    """
    told = render.progress(session, "commits")
    request = msgspec.structs.replace(request, progress=told)
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


@asks(DecisionsRequest)
def adr(session: CommandSession, request: DecisionsRequest) -> Answer:
    """Import architecture decision records that were taken.

    It reads Nygard's form, MADR's and those of adr-tools and log4brains. A decision is valid from
    its date, cites its section, and names the rejected options. A superseded one gives way to its
    successor. Records that are proposed, rejected, deprecated, withdrawn or superseded by nothing
    here are left out, with the reason, and their memories archived. Import again after a change.
    """
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
