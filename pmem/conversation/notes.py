"""Memories made of instruction files, and kept to what these say."""

import os
import re
from collections.abc import Iterable, Iterator, Sequence
from difflib import SequenceMatcher
from typing import Any, Final

import msgspec

from pmem.core.extraction.facts import extract
from pmem.errors import FileNotRead, InvalidValue
from pmem.interchange import Skipped
from pmem.interchange.notes import Note, notes_of
from pmem.memory.memories import add, edit_from
from pmem.memory.requests import AddRequest, EditRequest
from pmem.project.secret_gate import SecretFound
from pmem.project.workspace import Workspace
from pmem.storage.files.recordfile import read_bytes
from pmem.values.bounds import TEXT_BYTES
from pmem.values.ids import short
from pmem.values.records import Memory, MemoryType, Message, Role, Source
from pmem.values.requests import Admit, as_it_is

KIND: Final = "notes"
"""The kind of source that such memories have."""
_STATED: Final = (MemoryType.DECISION, MemoryType.CONSTRAINT, MemoryType.PREFERENCE)
_BINDING: Final = re.compile(r"\b(?:always|never|must|do not|don't|only)\b", re.IGNORECASE)
_MARKDOWN: Final = (".md", ".mdc", ".markdown")
_ALIKE: Final = 0.6
"""From here on one note is another one as it was changed (`SequenceMatcher.ratio`)."""


class NoteFile(msgspec.Struct, frozen=True):
    """An instruction file: its path in the project, with slashes, and what it says."""

    file: str
    text: str


class NotesRequest(msgspec.Struct, frozen=True, kw_only=True):
    """Instruction files.

    Attributes:
        paths: The files, and folders of them.
        admit: Lets in what holds no secret, note by note.
    """

    paths: tuple[str, ...]
    admit: Admit = as_it_is


class GoneNote(msgspec.Struct, frozen=True, kw_only=True):
    """A memory whose note is not in its file any more."""

    id: str
    file: str
    text: str


class NotesImported(msgspec.Struct, frozen=True, kw_only=True):
    """What an import of notes led to; `gone` is proposed for removal, and stays until then."""

    added: int
    updated: int
    unchanged: int
    skipped: tuple[Skipped, ...]
    gone: tuple[GoneNote, ...]


def note_files(project: str, paths: Iterable[str]) -> Iterator[NoteFile]:
    """Read instruction files; of a folder those that are Markdown.

    Args:
        project: The project's folder.
        paths: Files and folders.

    Raises:
        InvalidValue: There is no such file, it is no text, or it lies outside the project.
        StorageRefused: One may not be read.
    """
    for path in paths:
        if os.path.isdir(path):
            names = sorted(name for name in os.listdir(path) if name.endswith(_MARKDOWN))
            yield from note_files(project, [os.path.join(path, name) for name in names])
            continue
        real = os.path.realpath(path)
        place = os.path.relpath(real, os.path.realpath(project))
        if place.startswith(os.pardir):
            raise InvalidValue(f"{path} lies outside {project}", "copy it into the project")
        try:
            data, _ = read_bytes(real, TEXT_BYTES, "a file of notes")
            yield NoteFile(file=place.replace(os.sep, "/"), text=data.decode("utf-8-sig"))
        except UnicodeDecodeError:
            raise InvalidValue(f"{path} is not UTF-8", "save it as UTF-8") from None
        except FileNotFoundError:
            raise InvalidValue(f"there is no file {path}", "look at the path") from None
        except OSError as error:
            raise FileNotRead(f"{path} cannot be read: {error.strerror}") from None


