"""The commands that stand between the memory and coding assistants."""

import os

import msgspec

from pmem.assistants import setup
from pmem.assistants.events import EVENTS, TAKEN, event_of
from pmem.assistants.harnesses import HARNESSES, Scope
from pmem.cli.asking import AskedCommand, asks, own
from pmem.cli.hook import answer
from pmem.cli.session import Answer, CommandSession, Line
from pmem.cli.setup import PRINT, check_one_way
from pmem.errors import NoProject, UsageError
from pmem.operations import table
from pmem.project.discovery import discover
from pmem.project.workspace import Workspace
from pmem.values.requests import NoArguments

_WORDS = {
    "set": ("set", "green"),
    "missing": ("missing", "red"),
    "differs": ("differs", "red"),
    "partly": ("partly", "yellow"),
    "unclear": ("unclear", "yellow"),
}


@asks(NoArguments)
def hook(
    session: CommandSession,
    _: NoArguments,
    event: str = own(f"{', '.join(EVENTS)}.", ..., shown="EVENT", is_argument=True),
    harness: str = own(f"Who calls: {', '.join(TAKEN)}.", "", shown="NAME"),
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
    known = event_of(event)
    if known is None:
        raise UsageError(f"there is no event {event!r}", f"give one of {', '.join(EVENTS)}")
    text = answer(known, harness, session.directory or "", session.environment)
    return Answer(data={"answer": text}, raw=text)


@asks(NoArguments)
def list_(
    session: CommandSession,
    _: NoArguments,
) -> Answer:
    """Show which coding assistants are connected."""
    found = session.run(table.SETUP_LIST, NoArguments(), anywhere(session))
    width = max(len(name) for name in HARNESSES) + 2
    lines = [_overview_line(one, width) for one in found.items]
    return Answer(
        data=found, lines=lines, note="`pmem setup NAME` sets one up, `--remove` undoes that"
    )


def _set_up(
    session: CommandSession,
    request: setup.AssistantSetupRequest,
    user: bool = own("In your own files, for every project."),
    project: bool = own("In the project's files, for everybody [the default]."),
    print_: bool = PRINT,
) -> Answer:
    """Connect an assistant, look whether it is connected, or undo that."""
    if user and project:
        raise UsageError("--user and --project exclude each other", "give one of them")
    check_one_way(request, print_)
    scope: Scope = "user" if user else "project"
    request = msgspec.structs.replace(request, scope=scope)
    setup.files_of(request)  # before anything is looked for
    if print_:
        texts = setup.to_paste(anywhere(session), request)
        raw = "".join(f"# {path}\n{text}" for path, text in texts)
        return Answer(data={"files": [{"path": p, "text": t} for p, t in texts]}, raw=raw)
    found = session.run(table.SETUP_ASSISTANT, request, anywhere(session) if user else None)
    lacks = "" if found.program or request.remove else "it will not find pmem: put it on the PATH"
    return Answer(
        data=found,
        lines=[_part_line(part, is_removed=request.remove) for part in found.parts],
        note="\n".join(filter(None, (found.trouble, lacks, found.said))),
        exit_code=1 if request.check and not found.ok else 0,
    )


def _connecting(harness: str, meaning: str) -> AskedCommand:
    asked = asks(setup.AssistantSetupRequest, harness=harness, scope="project", meaning=meaning)
    return asked(_set_up)


claude_code = _connecting(
    "claude-code",
    "Connect Claude Code: hooks and tools; safe to repeat.\n\nVS Code runs these hooks as well.",
)
codex = _connecting(
    "codex",
    """Connect Codex: hooks and tools; safe to repeat.

    Codex runs hooks once you have trusted them there (`/hooks`), a project's in a trusted project.
    """,
)
gemini = _connecting("gemini", "Connect Gemini CLI: hooks and tools; safe to repeat.")
cursor = _connecting("cursor", "Connect Cursor: hooks and tools; safe to repeat.")
vscode = _connecting(
    "vscode",
    """Connect VS Code: hooks and tools; safe to repeat.

    It also reads the hooks of Claude Code: where those are set up, it gets none of its own.
    """,
)
opencode = _connecting("opencode", "Connect OpenCode: tools; safe to repeat.")
zed = _connecting("zed", "Connect Zed: tools, in your own settings; safe to repeat.")
agents_md = _connecting("agents-md", "Say in AGENTS.md how to use the memory; safe to repeat.")


def anywhere(session: CommandSession) -> Workspace:
    """Return the memory of this place, or one that is not there, where none is needed."""
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
    word, colour = ("removed", "green") if is_gone else _WORDS[part.state]
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
