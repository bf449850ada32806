"""What a project has written down already: instruction files, decision records, sessions."""

import os
import re
from collections.abc import Iterable, Sequence
from contextlib import nullcontext
from itertools import groupby
from typing import Final

import msgspec

from pmem.conversation.decision_records import (
    DecisionsImported,
    DecisionsRequest,
    import_decisions,
)
from pmem.conversation.notes import NotesImported, NotesRequest, follow_notes
from pmem.conversation.session_files import sessions_of
from pmem.conversation.sessions import SessionsImported, SessionsRequest, import_sessions
from pmem.core.filters import Filter
from pmem.core.followed_rules import KIND
from pmem.errors import InvalidValue, NotFound
from pmem.interchange import Skipped
from pmem.interchange.adr import read_decision
from pmem.interchange.notes import is_of_project, read_notes
from pmem.project.workspace import Workspace
from pmem.storage.files.worktree import name_in
from pmem.storage.git.project_files import Unreadable
from pmem.values.fields import Admit, DryRun, Progress, as_it_is, ignore_progress
from pmem.values.programs import SessionProgram
from pmem.values.records import State

_RECORD: Final = re.compile(r"(?:adr[-_]?)?\d{1,8}[-_. ].*\.(?:md|markdown)", re.IGNORECASE)
_LOOKED_AT: Final = 3
"""Files of a folder that are looked at for a decision."""
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
    """What an import of what was `found` led to; None of what there is not."""

    found: ProjectSources
    notes: NotesImported | None
    decisions: DecisionsImported | None
    sessions: dict[str, SessionsImported]
    dry_run: bool


def find_sources(workspace: Workspace) -> ProjectSources:
    """Look for what a project has written down; nothing outside it is read but its sessions."""
    inside = name_in(workspace.sources.top, os.path.dirname(workspace.root))
    prefix = f"{inside}/" if inside else ""
    files = [file.removeprefix(prefix) for file in workspace.sources.within(inside)]
    records = (file for file in files if _RECORD.fullmatch(file.rpartition("/")[2]))
    kept = {
        folder: list(named)
        for folder, named in groupby(sorted(records, key=_folder_of), key=_folder_of)
    }
    decisions = [folder for folder, named in kept.items() if _has_decision(workspace, named)]
    counts, unread = _count_rules(workspace, filter(is_of_project, files))
    rules = {file: count for file, count in counts.items() if count}
    project = os.path.dirname(workspace.root)
    sessions = {
        program.value: len(sessions_of(program, project, workspace.environment).files)
        for program in _PROGRAMS
    }
    return ProjectSources(
        instructions=tuple(rules),
        rules=sum(rules.values()),
        decisions=tuple(decisions),
        records=sum(len(kept[folder]) for folder in decisions),
        sessions={name: count for name, count in sessions.items() if count},
        unread=tuple(unread),
        without_rules=tuple(counts.keys() - rules.keys()),
    )


def import_project(workspace: Workspace, request: ProjectImportRequest) -> ProjectImported:
    """Make memories of a project's own files, and change those whose files have changed."""
    found = find_sources(workspace)
    kept = workspace.memories.find(Filter(states=tuple(State)))
    has_notes = bool(found.instructions) or any(memory.source.kind == KIND for memory in kept)
    if not (has_notes or found.decisions or found.sessions):
        raise NotFound(
            "the project has no instruction files, no decision records and no sessions",
            "`pmem import --help` shows what can be imported",
        )
    files = _paths(workspace, (*found.instructions, *found.without_rules))
    folders = _paths(workspace, found.decisions)
    notes = decisions = None
    with nullcontext() if request.dry_run else workspace.transaction():
        if has_notes:
            rules = NotesRequest(paths=files, admit=request.admit)
            notes = follow_notes(workspace, rules, dry_run=request.dry_run)
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
    return ProjectImported(
        found=found,
        notes=notes,
        decisions=decisions,
        sessions={name: import_sessions(workspace, one) for name, one in programs.items()},
        dry_run=request.dry_run,
    )


def _paths(workspace: Workspace, files: Iterable[str]) -> tuple[str, ...]:
    project = os.path.dirname(workspace.root)
    return tuple(os.path.join(project, *file.split("/")) for file in files)


def _folder_of(file: str) -> str:
    return file.rpartition("/")[0]


def _has_decision(workspace: Workspace, files: Sequence[str]) -> bool:
    """Tell whether one of the first files is a decision record."""
    for file in files[:_LOOKED_AT]:
        try:
            found = read_decision(file, _text(workspace, file))
        except (Unreadable, UnicodeDecodeError):
            continue
        if not isinstance(found, str):
            return True
    return False


def _count_rules(
    workspace: Workspace, files: Iterable[str]
) -> tuple[dict[str, int], list[Skipped]]:
    """Return how many rules each file has, and the files that cannot be read."""
    rules: dict[str, int] = {}
    unread: list[Skipped] = []
    for file in files:
        try:
            text = _text(workspace, file)
            count = len(read_notes(file, text).notes)
        except UnicodeDecodeError:
            unread.append(Skipped(file, "is not UTF-8"))
        except (Unreadable, InvalidValue) as error:
            unread.append(Skipped(file, str(error)))
        else:
            if "\0" in text:
                unread.append(Skipped(file, "is binary"))
            else:
                rules[file] = count
    return rules, unread


def _text(workspace: Workspace, file: str) -> str:
    inside = name_in(workspace.sources.top, os.path.dirname(workspace.root))
    name = f"{inside}/{file}" if inside else file
    return workspace.sources.read(name, _LONGEST).decode("utf-8-sig")
