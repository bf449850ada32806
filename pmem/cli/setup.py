"""The commands that teach other programs about the memory."""

from itertools import repeat
from typing import TYPE_CHECKING, Annotated, Final, Literal

import typer

from pmem.cli.session import Answer, CommandSession, Line
from pmem.errors import ReadOnly, UsageError
from pmem.operations import table
from pmem.values.requests import SetupRequest
from pmem.vcs import gitsetup, hooksetup
from pmem.vcs.rule_files import HOSTS, RulesRequest

if TYPE_CHECKING:
    from pmem.cli.completion.installing import CompletionPart

Shell = Literal["bash", "zsh", "fish", "powershell", "pwsh"]
_COLOURS: Final = {"set": "green", "missing": "red", "differs": "red"}


def git(
    ctx: typer.Context,
    check: Annotated[
        bool, typer.Option("--check", help="Only look; exits with 1 if something is missing.")
    ] = False,
    remove: Annotated[bool, typer.Option("--remove", help="Undo it.")] = False,
    print_: Annotated[bool, typer.Option("--print", help="Only print what it would do.")] = False,
) -> Answer:
    """Teach git to merge and show records; safe to repeat.

    Records are merged field by field, and shown as text. It changes this clone's configuration, so
    each clone needs it once. The attributes that go with it are shared with the project.
    """
    session: CommandSession = ctx.obj
    _one_at_the_most(check, remove, print_)
    if print_:
        script = gitsetup.script()
        return Answer(data={"script": script}, raw=script)
    look = SetupRequest(check=True)
    before = session.run(table.SETUP_GIT, look).parts if remove else ()
    found = session.run(table.SETUP_GIT, SetupRequest(check=check, remove=remove))
    return Answer(
        data=found,
        lines=list(map(_line, found.parts, before or repeat(None))),
        note="" if found.program or remove else "git will not find pmem: put it on the PATH",
        exit_code=1 if check and not found.ok else 0,
    )


def rules(
    ctx: typer.Context,
    hosts: Annotated[
        list[str] | None,
        typer.Argument(metavar="[HOST]...", help=f"{', '.join(HOSTS)} [those that have some]."),
    ] = None,
    check: Annotated[
        bool, typer.Option("--check", help="Only look; exits with 1 if one is out of date.")
    ] = False,
    remove: Annotated[bool, typer.Option("--remove", help="Undo it.")] = False,
) -> Answer:
    """Write the memory into rule files of assistants; safe to repeat.

    AGENTS.md gets a block of what every task needs: what is pinned, dead ends, constraints and
    preferences, within 600 tokens. Cursor, Copilot and Claude Code get that as a rule, and a rule
    for each place (`--for`) that they apply to its files. `pmem check` says when one is out of
    date, and `pmem resolve` writes it again.
    """
    session: CommandSession = ctx.obj
    _one_at_the_most(check, remove, False)
    for host in hosts or ():
        if host not in HOSTS:
            raise UsageError(f"there is no host {host!r}", f"there are {', '.join(HOSTS)}")
    request = RulesRequest(hosts=tuple(hosts or ()), check=check, remove=remove)
    there = session.run(table.SETUP_RULES, RulesRequest(check=True)).hosts if remove else ()
    found = session.run(table.SETUP_RULES, request)
    note = "" if found.hosts else f"no host has rules yet: name one of {', '.join(HOSTS)}"
    lines: list[Line] = [
        [(f"{part.state:<9}", "green" if part.state == "set" else "yellow"), (part.path, "")]
        for part in found.parts
    ]
    if remove:
        lines = [[_gone(was_there=not set(there).isdisjoint(found.hosts))]] if found.hosts else []
    return Answer(data=found, lines=lines, note=note, exit_code=1 if check and not found.ok else 0)


