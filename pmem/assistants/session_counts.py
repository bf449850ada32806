"""What of the memory was of use to a session: counted as it stops (see decision 53)."""

import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from datetime import datetime

from pmem.assistants.events import is_question, spoken
from pmem.assistants.session_work import ShownText, named, part_since, quoted, work_in
from pmem.errors import PmemError
from pmem.project.workspace import Workspace
from pmem.storage.files.worktree import name_in, project_top
from pmem.storage.local.sessions import LONGEST
from pmem.values.records import Episode, Memory
from pmem.values.times import in_utc


def count_session(workspace: Workspace, thread: str, transcript: str, folder: str) -> None:
    """Count what a session was shown, and what of it has been of use since the last look.

    Where nothing is known of the transcript's form, nothing is counted: it might have been used.

    Raises:
        Damaged, Locked, StorageRefused: The clone's state.
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
            yield prompt, _time_of(at, workspace.now())


def _time_of(text: str, now: datetime) -> datetime:
    """Read when something was said; what says nothing sensible was said just now."""
    with suppress(ValueError, OverflowError):
        return min(now, in_utc(datetime.fromisoformat(text)))
    return now


def _texts(workspace: Workspace, ids: Iterable[str]) -> Iterator[ShownText]:
    """Yield records with what they say; one that is gone, or cannot be used, is left out."""
    for identifier in ids:
        for store in (workspace.memories, workspace.episodes):
            try:
                record = store.get(identifier)
            except PmemError:
                continue
            yield ShownText(record, _said_by(record))
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


def _said_by(record: Memory | Episode) -> str:
    return record.content if isinstance(record, Memory) else f"{record.title}\n{record.summary}"
