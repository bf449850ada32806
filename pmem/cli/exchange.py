"""`pmem import`, and `pmem export`: arrays, pages for people, the audit trail."""

import os
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from typing import TYPE_CHECKING, Any, Final

import msgspec

from pmem.cli import render
from pmem.cli.asking import AskedCommand, asks, own
from pmem.cli.session import Answer, CommandSession, Line, counted
from pmem.conversation import exchange
from pmem.conversation.decision_records import DecisionsRequest
from pmem.conversation.exchange import (
    ArraysRequest,
    ExportRequest,
    Imported,
    MessagesRequest,
)
from pmem.conversation.git_history import HistoryImported, HistoryImportRequest
from pmem.conversation.notes import NotesImported, NotesRequest
from pmem.conversation.pages import MarkdownRequest, write_folder, write_over
from pmem.conversation.project_sources import ProjectImported, ProjectImportRequest, ProjectSources
from pmem.conversation.session_files import NoSession
from pmem.conversation.sessions import SessionsRequest
from pmem.core.pages import INDEX
from pmem.core.secrets import unsecret
from pmem.core.visible import escaped, one_visible_line
from pmem.errors import InvalidValue, ReadOnly, UsageError
from pmem.memory.journal import AuditRequest
from pmem.operations import table
from pmem.values.programs import TITLES, SessionProgram

if TYPE_CHECKING:
    from pmem.interchange import Skipped, UnusedPart

_NAMED: Final = 10  # records that are told by name
_FATES: Final = ("added", "updated", "unchanged")
_RARE: Final = ("superseded", "archived")


@asks(MessagesRequest, lines=())
def import_messages(
    session: CommandSession,
    request: MessagesRequest,
    file: str = own("JSON Lines, one message each.", ..., shown="FILE|-", is_argument=True),
) -> Answer:
    """Import a transcript; importing it again adds nothing.

    Each line is one message: {"content": ..., "role": "user|assistant|system|tool",
    "speaker": ..., "timestamp": ..., "conversation": ..., "id": ...}. Only the content is needed.
    What cannot be used is skipped and reported. A secret is taken out of what tools were told and
    answered; another message with one is skipped, unless --redact keeps the rest of it.
    """
    return transcript_imported(session, file, strict=request.strict)


def transcript_imported(session: CommandSession, file: str, *, strict: bool = False) -> Answer:
    """Import a transcript in JSON Lines."""
    name = "stdin" if file == exchange.STDIN else os.path.splitext(os.path.basename(file))[0]
    request = MessagesRequest(
        lines=session.read_lines(file),
        name=name,
        strict=strict,
        progress=render.progress(session, "messages"),
    )
    return _imported(session.run(table.IMPORT_MESSAGES, request))


@asks(ArraysRequest)
def import_arrays(session: CommandSession, request: ArraysRequest) -> Answer:
    """Import the four array files of the multi-tier design.

    With --untrusted, and always for agents, what comes in has low trust until a person changes
    it, is not pinned nor more important than others, binds nobody (constraints and procedures
    become facts), and replaces nothing that is trusted more.
    """
    request = msgspec.structs.replace(request, progress=render.progress(session, "records"))
    return _imported(session.run(table.IMPORT_ARRAYS, request))


def _imported(done: Imported) -> Answer:
    skipped = tuple(render.masked(item, "where", "why") for item in done.skipped)
    notes = []
    if done.undecided:
        more = f" and {len(done.undecided) - _NAMED} more" * (len(done.undecided) > _NAMED)
        notes.append(
            f"unchanged, though the file says something else: {', '.join(done.undecided[:_NAMED])}"
            f"{more}; to take it in, give it a later updated_at in the file"
        )
    return _answer_of(msgspec.structs.replace(done, skipped=skipped), notes=notes)


def _answer_of(
    done: Any,
    of: str = "",
    lines: Iterable[Line] = (),
    notes: Iterable[str] = (),
    *,
    dry_run: bool = False,
) -> Answer:
    """Say what an import added, and what became of the rest.

    With `dry_run` nobody has compared what would be added with what the memory says already.
    """
    would = "would be " * (dry_run or getattr(done, "dry_run", False))
    names = [name for name in _FATES if hasattr(done, name)]
    names += [name for name in _RARE if getattr(done, name, 0)]
    counts = [f"{getattr(done, name)} {would * (name == 'added')}{name}" for name in names]
    counts[0] = f"{'at most ' * dry_run}{counts[0]}"
    figures: Line = [(f"{of}{', '.join(counts)}, {len(done.skipped)} skipped", "")]
    left_out = _left_out(getattr(done, "left_out", ()))
    note = "\n".join((*_skipped(done.skipped), *notes))
    return Answer(data=done, lines=[figures, *left_out, *lines], note=note)


