"""Memories made of architecture decision records, and kept to what these say."""

import os
from collections.abc import Iterable
from datetime import UTC, datetime, time
from typing import Any, Final

import msgspec

from pmem.conversation.notes import NoteFile, note_files
from pmem.core.shortening import shortened
from pmem.errors import InvalidValue
from pmem.interchange import Skipped
from pmem.interchange.adr import DecisionRecord, read_decision
from pmem.memory.lifecycle import SupersedeByRequest, supersede_by
from pmem.memory.memories import add, edit_from
from pmem.memory.requests import AddRequest, EditRequest
from pmem.project.secret_gate import SecretFound
from pmem.project.workspace import Workspace
from pmem.values.records import Memory, MemoryType, Source, State
from pmem.values.requests import Admit, as_it_is

KIND: Final = "adr"
"""The kind of source that such memories have."""
_LONGEST: Final = 600
_LONGEST_OPTION: Final = 200
_LONGEST_PART: Final = 160
_HELD: Final = ("accepted", "superseded", "deprecated", "")


class DecisionsRequest(msgspec.Struct, frozen=True, kw_only=True):
    """Decision records.

    Attributes:
        paths: Their files, and folders of them.
        dry_run: Say what would be added, and add nothing.
        admit: Lets in what holds no secret, record by record.
    """

    paths: tuple[str, ...]
    dry_run: bool = False
    admit: Admit = as_it_is


class DecisionsImported(msgspec.Struct, frozen=True, kw_only=True):
    """What an import of decision records led to."""

    added: int
    updated: int
    unchanged: int
    superseded: int
    skipped: tuple[Skipped, ...]
    dry_run: bool


def import_decisions(workspace: Workspace, request: DecisionsRequest) -> DecisionsImported:
    """Make a memory of every decision that was taken, change those whose records have changed.

    What was superseded has the memory of its successor beside it; what was proposed, rejected or
    deprecated is no decision that holds, and is left out with a word.

    Raises:
        InvalidValue: There is not one decision in the files, or one is none (see `note_files`).
        StorageRefused: A file may not be read.
    """
    files = list(note_files(os.path.dirname(workspace.root), request.paths))
    run = _DecisionImport(workspace, request)
    for file in files:
        run.take(file)
    if not run.read:
        names = ", ".join(one.file for one in files[:3]) or "nothing"
        raise InvalidValue(
            f"{names} has no decision", "a record has a title and a section named Decision"
        )
    run.link()
    return DecisionsImported(**run.counts, skipped=tuple(run.skipped), dry_run=request.dry_run)


class _DecisionImport:
    """Decision records on their way into memories.

    Attributes:
        counts: What became of them so far.
        skipped: Those that are left out.
        read: How many files hold a decision.
    """

    def __init__(self, workspace: Workspace, request: DecisionsRequest) -> None:
        self.counts = dict.fromkeys(("added", "updated", "unchanged", "superseded"), 0)
        self.skipped: list[Skipped] = []
        self.read = 0
        self._workspace = workspace
        self._request = request
        self._known = _memories_of(workspace)
        self._numbers: dict[int, str] = {}
        self._links: list[tuple[int, int]] = []

    def take(self, file: NoteFile) -> None:
        """Take in one file."""
        record = read_decision(os.path.basename(file.file), file.text)
        if record is None:
            return
        self.read += 1
        if record.state not in _HELD or record.state == "deprecated":
            self.skipped.append(Skipped(file.file, f"is {record.state}"))
            return
        try:
            text: Any = self._request.admit(_content(record), file.file)
        except SecretFound as error:
            self.skipped.append(Skipped(file.file, f"holds a secret ({error.kind})"))
            return
        memory = self._keep(file, record, text)
        if record.number is not None and memory is not None:
            self._numbers[record.number] = memory
            self._note_links(record.number, record)

    def link(self) -> None:
        """Let the successors of superseded decisions take their places."""
        for old, new in dict.fromkeys(self._links):
            one, other = self._numbers.get(old), self._numbers.get(new)
            if one is None or other is None or one == other:
                continue
            memory = self._workspace.memories.get(one)
            if memory.state is State.ACTIVE:
                supersede_by(self._workspace, SupersedeByRequest(reference=one, successor=other))
                self.counts["superseded"] += 1

    def _note_links(self, number: int, record: DecisionRecord) -> None:
        if record.superseded_by is not None:
            self._links.append((number, record.superseded_by))
        if record.supersedes is not None:
            self._links.append((record.supersedes, number))

    def _keep(self, file: NoteFile, record: DecisionRecord, text: str) -> str | None:
        """Add the memory of a record, or change the one that was made of its file."""
        known = self._known.get(file.file)
        rejected = tuple(shortened(one, _LONGEST_OPTION) for one in record.rejected)
        if known is not None and (known.content, known.instead_of) == (text, rejected):
            self.counts["unchanged"] += 1
            return known.id
        if self._request.dry_run:
            self.counts["added" if known is None else "updated"] += 1
            return None
        cited = f"{self._path(file)}:{record.lines[0]}-{record.lines[1]}"
        if known is not None:
            old = tuple(f"{self._path(file)}" for one in known.citations[:1])
            edit_from(
                self._workspace,
                EditRequest(
                    reference=known.id, content=text, instead_of=rejected, uncite=old, cite=(cited,)
                ),
                KIND,
            )
            self.counts["updated"] += 1
            return known.id
        start = None if record.day is None else datetime.combine(record.day, time(), UTC)
        done = add(
            self._workspace,
            AddRequest(
                content=text,
                type=MemoryType.DECISION,
                tags=(KIND,),
                valid_from=start,
                source=Source(kind=KIND, file=file.file),
                cite=(cited,),
                instead_of=rejected,
                force=True,
            ),
        )
        self.counts["added"] += 1
        return None if done.record is None else done.record.id

    def _path(self, file: NoteFile) -> str:
        return os.path.join(os.path.dirname(self._workspace.root), *file.file.split("/"))


def _memories_of(workspace: Workspace) -> dict[str, Memory]:
    """Return the memories that were made of decision records, by file, whatever their state."""
    from pmem.core.filters import Filter

    states = (State.ACTIVE, State.SUPERSEDED, State.ARCHIVED, State.SOFT_DELETED)
    found: Iterable[Memory] = workspace.memories.find(Filter(states=states))
    return {
        memory.source.file: memory
        for memory in found
        if memory.source.kind == KIND and memory.source.file
    }


def _content(record: DecisionRecord) -> str:
    said = f"{record.title.rstrip('.')}. {record.decision}"
    for name, more in (("Context", record.context), ("Consequences", record.consequences)):
        if more:
            said += f" {name}: {shortened(more, _LONGEST_PART)}"
    return shortened(said, _LONGEST)
