"""`pmem export`: arrays for other programs, pages for people, the audit trail."""

import os

import msgspec

from pmem.cli.asking import asks, own
from pmem.cli.session import Answer, CommandSession
from pmem.conversation import exchange
from pmem.conversation.exchange import ExportRequest
from pmem.conversation.pages import MarkdownRequest, write_folder, write_over
from pmem.core.pages import INDEX
from pmem.core.secrets import unsecret
from pmem.core.visible import escaped
from pmem.errors import InvalidValue, ReadOnly
from pmem.memory.journal import AuditRequest
from pmem.operations import table


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
    _write(session, folder, done.files)
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
    _write(session, _folder_of(file), {os.path.basename(file): data})
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


def _write(session: CommandSession, folder: str, files: dict[str, bytes]) -> None:
    if session.read_only:
        raise ReadOnly()
    exchange.write_files(folder, files)