def _skipped(skipped: "Iterable[Skipped]") -> Iterator[str]:
    return (unsecret(f"skipped {item.where}: it {item.why}") for item in skipped)


@asks(SessionsRequest, without=("path",))
def auto(
    session: CommandSession,
    request: SessionsRequest,
    file: str | None = own("A session or a transcript.", shown="[FILE]", is_argument=True),
) -> Answer:
    """Import the project's own files, or a session or transcript.

    Without a file, pmem takes in the instruction files and the decision records that git does not
    ignore, and the sessions that assistants keep of this project, and proposes the 20 surest of
    what the last 10,000 commits say: see `pmem import notes`, `pmem import adr`, `pmem import
    claude-code` and `pmem import git`. Again updates what has changed; one `pmem undo` takes all
    of it back. With --pending it imports the sessions that hooks noted, and learns;
    `pmem import --pending` is short for that. The other options are for sessions.
    """
    if request.pending and file is not None:
        raise UsageError("name either a file or --pending", "`pmem import --help` says more")
    if not request.pending and file is None:
        if request != SessionsRequest(dry_run=request.dry_run):
            raise UsageError("that option is for sessions", "name a file, or --pending")
        told = render.progress(session, "import")
        wanted = ProjectImportRequest(dry_run=request.dry_run, progress=told)
        return project_imported(session.run(table.IMPORT_PROJECT, wanted))
    try:
        return _import(session, msgspec.structs.replace(request, path=file))
    except NoSession:
        if request != SessionsRequest():
            raise
    return transcript_imported(session, file or "-")


def _import(session: CommandSession, request: SessionsRequest) -> Answer:
    told = render.progress(session, "bytes")
    request = msgspec.structs.replace(request, progress=told)
    done = session.run(table.IMPORT_SESSIONS, request)
    notes = []
    if done.facts:
        notes.append(f"facts noted: {done.facts}; `pmem inbox` proposes them")
    if done.states_more:
        notes.append("next: --learn proposes memories")
    return _answer_of(done, f"{counted(done.sessions, 'session')}: ", notes=notes)


def _of_program(harness: SessionProgram, name: str, place: str) -> AskedCommand:
    meaning = f"""Import sessions of {name}, each message once.

    Without a path, the sessions of this project and of its other work trees are read from
    {place}. What pmem itself said is left out.
    """
    return asks(SessionsRequest, without=("pending",), harness=harness, meaning=meaning)(_import)


claude_code = _of_program(
    SessionProgram.CLAUDE_CODE, "Claude Code", "~/.claude/projects, or from CLAUDE_CONFIG_DIR"
)
codex = _of_program(SessionProgram.CODEX, "Codex", "~/.codex/sessions, or from CODEX_HOME")
gemini = _of_program(SessionProgram.GEMINI, "Gemini CLI", "~/.gemini/tmp")


@asks(NotesRequest)
def notes(session: CommandSession, request: NotesRequest) -> Answer:
    """Import instruction files: each rule becomes a memory.

    A rule is an entry of a list, the steps of a numbered one, short code, a table, or a paragraph
    that orders or decides. The nearest heading is its subject. A memory cites its lines, so that
    `pmem check citations` sees when they change. It applies where the rules of its file do: globs,
    paths and applyTo become its places, and web/AGENTS.md is for web/**.
    Below a folder, pmem finds the instruction files that git does not ignore. It counts what it
    leaves out. Import again after a change: pmem updates the memories of what has changed, and
    archives those whose rule is gone. What you edited stays, and is named where the file says
    something else since.
    """
    return _notes_imported(session.run(table.IMPORT_NOTES, request))


def _notes_imported(done: NotesImported, of: str = "", *, dry_run: bool = False) -> Answer:
    lines: list[Line] = []
    for one in done.edited:
        gone = f"gone from {one.file}: {one.text}"
        said = f"edited here; {one.file} says: {one.rule}" if one.rule else gone
        lines.append([(one.id, "cyan"), (f"  {said}", "")])
    notes = ["next: pmem inbox --kind citation"] if done.edited else ()
    return _answer_of(done, of, lines, notes, dry_run=dry_run)


