"""Memories made of instruction files, and kept to what these say."""

import os
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from difflib import SequenceMatcher
from typing import Annotated, Any, Final

import msgspec

from pmem.conversation.note_files import note_files
from pmem.errors import InvalidValue
from pmem.interchange import Skipped, UnusedPart
from pmem.interchange.chat_forms import LOOKED_AT, program_of_chat
from pmem.interchange.notes import Note, NotesFile, read_notes, tag_of
from pmem.interchange.rule_scope import is_instructions
from pmem.memory.memories import add, edit_from
from pmem.memory.requests import AddRequest, EditRequest
from pmem.project.secret_gate import SecretFound
from pmem.project.workspace import Workspace
from pmem.storage.files.worktree import name_in
from pmem.values.fields import asked
from pmem.values.ids import short
from pmem.values.programs import TITLES
from pmem.values.records import Memory, Source, State
from pmem.values.requests import Admit, as_it_is

KIND: Final = "notes"
"""The kind of source that such memories have."""
_STANDING: Final = (State.ACTIVE, State.SUPERSEDED, State.MERGED)
_ALIKE: Final = 0.6
"""From here on one note is another one as it was changed (`SequenceMatcher.ratio`)."""


class NotesRequest(msgspec.Struct, frozen=True, kw_only=True):
    """Instruction files.

    Attributes:
        paths: The files, and folders of them.
        admit: Lets in what holds no secret, note by note.
    """

    paths: Annotated[
        tuple[str, ...],
        asked("Such as CLAUDE.md, or a folder with rules.", shown="FILE...", is_argument=True),
    ]
    admit: Admit = as_it_is


class GoneNote(msgspec.Struct, frozen=True, kw_only=True):
    """A memory whose note is not in its file any more."""

    id: str
    file: str
    text: str


class NotesImported(msgspec.Struct, frozen=True, kw_only=True):
    """What an import of notes led to; `gone` is proposed for removal, and stays until then.

    `left_out` is what of the files is no note.
    """

    added: int
    updated: int
    unchanged: int
    skipped: tuple[Skipped, ...]
    gone: tuple[GoneNote, ...]
    left_out: tuple[UnusedPart, ...] = ()


def import_notes(workspace: Workspace, request: NotesRequest) -> NotesImported:
    """Make a memory of every note, change those whose notes have changed, and name what is gone.

    Raises:
        InvalidValue: There is not one note in the files, or a file is none (see `note_files`).
        StorageRefused: A file may not be read.
    """
    run = _NotesImport(workspace, request)
    found = list(run.read())
    if not any(notes.notes for _, notes in found):
        raise _no_notes(found, run.skipped, request.paths)
    known = _memories_of(workspace, [file for file, _ in found])
    for file, notes in found:
        run.take(file, notes, known[file])
    return NotesImported(
        **run.counts,
        skipped=tuple(run.skipped),
        gone=tuple(run.gone),
        left_out=tuple(run.left_out),
    )


def _no_notes(
    found: Sequence[tuple[str, NotesFile]], skipped: Sequence[Skipped], paths: Sequence[str]
) -> InvalidValue:
    """Return the error for files without a note, with what they have instead."""
    names = ", ".join([file for file, _ in found] or paths)
    counts = Counter(part.what for _, notes in found for part in notes.left_out)
    parts = [f"{count} {what}{'s' * (count != 1)}" for what, count in counts.items()]
    why = [*(f"{one.where} {one.why}" for one in skipped), *filter(None, [", ".join(parts)])]
    return InvalidValue(
        f"{names} has no lists, commands or tables, and no paragraph that says what to do",
        f"left out: {'; '.join(why)}" if why else "each rule of a file becomes a memory",
    )


