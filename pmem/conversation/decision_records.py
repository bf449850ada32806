"""Memories made of architecture decision records, and kept to what these say."""

import os
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime, time
from typing import Annotated, Final

import msgspec

from pmem.conversation.note_files import note_files
from pmem.core.filters import Filter
from pmem.core.lifecycle.states import closed, moved
from pmem.core.lines import shortened
from pmem.errors import InvalidValue
from pmem.interchange import Skipped, UnusedPart
from pmem.interchange.adr import DecisionRecord, RecordName, folded_title, read_decision
from pmem.memory.lifecycle import SupersedeByRequest, supersede_by
from pmem.memory.memories import add_one, edit_from
from pmem.memory.requests import AddRequest, EditRequest
from pmem.project.secret_gate import SecretFound
from pmem.project.workspace import Workspace
from pmem.values.fields import Admit, DryRun, as_it_is, asked
from pmem.values.records import EventKind, Memory, MemoryType, Source, State

KIND: Final = "adr"
"""The kind of source that such memories have."""
_LONGEST_OPTION: Final = 200
_LONGEST_SUBJECT: Final = 80


class DecisionsRequest(msgspec.Struct, frozen=True, kw_only=True):
    """Decision records: their files, and folders of them. `admit` lets in what holds no secret."""

    paths: Annotated[
        tuple[str, ...],
        asked("A folder of records, such as docs/decisions.", shown="DIR...", is_argument=True),
    ]
    dry_run: DryRun = False
    admit: Admit = as_it_is


class DecisionsImported(msgspec.Struct, frozen=True, kw_only=True):
    """What an import of decision records led to; `left_out` is what of them is in no memory."""

    added: int
    updated: int
    unchanged: int
    superseded: int
    archived: int
    skipped: tuple[Skipped, ...]
    left_out: tuple[UnusedPart, ...]
    dry_run: bool


def import_decisions(workspace: Workspace, request: DecisionsRequest) -> DecisionsImported:
    """Make a memory of every decision that was taken, change those whose records have changed.

    What was superseded has the memory of its successor beside it; what was proposed, rejected,
    deprecated or superseded by nothing that is here is no decision that holds: it is left out with
    a word, and a memory that was made of it before is archived.
    """
    run = _DecisionImport(workspace, request)
    run.keep()
    return DecisionsImported(
        **run.counts,
        skipped=tuple(run.skipped),
        left_out=tuple(run.left_out),
        dry_run=request.dry_run,
    )