def import_notes(workspace: Workspace, request: NotesRequest) -> NotesImported:
    """Make a memory of every note, change those whose notes have changed, and name what is gone.

    Raises:
        InvalidValue: There is not one note in the files, or one of them is none (see `note_files`).
        StorageRefused: A file may not be read.
    """
    files = note_files(os.path.dirname(workspace.root), request.paths)
    found = {one.file: list(notes_of(one.text)) for one in files}
    if not any(found.values()):
        names = ", ".join(found) or "nothing"
        raise InvalidValue(f"{names} has no bullets", "each bullet of a file becomes a memory")
    known = _memories_of(workspace, found.keys())
    counts = dict.fromkeys(("added", "updated", "unchanged"), 0)
    skipped: list[Skipped] = []
    gone: list[GoneNote] = []
    for file, notes in found.items():
        admitted = list(_admit_notes(request, file, notes, skipped))
        kept = known.get(file, [])
        same = {memory.content: memory for memory in kept}
        fresh = [note for note in admitted if note.text not in same]
        said = {note.text for note in admitted}
        left = [memory for memory in kept if memory.content not in said]
        for note in fresh:
            old = _nearest(note, left)
            if old is not None:
                left.remove(old)
                _change(workspace, file, old, note)
                counts["updated"] += 1
            else:
                done = _add(workspace, file, note)
                counts["added" if done else "unchanged"] += 1
        counts["unchanged"] += len(admitted) - len(fresh)
        gone += [GoneNote(id=short(one.id), file=file, text=one.content) for one in left]
    return NotesImported(**counts, skipped=tuple(skipped), gone=tuple(gone))


def _memories_of(workspace: Workspace, files: Iterable[str]) -> dict[str, list[Memory]]:
    """Return the active memories that were made of files, by file."""
    known: dict[str, list[Memory]] = {file: [] for file in files}
    for memory in workspace.memories.find():
        source = memory.source
        if source.kind == KIND and source.file in known and memory.state == "active":
            known[source.file].append(memory)
    return known


def _admit_notes(
    request: NotesRequest, file: str, notes: Iterable[Note], skipped: list[Skipped]
) -> Iterable[Note]:
    """Yield the notes that hold no secret, each text once."""
    seen: set[str] = set()
    for note in notes:
        where = f"{file}:{note.lines[0]}"
        try:
            text: Any = request.admit(note.text, where)
        except SecretFound as error:
            skipped.append(Skipped(where, f"holds a secret ({error.kind})"))
            continue
        if text not in seen:
            seen.add(text)
            yield note._replace(text=text)


def _nearest(note: Note, left: Sequence[Memory]) -> Memory | None:
    """Return the memory of a note as it was before somebody changed it."""
    ranked = [
        (SequenceMatcher(None, memory.content, note.text, autojunk=False).ratio(), memory)
        for memory in left
    ]
    best = max(ranked, key=lambda one: one[0], default=None)
    return best[1] if best is not None and best[0] >= _ALIKE else None


def _change(workspace: Workspace, file: str, old: Memory, note: Note) -> None:
    """Let a memory say what its note says now, and cite it where it is now."""
    path = _path_of(workspace, file)
    places = [one.lines for one in old.citations if one.lines and one.symbol is None]
    cited = {f"{path}:{first}-{last}" for first, last in places}
    here = f"{path}:{note.lines[0]}-{note.lines[1]}"
    wanted = EditRequest(
        reference=old.id,
        content=note.text,
        tags=note.tags,
        cite=(here,),
        uncite=tuple(sorted(cited - {here})),
    )
    edit_from(workspace, wanted, KIND)


def _path_of(workspace: Workspace, file: str) -> str:
    return os.path.join(os.path.dirname(workspace.root), *file.split("/"))


def _add(workspace: Workspace, file: str, note: Note) -> bool:
    """Add the memory of a note; nothing where another one says the same."""
    lines = f"{note.lines[0]}-{note.lines[1]}"
    path = _path_of(workspace, file)
    done = add(
        workspace,
        AddRequest(
            content=note.text,
            type=_type_of(workspace, note.text),
            tags=note.tags,
            source=Source(kind=KIND, file=file, lines=lines),
            cite=(f"{path}:{lines}",),
        ),
    )
    return done.action == "added"


def _type_of(workspace: Workspace, text: str) -> MemoryType:
    """Return what a note says, by the rules for what people say."""
    said = Message(id="note", role=Role.USER, content=text, created_at=workspace.now())
    stated = sorted(extract(said), key=lambda fact: -fact.confidence)
    if stated and stated[0].type in _STATED:
        return stated[0].type
    return MemoryType.CONSTRAINT if _BINDING.search(text) else MemoryType.FACT
