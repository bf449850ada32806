"""Memories made of instruction files, and kept to what these say."""

import os
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from contextlib import suppress
from typing import Annotated, Any

import msgspec

from pmem.conversation.note_files import (
    NoteFile,
    PlacedRule,
    ProjectNames,
    is_name,
    note_files,
    pair_rules,
    words_of,
)
from pmem.core.citations import CitationState
from pmem.core.filters import Filter
from pmem.core.followed_rules import KIND, FollowedRule, followed
from pmem.core.lifecycle.states import closed, moved, restored
from pmem.core.retention import changed
from pmem.errors import InvalidValue, PmemError
from pmem.interchange import Skipped, UnusedPart
from pmem.interchange.notes import Note, NotesFile, is_instructions, is_of_project, read_notes
from pmem.interchange.sessions import LOOKED_AT, program_of_chat
from pmem.memory.citations import VerifyRequest, verify
from pmem.memory.memories import add_one, edit_from
from pmem.memory.requests import AddRequest, EditRequest
from pmem.project.caller import needs_leave
from pmem.project.secret_gate import SecretFound
from pmem.project.workspace import Workspace
from pmem.storage.files.worktree import name_in
from pmem.storage.git.project_files import Unreadable
from pmem.values.fields import Admit, Progress, as_it_is, asked, ignore_progress
from pmem.values.ids import short
from pmem.values.programs import TITLES
from pmem.values.records import EventKind, Memory, Source, State


class NotesRequest(msgspec.Struct, frozen=True, kw_only=True):
    """Instruction files, and folders of them; `admit` lets in notes without a secret."""

    paths: Annotated[
        tuple[str, ...],
        asked("Such as CLAUDE.md, or a folder with rules.", shown="FILE...", is_argument=True),
    ]
    admit: Admit = as_it_is


class EditedRule(msgspec.Struct, frozen=True, kw_only=True):
    """A memory that somebody edited whose file says something else since: `rule`, or nothing."""

    id: str
    file: str
    text: str
    rule: str = ""


class NotesImported(msgspec.Struct, frozen=True, kw_only=True):
    """What an import of notes led to.

    `archived` memories are those whose rules are gone. `edited` ones stay as people left them.
    `left_out` is what of the files is no note.
    """

    added: int
    updated: int
    unchanged: int
    archived: int
    skipped: tuple[Skipped, ...]
    edited: tuple[EditedRule, ...] = ()
    left_out: tuple[UnusedPart, ...] = ()


def import_notes(workspace: Workspace, request: NotesRequest) -> NotesImported:
    """Make a memory of every rule, and bring those that were made before to what files say now.

    What people changed of a memory stays: another text is left as it is and named, as is what an
    agent would archive.
    """
    skipped: list[Skipped] = []
    files = note_files(workspace, request.paths, is_instructions, skipped)
    read = [(file.file, parse_notes(workspace, file, skipped)) for file in files]
    found = [(file, notes) for file, notes in read if notes is not None]
    if not any(notes.notes for _, notes in found):
        raise _no_notes(found, skipped, request.paths)
    run = _NotesImport(workspace, request.admit, skipped=skipped)
    return run.take(found)


def follow_notes(
    workspace: Workspace,
    found: Sequence[tuple[str, NotesFile]],
    admit: Admit,
    progress: Progress = ignore_progress,
    *,
    dry_run: bool = False,
) -> NotesImported:
    """Do the same with files that were read and may have no rule any more.

    In a dry run, count it alone.
    """
    return _NotesImport(workspace, admit, progress, dry_run=dry_run).take(found)