class _NotesImport:
    """Notes on their way into memories.

    Attributes:
        counts: What became of them so far.
        skipped: What was not taken in, and why.
        gone: Memories whose notes are not there any more.
        left_out: What of the files is no note.
    """

    def __init__(self, workspace: Workspace, request: NotesRequest) -> None:
        self.counts = dict.fromkeys(("added", "updated", "unchanged"), 0)
        self.skipped: list[Skipped] = []
        self.gone: list[GoneNote] = []
        self.left_out: list[UnusedPart] = []
        self._workspace = workspace
        self._request = request

    def read(self) -> Iterator[tuple[str, NotesFile]]:
        """Yield each file with what it says; one that cannot be read is skipped."""
        project = os.path.dirname(self._workspace.root)
        inside = name_in(self._workspace.sources.top, project)
        paths = self._request.paths
        for file in note_files(self._workspace, paths, is_instructions, self.skipped):
            program = program_of_chat(file.text.encode("utf-8", "replace")[:LOOKED_AT])
            if program is not None:
                why = f"is a chat of {TITLES[program]}: `pmem import auto {file.file}` reads it"
                self.skipped.append(Skipped(file.file, why))
                continue
            try:
                found = read_notes(file.file, file.text, inside)
            except InvalidValue as error:
                self.skipped.append(Skipped(file.file, error.message))
            else:
                yield file.file, found

    def take(self, file: str, found: NotesFile, kept: list[Memory]) -> None:
        """Bring the memories that were made of a file to what it says now."""
        notes = list(self._admitted(file, found))
        said = {note.text for note in notes}
        same = {memory.content: memory for memory in kept if memory.content in said}
        left = [one for one in kept if one.content not in said and one.state is State.ACTIVE]
        for note in notes:
            old = same.get(note.text) or _nearest(note, left)
            if old is None:
                self._add(file, note, found.places or ())
                continue
            if old in left:
                left.remove(old)
            has_changed = _change(self._workspace, file, old, note, found.places)
            self.counts["updated" if has_changed else "unchanged"] += 1
        self.gone += [GoneNote(id=short(one.id), file=file, text=one.content) for one in left]
        self.left_out += found.left_out

    def _admitted(self, file: str, found: NotesFile) -> Iterator[Note]:
        """Yield the notes that hold no secret, each text once."""
        seen: set[str] = set()
        for note in found.notes:
            where = f"{file}:{note.lines[0]}"
            try:
                text: Any = self._request.admit(note.text, where)
            except SecretFound as error:
                self.skipped.append(Skipped(where, f"holds a secret ({error.kind})"))
                continue
            if text not in seen:
                seen.add(text)
                yield note._replace(text=text)

    def _add(self, file: str, note: Note, places: tuple[str, ...]) -> None:
        """Add the memory of a note; nothing where one says the same of the same places."""
        lines = f"{note.lines[0]}-{note.lines[1]}"
        path = _path_of(self._workspace, file)
        wanted = AddRequest(
            content=note.text,
            type=note.type,
            subject=note.subject,
            tags=note.tags,
            source=Source(kind=KIND, file=file, lines=lines),
            cite=(f"{path}:{lines}",),
            places=places,
        )
        done = add(self._workspace, wanted)
        known = done.record
        is_ours = known is not None and known.source.file == file and known.content != note.text
        if (
            done.action == "suggested"
            and known is not None
            and (is_ours or known.places not in ((), places))
        ):
            done = add(self._workspace, msgspec.structs.replace(wanted, force=True))
        if done.action == "added":
            self.counts["added"] += 1
        elif known is not None and known.content == note.text:
            self.counts["unchanged"] += 1
        else:
            self.skipped.append(Skipped(f"{file}:{note.lines[0]}", f"adds nothing: {done.reason}"))


def _memories_of(workspace: Workspace, files: Iterable[str]) -> dict[str, list[Memory]]:
    """Return the memories that were made of files, by file, those last that are active.

    One that gave way to another stands for its note, as long as that says what it said.
    """
    known: dict[str, list[Memory]] = {file: [] for file in files}
    for memory in sorted(workspace.memories.find(), key=lambda one: one.state is State.ACTIVE):
        source = memory.source
        if source.kind == KIND and source.file in known and memory.state in _STANDING:
            known[source.file].append(memory)
    return known


def _nearest(note: Note, left: Sequence[Memory]) -> Memory | None:
    """Return the memory of a note as it was before somebody changed it."""
    ranked = [
        (SequenceMatcher(None, memory.content, note.text, autojunk=False).ratio(), memory)
        for memory in left
    ]
    best = max(ranked, key=lambda one: one[0], default=None)
    return best[1] if best is not None and best[0] >= _ALIKE else None


def _change(
    workspace: Workspace, file: str, old: Memory, note: Note, places: tuple[str, ...] | None
) -> bool:
    """Let a memory say what its note says now, where that applies now; tell whether it changed.

    A note that says what it said stays cited where it was: `verify` follows it.
    """
    places = old.places if places is None else places
    subject = note.subject if _is_of_heading(old) else old.subject
    if (old.content, old.places, old.subject) == (note.text, places, subject):
        return False
    wanted = EditRequest(
        reference=old.id, places=places, not_places=old.places, subject=subject or ""
    )
    if old.subject != subject:
        wanted = msgspec.structs.replace(wanted, tags=note.tags)
    if old.content != note.text:
        path = _path_of(workspace, file)
        ours = [one.lines for one in old.citations if one.lines and one.symbol is None]
        cited = {f"{path}:{first}-{last}" for first, last in ours}
        here = f"{path}:{note.lines[0]}-{note.lines[1]}"
        wanted = msgspec.structs.replace(
            wanted,
            content=note.text,
            tags=note.tags,
            cite=(here,),
            uncite=tuple(sorted(cited - {here})),
        )
    edit_from(workspace, wanted, KIND)
    return True


def _is_of_heading(memory: Memory) -> bool:
    """Tell whether a memory has a heading as its subject, or none, and not one that people gave."""
    return memory.subject is None or tag_of(memory.subject) in memory.tags


def _path_of(workspace: Workspace, file: str) -> str:
    return os.path.join(os.path.dirname(workspace.root), *file.split("/"))
