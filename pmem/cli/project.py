"""The commands that look after a project's memory as a whole."""

import os
from itertools import chain
from typing import Annotated, Any, Literal

import typer

from pmem.cli import dashboard, options
from pmem.cli.session import Answer, Line, Session
from pmem.core.secrets import unsecret
from pmem.errors import PmemError, Refused
from pmem.operations import table
from pmem.project import setup
from pmem.project.workspace import Workspace
from pmem.upkeep import checking
from pmem.upkeep import doctor as upkeep
from pmem.upkeep.doctor import DoctorRequest
from pmem.values.notation import as_text
from pmem.values.requests import AtRequest
from pmem.vcs import gitsetup

Name = Annotated[str, typer.Argument(metavar="NAME", help="A setting's name.")]


def init(
    ctx: typer.Context,
    name: Annotated[str | None, typer.Option(help="The project's name.")] = None,
    track_conversations: Annotated[
        bool, typer.Option("--track-conversations", help="Let git track transcripts too.")
    ] = False,
    no_git: Annotated[
        bool, typer.Option("--no-git", help="Leave git's configuration as it is.")
    ] = False,
) -> Answer:
    """Start a memory in this folder; safe to repeat.

    In a git work tree, git is told in this clone to merge records field by field.
    """
    session: Session = ctx.obj
    if session.read_only:
        raise Refused("this run is read-only", "leave out --read-only to write")
    place = session.directory or os.getcwd()
    folder = _memory_folder(place, session.folder_name)
    done = setup.initialise(
        folder,
        name=name,
        track_conversations=track_conversations,
        environment=session.environment,
    )
    path = unsecret(done.path)
    word = "started" if done.created else "is ready:"
    next_ = 'next: pmem add "what should be remembered"' if done.created else ""
    return Answer(
        data={"path": path, "created": done.created},
        lines=[[("memory ", ""), (f"{word} ", "green"), (path, "cyan")]],
        note="\n".join(filter(None, ("" if no_git else _start_git(session, done.path), next_))),
    )


def _memory_folder(place: str, name: str) -> str:
    """Return a place's memory folder; one that is such a folder itself holds no other."""
    place = os.path.abspath(place)
    if os.path.basename(place) == os.path.basename(name) and os.path.isdir(place):
        return place
    return os.path.join(place, name)


def _start_git(session: Session, folder: str) -> str:
    """Tell git how records merge, and say so; a git that refuses stops nobody."""
    try:
        told = gitsetup.start(Workspace(folder, environment=session.environment))
    except PmemError as error:
        return f"git was not told how records merge: {error.message}; run `pmem setup git`"
    if told is None:
        return ""
    if not told.program:
        return "git merges records by field in this clone, once pmem is on the PATH"
    return "git merges records by field in this clone (`pmem setup git --remove` undoes that)"


def stats(ctx: typer.Context, at: options.At = None) -> Answer:
    """Show what the memory holds."""
    session: Session = ctx.obj
    found = session.run(table.STATS, AtRequest(at=session.at(at)))
    return Answer(
        data=found,
        lines=dashboard.plain_lines(found),
        screen=lambda width: dashboard.screen(found, width),
        note=dashboard.note(found),
    )


def doctor(
    ctx: typer.Context,
    fix: Annotated[bool, typer.Option("--fix", help="Mend what can be mended.")] = False,
) -> Answer:
    """Look at everything that pmem needs; exits with 1 if something is wrong."""
    session: Session = ctx.obj
    found = session.run(table.DOCTOR, DoctorRequest(fix=fix))
    session.quiet = True
    return Answer(
        data=found,
        lines=[
            [
                (f"{'fixed' if item.fixed else 'ok' if item.ok else 'wrong':<6}", _colour(item)),
                (f"{item.name:<10}", "bold"),
                (item.detail, ""),
            ]
            for item in found.items
        ],
        exit_code=0 if found.ok else 1,
    )


def completion(
    shell: Annotated[
        Literal["bash", "zsh", "fish", "powershell", "pwsh"],
        typer.Argument(metavar="SHELL", help="Which shell."),
    ],
) -> Answer:
    """Print the script that completes pmem's commands in a shell."""
    from typer._completion_shared import get_completion_script

    script = get_completion_script(prog_name="pmem", complete_var="_PMEM_COMPLETE", shell=shell)
    return Answer(data={"shell": shell, "script": script}, raw=script + "\n")


def config_list(ctx: typer.Context) -> Answer:
    """Show every setting, its value and where that came from."""
    session: Session = ctx.obj
    return Answer(
        data={"items": session.workspace.configuration.provenance},
        lines=(
            [(f"{item.name:<30}", "bold"), (f"{item.origin:<13}", "dim"), (_value(item.value), "")]
            for item in session.workspace.configuration.provenance
        ),
        note="\n".join(item.message for item in checking.unknown_settings(session.workspace)),
    )


def config_get(ctx: typer.Context, name: Name) -> Answer:
    """Show one setting."""
    session: Session = ctx.obj
    found = session.workspace.configuration.setting(name)
    return Answer(data=found, lines=[[(_value(found.value), "")]])


def config_set(
    ctx: typer.Context,
    name: Name,
    value: Annotated[
        str, typer.Argument(metavar="VALUE", help="Its new value; lists take commas.")
    ],
) -> Answer:
    """Change one of the project's settings."""
    session: Session = ctx.obj
    kept = setup.change_setting(session.workspace, name, value)
    line: Line = [(f"{name} ", "bold"), (f"is now {_value(kept)}", "")]
    note = ""
    if name.partition(".")[0] == "allowlists":
        lists = kept.values() if isinstance(kept, dict) else [kept]
        note = upkeep.unknown_categories(session.workspace, chain.from_iterable(lists))
    return Answer(data={"name": name, "value": kept, "origin": "project"}, lines=[line], note=note)


def config_unset(ctx: typer.Context, name: Name) -> Answer:
    """Take one of the project's settings back to what holds without it."""
    session: Session = ctx.obj
    value = setup.reset_setting(session.workspace, name)
    line: Line = [(f"{name} ", "bold"), (f"is now {_value(value)}", "")]
    return Answer(data={"name": name, "value": value}, lines=[line])


def _counted(number: int, what: str) -> str:
    return f"{number} {what}" if number == 1 else f"{number} {what}s"


def _colour(item: upkeep.Diagnosis) -> str:
    return "green" if item.ok else "red"


def _value(value: Any) -> str:
    return "not set" if value is None else as_text(value)
