"""Chats that programs keep as Markdown in the project: those of aider and of SpecStory.

aider writes `#### ` before each line that a person types and `> ` before its own; what is left is
the model's. It gives no time but that of the session's start. SpecStory writes `_**User**_` and
`_**Agent**_` above each message, with a time or without one.
"""

import re
from collections.abc import Iterable, Iterator
from typing import Any, Final

from pmem.core.lines import split_lines
from pmem.interchange.sessions import THOUGHTS, Line, SessionLines, SessionNotes
from pmem.values.records import Role

_STARTED: Final = re.compile(r"# aider chat started at (\d{4}-\d\d-\d\d \d\d:\d\d:\d\d)\s*")
_TYPED: Final = "####"
_SHOWN: Final = re.compile(r">(?: |$)")
_HEADING: Final = re.compile(r"_\*\*(User|Agent|Assistant)\b([^*]*)\*\*_\s*")
_SESSION: Final = re.compile(r"Session ([0-9A-Fa-f][0-9A-Fa-f-]{7,})")
_TIME: Final = re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d(?::\d\d)?Z?")
_OPENED: Final = re.compile(r"<(?:think|tool-use)\b")
_CLOSED: Final = re.compile(r"</(?:think|tool-use)>")
_HIDDEN: Final = re.compile(
    r"^<details\b(?:(?!</details>).)*(?:</details>|\Z)|^<!--(?:(?!-->).)*(?:-->|\Z)",
    re.DOTALL | re.MULTILINE,
)
_INTERRUPTED: Final = "[Request interrupted by user"
_THOUGHT: Final = re.compile(r"<(thinking-content-\w+)>(?:(?!</\1>).)*(?:</\1>|\Z)", re.DOTALL)
_THOUGHT_ENDS: Final = "</think>\n"
"""The beginning of a thought is often not written."""
_RULE: Final = re.compile(r"^---[ ]*$", re.MULTILINE)


def read_aider(name: str, data: bytes, notes: SessionNotes) -> Iterator[Line]:
    """Yield what was said in the sessions of a `.aider.chat.history.md`."""
    started, number, before = "", 0, ""
    for role, text in _aider_parts(data):
        if role is None:
            started, number = text, 0
        elif not text:
            continue
        elif role is Role.SYSTEM or (role is Role.USER and text.split() == before.split()):
            notes.leave_out()  # an architect's answer is handed to its editor as typed
        elif started:
            number += 1
            before = text if role is Role.ASSISTANT else ""
            answer, thoughts = _THOUGHT.subn("", text)
            _, ended, rest = answer.rpartition(_THOUGHT_ENDS)
            if thoughts or ended:
                notes.leave_out(THOUGHTS)
                answer = rest if ended else answer
            told = SessionLines(f"{name} {started}", notes)
            yield from told.said(str(number), role, [answer], started)


def _aider_parts(data: bytes) -> Iterator[tuple[Role | None, str]]:
    """Yield messages by who said them; a session's start is nobody's, aider's lines are system."""
    who: Role | None = Role.ASSISTANT
    held: list[str] = []
    above = ""
    for line in split_lines(data.decode("utf-8-sig", "replace")):
        started = _STARTED.fullmatch(line)
        role, text = (None, started[1]) if started else _aider_line(line, above, who)
        if started or role is not who:
            yield who, "\n".join(held).strip()
            who, held = role, []
        held.append(text)
        above = line
    yield who, "\n".join(held).strip()


def _aider_line(line: str, above: str, before: Role | None) -> tuple[Role, str]:
    """Return who said a line, and what; what follows a line of aider's own at once is its own."""
    if line.startswith(_TYPED):
        return Role.USER, line.removeprefix(_TYPED).removeprefix(" ").rstrip()
    if _SHOWN.match(line) or (before is Role.SYSTEM and line.strip() and above.strip()):
        return Role.SYSTEM, line
    return (Role.ASSISTANT, line) if line.strip() else (before or Role.ASSISTANT, "")


def read_specstory(name: str, data: bytes, notes: SessionNotes) -> Iterator[Line]:
    """Yield what was said in a file of `.specstory/history`."""
    lines = list(_without_tools(split_lines(data.decode("utf-8-sig", "replace")), notes))
    starts = [place for place, line in enumerate(lines) if _HEADING.fullmatch(line)]
    head = "\n".join(lines[: starts[0]] if starts else lines)
    found = _SESSION.search(head)
    told = SessionLines(found[1] if found else name, notes)
    begun = _time(head) if (_time(head) or "").endswith("Z") else None  # others are of some zone
    for number, (start, end) in enumerate(zip(starts, [*starts[1:], len(lines)], strict=True), 1):
        heading = _HEADING.fullmatch(lines[start])
        assert heading is not None
        text, hidden = _HIDDEN.subn("", "\n".join(lines[start + 1 : end]))
        for _ in range(hidden):
            notes.leave_out(THOUGHTS)
        role = Role.USER if heading[1] == "User" else Role.ASSISTANT
        at = _time(heading[2]) or begun
        for line in told.said(str(number), role, map(str.strip, _RULE.split(text)), at):
            if line["content"].startswith(_INTERRUPTED):
                notes.leave_out()
            else:
                yield line


def _without_tools(lines: Iterable[str], notes: SessionNotes) -> Iterator[str]:
    """Yield the lines that are in no thought and in no call of a tool, which may hold others."""
    depth = 0
    for line in lines:
        if _OPENED.match(line):
            depth += 1
            if depth == 1:
                notes.leave_out(THOUGHTS)
        if depth == 0:
            yield line
        depth = max(0, depth - len(_CLOSED.findall(line)))


def _time(text: str | None) -> Any:
    found = _TIME.search(text or "")
    return found[0] if found else None
