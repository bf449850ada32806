"""`pmem setup`: git, shells, rule files and coding assistants."""

import os
from collections.abc import Iterable, Mapping
from typing import Any, Final, Literal, get_args

import msgspec

from pmem.assistants import setup as assistants
from pmem.assistants.events import EVENTS, TAKEN, event_of
from pmem.assistants.harnesses import HARNESSES, Scope
from pmem.cli.asking import AskedCommand, asks, own
from pmem.cli.hook import answer
from pmem.cli.session import Answer, CommandSession, Line
from pmem.core import managed_block
from pmem.errors import NoProject, ReadOnly, Refused, UsageError
from pmem.operations import table
from pmem.project.discovery import discover
from pmem.project.workspace import Workspace
from pmem.storage.files.durable import refusals, write_file
from pmem.values.fields import NoArguments, SetupRequest
from pmem.vcs import gitsetup, hooksetup
from pmem.vcs.rule_files import HOSTS, RulesRequest

Shell = Literal["bash", "zsh", "fish", "powershell", "pwsh"]
PRINT: Final = own("Only print what it would write.", flag="--print")


@asks(SetupRequest)
def git(session: CommandSession, request: SetupRequest, print_: bool = PRINT) -> Answer:
    """Teach git to merge and show records; safe to repeat.

    Records are merged field by field, and shown as text. It changes this clone's configuration, so
    each clone needs it once. The attributes that go with it are shared with the project.
    """
    _check_one_way(request, print_)
    if print_:
        script = gitsetup.script()
        return Answer(data={"script": script}, raw=script)
    look = SetupRequest(check=True)
    before = session.run(table.SETUP_GIT, look).parts if request.remove else ()
    found = session.run(table.SETUP_GIT, request)
    there = {part.name: part.found is not None for part in before}
    lines = []
    for part in found.parts:
        state = "kept" if part.ok and request.remove else _state(part.found, is_ok=part.ok)
        said = f"{part.name:<24}{part.wanted}"
        lines.append(_line(state, said, there.get(part.name)))
    lacks = "" if found.program or request.remove else "git will not find pmem: put it on the PATH"
    return _answer(request, found, lines, lacks)


@asks(RulesRequest)
def rules(session: CommandSession, request: RulesRequest) -> Answer:
    """Write the memory into rule files of assistants; safe to repeat.

    AGENTS.md gets a block of what every task needs: what is pinned, dead ends, constraints and
    preferences, within 600 tokens. Cursor, Copilot and Claude Code get that as a rule, and a rule
    for each place (`--for`) that they apply to its files. `pmem check` says when one is out of
    date, and `pmem resolve` writes it again.
    """
    _check_one_way(request)
    look = RulesRequest(check=True)
    there = session.run(table.SETUP_RULES, look).hosts if request.remove else ()
    found = session.run(table.SETUP_RULES, request)
    note = "" if found.hosts else f"no host has rules yet: name one of {', '.join(HOSTS)}"
    lines = [_line(part.state, part.path) for part in found.parts]
    if request.remove:
        was_there = not set(there).isdisjoint(found.hosts)
        lines = [_line("missing", "", was_there)] if found.hosts else []
    return _answer(request, found, lines, note)


@asks(hooksetup.PreCommitRequest)
def pre_commit(
    session: CommandSession, request: hooksetup.PreCommitRequest, print_: bool = PRINT
) -> Answer:
    """Check every commit; safe to repeat.

    `pmem check --staged` can stop a commit. `pmem review --staged` says which memories it touches,
    and stops nothing. With --origin, what `pmem check origin` finds stops one, too.

    If the project has a .pre-commit-config.yaml, pmem adds an entry to it, else a few lines to
    git's own hook. If there is no safe place for the entry, it prints it and exits with 1.
    """
    _check_one_way(request, print_)
    request = msgspec.structs.replace(request, check=request.check or print_)
    look = hooksetup.PreCommitRequest(check=True)
    before = session.run(table.SETUP_PRE_COMMIT, look) if request.remove else None
    found = session.run(table.SETUP_PRE_COMMIT, request)
    was_there = None if before is None else before.found is not None
    failed = not (found.ok or print_ or request.remove)
    no_place = failed and not request.check
    return Answer(
        data=found,
        raw=found.wanted if print_ or no_place else None,
        lines=[_line(_state(found.found, is_ok=found.ok), found.path, was_there)],
        note=_hook_note(found, no_place=no_place),
        exit_code=1 if failed else 0,
    )


