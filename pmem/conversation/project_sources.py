"""What a project has written down already: instruction files, decision records, sessions."""

import os
import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import nullcontext
from itertools import groupby
from typing import Final, NamedTuple

import msgspec

from pmem.conversation.decision_records import (
    DecisionsImported,
    DecisionsRequest,
    import_decisions,
)
from pmem.conversation.git_history import HistoryImported, HistoryImportRequest, propose_commits
from pmem.conversation.note_files import NoteFile
from pmem.conversation.notes import NotesImported, follow_notes, parse_notes
from pmem.conversation.session_files import sessions_of
from pmem.conversation.sessions import SessionsImported, SessionsRequest, import_sessions
from pmem.core.filters import Filter
from pmem.core.followed_rules import KIND
from pmem.errors import NotFound
from pmem.interchange import Skipped
from pmem.interchange.adr import read_decision
from pmem.interchange.notes import NotesFile, is_of_project
from pmem.project.workspace import Workspace
from pmem.storage.files.worktree import name_in
from pmem.storage.git.project_files import Unreadable
from pmem.values.fields import Admit, DryRun, Progress, as_it_is, ignore_progress
from pmem.values.programs import SessionProgram
from pmem.values.records import State

_RECORD: Final = re.compile(r"(?:adr[-_]?)?\d{1,8}[-_. ].*\.(?:md|markdown)", re.IGNORECASE)
_OF_RECORDS: Final = re.compile(r"(?:^|.*/)(?:adrs?|[\w-]*decisions?(?:[-_]\w+)?)", re.IGNORECASE)
"""Folders of decisions by their names, whatever their files say."""
_LOOKED_AT: Final = 3
"""Files of a folder that are looked at for a decision."""
_PROPOSALS: Final = 20
"""Proposals that are made of the history: nobody reads hundreds of them on the first day."""
_COMMITS: Final = 10_000
"""Commits that are read, the latest."""
_LONGEST: Final = 1024 * 1024
_PROGRAMS: Final = (SessionProgram.CLAUDE_CODE, SessionProgram.CODEX, SessionProgram.GEMINI)


class ProjectSources(msgspec.Struct, frozen=True, kw_only=True):
    """What is there to be imported, by paths relative to the project root.

    `rules` is how many the `instructions` have; files `without_rules` have none. `decisions` are
    folders, `records` how many of their files are named like records. `sessions` are counted by
    program.
    """

    instructions: tuple[str, ...] = ()
    rules: int = 0
    decisions: tuple[str, ...] = ()
    records: int = 0
    sessions: dict[str, int] = {}
    unread: tuple[Skipped, ...] = ()
    without_rules: tuple[str, ...] = ()


class ProjectImportRequest(msgspec.Struct, frozen=True, kw_only=True):
    """The project's own instruction files and decision records, and its sessions."""

    dry_run: DryRun = False
    progress: Progress = ignore_progress
    admit: Admit = as_it_is


class ProjectImported(msgspec.Struct, frozen=True, kw_only=True):
    """What an import of what was `found` led to; None of what there is not.

    Of the `history` there are proposals.
    """

    found: ProjectSources
    notes: NotesImported | None
    decisions: DecisionsImported | None
    sessions: dict[str, SessionsImported]
    history: HistoryImported | None
    dry_run: bool


class _Found(NamedTuple):
    """What is there, and what the instruction files say, also those without rules."""

    sources: ProjectSources
    notes: list[tuple[str, NotesFile]]


def find_sources(workspace: Workspace) -> ProjectSources:
    """Look for what a project has written down; nothing outside it is read but its sessions."""
    return _find(workspace).sources


def _find(workspace: Workspace) -> _Found:
    inside = name_in(workspace.sources.top, os.path.dirname(workspace.root))
    prefix = f"{inside}/" if inside else ""
    files = [file.removeprefix(prefix) for file in workspace.sources.within(inside)]
    records = (file for file in files if _RECORD.fullmatch(file.rpartition("/")[2]))
    kept = {
        folder: list(named)
        for folder, named in groupby(sorted(records, key=_folder_of), key=_folder_of)
    }
    none = {folder: _without_decision(workspace, named) for folder, named in kept.items()}
    decisions = [folder for folder, left_out in none.items() if not left_out]
    unread = [one for folder in none if _OF_RECORDS.fullmatch(folder) for one in none[folder]]
    notes = list(_read_notes(workspace, filter(is_of_project, files), unread))
    rules = {file: len(found.notes) for file, found in notes if found.notes}
    project = os.path.dirname(workspace.root)
    sessions = {
        program.value: len(sessions_of(program, project, workspace.environment).files)
        for program in _PROGRAMS
    }
    sources = ProjectSources(
        instructions=tuple(rules),
        rules=sum(rules.values()),
        decisions=tuple(decisions),
        records=sum(len(kept[folder]) for folder in decisions),
        sessions={name: count for name, count in sessions.items() if count},
        unread=tuple(unread),
        without_rules=tuple(file for file, found in notes if not found.notes),
    )
    return _Found(sources, notes)


