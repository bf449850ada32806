"""Claude Code's sessions: JSON Lines, one record each, in a tree by the id of the one before.

Form as written by Claude Code 2.1: what was said are the records of type `user` and `assistant`;
all other types are the program's own, also where they hold a copy of what was said.
"""

import re
from collections.abc import Iterator
from typing import Any, Final

from pmem.interchange.sessions import (
    PROGRAM,
    Line,
    Lines,
    SessionLines,
    SessionNotes,
    objects,
    objects_in,
    text_of,
    texts_in,
)
from pmem.values.records import Role

_SAID: Final = ("user", "assistant")
_ORIGINS: Final = ("turnOrigin", "promptSource")
_MACHINES: Final = frozenset(("system", "loop_wakeup", "schedule_wakeup", "poll_event"))
_REMINDER: Final = re.compile(r"<system-reminder>.*?</system-reminder>", re.DOTALL)
_COMMAND: Final = re.compile(
    r"\s*<(?:command-(?:name|message|args)|local-command-(?:stdout|stderr|caveat)|bash-(?:input|stdout|stderr))>"
)
_INTERRUPTED: Final = "[Request interrupted by user"


def read(lines: Lines, notes: SessionNotes, *, sub_agents: bool = False) -> Iterator[Line]:
    """Yield what was said in a session.

    Of what was taken back and said anew, the last is followed; what a compaction put in a
    summary is there still. One message of a model may be several records.
    """
    tree = _Tree(lines)
    spoken: list[Line] = []
    message = None
    for _, value in objects(lines(), notes):
        reason = _reason(value, tree, notes, sub_agents)
        if reason:
            notes.leave_out(reason)
            continue
        given = _message(value)
        whole = given.get("id") if value["type"] == "assistant" else None
        if whole is None or whole != message:
            yield from spoken
            spoken = []
        message = whole
        told = SessionLines(text_of(value.get("sessionId")) or "session", notes)
        if value["type"] == "user":
            yield from _lines_of_user(told, value)
            continue
        name, texts = text_of(value.get("uuid")) or "record", _texts(given)
        text = told.said(name, Role.ASSISTANT, texts, value.get("timestamp"))
        if text and spoken:
            spoken[-1]["content"] += f"\n\n{text[0]['content']}"
        else:
            spoken += text
        for number, item in enumerate(objects_in(given.get("content"), "tool_use")):
            id_ = f"{name}/call{number}" if number or text else name
            call = told.called(id_, item, item.get("input"), value.get("timestamp"))
            if call:
                yield from [*spoken, *call]
                spoken = []
    yield from spoken


class _Tree:
    """Which records lie on the way to the last one, and which were left for another way."""

    def __init__(self, lines: Lines) -> None:
        parents: dict[str, str | None] = {}
        last: str | None = None
        for _, value in objects(lines(), SessionNotes()):
            name = value.get("uuid")
            if isinstance(name, str):
                before = value.get("parentUuid") or value.get("logicalParentUuid")
                parents.setdefault(name, before if isinstance(before, str) else None)
                if value.get("type") in _SAID and value.get("isSidechain") is not True:
                    last = name
            elif value.get("type") == "last-prompt" and text_of(value.get("leafUuid")) in parents:
                last = value["leafUuid"]
        self._followed: set[str] = set()
        while last is not None and last not in self._followed:
            self._followed.add(last)
            last = parents.get(last)
        self._left: set[str] = set()
        for name, before in parents.items():
            if name not in self._followed and (before in self._followed or before in self._left):
                self._left.add(name)

    def is_left(self, value: dict[str, Any]) -> bool:
        """Tell whether a record was left; results of calls on the way stand beside it."""
        given = _message(value)
        is_result = objects_in(given.get("content"), "tool_result") and not any(_texts(given))
        if is_result and text_of(value.get("parentUuid")) in self._followed:
            return False
        return text_of(value.get("uuid")) in self._left


def _reason(value: dict[str, Any], tree: _Tree, notes: SessionNotes, sub_agents: bool) -> str:
    """Return why a record is left out; nothing where it is not. A title is noted."""
    if value.get("type") not in _SAID:
        title = (text_of(value.get("aiTitle")) or text_of(value.get("summary"))).strip()
        if title and value.get("type") in ("ai-title", "summary"):
            notes.title = title
        return PROGRAM
    if value.get("isSidechain") is True and not sub_agents:
        return "lines of sub-agents"
    if value.get("isCompactSummary") is True:
        return "summaries"
    if value.get("isMeta") is True:
        return PROGRAM
    if tree.is_left(value):
        return "lines that were undone"
    is_told = {text_of(value.get(key)) for key in _ORIGINS} & _MACHINES
    return "prompts that nobody wrote" if is_told else ""


def _lines_of_user(told: SessionLines, value: dict[str, Any]) -> Iterator[Line]:
    """Yield what a person wrote, else what tools answered."""
    given, name = _message(value), text_of(value.get("uuid")) or "record"
    said = told.said(name, Role.USER, _texts(given), value.get("timestamp"))
    for line in said:
        if _COMMAND.match(line["content"]) or line["content"].startswith(_INTERRUPTED):
            told.notes.leave_out()
        else:
            yield line
    results = [] if said else objects_in(given.get("content"), "tool_result")
    for number, result in enumerate(results):
        id_, call = f"{name}/{number}" if number else name, text_of(result.get("tool_use_id"))
        answer = "\n".join(texts_in(result.get("content"), "text"))
        yield from told.answered(id_, call, answer, value.get("timestamp"))


def _message(value: dict[str, Any]) -> dict[str, Any]:
    given = value.get("message")
    return given if isinstance(given, dict) else {}


def _texts(message: dict[str, Any]) -> list[str]:
    texts = (_REMINDER.sub("", text) for text in texts_in(message.get("content"), "text"))
    return [text for text in texts if text.strip()]