@asks(SetupRequest)
def completion(
    session: CommandSession,
    request: SetupRequest,
    shell: Shell | None = own("Which shell [yours].", shown="[SHELL]", is_argument=True),
    print_: bool = PRINT,
) -> Answer:
    """Complete commands, ids and tags in your shell; safe to repeat.

    It writes a block into a file that the shell reads, and names the file. While you type, the
    shell asks pmem, which reads the memory's index and writes nothing.
    """
    from pmem.cli.completion import script

    _check_one_way(request, print_)
    name = shell or _shell_of(session.environment)
    text = script(name)
    if print_:
        return Answer(data={"shell": name, "script": text}, raw=text)
    if session.read_only and not request.check:
        raise ReadOnly
    path = completion_file(name, session.environment)
    block = f"{managed_block.BEGIN}\n{text}{managed_block.END}\n"
    before = _block_in(path)
    if not request.check:
        _put_block(path, None if request.remove else block)
    now = _block_in(path)
    state = "set" if now == block else "differs" if now else "missing"
    was_there = before is not None if request.remove else None
    return Answer(
        data={"shell": name, "path": path, "state": state},
        lines=[_line(state, path, was_there)],
        note="" if request.check or request.remove else f"open a new {name} to see it",
        exit_code=int(request.check and state != "set"),
    )


def _shell_of(environment: Mapping[str, str]) -> str:
    name = os.path.basename(environment.get("SHELL", "powershell" if os.name == "nt" else ""))
    if name not in get_args(Shell):
        wrong = f"there is no completion for {name}" if name else "which shell is yours is not said"
        raise UsageError(wrong, f"give one of {', '.join(get_args(Shell)[:-1])}")
    return name


def completion_file(shell: str, environment: Mapping[str, str]) -> str:
    """Return the file that a shell reads when it starts, or when it first completes pmem."""
    home = environment.get("HOME") or os.path.expanduser("~")
    config = environment.get("XDG_CONFIG_HOME") or os.path.join(home, ".config")
    if os.name == "nt" and shell in ("powershell", "pwsh"):
        kind = "PowerShell" if shell == "pwsh" else "WindowsPowerShell"
        return os.path.join(home, "Documents", kind, "profile.ps1")
    places = {
        "bash": (home, ".bashrc"),
        "zsh": (environment.get("ZDOTDIR") or home, ".zshrc"),
        "fish": (config, "fish", "completions", "pmem.fish"),
    }
    return os.path.join(*places.get(shell, (config, "powershell", "profile.ps1")))


def _block_in(path: str) -> str | None:
    try:
        return managed_block.found(_text_in(path))
    except managed_block.Unclear:
        raise Refused(f"{path} has half a block of pmem's", "fix it by hand") from None


def _text_in(path: str) -> str:
    """Return a file's text, every byte of it kept; an empty one where there is no file."""
    if not os.path.exists(path):
        return ""
    with refusals(path), open(path, "rb") as file:
        return file.read().decode("utf-8", "surrogateescape")


def _put_block(path: str, block: str | None) -> None:
    """Put a block in place of the one that is there; without one, a file that is then empty goes.

    A link stays one: people keep such files elsewhere.
    """
    if _block_in(path) == block:
        return
    text = managed_block.without(_text_in(path))
    end = "" if not text or text.endswith("\n") else "\n"
    text = text if block is None else text + end + block
    with refusals(path):
        if text or os.path.islink(path):
            write_file(os.path.realpath(path), text.encode("utf-8", "surrogateescape"))
        else:
            os.unlink(path)


def _answer(request: SetupRequest, found: Any, lines: Iterable[Line], note: str) -> Answer:
    code = int(request.check and not found.ok)
    return Answer(data=found, lines=lines, note=note, exit_code=code)


def _check_one_way(request: SetupRequest, print_: bool = False) -> None:
    if request.check + request.remove + print_ > 1:
        raise UsageError("--check, --remove and --print exclude each other", "give one of them")


def _line(state: str, what: str, was_there: bool | None = None) -> Line:
    """Say how a part is, and of one that was to be removed whether it was there."""
    if state == "missing" and was_there is not None:
        state = "removed" if was_there else "not set"
    return [(f"{state:<9}" if what else state, _COLOURS.get(state, "yellow")), (what, "")]