def parse_notes(workspace: Workspace, file: NoteFile, skipped: list[Skipped]) -> NotesFile | None:
    """Return what a file says; where it is no instruction file, `skipped` takes a line."""
    program = program_of_chat(file.text.encode("utf-8", "replace")[:LOOKED_AT])
    if program is not None:
        why = f"is a chat of {TITLES[program]}: `pmem import auto {file.file}` reads it"
        skipped.append(Skipped(file.file, why))
        return None
    inside = name_in(workspace.sources.top, os.path.dirname(workspace.root))
    try:
        return read_notes(file.file, file.text, inside)
    except InvalidValue as error:
        skipped.append(Skipped(file.file, error.message))
        return None


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

    `edited` is what people have changed, where the file says something else.
    """

    def __init__(
        self,
        workspace: Workspace,
        admit: Admit,
        progress: Progress = ignore_progress,
        *,
        skipped: Sequence[Skipped] = (),
        dry_run: bool = False,
    ) -> None:
        self.counts = dict.fromkeys(("added", "updated", "unchanged", "archived"), 0)
        self.skipped = [*skipped]
        self.edited: list[EditedRule] = []
        self._workspace = workspace
        self._project = os.path.dirname(workspace.root)
        self._admit = admit
        self._progress = progress
        self._dry_run = dry_run

    def take(self, found: Sequence[tuple[str, NotesFile]]) -> NotesImported:
        """Bring the memories that were made of files to what these say now."""
        names = self._workspace.sources.within("")
        near = ProjectNames(names, name_in(self._workspace.sources.top, self._project))
        rules = [
            PlacedRule(file, note, near.places_of(file, note, notes.places), can_be_kept)
            for file, notes in found
            for note, can_be_kept in self._looked_through(file, notes)
        ]
        known = self._memories_of({file for file, _ in found}, near)
        pairs, gone = pair_rules(rules, map(followed, known))
        for done, (rule, one) in enumerate(zip(rules, pairs, strict=True), start=1):
            self._progress(done, len(rules))
            if rule.can_be_kept and one is None:
                self._add(rule)
            elif rule.can_be_kept and one is not None:
                self._follow(one, rule)
        for one in self._said_nowhere(gone, {file for file, _ in found}, near):
            self._leave(one)
        return NotesImported(
            **self.counts,
            skipped=tuple(self.skipped),
            edited=tuple(self.edited),
            left_out=tuple(part for _, notes in found for part in notes.left_out),
        )

    def _follow(self, one: FollowedRule, rule: PlacedRule) -> None:
        """Let a memory say what its rule says now, unless somebody changed what it says."""
        is_other = rule.note.text not in (one.text, one.memory.content)
        if is_other and (one.is_edited or self._is_by_hand(one)):
            self._ask(one, rule.note.text)
            return
        wanted = _edit_of(self._workspace, one, rule)
        is_alive = one.was_gone or one.memory.state is State.ACTIVE
        if not is_alive or not (one.was_gone or rule.file != one.file or wanted is not None):
            self.counts["unchanged"] += 1
        elif needs_leave(self._workspace, one.memory):
            where = f"{rule.file}:{rule.note.lines[0]}"
            self.skipped.append(Skipped(where, "is another one now: a person imports that"))
        else:
            if not self._dry_run:
                _change(self._workspace, one, rule, wanted)
            self.counts["updated"] += 1

    def _is_by_hand(self, one: FollowedRule) -> bool:
        """Tell whether a memory's file was edited: it has words that its rule never had.

        What is cited is as it was, and what an import makes of it has only its words.
        """
        path = _path_of(self._workspace, one.file or "")
        try:
            text = self._workspace.sources.read(self._workspace.sources.named(path) or "", 1 << 20)
        except (PmemError, Unreadable):
            return False
        if words_of(one.memory.content) <= words_of(text.decode("utf-8", "replace")):
            return False
        cited = verify(self._workspace, VerifyRequest(references=(one.memory.id,))).items
        return all(it.state is CitationState.MOVED for it in cited)

    def _said_nowhere(
        self, gone: Sequence[FollowedRule], read: Collection[str], near: ProjectNames
    ) -> list[FollowedRule]:
        """Let memories follow their rules into files that were not read; return all others."""
        left = list(gone)
        others: list[Skipped] = []
        files = note_files(self._workspace, [self._project], is_of_project, others) if gone else ()
        for file in files:
            if file.file in read or not is_of_project(file.file):
                continue
            with suppress(InvalidValue):
                found = read_notes(file.file, file.text, near.inside)
                for note in found.notes:
                    one = next((one for one in left if one.text == note.text), None)
                    if one is not None:
                        left.remove(one)
                        places = near.places_of(file.file, note, found.places)
                        self._follow(one, PlacedRule(file.file, note, places))
        return left

    def _leave(self, one: FollowedRule) -> None:
        """Archive a memory whose rule is gone, unless somebody has worked on it."""
        if one.is_changed or needs_leave(self._workspace, one.memory):
            self._ask(one)
            return
        self.counts["archived"] += 1
        if self._dry_run:
            return
        now, why = self._workspace.now(), f"its rule is gone from {one.file}"
        event = self._workspace.event(EventKind.ARCHIVE, reason=why)
        event = msgspec.structs.replace(event, source=KIND)
        self._workspace.memories.put(moved(one.memory, event, valid_until=closed(one.memory, now)))

    def _ask(self, one: FollowedRule, rule: str = "") -> None:
        """Name a memory that is not as its file says, unless somebody has accepted that."""
        memory, file = one.memory, one.file or ""
        if verify(self._workspace, VerifyRequest(references=(memory.id,))).items:
            asked = EditedRule(id=short(memory.id), file=file, text=memory.content, rule=rule)
            self.edited.append(asked)
        else:
            self.counts["unchanged"] += 1

    def _memories_of(self, files: Collection[str], near: ProjectNames) -> Iterator[Memory]:
        """Yield the memories that were made of some files, and of files that are there no more."""
        for memory in self._workspace.memories.find(Filter(states=tuple(State))):
            file = memory.source.file
            if memory.source.kind == KIND and file is not None and is_name(file):
                is_there = near.has(file) or os.path.exists(_path_of(self._workspace, file))
                if file in files or not is_there:
                    yield memory

    def _looked_through(self, file: str, found: NotesFile) -> Iterator[tuple[Note, bool]]:
        """Yield the notes, each text once, and whether they hold no secret and are not too long."""
        seen: set[str] = set()
        for note in found.notes:
            where = f"{file}:{note.lines[0]}"
            try:
                text: Any = self._admit(note.text, where)
            except SecretFound as error:
                self.skipped.append(Skipped(where, f"holds a secret ({error.kind})"))
                yield note, False
                continue
            longest = self._workspace.settings.limits.memory
            if len(text) > longest:
                why = f"has {len(text)} characters, and the limit is {longest}"
                self.skipped.append(Skipped(where, why))
                yield note, False
            elif text not in seen:
                seen.add(text)
                yield note._replace(text=text), True

    def _add(self, rule: PlacedRule) -> None:
        """Add the memory of a rule; nothing where one says the same of the same places."""
        if self._dry_run:
            self.counts["added"] += 1
            return
        file, note, lines = rule.file, rule.note, _lines(rule.note)
        path = _path_of(self._workspace, file)
        wanted = AddRequest(
            content=note.text,
            type=note.type,
            subject=note.subject,
            tags=note.tags,
            source=Source(kind=KIND, file=file, lines=lines),
            cite=(f"{path}:{lines}",),
            places=rule.places,
        )
        done = add_one(self._workspace, wanted)
        known = done.record
        if done.action == "suggested" and known is not None and _differs(known, rule):
            done = add_one(self._workspace, msgspec.structs.replace(wanted, force=True))
        if done.action == "added":
            self.counts["added"] += 1
        elif known is not None and known.content == note.text:
            self.counts["unchanged"] += 1
        else:
            self.skipped.append(Skipped(f"{file}:{note.lines[0]}", f"adds nothing: {done.reason}"))


def _differs(known: Memory, rule: PlacedRule) -> bool:
    """Tell whether a rule counts beside a memory that is like it.

    It does if both are of one file, apply elsewhere, or say otherwise.
    """
    from pmem.core.lifecycle.linking import says_otherwise

    text = rule.note.text
    is_ours = known.source.file == rule.file and known.content != text
    said = msgspec.structs.replace(known, content=text)
    return is_ours or set(known.places) != set(rule.places) or says_otherwise(known, said)


def _edit_of(workspace: Workspace, one: FollowedRule, rule: PlacedRule) -> EditRequest | None:
    """Return how a memory comes to say what its rule says now, where that applies; None as it is.

    Only what the file changed since the last import changes. A rule that says what it said stays
    cited where it was, unless it is in another file: `verify` follows it.
    """
    memory, note = one.memory, rule.note
    wanted = as_it_is = EditRequest(reference=memory.id)
    if one.is_of_file("subject") and memory.subject != note.subject:
        old = set(memory.tags).difference(note.tags, one.own_tags)
        wanted = msgspec.structs.replace(
            wanted, subject=note.subject or "", add_tags=note.tags, remove_tags=tuple(sorted(old))
        )
    if one.is_of_file("places") and set(memory.places) != set(rule.places):
        wanted = msgspec.structs.replace(wanted, places=rule.places, not_places=memory.places)
    if note.text not in (one.text, memory.content):
        wanted = msgspec.structs.replace(
            wanted, content=note.text, type=note.type if one.is_of_file("type") else None
        )
    if rule.file != one.file or wanted.content is not None:
        wanted = msgspec.structs.replace(wanted, **_cited(workspace, one, rule))
    return None if wanted == as_it_is else wanted


def _change(
    workspace: Workspace, one: FollowedRule, rule: PlacedRule, wanted: EditRequest | None
) -> None:
    """Change a memory as its rule has changed, and bring it back if the rule is back."""
    if one.was_gone:
        event = msgspec.structs.replace(workspace.event(EventKind.RESTORE), source=KIND)
        workspace.memories.put(restored(one.memory, event))
    if wanted is not None:
        edit_from(workspace, wanted, KIND)
    if rule.file != one.file:
        source = Source(kind=KIND, file=rule.file, lines=_lines(rule.note))
        event = msgspec.structs.replace(workspace.event(EventKind.UPDATE), source=KIND)
        memory = workspace.memories.get(one.memory.id)
        workspace.memories.put(changed(memory, event, source=source))


def _cited(workspace: Workspace, one: FollowedRule, rule: PlacedRule) -> dict[str, tuple[str, ...]]:
    """Return what a memory cites from now on in place of the lines that an import cited."""
    path = _path_of(workspace, rule.file)
    now, old = f"{path}:{_lines(rule.note)}", _path_of(workspace, one.file or "")
    file = workspace.sources.named(old)
    ours = [cited.lines for cited in one.memory.citations if cited.file == file]
    cited = {f"{old}:{lines[0]}-{lines[1]}" for lines in ours if lines}
    return {"cite": (now,), "uncite": tuple(sorted(cited - {now}))}


def _lines(note: Note) -> str:
    return f"{note.lines[0]}-{note.lines[1]}"


def _path_of(workspace: Workspace, file: str) -> str:
    return os.path.join(os.path.dirname(workspace.root), *file.split("/"))
