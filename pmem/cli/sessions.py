"""The commands that take in the sessions of coding assistants."""

from typing import Annotated

import msgspec
import typer

from pmem.cli import render
from pmem.cli.left_out import left_out_lines, reasons_line
from pmem.cli.session import Answer, CommandSession, Line
from pmem.conversation.notes import NotesRequest
from pmem.conversation.session_files import NoSession
from pmem.conversation.sessions import SessionsImported, SessionsRequest
from pmem.errors import UsageError
from pmem.operations import table
from pmem.values.programs import SessionProgram

_PATH = Annotated[
    str | None,
    typer.Argument(metavar="[PATH]", help="A session file, or a folder of them [this project's]."),
]
_SINCE = Annotated[
    str | None, typer.Option(metavar="TIME", help="Only what was said at this time or later.")
]
_LEARN = Annotated[bool, typer.Option("--learn", help="Note facts and key moments, as pending.")]
_SUB_AGENTS = Annotated[bool, typer.Option("--sub-agents", help="Import what sub-agents said too.")]
_DRY_RUN = Annotated[
    bool, typer.Option("--dry-run", help="Print what would be added; write nothing.")
]


def claude_code(
    ctx: typer.Context,
    path: _PATH = None,
    since: _SINCE = None,
    learn: _LEARN = False,
    sub_agents: _SUB_AGENTS = False,
    dry_run: _DRY_RUN = False,
) -> Answer:
    """Import sessions of Claude Code, each message once.

    Without a path, the sessions of this project and of its other work trees are read from
    ~/.claude/projects, or from CLAUDE_CONFIG_DIR. What pmem itself said is left out.
    """
    return _import(ctx, SessionProgram.CLAUDE_CODE, path, since, learn, sub_agents, dry_run)


def codex(
    ctx: typer.Context,
    path: _PATH = None,
    since: _SINCE = None,
    learn: _LEARN = False,
    sub_agents: _SUB_AGENTS = False,
    dry_run: _DRY_RUN = False,
) -> Answer:
    """Import sessions of Codex, each message once.

    Without a path, the sessions of this project and of its other work trees are read from
    ~/.codex/sessions, or from CODEX_HOME. What pmem itself said is left out.
    """
    return _import(ctx, SessionProgram.CODEX, path, since, learn, sub_agents, dry_run)


def gemini(
    ctx: typer.Context,
    path: _PATH = None,
    since: _SINCE = None,
    learn: _LEARN = False,
    sub_agents: _SUB_AGENTS = False,
    dry_run: _DRY_RUN = False,
) -> Answer:
    """Import sessions of Gemini CLI, each message once.

    Without a path, the sessions of this project and of its other work trees are read from
    ~/.gemini/tmp. What pmem itself said is left out.
    """
    return _import(ctx, SessionProgram.GEMINI, path, since, learn, sub_agents, dry_run)


def auto(
    ctx: typer.Context,
    file: Annotated[
        str | None, typer.Argument(metavar="[FILE]", help="A session or a transcript.")
    ] = None,
    pending: Annotated[
        bool, typer.Option("--pending", help="The sessions that hooks noted, instead.")
    ] = False,
    since: _SINCE = None,
    learn: _LEARN = False,
    sub_agents: _SUB_AGENTS = False,
    dry_run: _DRY_RUN = False,
) -> Answer:
    """Import a session or a transcript, whichever a file is.

    `pmem import --pending` is short for `pmem import auto --pending`. The other options are for
    sessions. A transcript is taken in as `pmem import messages` does.
    """
    if pending == (file is not None):
        raise UsageError(
            "name either a file or --pending", "`pmem import --help` shows what can be imported"
        )
    given = SessionsRequest(
        path=file, pending=pending, sub_agents=sub_agents, learn=learn, dry_run=dry_run
    )
    try:
        return _run(ctx, given, since)
    except NoSession:
        if since or learn or sub_agents or dry_run:
            raise
    from pmem.cli.exchange import import_messages

    return import_messages(ctx, file or "-")


def _import(
    ctx: typer.Context,
    program: SessionProgram,
    path: str | None,
    since: str | None,
    learn: bool,
    sub_agents: bool,
    dry_run: bool,
) -> Answer:
    given = SessionsRequest(
        harness=program, path=path, sub_agents=sub_agents, learn=learn, dry_run=dry_run
    )
    return _run(ctx, given, since)


def _run(ctx: typer.Context, given: SessionsRequest, since: str | None) -> Answer:
    session: CommandSession = ctx.obj
    told = render.progress(session, "bytes")
    request = msgspec.structs.replace(given, since=session.time(since), progress=told)
    return _imported(session.run(table.IMPORT_SESSIONS, request))


def _imported(done: SessionsImported) -> Answer:
    many = f"{done.sessions} session{'s' * (done.sessions != 1)}"
    figures = (
        f"{many}: {done.added} {'would be ' * done.dry_run}added, {done.updated} updated, "
        f"{done.unchanged} unchanged, {len(done.skipped)} skipped"
    )
    lines: list[Line] = [[(figures, "")], *reasons_line(done.left_out)]
    told = [render.masked(item, "where", "why") for item in done.skipped]
    notes = [f"skipped {item.where}: it {item.why}" for item in told]
    return Answer(data=done, lines=lines, note="\n".join(notes))


def notes(
    ctx: typer.Context,
    files: Annotated[
        list[str],
        typer.Argument(metavar="FILE...", help="Such as CLAUDE.md, or a folder with rules."),
    ],
) -> Answer:
    """Import instruction files: each bullet becomes a memory.

    So does a short paragraph below a heading that states something. Headings become tags, and a
    memory cites its lines, so that `pmem check citations` sees when they change. It applies where
    the rules of its file do: globs, paths and applyTo become its places, and web/AGENTS.md is for
    web/**.
    Below a folder, pmem finds the instruction files that git does not ignore. It counts what it
    leaves out. Import again after a change: pmem updates the memories of what has changed, and
    names those whose text is gone, so that you can remove them.
    """
    session: CommandSession = ctx.obj
    request = NotesRequest(paths=tuple(files))
    done = session.run(table.IMPORT_NOTES, request)
    figures = (
        f"{done.added} added, {done.updated} updated, {done.unchanged} unchanged, "
        f"{len(done.skipped)} skipped"
    )
    lines: list[Line] = [[(figures, "")], *left_out_lines(done.left_out)]
    lines += [[(one.id, "cyan"), (f"  gone from {one.file}: {one.text}", "")] for one in done.gone]
    told = [f"skipped {item.where}: it {item.why}" for item in done.skipped]
    if done.gone:
        told.append(f"what no longer holds: pmem rm {' '.join(g.id for g in done.gone)}")
    return Answer(data=done, lines=lines, note="\n".join(told))
