"""The commands that teach other programs about the memory."""

from typing import Annotated

import typer

from pmem import gitsetup
from pmem.cli.session import Answer, Line, Session
from pmem.errors import UsageError


def git(
    ctx: typer.Context,
    check: Annotated[
        bool, typer.Option("--check", help="Only look; exits with 1 if something is missing.")
    ] = False,
    remove: Annotated[bool, typer.Option("--remove", help="Take the settings back.")] = False,
    print_: Annotated[bool, typer.Option("--print", help="Only print what it would do.")] = False,
) -> Answer:
    """Let git merge records field by field, and show them as text; safe to repeat.

    It changes this clone's configuration, so each clone needs it once. The attributes that go
    with it are shared with the project.
    """
    session: Session = ctx.obj
    if check + remove + print_ > 1:
        raise UsageError("--check, --remove and --print exclude each other", "give one of them")
    if print_:
        script = gitsetup.script()
        return Answer(data={"script": script}, raw=script)
    if check:
        found = gitsetup.look(session.workspace)
    else:
        change = gitsetup.remove if remove else gitsetup.install
        found = change(session.workspace)
    return Answer(
        data={"parts": found.parts, "ok": found.ok, "program": found.program},
        lines=[_line(part) for part in found.parts],
        note="" if found.program else "git will not find pmem: put it on the PATH",
        exit_code=1 if check and not found.ok else 0,
    )


def _line(part: gitsetup.Part) -> Line:
    word, colour = ("set", "green") if part.ok else ("missing", "red")
    if part.found is not None and not part.ok:
        word = "differs"
    return [(f"{word:<8}", colour), (f"{part.name:<24}", "bold"), (part.wanted, "")]
