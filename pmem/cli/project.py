"""The commands for a whole project: `init`, `stats` and `config`."""

import os
from typing import Any

import msgspec

from pmem.cli import render
from pmem.cli.asking import asks, own
from pmem.cli.render import drawn
from pmem.cli.session import Answer, CommandSession, Line
from pmem.errors import NotFound
from pmem.operations import table
from pmem.project.setup import SettingChangeRequest, SettingRequest
from pmem.project.workspace import Workspace
from pmem.storage.files.worktree import own_folder
from pmem.values.config import Resolved, known
from pmem.values.fields import AtRequest, NoArguments
from pmem.values.rules import as_text
from pmem.values.setting_groups import EVERYDAY, FURTHER
from pmem.vcs.gitsetup import InitRequest


@asks(InitRequest, mine=False)
def init(
    session: CommandSession,
    request: InitRequest,
    no_git: bool = own("Leave git's configuration as it is."),
    imports: bool | None = own(
        "Import the project's own files [asks on a terminal].", flag="--import/--no-import"
    ),
) -> Answer:
    """Start a memory in this folder; safe to repeat.

    In a git work tree it also tells git, in this clone, to merge records field by field. It looks
    for instruction files, decision records and sessions that `pmem import auto` would take in.
    """
    folder = session.found_root if session.mine else _memory_folder(session)
    place = Workspace(folder, environment=session.environment, read_only=session.read_only)
    request = msgspec.structs.replace(request, git=not no_git, mine=session.mine)
    done = session.run(table.INIT, request, place)
    word = "started" if done.created else "is ready:"
    lines: list[Line] = [[("memory ", ""), (f"{word} ", "green"), (done.path, "cyan")]]
    place = session.opened_anew(folder)
    wanted = done.created or imports
    more, notes = _first_import(session, place, imports) if wanted else ([], [])
    return Answer(data=done, lines=lines + more, note="\n".join(filter(None, (done.git, *notes))))


def _first_import(
    session: CommandSession, place: Workspace, imports: bool | None
) -> tuple[list[Line], list[str]]:
    """Take in what the project has written down, if somebody wants it, else say what there is."""
    if session.mine:
        return [], ['next: pmem add --mine "what should be remembered"']
    next_ = 'next: pmem add "what should be remembered"'
    if imports is False or (session.quiet and not imports):
        return [], [next_]
    from pmem.cli.exchange import project_imported, sources_of
    from pmem.conversation.project_sources import ProjectImportRequest, find_sources

    if not imports:
        *more, last = sources_of(find_sources(place)) or [""]
        found = f"{', '.join(more)} and {last}" if more else last
        if not found:
            return [], [next_]
        if not (render.can_ask() and render.confirmed(f"found {found}: import them?")):
            return [], [f"found {found}: `pmem import auto` takes them in", next_]
    wanted = ProjectImportRequest(progress=render.progress(session, "import"))
    try:
        done = project_imported(session.run(table.IMPORT_PROJECT, wanted, place))
    except NotFound as error:
        return [], [f"nothing to import: {error}", next_]
    return list(done.lines), [done.note]


def _memory_folder(session: CommandSession) -> str:
    """Return a place's memory folder; one that is such a folder itself holds no other."""
    place, name = (
        os.path.abspath(session.directory or os.getcwd()),
        session.folder_name,
    )
    if os.path.basename(place) == os.path.basename(name) and os.path.isdir(place):
        return place
    return os.path.join(place, name)


@asks(AtRequest)
def stats(session: CommandSession, request: AtRequest) -> Answer:
    """Show how much there is, and how it is used."""
    from pmem.cli.screens.figures import stats_note

    session.take_in_at_terminal()
    found = session.run(table.STATS, request)
    screen = drawn(session, "figures.stats_screen", found)
    return Answer(data=found, screen=screen, note=stats_note(found))


@asks(NoArguments)
def config_list(
    session: CommandSession,
    request: NoArguments,
    every: bool = own("Every setting, in groups; --json always has them.", flag="--all"),
) -> Answer:
    """Show the everyday settings and the others that were changed."""
    found = session.run(table.SETTINGS, request)
    by_name = {item.name: item for item in found.items}
    changed = [name for name, item in by_name.items() if item.value != known(name).default]
    shown = list(dict.fromkeys((*EVERYDAY, *changed)))
    notes = [*found.unknown]
    own_place = own_folder(session.environment)
    if os.path.isdir(own_place):
        notes.append(f"your own memory: {own_place}")
    if not (every or session.json):
        left = len(by_name) - len(shown)
        notes.append(f"{left} more at their defaults: `pmem config list --all`")
    lines = [_setting_line(by_name[name]) for name in shown]
    if every:
        groups = [("Everyday", EVERYDAY), *((group.title, group.names) for group in FURTHER)]
        lines = []
        for title, names in groups:
            lines.append([(f"{title}:", "bold")])
            lines += ([("  ", ""), *_setting_line(by_name[name])] for name in names)
    return Answer(data=found, lines=lines, note="\n".join(notes))


def _setting_line(setting: Resolved) -> Line:
    return [
        (f"{setting.name:<30}", "bold"),
        (f"{setting.origin:<13}", "dim"),
        (_value(setting.value), ""),
    ]


@asks(SettingRequest)
def config_get(session: CommandSession, request: SettingRequest) -> Answer:
    """Show one setting."""
    found = session.run(table.SETTING, request)
    return Answer(data=found, lines=[[(_value(found.value), "")]])


@asks(SettingChangeRequest)
def config_set(session: CommandSession, request: SettingChangeRequest) -> Answer:
    """Change one of the project's settings."""
    done = session.run(table.CHANGE_SETTING, request)
    return Answer(data=done, lines=[_now(done.name, done.value)], note=done.doubt)


@asks(SettingRequest)
def config_unset(session: CommandSession, request: SettingRequest) -> Answer:
    """Remove one of the project's settings, so that the default holds."""
    done = session.run(table.RESET_SETTING, request)
    return Answer(data=done, lines=[_now(done.name, done.value)])


def _now(name: str, value: Any) -> Line:
    return [(f"{name} ", "bold"), (f"is now {_value(value) or 'empty'}", "")]


def _value(value: Any) -> str:
    return "not set" if value is None else as_text(value)
