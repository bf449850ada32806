"""The command that sets completion up."""

from typing import Annotated

import typer

from pmem.cli.completion import installing
from pmem.cli.completion.installing import Shell
from pmem.cli.session import Answer, CommandSession, Line
from pmem.errors import ReadOnly, UsageError

_COLOURS = {"set": "green", "missing": "red", "differs": "red"}


def setup_completion(
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
    session: CommandSession = ctx.obj
    if sum((check, remove, print_)) > 1:
        raise UsageError("--check, --remove and --print exclude each other", "give one of them")
    name = shell or installing.shell_of(session.environment)
    if print_:
        script = installing.script(name)
        return Answer(data={"shell": name, "script": script}, raw=script)
    if check:
        found = installing.look(name, session.environment)
    elif session.read_only:
        raise ReadOnly
    elif remove:
        found = installing.uninstall(name, session.environment)
    else:
        found = installing.install(name, session.environment)
    lines: list[Line] = [
        [
            ("removed  " if remove else f"{part.state:<9}", "" if remove else _COLOURS[part.state]),
            (part.path, ""),
        ]
        for part in found.parts
    ]
    note = "" if check or remove else f"open a new {name} to see it"
    return Answer(data=found, lines=lines, note=note, exit_code=1 if check and not found.ok else 0)
