"""The commands that stand between the memory and coding assistants."""

import os
from typing import Annotated

import typer

from pmem.assistants import setup
from pmem.assistants.events import EVENTS, TAKEN, event_of
from pmem.assistants.harnesses import HARNESSES, Scope
from pmem.cli.hook import answer
from pmem.cli.session import Answer, CommandSession, Line
from pmem.errors import NoProject, UsageError
from pmem.operations import table
from pmem.project.discovery import discover
from pmem.project.workspace import Workspace
from pmem.values.requests import NoArguments

User = Annotated[bool, typer.Option("--user", help="In your own files, for every project.")]
Project = Annotated[
    bool, typer.Option("--project", help="In the project's files, for everybody [the default].")
]
Check = Annotated[
    bool, typer.Option("--check", help="Only look, and try it; exits with 1 if it is not set up.")
]
Remove = Annotated[bool, typer.Option("--remove", help="Undo it.")]
Print = Annotated[bool, typer.Option("--print", help="Only print what would go where.")]
_WORDS = {
    "set": ("set", "green"),
    "missing": ("missing", "red"),
    "differs": ("differs", "red"),
    "partly": ("partly", "yellow"),
    "unclear": ("unclear", "yellow"),
}


def hook(
    ctx: typer.Context,
    event: Annotated[str, typer.Argument(metavar="EVENT", help=f"{', '.join(EVENTS)}.")],
    harness: Annotated[
        str, typer.Option(metavar="NAME", help=f"Who calls: {', '.join(TAKEN)}.")
    ] = "",
) -> Answer:
    """Answer a hook of a coding assistant.

    The assistant says on standard input what happened. When a session starts, pmem answers with a
    context; at a prompt, with the memory that answers it best, and near ones not shown yet. Before
    a file is read or edited, it names memories about that file, and after a command failed, what
    failed or fixed that error earlier: at most three lines, each once a session. For other events
    it notes where the transcript is. It always exits with 0; if anything goes wrong, the answer is
    empty and the memory's log says why. `pmem setup` connects the assistants; PMEM_HOOKS=off and
    the setting hooks.enabled keep it quiet.
    """
    session: CommandSession = ctx.obj
    known = event_of(event)
    if known is None:
        raise UsageError(f"there is no event {event!r}", f"give one of {', '.join(EVENTS)}")
    text = answer(known, harness, session.directory or "", session.environment)
    return Answer(data={"answer": text}, raw=text)


def claude_code(
    ctx: typer.Context,
    user: User = False,
    project: Project = False,
    check: Check = False,
    remove: Remove = False,
    print_: Print = False,
) -> Answer:
    """Connect Claude Code: hooks and tools; safe to repeat.

    VS Code runs these hooks as well.
    """
    return _set_up(ctx.obj, "claude-code", (user, project), (check, remove, print_))


def codex(
    ctx: typer.Context,
    user: User = False,
    project: Project = False,
    check: Check = False,
    remove: Remove = False,
    print_: Print = False,
) -> Answer:
    """Connect Codex: hooks and tools; safe to repeat.

    Codex runs hooks once you have trusted them there (`/hooks`), a project's in a trusted project.
    """
    return _set_up(ctx.obj, "codex", (user, project), (check, remove, print_))


def gemini(
    ctx: typer.Context,
    user: User = False,
    project: Project = False,
    check: Check = False,
    remove: Remove = False,
    print_: Print = False,
) -> Answer:
    """Connect Gemini CLI: hooks and tools; safe to repeat."""
    return _set_up(ctx.obj, "gemini", (user, project), (check, remove, print_))


def cursor(
    ctx: typer.Context,
    user: User = False,
    project: Project = False,
    check: Check = False,
    remove: Remove = False,
    print_: Print = False,
) -> Answer:
    """Connect Cursor: hooks and tools; safe to repeat."""
    return _set_up(ctx.obj, "cursor", (user, project), (check, remove, print_))


def vscode(
    ctx: typer.Context,
    user: User = False,
    project: Project = False,
    check: Check = False,
    remove: Remove = False,
    print_: Print = False,
) -> Answer:
    """Connect VS Code: hooks and tools; safe to repeat.

    It also reads the hooks of Claude Code: where those are set up, it gets none of its own.
    """
    return _set_up(ctx.obj, "vscode", (user, project), (check, remove, print_))


