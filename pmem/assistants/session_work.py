"""What was said and done in a part of a session, read from its transcript since the last look.

As a session stops, what of the memory was of use to it is counted (see decision 53). A hook has
little time and a transcript may be long: only what was added is read, whole lines, and
of more than is looked at the end.
"""

import os
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import datetime
from importlib import import_module
from itertools import chain
from typing import Any, Final, NamedTuple

from pmem.assistants.events import HookInput, is_question, spoken
from pmem.assistants.tool_calls import touched
from pmem.core.lines import file_lines
from pmem.core.text.calls import RecordedCall, recorded_calls
from pmem.errors import PmemError
from pmem.interchange.sessions import SessionNotes, recognise, text_of, without_own_calls
from pmem.project.workspace import Workspace
from pmem.storage.files.worktree import name_in, project_top
from pmem.storage.local.sessions import LONGEST
from pmem.values.bounds import LINE_BYTES
from pmem.values.ids import short
from pmem.values.programs import SessionProgram
from pmem.values.records import Memory, Role
from pmem.values.times import in_utc

LEAST_QUOTED: Final = 6
"""So many words in a row are a quotation."""
_CHARACTERS: Final = r"[\u3040-\u30ff\u3400-\u9fff]|[^\W\u3040-\u30ff\u3400-\u9fff]+"
"""Words, where Chinese and Japanese characters stand for themselves."""
_HALF: Final = 2
"""A Chinese or Japanese character counts for half a word."""


MOST_BYTES: Final = 1_000_000
"""Of what was added, so much is looked at."""
_HEADED: Final = (SessionProgram.CODEX, SessionProgram.GEMINI)
"""Programs that say once, in a session's first line, whose it is."""


class ShownText(NamedTuple):
    """A record as it stands before a session's eyes."""

    record: Any
    text: str


class SessionWork(NamedTuple):
    """What was done in a part of a session.

    Attributes:
        written: What the assistant wrote, to people and into its tools' arguments.
        edited: The files that it edited, seen from the top of the project.
        asked: What people asked, and when, as the transcript writes it.
    """

    written: tuple[str, ...] = ()
    edited: tuple[str, ...] = ()
    asked: tuple[tuple[str, str], ...] = ()


def named(ids: Iterable[str], work: SessionWork) -> set[str]:
    """Return the ids that an assistant named, whole or in their short form."""
    said = set[str]().union(*(re.findall(r"[0-9A-Za-z]+", text) for text in work.written))
    return {identifier for identifier in ids if short(identifier) in said}


def quoted(shown: Iterable[ShownText], work: SessionWork) -> set[str]:
    """Return the ids of the records that an assistant wrote some words in a row of.

    It takes time by the length of the texts, and no more.
    """
    of_record: dict[tuple[str, ...], set[str]] = {}
    for one in shown:
        for run in _runs(_words(one.text)):
            of_record.setdefault(run, set()).add(one.record.id)
    starts = {run[0] for run in of_record}
    found: set[str] = set()
    for text in work.written if starts else ():
        for run in _runs(_words(text), starts):
            found |= of_record.get(run, set())
    return found


def _words(text: str) -> list[str]:
    text = text.casefold()
    return re.findall(r"\w+" if text.isascii() else _CHARACTERS, text)


def _runs(words: Sequence[str], starts: Collection[str] | None = None) -> Iterator[tuple[str, ...]]:
    """Yield, from each word on, as many words as make a quotation."""
    for first, word in enumerate(words):
        if starts is None or word in starts:
            halves, end = 0, first
            while halves < LEAST_QUOTED * _HALF and end < len(words):
                is_character = len(words[end]) == 1 and words[end] >= "\u3040"
                halves += 1 if is_character else _HALF
                end += 1
            if halves >= LEAST_QUOTED * _HALF:
                yield tuple(words[first:end])


class SessionPart(NamedTuple):
    """Lines of a session (see `interchange.messages`), and the byte of its file where they end."""

    lines: tuple[Mapping[str, Any], ...]
    end: int