def project_imported(done: ProjectImported) -> Answer:
    """Say what became of a project's own files."""
    found = done.found
    parts: list[Answer] = []
    if done.notes is not None:
        of = f"{_named(found.instructions)}: " if found.instructions else ""
        parts.append(_notes_imported(done.notes, of, dry_run=done.dry_run))
    if done.decisions is not None:
        parts.append(_answer_of(done.decisions, f"{', '.join(found.decisions)}: "))
    for name, one in done.sessions.items():
        parts.append(_answer_of(one, f"{_sessions_of(found, name)}: "))
    if done.history is not None and (done.history.added or done.history.unchanged):
        parts.append(_history_imported(done.history))
    lines = [line for part in parts for line in part.lines]
    states = [
        f"next: `pmem import {name} --learn` proposes memories"
        for name, one in done.sessions.items()
        if one.states_more
    ]
    if done.history is not None and not parts:
        told = counted(done.history.commits, "commit")
        states.append(f"nothing to import: {told} without a fact to propose, and nothing else")
    notes = (*_skipped(found.unread), *(part.note for part in parts if part.note), *states)
    return Answer(data=done, lines=lines, note="\n".join(notes))


def sources_of(found: ProjectSources) -> list[str]:
    """Return what a project has written down, in words."""
    told = []
    if found.instructions:
        told.append(f"{_named(found.instructions)} ({counted(found.rules, 'rule')})")
    if found.decisions:
        told.append(f"{counted(found.records, 'decision record')} in {', '.join(found.decisions)}")
    return [*told, *(_sessions_of(found, name) for name in found.sessions)]


def _sessions_of(found: ProjectSources, program: str) -> str:
    count = counted(found.sessions[program], "session")
    return f"{count} of {TITLES[SessionProgram(program)]}"


def _named(files: Sequence[str]) -> str:
    more = len(files) - 1
    return f"{files[0]} and {counted(more, 'more instruction file')}" if more else files[0]


@asks(HistoryImportRequest)
def git(session: CommandSession, request: HistoryImportRequest) -> Answer:
    """Propose what the project's commits say, as pending facts.

    Reverts become dead ends, trailers such as Constraint: and Rejected: become what they say, and
    messages that give a reason become decisions and facts. `pmem inbox facts` shows them, and
    `pmem inbox accept` makes memories of the right ones. Importing again adds nothing.
    """
    told = render.progress(session, "commits")
    request = msgspec.structs.replace(request, progress=told)
    done = session.run(table.IMPORT_GIT, request)
    lines: list[Line] = []
    for one in done.items if done.dry_run else ():
        what = (f" {one.confidence:.2f} {one.type:<10} ", "dim")
        lines.append([(one.commit[:10], "yellow"), what, (one_visible_line(one.content), "")])
    return _history_imported(done, lines)


def _history_imported(done: HistoryImported, lines: Iterable[Line] = ()) -> Answer:
    next_ = ["`pmem inbox facts` shows them, `pmem inbox accept` keeps one"]
    has_more = done.added and not done.dry_run
    of = f"{counted(done.commits, 'commit')}, as pending facts: "
    return _answer_of(done, of, lines, next_ if has_more else ())


@asks(DecisionsRequest)
def adr(session: CommandSession, request: DecisionsRequest) -> Answer:
    """Import architecture decision records that were taken.

    It reads Nygard's form, MADR's and those of adr-tools and log4brains. A decision is valid from
    its date, cites its section, and names the rejected options. A superseded one gives way to its
    successor. Records that are proposed, rejected, deprecated, withdrawn or superseded by nothing
    here are left out, with the reason, and their memories archived. Import again after a change.
    """
    return _answer_of(session.run(table.IMPORT_DECISIONS, request))


_FILES: Final = 10
_PLACES: Final = 5


def _left_out(parts: "Sequence[UnusedPart] | Mapping[str, int]") -> list[Line]:
    """Say how often what was left out, on a line for each file and one after the first ten."""
    if isinstance(parts, Mapping):
        reasons = ", ".join(f"{reason} ({count})" for reason, count in parts.items())
        return [[(one_visible_line(f"left out: {reasons}"), "dim")]] if reasons else []
    files = groupby(parts, key=lambda part: part.file)
    lines = [f"left out of {file}: {', '.join(_counts(found))}" for file, found in files]
    more = [f"left out of {len(lines) - _FILES} more files; --json has all"]
    lines = lines[:_FILES] + more * (len(lines) > _FILES)
    return [[(unsecret(line), "dim")] for line in lines]