def opencode(
    ctx: typer.Context,
    user: User = False,
    project: Project = False,
    check: Check = False,
    remove: Remove = False,
    print_: Print = False,
) -> Answer:
    """Connect OpenCode: tools; safe to repeat."""
    return _set_up(ctx.obj, "opencode", (user, project), (check, remove, print_))


def zed(
    ctx: typer.Context,
    user: User = False,
    project: Project = False,
    check: Check = False,
    remove: Remove = False,
    print_: Print = False,
) -> Answer:
    """Connect Zed: tools, in your own settings; safe to repeat."""
    return _set_up(ctx.obj, "zed", (user, project), (check, remove, print_))


def agents_md(
    ctx: typer.Context,
    user: User = False,
    project: Project = False,
    check: Check = False,
    remove: Remove = False,
    print_: Print = False,
) -> Answer:
    """Say in AGENTS.md how to use the memory; safe to repeat."""
    return _set_up(ctx.obj, "agents-md", (user, project), (check, remove, print_))


def list_(ctx: typer.Context) -> Answer:
    """Show which coding assistants are connected."""
    session: CommandSession = ctx.obj
    found = session.run(table.SETUP_LIST, NoArguments(), anywhere(session))
    width = max(len(name) for name in HARNESSES) + 2
    lines = [_overview_line(one, width) for one in found.items]
    return Answer(
        data=found, lines=lines, note="`pmem setup NAME` sets one up, `--remove` undoes that"
    )


def _set_up(
    session: CommandSession, name: str, scopes: tuple[bool, bool], how: tuple[bool, bool, bool]
) -> Answer:
    user, project = scopes
    check, remove, print_ = how
    if user and project:
        raise UsageError("--user and --project exclude each other", "give one of them")
    if sum(how) > 1:
        raise UsageError("--check, --remove and --print exclude each other", "give one of them")
    scope: Scope = "user" if user else "project"
    request = setup.AssistantSetupRequest(harness=name, scope=scope, check=check, remove=remove)
    setup.files_of(request)  # before anything is looked for
    if print_:
        texts = setup.to_paste(anywhere(session), request)
        raw = "".join(f"# {path}\n{text}" for path, text in texts)
        return Answer(data={"files": [{"path": p, "text": t} for p, t in texts]}, raw=raw)
    found = session.run(table.SETUP_ASSISTANT, request, anywhere(session) if user else None)
    lacks = "" if found.program or remove else "it will not find pmem: put it on the PATH"
    return Answer(
        data=found,
        lines=[_part_line(part, is_removed=remove) for part in found.parts],
        note="\n".join(filter(None, (found.trouble, lacks, found.said))),
        exit_code=1 if check and not found.ok else 0,
    )


def anywhere(session: CommandSession) -> Workspace:
    """Return the memory of this place, or one that is not there, where none is needed.

    Args:
        session: How the command was called.
    """
    place, name = os.path.abspath(session.directory or os.getcwd()), session.folder_name
    try:
        folder = discover(place, name, session.environment)
    except NoProject:
        folder = os.path.join(place, name)
    return Workspace(
        folder,
        environment=session.environment,
        read_only=session.read_only,
        caller=session.caller,
    )


def _part_line(part: setup.SetupPart, *, is_removed: bool) -> Line:
    is_gone = is_removed and part.state == "missing"
    gone = ("removed", "green") if part.removed else ("not set", "")
    word, colour = gone if is_gone else _WORDS[part.state]
    why = f" ({part.why})" if part.why else ""
    return [(f"{word:<9}", colour), (f"{part.what:<18}", "bold"), (f"{part.path}{why}", "")]


def _overview_line(one: setup.SetupOverview, width: int) -> Line:
    word, colour = _WORDS[one.state]
    seen = "" if one.seen or one.state == "set" else "not installed"
    return [
        (f"{word:<9}", colour),
        (f"{one.harness:<{width}}", "bold"),
        (f"{'--' + one.scope:<11}", ""),
        (one.why or seen, "dim"),
    ]
