"""The commands that take in the sessions of coding assistants."""

from collections.abc import Sequence
from typing import Annotated, Final

import msgspec
import typer

from pmem.cli import render
from pmem.cli.asking import asks
from pmem.cli.left_out import left_out_lines, reasons_line
from pmem.cli.session import Answer, CommandSession, Line
from pmem.conversation.decision_records import DecisionsImported
from pmem.conversation.notes import NotesImported, NotesRequest
from pmem.conversation.project_sources import (
    ProjectImported,
    ProjectImportRequest,
    ProjectSources,
)
from pmem.conversation.session_files import NoSession
from pmem.conversation.sessions import SessionsImported, SessionsRequest
from pmem.errors import UsageError
from pmem.operations import table
from pmem.values.programs import TITLES, SessionProgram

_NOT_OF_ONE: Final = ("pending",)


@asks(SessionsRequest, without=_NOT_OF_ONE, harness=SessionProgram.CLAUDE_CODE)
def claude_code(session: CommandSession, request: SessionsRequest) -> Answer:
    """Import sessions of Claude Code, each message once.

    Without a path, the sessions of this project and of its other work trees are read from
    ~/.claude/projects, or from CLAUDE_CONFIG_DIR. What pmem itself said is left out.
    """
    return _import(session, request)


@asks(SessionsRequest, without=_NOT_OF_ONE, harness=SessionProgram.CODEX)
def codex(session: CommandSession, request: SessionsRequest) -> Answer:
    """Import sessions of Codex, each message once.

    Without a path, the sessions of this project and of its other work trees are read from
    ~/.codex/sessions, or from CODEX_HOME. What pmem itself said is left out.
    """
    return _import(session, request)


@asks(SessionsRequest, without=_NOT_OF_ONE, harness=SessionProgram.GEMINI)
def gemini(session: CommandSession, request: SessionsRequest) -> Answer:
    """Import sessions of Gemini CLI, each message once.

    Without a path, the sessions of this project and of its other work trees are read from
    ~/.gemini/tmp. What pmem itself said is left out.
    """
    return _import(session, request)


@asks(SessionsRequest, without=("path",))
def auto(
    session: CommandSession,
    request: SessionsRequest,
    file: Annotated[
        str | None, typer.Argument(metavar="[FILE]", help="A session or a transcript.")
    ] = None,
) -> Answer:
    """Import the project's own files, or a session or transcript.

    Without a file, pmem takes in the instruction files and the decision records that git does not
    ignore: see `pmem import notes` and `pmem import adr`. Again updates what has changed; one
    `pmem undo` takes all of it back. With --pending it imports the sessions that hooks noted;
    `pmem import --pending` is short for that. The other options are for sessions.
    """
    if request.pending and file is not None:
        raise UsageError("name either a file or --pending", "`pmem import --help` says more")
    if not request.pending and file is None:
        if request != SessionsRequest(dry_run=request.dry_run):
            raise UsageError("that option is for sessions", "name a file, or --pending")
        wanted = ProjectImportRequest(dry_run=request.dry_run)
        return project_imported(session.run(table.IMPORT_PROJECT, wanted))
    try:
        return _import(session, msgspec.structs.replace(request, path=file))
    except NoSession:
        if request != SessionsRequest():
            raise
    from pmem.cli.exchange import transcript_imported

    return transcript_imported(session, file or "-")


def _import(session: CommandSession, request: SessionsRequest) -> Answer:
    told = render.progress(session, "bytes")
    request = msgspec.structs.replace(request, progress=told)
    return _imported(session.run(table.IMPORT_SESSIONS, request))


def _imported(done: SessionsImported) -> Answer:
    many = f"{done.sessions} session{'s' * (done.sessions != 1)}"
    figures = (
        f"{many}: {done.added} {'would be ' * done.dry_run}added, {done.updated} updated, "
        f"{done.unchanged} unchanged, {len(done.skipped)} skipped"
    )
    lines: list[Line] = [[(figures, "")], *reasons_line(done.left_out)]
    told = [render.masked(item, "where", "why") for item in done.skipped]
    notes = [f"skipped {item.where}: it {item.why}" for item in told]
    if done.facts:
        notes.append(f"facts noted: {done.facts}; `pmem inbox` proposes them")
    if done.states_more:
        notes.append("next: --learn proposes memories")
    return Answer(data=done, lines=lines, note="\n".join(notes))


@asks(NotesRequest)
def notes(session: CommandSession, request: NotesRequest) -> Answer:
    """Import instruction files: each rule becomes a memory.

    A rule is an entry of a list, the steps of a numbered one, commands, a table, or a paragraph
    that orders or decides. The nearest heading is its subject. A memory cites its lines, so that
    `pmem check citations` sees when they change. It applies where the rules of its file do: globs,
    paths and applyTo become its places, and web/AGENTS.md is for web/**.
    Below a folder, pmem finds the instruction files that git does not ignore. It counts what it
    leaves out. Import again after a change: pmem updates the memories of what has changed, and
    names those whose text is gone, so that you can remove them.
    """
    done = session.run(table.IMPORT_NOTES, request)
    lines, told = _of_notes(done)
    return Answer(data=done, lines=lines, note="\n".join(told))


def project_imported(done: ProjectImported) -> Answer:
    """Say what became of a project's own files."""
    found, lines, told = done.found, list[Line](), _skipped(done.found)
    if done.notes is None and found.rules:
        lines.append([(f"{sources_of(found)[0]} would be read", "")])
    if done.notes is not None:
        more, also = _of_notes(done.notes)
        lines += [[(f"{_named(found.instructions)}: ", ""), *more[0]], *more[1:]]
        told += also
    if done.decisions is not None:
        would = "would be " * done.dry_run
        figures = f"{done.decisions.added} {would}added, {done.decisions.updated} updated"
        lines.append([(f"{', '.join(found.decisions)}: {figures}", "")])
        told += _skipped(done.decisions)
    told += [
        f"{_many(count, 'session')} of {TITLES[SessionProgram(name)]}: `pmem import {name}`"
        for name, count in found.sessions.items()
    ]
    return Answer(data=done, lines=lines, note="\n".join(told))


def sources_of(found: ProjectSources) -> list[str]:
    """Return what a project has written down, in words."""
    told = []
    if found.instructions:
        told.append(f"{_named(found.instructions)} ({_many(found.rules, 'rule')})")
    if found.decisions:
        told.append(f"{_many(found.records, 'decision record')} in {', '.join(found.decisions)}")
    return told


def _named(files: Sequence[str]) -> str:
    more = len(files) - 1
    return f"{files[0]} and {_many(more, 'more instruction file')}" if more else files[0]


def _many(count: int, what: str) -> str:
    return f"{count} {what}{'s' * (count != 1)}"


def _skipped(done: ProjectSources | NotesImported | DecisionsImported) -> list[str]:
    items = done.unread if isinstance(done, ProjectSources) else done.skipped
    return [f"skipped {item.where}: it {item.why}" for item in items]


def _of_notes(done: NotesImported) -> tuple[list[Line], list[str]]:
    """Return the lines and notes of what became of instruction files."""
    figures = (
        f"{done.added} added, {done.updated} updated, {done.unchanged} unchanged, "
        f"{len(done.skipped)} skipped"
    )
    lines: list[Line] = [[(figures, "")], *left_out_lines(done.left_out)]
    lines += [[(one.id, "cyan"), (f"  gone from {one.file}: {one.text}", "")] for one in done.gone]
    told = _skipped(done)
    if done.gone:
        told.append(f"what no longer holds: pmem rm {' '.join(g.id for g in done.gone)}")
    return lines, told