def _counts(parts: "Iterable[UnusedPart]") -> Iterator[str]:
    kinds = defaultdict[str, list[str]](list)
    for part in parts:
        first, last = part.lines
        kinds[part.what].append(f"{first}-{last}" if last > first else f"{first}")
    for what, places in kinds.items():
        listed = ", ".join(places[:_PLACES]) + ", ..." * (len(places) > _PLACES)
        yield f"{counted(len(places), what)} (line{'s' * (not listed.isdecimal())} {listed})"


@asks(ExportRequest)
def export_arrays(
    session: CommandSession,
    request: ExportRequest,
    folder: str = own(
        "The folder, made if missing; `-` prints one JSON object.",
        "-",
        shown="DIR|-",
        is_argument=True,
    ),
) -> Answer:
    """Export everything as four array files.

    With --camel-case they are for programs of the multi-tier design: what it has no field for,
    and what is out of recall, is left out.
    """
    done = session.run(table.EXPORT_ARRAYS, request)
    if folder == "-":
        return Answer(data=done, raw=escaped(exchange.one_document(done.files).decode()))
    _write_into(session, folder, done.files)
    paths = tuple(unsecret(os.path.join(folder, name)) for name in sorted(done.files))
    return _written({"files": paths}, *paths)


@asks(MarkdownRequest)
def export_markdown(
    session: CommandSession,
    request: MarkdownRequest,
    place: str = own(
        "One page, or a folder with a page for each subject.",
        "-",
        shown="FILE.md|DIR|-",
        is_argument=True,
    ),
) -> Answer:
    """Write the memory as Markdown pages for people.

    Memories are below their subject; those without one, below their type. What was replaced,
    merged or removed is left out. Writing it again replaces the pages that it
    made, and no other file.
    """
    by_subject = place != "-" and not place.casefold().endswith(".md")
    request = msgspec.structs.replace(request, by_subject=by_subject)
    done = session.run(table.EXPORT_MARKDOWN, request)
    if place == "-":
        return Answer(data=done, raw=done.files[INDEX])
    if session.read_only:
        raise ReadOnly()
    if by_subject:
        write_folder(place, done.files)
    else:
        write_over(_folder_of(place), {os.path.basename(place): done.files[INDEX]})
    counts = (done.memories, "memory", "memories"), (len(done.files), "page", "pages")
    said = ", ".join(f"{n:,} {one if n == 1 else many}" for n, one, many in counts)
    path = unsecret(place)
    data = {"path": path, "pages": len(done.files), "memories": done.memories}
    return _written(data, f"{path}: {said}")


@asks(AuditRequest)
def export_audit(
    session: CommandSession,
    request: AuditRequest,
    file: str = own("The file to write.", "-", shown="FILE|-", is_argument=True),
) -> Answer:
    """Export the audit trail as JSON Lines, one event each.

    Each line is {"id", "memory_id", "event", "old_ref", "new_ref", "actor", "meta", "ts"}. A
    reference is the digest of a content, or the id of the record that the event leads to.
    What was purged is gone with its history.
    """
    found = session.run(table.EXPORT_AUDIT, request)
    data = exchange.json_lines(found.items)
    if file == "-":
        return Answer(data=found, raw=escaped(data.decode()))
    _write_into(session, _folder_of(file), {os.path.basename(file): data})
    said = unsecret(file)
    return _written({"file": said, "events": found.total}, f"{said}: {found.total:,} events")


def _written(data: dict[str, object], *told: str) -> Answer:
    return Answer(data=data, lines=[[("wrote ", "green"), (one, "")] for one in told])


def _folder_of(file: str) -> str:
    """Return the folder that a file is to be in, which must exist."""
    folder = os.path.dirname(file)
    if folder and not os.path.isdir(folder):
        raise InvalidValue(f"there is no folder {folder} to write into", "make it first")
    return folder


def _write_into(session: CommandSession, folder: str, files: dict[str, bytes]) -> None:
    if session.read_only:
        raise ReadOnly()
    exchange.write_files(folder, files)
