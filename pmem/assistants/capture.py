"""Asking an assistant what of a session is worth keeping: as it stops, or at the next start."""

import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import datetime, timedelta
from typing import Any, Final

from pmem.assistants.events import spoken
from pmem.assistants.session_work import SessionPart, part_since
from pmem.core.capture import SessionWords, is_worth_asking, question_later, question_now
from pmem.core.filters import Filter
from pmem.core.selection import Selection
from pmem.project.workspace import Workspace
from pmem.values.records import Role
from pmem.values.times import in_utc

_MOST_SESSIONS: Final = 3
"""Earlier sessions that a start looks at, the latest ones."""
_MOST_MESSAGES: Final = 500
"""Of a part of a session, so many are looked at, the last ones."""
_OVER: Final = timedelta(days=1)
"""A session that nobody went on with for so long has nothing to come that may be worth keeping."""


def ask_at_stop(workspace: Workspace, path: str) -> str:
    """Return what an assistant is asked before its turn ends; nothing where nothing is asked.

    A session that was asked about before, also at a start, is not asked at its stops again: what is
    said in it afterwards is asked about at a later start.
    """
    transcripts = workspace.own.noted_transcripts
    if workspace.settings.capture != "ask" or workspace.read_only or not os.path.isabs(path):
        return ""
    part = None if transcripts.asked(path) else _part(path, 0)
    asked = _question(workspace, part, question_now)
    if part is None or not asked:
        return ""
    is_first = transcripts.note_asked(path, part.end, workspace.now())
    return asked if is_first else ""


def ask_at_start(workspace: Workspace, thread: str | None, source: str) -> str:
    """Return what an assistant is asked of an earlier session; nothing where nothing is asked.

    After a compaction that is the session itself, up to there. One session is asked about at a
    start, the latest first.
    """
    if workspace.settings.capture == "off" or workspace.read_only:
        return ""
    transcripts, is_compacted = workspace.own.noted_transcripts, source == "compact"
    waiting = [one for one in transcripts.all() if (one.session == thread) is is_compacted]
    for noted in waiting[: -_MOST_SESSIONS - 1 : -1]:
        start = transcripts.asked(noted.path)
        part = _part(noted.path, start) if noted.offset > start else None
        asked = _question(workspace, part, question_later)
        is_over = noted.noted_at < workspace.now() - _OVER
        if part is None or not (asked or is_over):
            continue
        if transcripts.note_asked(noted.path, part.end, workspace.now()) and asked:
            return asked
    return ""


def _part(path: str, start: int) -> SessionPart | None:
    try:
        return part_since(path, start)
    except OSError:
        return None


def _question(
    workspace: Workspace,
    part: SessionPart | None,
    write: Callable[[Sequence[SessionWords], Iterable[str]], str],
) -> str:
    """Write what is asked of a part of a session; nothing where it is not worth asking about."""
    said = [] if part is None else list(deque(_said_in(part.lines), _MOST_MESSAGES))
    if part is None or not is_worth_asking(said):
        return ""
    masked = [one._replace(text=workspace.mask.text(one.text)) for one in said]
    return write(masked, _noted(workspace, part))


def _noted(workspace: Workspace, part: SessionPart) -> list[str]:
    """Return what the memory was told since a part of a session began."""
    for line in part.lines:
        with suppress(ValueError, OverflowError, TypeError):
            began = in_utc(datetime.fromisoformat(line["timestamp"]))
            since = Selection(wanted=Filter(updated_after=began))
            return [one.content for one in workspace.memories.select(since)]
    return []


def _said_in(lines: Iterable[Mapping[str, Any]]) -> Iterator[SessionWords]:
    """Yield what a person and an assistant said, without what a hook put in."""
    turn, last = 0, None
    for place, line in enumerate(lines):
        text = spoken(line["content"])
        if line["role"] == Role.USER and text:
            if last is not None:
                yield last._replace(ends_turn=True)
            turn, last = turn + 1, None
            yield SessionWords(place, turn, by_person=True, ends_turn=False, text=text)
        elif line["role"] == Role.ASSISTANT and "tool_call" not in line and text:
            if last is not None:
                yield last
            last = SessionWords(place, turn, by_person=False, ends_turn=False, text=text)
    if last is not None:
        yield last._replace(ends_turn=True)