def part_since(path: str, start: int) -> SessionPart | None:
    """Return what was added to a session since a byte of its transcript.

    Where the file is shorter than `start`, all of it is read.

    Returns:
        None where no program is known that writes such a transcript.

    Raises:
        OSError: It cannot be read.
    """
    with open(path, "rb") as file:
        size = os.fstat(file.fileno()).st_size
        start = start if start <= size else 0
        first = file.readline(LINE_BYTES)
        program = recognise(chain([first], iter(lambda: file.readline(LINE_BYTES), b"")))
        if program is None:
            return None
        if start == size:
            return SessionPart((), size)
        begin = max(start, size - MOST_BYTES)
        file.seek(begin)
        added = file.read(size - begin)
    if begin > start:
        added = added[added.find(b"\n") + 1 :]
    whole = added[: added.rfind(b"\n") + 1]
    lines = [line + b"\n" for line in file_lines(whole)]
    if start and program in _HEADED:
        lines = [first, *lines]
    read = import_module(f"pmem.interchange.{program.replace('-', '_')}").read
    notes = SessionNotes()
    found = tuple(without_own_calls(read(lambda: lines, notes), notes))
    return SessionPart(found, size - (len(added) - len(whole)))


def work_in(lines: Iterable[Mapping[str, Any]], name: Callable[[str], str]) -> SessionWork:
    """Return what was done in a part of a session."""
    written: list[str] = []
    asked: list[tuple[str, str]] = []
    edited: dict[str, None] = {}
    for line in lines:
        if line["role"] == Role.USER:
            asked.append((line["content"], text_of(line["timestamp"])))
        elif line["role"] == Role.ASSISTANT and "tool_call" not in line:
            written.append(line["content"])
        elif line["role"] == Role.ASSISTANT:
            for call in recorded_calls(line["tool_call"]):
                written += [text for text in call.texts() if " " in text]
                edited |= dict.fromkeys(filter(None, map(name, edited_files(call))))
    return SessionWork(tuple(written), tuple(edited), tuple(asked))


def edited_files(call: RecordedCall) -> list[str]:
    """Return the paths of the files that a call edits, as it names them."""
    given = dict(call.arguments)
    command = given.get("command", given.get("cmd"))
    if isinstance(command, list):
        command = "\n".join(map(str, command))
    if command is not None:
        given["command"] = command
    told = HookInput({"tool_name": call.name, "tool_input": given})
    return [file.path for file in touched(told) if file.is_edit]


def count_session(workspace: Workspace, thread: str, transcript: str, folder: str) -> None:
    """Count what a session was shown, and what of it has been of use since the last look.

    Where nothing is known of the transcript's form, nothing is counted: it might have been used.
    """
    counts, now = workspace.own.use_counts, workspace.now()
    before = counts.session(thread, transcript, now)
    top, here = project_top(workspace.root), folder or os.getcwd()
    try:
        part = part_since(transcript, before.offset)
    except OSError:
        return
    if part is None:
        return
    work = work_in(part.lines, lambda path: name_in(top, os.path.join(here, path)))
    end = part.end
    found = named(before.unused, work)
    if work.written or work.edited:
        shown = list(_texts(workspace, before.unused - found))
        found |= quoted(shown, work) | _touched(shown, work.edited)
    if before.fresh or found or end != before.offset:
        counts.note(thread, transcript, end, before.fresh, found, now)
    prompts = list(_questions(workspace, work.asked))
    if prompts:
        workspace.own.kept_prompts.keep(thread, prompts, now)


def _questions(
    workspace: Workspace, asked: Iterable[tuple[str, str]]
) -> Iterator[tuple[str, datetime]]:
    """Yield the prompts that may be kept: short, somebody's own words, and with no secret."""
    from pmem.core.secrets import find

    allowed = workspace.settings.secrets.allow
    for text, at in asked:
        prompt = spoken(text)
        if len(prompt) <= LONGEST and is_question(prompt) and not find(prompt, allowed):
            now = when = workspace.now()
            with suppress(ValueError, OverflowError):  # what says nothing sensible was just said
                when = min(now, in_utc(datetime.fromisoformat(at)))
            yield prompt, when


def _texts(workspace: Workspace, ids: Iterable[str]) -> Iterator[ShownText]:
    """Yield records with what they say; one that is gone, or cannot be used, is left out."""
    for identifier in ids:
        for store in (workspace.memories, workspace.episodes):
            try:
                record = store.get(identifier)
            except PmemError:
                continue
            if isinstance(record, Memory):
                yield ShownText(record, record.content)
            else:
                yield ShownText(record, f"{record.title}\n{record.summary}")
            break


def _touched(shown: Iterable[ShownText], edited: Sequence[str]) -> set[str]:
    """Return the ids of memories that cite one of some files, or whose places it has."""
    if not edited:
        return set()
    from pmem.storage.index.applying import applies_in_time, deadline

    until = deadline()
    memories = [one.record for one in shown if isinstance(one.record, Memory)]
    return {
        memory.id
        for memory in memories
        if not {one.file for one in memory.citations}.isdisjoint(edited)
        or any(applies_in_time(memory.places, file, until) for file in edited if memory.places)
    }