def import_project(workspace: Workspace, request: ProjectImportRequest) -> ProjectImported:
    """Make memories of a project's own files, and change those whose files have changed.

    Of its history, the surest proposals alone.
    """
    found, read = _find(workspace)
    kept = workspace.memories.find(Filter(states=tuple(State)))
    has_notes = bool(found.instructions) or any(memory.source.kind == KIND for memory in kept)
    folders = _paths(workspace, found.decisions)
    notes = decisions = None
    with nullcontext() if request.dry_run else workspace.transaction():
        if has_notes:
            notes = follow_notes(
                workspace, read, request.admit, request.progress, dry_run=request.dry_run
            )
        if folders:
            records = DecisionsRequest(paths=folders, dry_run=request.dry_run, admit=request.admit)
            decisions = import_decisions(workspace, records)
    programs = {
        program: SessionsRequest(
            harness=SessionProgram(program),
            dry_run=request.dry_run,
            progress=request.progress,
            admit=request.admit,
        )
        for program in found.sessions
    }
    sessions = {name: import_sessions(workspace, one) for name, one in programs.items()}
    history = _propose(workspace, request)
    if not (has_notes or decisions or sessions or history):
        raise NotFound(
            "the project has no instruction files, no decision records, no sessions and no commits",
            "; ".join(f"{one.where} {one.why}" for one in found.unread)
            or "`pmem import --help` shows what can be imported",
        )
    return ProjectImported(
        found=found,
        notes=notes,
        decisions=decisions,
        sessions=sessions,
        history=history,
        dry_run=request.dry_run,
    )


def _propose(workspace: Workspace, request: ProjectImportRequest) -> HistoryImported | None:
    """Propose what the latest commits say; None without a commit that git can read."""
    wanted = HistoryImportRequest(
        limit=_PROPOSALS,
        dry_run=request.dry_run,
        progress=request.progress,
        admit=request.admit,
    )
    try:
        done = propose_commits(workspace, wanted, _COMMITS)
    except NotFound:
        return None
    return done if done.commits else None


def _paths(workspace: Workspace, files: Iterable[str]) -> tuple[str, ...]:
    project = os.path.dirname(workspace.root)
    return tuple(os.path.join(project, *file.split("/")) for file in files)


def _folder_of(file: str) -> str:
    return file.rpartition("/")[0]


def _without_decision(workspace: Workspace, files: Sequence[str]) -> list[Skipped]:
    """Return the first files with why each is no decision record; nothing where one of them is."""
    left_out = []
    for file in files[:_LOOKED_AT]:
        try:
            found = read_decision(file, _text(workspace, file))
        except (Unreadable, UnicodeDecodeError):
            found = "cannot be read"
        if not isinstance(found, str):
            return []
        left_out.append(Skipped(file, found))
    return left_out


def _read_notes(
    workspace: Workspace, files: Iterable[str], unread: list[Skipped]
) -> Iterator[tuple[str, NotesFile]]:
    """Yield what each file says; `unread` takes a line for each that cannot be read."""
    for file in files:
        try:
            text = _text(workspace, file)
        except UnicodeDecodeError:
            unread.append(Skipped(file, "is not UTF-8"))
        except Unreadable as error:
            unread.append(Skipped(file, str(error)))
        else:
            if "\0" in text:
                unread.append(Skipped(file, "is binary"))
                continue
            found = parse_notes(workspace, NoteFile(file, text), unread)
            if found is not None:
                yield file, found


def _text(workspace: Workspace, file: str) -> str:
    inside = name_in(workspace.sources.top, os.path.dirname(workspace.root))
    name = f"{inside}/{file}" if inside else file
    return workspace.sources.read(name, _LONGEST).decode("utf-8-sig")