class _DecisionImport:
    """Decision records on their way into memories: what became of them, and what is left out."""

    def __init__(self, workspace: Workspace, request: DecisionsRequest) -> None:
        self.counts = dict.fromkeys(("added", "updated", "unchanged", "superseded", "archived"), 0)
        self.skipped: list[Skipped] = []
        self.left_out: list[UnusedPart] = []
        self._workspace = workspace
        self._request = request
        self._known = _memories_of(workspace)
        files = list(note_files(workspace, request.paths, lambda _: True, self.skipped))
        read = {file.file: read_decision(file.file, file.text) for file in files}
        self._records = {file: one for file, one in read.items() if not isinstance(one, str)}
        self.skipped += [Skipped(file, why) for file, why in read.items() if isinstance(why, str)]
        if not self._records:
            names = ", ".join([file.file for file in files][:3]) or "nothing"
            hint = "a record has a section named Decision"
            raise InvalidValue(f"{names} has no decision", hint)

    def keep(self) -> None:
        """Make memories of the records that hold, and of those that others have superseded."""
        followed = self._followed()
        for file, record in self._records.items():
            why_not = record.why_not
            if record.state == "superseded" and not self._holds(_last(followed, file), file):
                by = record.superseded_by
                why_not = f"is superseded by {by.text}, no record here" if by else "is superseded"
            if why_not:
                self._leave(file, why_not)
                continue
            try:
                text = str(self._request.admit(_content(record), file))
            except SecretFound as error:
                self.skipped.append(Skipped(file, f"holds a secret ({error.kind})"))
                continue
            self._keep(file, record, text)
            self.left_out += record.left_out
        while followed:
            first = next((one for one in followed if one not in followed.values()), None)
            old = first or next(iter(followed))
            self._follow(old, followed[old], _last(followed, old))
            del followed[old]

    def _followed(self) -> dict[str, str]:
        """Return the files of superseded records, with those of the records in their places."""
        files = DecisionFiles(self._records, self._known)
        followed: dict[str, str] = {}
        for file, record in self._records.items():
            for old, new in (
                (file, files.find(record.superseded_by, file)),
                (files.find(record.supersedes, file), file),
            ):
                holds = record.state in ("", "accepted") or old == file
                if old and new and old != new and holds:
                    followed.setdefault(old, new)
        return followed

    def _holds(self, successor: str, file: str) -> bool:
        """Tell whether a file other than a record's own has a decision that holds."""
        record = self._records.get(successor)
        if successor == file:
            return False
        if record is None:
            return self._known[successor].state is State.ACTIVE
        return not record.why_not and record.state != "superseded"

    def _leave(self, file: str, why: str) -> None:
        """Leave a record out, and archive the memory that was made of it before."""
        self.skipped.append(Skipped(file, why))
        memory = self._known.get(file)
        if memory is None or memory.state is not State.ACTIVE:
            return
        self.counts["archived"] += 1
        if not self._request.dry_run:
            now = self._workspace.now()
            event = self._workspace.event(EventKind.ARCHIVE, reason=f"its record {why}")
            event = msgspec.structs.replace(event, source=KIND)
            self._workspace.memories.put(moved(memory, event, valid_until=closed(memory, now)))

    def _follow(self, file: str, *successors: str) -> None:
        """Let the first memory of a successor that holds take the place of a record's."""
        old, *others = map(self._known.get, (file, *successors))
        new = next((one for one in others if one and one.state is State.ACTIVE), None)
        if old is None or new is None or old.state is not State.ACTIVE:
            return
        self.counts["superseded"] += 1
        if not self._request.dry_run:
            wanted = SupersedeByRequest(reference=old.id, successor=new.id)
            self._known[file] = supersede_by(self._workspace, wanted).superseded

    def _keep(self, file: str, record: DecisionRecord, text: str) -> None:
        """Add the memory of a record, or change the one that was made of its file."""
        known = self._known.get(file)
        rejected = tuple(shortened(one, _LONGEST_OPTION) for one in record.rejected)
        if known is not None and (known.content, known.instead_of) == (text, rejected):
            self.counts["unchanged"] += 1
            return
        if self._request.dry_run:
            self.counts["added" if known is None else "updated"] += 1
            return
        path = os.path.join(os.path.dirname(self._workspace.root), *file.split("/"))
        subject = shortened(record.title, _LONGEST_SUBJECT)
        cited = f"{path}:{record.lines[0]}-{record.lines[1]}"
        if known is not None:
            wanted = EditRequest(
                reference=known.id,
                content=text,
                subject=subject if known.subject is None else None,
                instead_of=rejected,
                uncite=(path,) if known.citations else (),
                cite=(cited,),
            )
            edit_from(self._workspace, wanted, KIND)
            self.counts["updated"] += 1
            return
        start = None if record.day is None else datetime.combine(record.day, time(), UTC)
        done = add_one(
            self._workspace,
            AddRequest(
                content=text,
                type=MemoryType.DECISION,
                subject=subject,
                tags=(KIND,),
                valid_from=start,
                source=Source(kind=KIND, file=file),
                cite=(cited,),
                instead_of=rejected,
                force=True,
            ),
        )
        self.counts["added"] += 1
        if done.record is not None:
            self._known[file] = done.record


def _memories_of(workspace: Workspace) -> dict[str, Memory]:
    """Return the memories that were made of decision records, by file, whatever their state."""
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
            said += f" {name}: {more}"
    return said


def _last(followed: Mapping[str, str], file: str) -> str:
    """Return the file at the end of those that follow each other; in a circle, any of them."""
    for _ in followed:
        file = followed.get(file, file)
    return file


class DecisionFiles:
    """The files of records, found by the names that other records have for them."""

    def __init__(self, records: Mapping[str, DecisionRecord], others: Iterable[str]) -> None:
        self._files: dict[str | int, list[str]] = {}
        for file in {**dict.fromkeys(records), **dict.fromkeys(others)}:
            record = records.get(file)
            keys: dict[str | int, None] = {
                file.rpartition("/")[2].rpartition(".")[0].casefold(): None
            }
            if record is not None:
                keys[folded_title(record.title)] = None
            if record is not None and record.number is not None:
                keys[record.number] = None
            for key in keys:
                self._files.setdefault(key, []).append(file)

    def find(self, name: RecordName | None, here: str) -> str | None:
        """Return the file of a record; None where there is none, or several in other folders.

        One in the same folder as `here`, the file that names it, comes first.
        """
        for key in (name.file, name.title, name.number) if name is not None else ():
            found = self._files.get(key, []) if key else []
            beside = [one for one in found if one.rpartition("/")[0] == here.rpartition("/")[0]]
            if len(beside or found) == 1:
                return (beside or found)[0]
        return None
