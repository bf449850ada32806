"""The commands that take records in and give them out."""

import os
from typing import Final

import msgspec

from pmem.cli import render
from pmem.cli.asking import asks, own
from pmem.cli.left_out import reasons_line
from pmem.cli.session import Answer, CommandSession, Line
from pmem.conversation import exchange
from pmem.conversation.exchange import ArraysRequest, ExportRequest, Imported, MessagesRequest
from pmem.conversation.pages import MarkdownRequest, write_folder, write_page
from pmem.core.pages import INDEX
from pmem.core.secrets import unsecret
from pmem.core.visible import escaped
from pmem.errors import InvalidValue, ReadOnly
from pmem.memory.journal import AuditRequest
from pmem.operations import table

_NAMED: Final = 10
"""Records that are told by name."""


class ArraysWritten(msgspec.Struct, frozen=True, kw_only=True):
    """The files that were written."""

    files: tuple[str, ...]


class PagesWritten(msgspec.Struct, frozen=True, kw_only=True):
    """Where Markdown was written, how many pages, and how many memories are on them."""

    path: str
    pages: int
    memories: int


class AuditWritten(msgspec.Struct, frozen=True, kw_only=True):
    """The file that was written, and how many events it has."""

    file: str
    events: int


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
    return _written(session, folder, done.files)


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
    done = session.run(
        table.EXPORT_MARKDOWN, msgspec.structs.replace(request, by_subject=by_subject)
    )
    if place == "-":
        return Answer(data=done, raw=done.files[INDEX])
    if session.read_only:
        raise ReadOnly()
    if by_subject:
        write_folder(place, done.files)
    else:
        write_page(_folder_of(place), os.path.basename(place), done.files[INDEX])
    counts = (done.memories, "memory", "memories"), (len(done.files), "page", "pages")
    said = ", ".join(f"{n:,} {one if n == 1 else many}" for n, one, many in counts)
    data = PagesWritten(path=unsecret(place), pages=len(done.files), memories=done.memories)
    return Answer(data=data, lines=[[("wrote ", "green"), (f"{data.path}: {said}", "")]])


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
    _write(session, _folder_of(file), {os.path.basename(file): data})
    said = unsecret(file)
    line: Line = [("wrote ", "green"), (f"{said}: {found.total:,} events", "")]
    return Answer(data=AuditWritten(file=said, events=found.total), lines=[line])


def _folder_of(file: str) -> str:
    """Return the folder that a file is to be in.

    Raises:
        InvalidValue: There is none.
    """
    folder = os.path.dirname(file)
    if folder and not os.path.isdir(folder):
        raise InvalidValue(f"there is no folder {folder} to write into", "make it first")
    return folder


def _written(session: CommandSession, folder: str, files: dict[str, bytes]) -> Answer:
    _write(session, folder, files)
    paths = tuple(unsecret(os.path.join(folder, name)) for name in sorted(files))
    lines: list[Line] = [[("wrote ", "green"), (path, "")] for path in paths]
    return Answer(data=ArraysWritten(files=paths), lines=lines)


def _write(session: CommandSession, folder: str, files: dict[str, bytes]) -> None:
    """Write files beside the memory, unless this run may write nothing."""
    if session.read_only:
        raise ReadOnly()
    exchange.write_files(folder, files)


def _imported(done: Imported) -> Answer:
    figures = (
        f"{done.added} added, {done.updated} updated, {done.unchanged} unchanged, "
        f"{len(done.skipped)} skipped"
    )
    told = tuple(render.masked(item, "where", "why") for item in done.skipped)
    notes = [f"skipped {item.where}: it {item.why}" for item in told]
    if done.undecided:
        more = f" and {len(done.undecided) - _NAMED} more" * (len(done.undecided) > _NAMED)
        notes.append(
            f"unchanged, though the file says something else: {', '.join(done.undecided[:_NAMED])}"
            f"{more}; to take it in, give it a later updated_at in the file"
        )
    data = msgspec.structs.replace(done, skipped=told)
    lines: list[Line] = [[(figures, "")], *reasons_line(done.left_out)]
    return Answer(data=data, lines=lines, note="\n".join(notes))