def pre_commit(
    ctx: typer.Context,
    check: Annotated[
        bool, typer.Option("--check", help="Only look; exits with 1 if it is not set up.")
    ] = False,
    remove: Annotated[bool, typer.Option("--remove", help="Undo it.")] = False,
    print_: Annotated[bool, typer.Option("--print", help="Only print the lines.")] = False,
    strict: Annotated[
        bool, typer.Option("--strict", help="Let a review stop a commit too.")
    ] = False,
) -> Answer:
    """Check every commit; safe to repeat.

    `pmem check --staged` can stop a commit. `pmem review --staged` says which memories it touches,
    and stops nothing.

    If the project has a .pre-commit-config.yaml, pmem adds an entry to it, else a few lines to
    git's own hook. If there is no safe place for the entry, it prints it and exits with 1.
    """
    session: CommandSession = ctx.obj
    _one_at_the_most(check, remove, print_)
    request = hooksetup.PreCommitRequest(check=check or print_, remove=remove, strict=strict)
    look = hooksetup.PreCommitRequest(check=True)
    before = session.run(table.SETUP_PRE_COMMIT, look) if remove else None
    found = session.run(table.SETUP_PRE_COMMIT, request)
    failed = not (found.ok or print_ or remove)
    no_place = failed and not check
    return Answer(
        data=found,
        raw=found.wanted if print_ or no_place else None,
        lines=[_hook_line(found, before)],
        note=_hook_note(found, no_place=no_place),
        exit_code=1 if failed else 0,
    )


def completion(
    ctx: typer.Context,
    shell: Annotated[
        Shell | None, typer.Argument(metavar="[SHELL]", help="Which shell [yours].")
    ] = None,
    check: Annotated[
        bool, typer.Option("--check", help="Only look; exits with 1 if something is missing.")
    ] = False,
    remove: Annotated[bool, typer.Option("--remove", help="Undo it.")] = False,
    print_: Annotated[bool, typer.Option("--print", help="Only print the script.")] = False,
) -> Answer:
    """Complete commands, ids and tags in your shell; safe to repeat.

    It writes a script, and for bash, zsh and PowerShell a line into their start-up file that
    loads it. The files are named. While you type, the shell asks pmem, which reads the memory's
    index and writes nothing.
    """
    from pmem.cli.completion import installing, shells

    session: CommandSession = ctx.obj
    _one_at_the_most(check, remove, print_)
    name = shell or installing.shell_of(session.environment)
    if print_:
        script = shells.script(name)
        return Answer(data={"shell": name, "script": script}, raw=script)
    if session.read_only and not check:
        raise ReadOnly
    act = installing.look if check else installing.uninstall if remove else installing.install
    before = installing.look(name, session.environment).parts if remove else ()
    found = act(name, session.environment)
    return Answer(
        data=found,
        lines=list(map(_file_line, found.parts, before or repeat(None))),
        note="" if check or remove else f"open a new {name} to see it",
        exit_code=1 if check and not found.ok else 0,
    )


def _one_at_the_most(*given: bool) -> None:
    if sum(given) > 1:
        raise UsageError("--check, --remove and --print exclude each other", "give one of them")


def _gone(*, was_there: bool) -> tuple[str, str]:
    """Say of what is not there whether it was before it was to be removed."""
    return ("removed", "green") if was_there else ("not set", "")


def _file_line(part: "CompletionPart", before: "CompletionPart | None") -> Line:
    gone = None if before is None else _gone(was_there=before.state != "missing")
    word, colour = gone or (part.state, _COLOURS[part.state])
    return [(f"{word:<9}", colour), (part.path, "")]


def _hook_line(found: hooksetup.HookSetup, before: hooksetup.HookSetup | None) -> Line:
    if before is not None and not found.ok and found.found is None:
        word, colour = _gone(was_there=before.found is not None)
        return [(f"{word:<8}", colour), (found.path, "")]
    word, colour = ("set", "green") if found.ok else ("missing", "red")
    if found.found is not None and not found.ok:
        word = "differs"
    return [(f"{word:<8}", colour), (found.path, "")]


def _hook_note(found: hooksetup.HookSetup, *, no_place: bool) -> str:
    if no_place and found.manager:
        return f"add these lines to {found.path}: {found.manager} writes git's hooks from it"
    if no_place:
        return f"add these lines to the repositories in {found.path}: pmem sees no safe place there"
    if not found.program:
        return "the hook will not find pmem: put it on the PATH"
    runs_by_tool = found.kind == "config" and found.ok
    return "each clone needs `pre-commit install` once" if runs_by_tool else ""


def _line(part: gitsetup.GitSetting, before: gitsetup.GitSetting | None) -> Line:
    """Say how git has been told one thing; what the project shares stays when a clone forgets."""
    word, colour = ("set" if before is None else "kept", "green") if part.ok else ("missing", "red")
    if before is not None and not part.ok:
        word, colour = _gone(was_there=before.found is not None)
    if part.found is not None and not part.ok:
        word = "differs"
    return [(f"{word:<8}", colour), (f"{part.name:<24}", "bold"), (part.wanted, "")]
