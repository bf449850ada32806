"""The commands that take in the sessions of coding assistants."""

from typing import Annotated

import typer

from pmem.cli import render
from pmem.cli.session import Answer, CommandSession, Line
from pmem.conversation.session_files import NoSession
from pmem.conversation.sessions import SessionsImported, SessionsRequest
from pmem.operations import table
from pmem.values.harness import Harness

_PATH = Annotated[
    str | None,
    typer.Argument(
        metavar="[PATH]", help="A session's file, or a folder of them; else this project's."
    ),
]
_SINCE = Annotated[
    str | None, typer.Option(metavar="TIME", help="Only what was said from then on.")
]
_LEARN = Annotated[
    bool, typer.Option("--learn", help="Note facts and key moments, as pending ones.")
]
_SUB_AGENTS = Annotated[bool, typer.Option("--sub-agents", help="What sub-agents said as well.")]
_DRY_RUN = Annotated[bool, typer.Option("--dry-run", help="Say what would be added.")]


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
    return _import(ctx, Harness.CLAUDE_CODE, path, since, learn, sub_agents, dry_run)


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
    return _import(ctx, Harness.CODEX, path, since, learn, sub_agents, dry_run)


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
    return _import(ctx, Harness.GEMINI, path, since, learn, sub_agents, dry_run)


def auto(
    ctx: typer.Context,
    file: Annotated[str, typer.Argument(metavar="FILE", help="A session or a transcript.")],
    since: _SINCE = None,
    learn: _LEARN = False,
    sub_agents: _SUB_AGENTS = False,
    dry_run: _DRY_RUN = False,
) -> Answer:
    """Import a session or a transcript, whichever a file is.

    The options are for sessions. A transcript is taken in as `pmem import messages` does.
    """
    try:
        return _import(ctx, None, file, since, learn, sub_agents, dry_run)
    except NoSession:
        if since or learn or sub_agents or dry_run:
            raise
    from pmem.cli.exchange import import_messages

    return import_messages(ctx, file)


def _import(
    ctx: typer.Context,
    harness: Harness | None,
    path: str | None,
    since: str | None,
    learn: bool,
    sub_agents: bool,
    dry_run: bool,
) -> Answer:
    session: CommandSession = ctx.obj
    request = SessionsRequest(
        harness=harness,
        path=path,
        since=session.time(since),
        sub_agents=sub_agents,
        learn=learn,
        dry_run=dry_run,
        progress=render.progress(session, "bytes"),
    )
    return _imported(session.run(table.IMPORT_SESSIONS, request))


def _imported(done: SessionsImported) -> Answer:
    many = f"{done.sessions} session{'s' * (done.sessions != 1)}"
    figures = (
        f"{many}: {done.added} {'would be ' * done.dry_run}added, {done.updated} updated, "
        f"{done.unchanged} unchanged, {len(done.skipped)} skipped"
    )
    lines: list[Line] = [[(figures, "")]]
    if done.left_out:
        parts = ", ".join(f"{reason} ({count})" for reason, count in done.left_out.items())
        lines.append([(f"left out: {parts}", "dim")])
    told = [render.masked(item, "where", "why") for item in done.skipped]
    notes = [f"skipped {item.where}: it {item.why}" for item in told]
    return Answer(data=done, lines=lines, note="\n".join(notes))