def _state(found: str | None, *, is_ok: bool) -> str:
    return "set" if is_ok else "missing" if found is None else "differs"


def _hook_note(found: hooksetup.HookSetup, *, no_place: bool) -> str:
    if no_place and found.manager:
        return f"add these lines to {found.path}: {found.manager} writes git's hooks from it"
    if no_place:
        return f"add these lines to the repositories in {found.path}: pmem sees no safe place there"
    if not found.program:
        return "the hook will not find pmem: put it on the PATH"
    return "each clone needs `pre-commit install` once" * (found.kind == "config" and found.ok)


_COLOURS: Final = {
    "set": "green", "kept": "green", "removed": "green", "not set": "",
    "missing": "red", "differs": "red",
}  # fmt: skip


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
    text = answer(known, harness, session.directory or "", session.environment, session)
    return Answer(data={"answer": text}, raw=text)


@asks(NoArguments)
def list_(session: CommandSession, _: NoArguments) -> Answer:
    """Show which coding assistants are connected."""
    found = session.run(table.SETUP_LIST, NoArguments(), anywhere(session))
    lines = []
    for one in found.items:
        seen = "" if one.seen or one.state == "set" else "not installed"
        said = f"{one.harness:<{max(map(len, HARNESSES)) + 2}}{'--' + one.scope:<11}"
        lines.append([*_line(one.state, said), (one.why or seen, "dim")])
    note = "`pmem setup NAME` sets one up, `--remove` undoes that"
    return Answer(data=found, lines=lines, note=note)


def _set_up(
    session: CommandSession,
    request: assistants.AssistantSetupRequest,
    user: bool = own("In your own files, for every project."),
    project: bool = own("In the project's files, for everybody [the default]."),
    print_: bool = PRINT,
) -> Answer:
    if user and project:
        raise UsageError("--user and --project exclude each other", "give one of them")
    _check_one_way(request, print_)
    scope: Scope = "user" if user else "project"
    request = msgspec.structs.replace(request, scope=scope)
    assistants.files_of(request)  # before anything is looked for
    if print_:
        texts = assistants.to_paste(anywhere(session), request)
        raw = "".join(f"# {path}\n{text}" for path, text in texts)
        return Answer(data={"files": [{"path": p, "text": t} for p, t in texts]}, raw=raw)
    found = session.run(table.SETUP_ASSISTANT, request, anywhere(session) if user else None)
    lacks = "" if found.program or request.remove else "it will not find pmem: put it on the PATH"
    lines = []
    for part in found.parts:
        said = f"{part.what:<18}{part.path}{part.why and f' ({part.why})'}"
        lines.append(_line(part.state, said, part.removed if request.remove else None))
    return _answer(
        request, found, lines, "\n".join(filter(None, (found.trouble, lacks, found.said)))
    )


def _of_harness(harness: str, does: str, more: str = "") -> AskedCommand:
    meaning = f"{does}; safe to repeat.\n\n{more}"
    kind = assistants.AssistantSetupRequest
    return asks(kind, harness=harness, scope="project", meaning=meaning)(_set_up)


claude_code = _of_harness(
    "claude-code", "Connect Claude Code: hooks and tools", "VS Code runs these hooks as well."
)
codex = _of_harness(
    "codex",
    "Connect Codex: hooks and tools",
    "Codex runs hooks once you have trusted them there (`/hooks`), a project's in a trusted"
    " project.",
)
gemini = _of_harness("gemini", "Connect Gemini CLI: hooks and tools")
cursor = _of_harness("cursor", "Connect Cursor: hooks and tools")
vscode = _of_harness(
    "vscode",
    "Connect VS Code: hooks and tools",
    "It also reads the hooks of Claude Code: where those are set up, it gets none of its own.",
)
opencode = _of_harness("opencode", "Connect OpenCode: a plugin and tools")
zed = _of_harness("zed", "Connect Zed: tools, in your own settings")
agents_md = _of_harness("agents-md", "Say in AGENTS.md how to use the memory")


def anywhere(session: CommandSession) -> Workspace:
    """Return the memory of this place, or one that is not there, where none is needed."""
    place, name = (
        os.path.abspath(session.directory or os.getcwd()),
        session.folder_name,
    )
    try:
        folder = discover(place, name, session.environment)
    except NoProject:
        folder = os.path.join(place, name)
    return session.opened_anew(folder)
