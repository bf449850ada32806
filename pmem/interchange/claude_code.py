"""Claude Code's sessions: JSON Lines, one record each, in a tree by the id of the one before.

Form as written by Claude Code 2.1: what was said are the records of type `user` and `assistant`;
all other types are the program's own, also where they hold a copy of what was said.
"""

import re
from collections.abc import Iterator
from typing import Any, Final

from pmem.core.text.calls import RecordedCall
from pmem.interchange.sessions import (
    OWN_WORDS,
    Line,
    Lines,
    SessionNotes,
    answered,
    called,
    objects,
    said,
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
    summary is there still.
    """
    tree = _Tree(lines)
    session = _SessionReader(notes, tree, sub_agents=sub_agents)
    for _, value in objects(lines(), notes):
        yield from session.take(value)
    yield from session.rest()


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

    def is_left(self, value: dict[str, Any], *, is_result: bool) -> bool:
        """Tell whether a record was left; results of calls on the way stand beside it."""
        if is_result and text_of(value.get("parentUuid")) in self._followed:
            return False
        return text_of(value.get("uuid")) in self._left


class _SessionReader:
    def __init__(self, notes: SessionNotes, tree: _Tree, *, sub_agents: bool) -> None:
        self._notes = notes
        self._tree = tree
        self._sub_agents = sub_agents
        self._spoken: list[Line] = []
        self._message: str | None = None

    def take(self, value: dict[str, Any]) -> Iterator[Line]:
        if value.get("type") not in _SAID:
            title = (text_of(value.get("aiTitle")) or text_of(value.get("summary"))).strip()
            if title and value.get("type") in ("ai-title", "summary"):
                self._notes.title = title
            self._notes.leave_out("lines of the program itself")
            return
        given = value.get("message")
        message = given if isinstance(given, dict) else {}
        content = message.get("content")
        results = _items(content, "tool_result")
        texts = [_REMINDER.sub("", text) for text in texts_in(content, "text")]
        reason = self._reason(value, is_result=bool(results) and not "".join(texts).strip())
        if reason:
            self._notes.leave_out(reason)
        elif value["type"] == "assistant":
            yield from self._answer(value, message, texts, _items(content, "tool_use"))
        else:
            yield from self.rest()
            yield from self._asked(value, texts, results)

    def rest(self) -> Iterator[Line]:
        """Yield the answer that may still go on."""
        yield from self._spoken
        self._spoken, self._message = [], None

    def _reason(self, value: dict[str, Any], *, is_result: bool) -> str:
        if value.get("isSidechain") is True and not self._sub_agents:
            return "lines of sub-agents"
        if value.get("isCompactSummary") is True:
            return "summaries"
        if value.get("isMeta") is True:
            return "lines of the program itself"
        if self._tree.is_left(value, is_result=is_result):
            return "lines that were undone"
        is_told = {text_of(value.get(key)) for key in _ORIGINS} & _MACHINES
        return "prompts that nobody wrote" if is_told else ""

    def _asked(
        self, value: dict[str, Any], texts: list[str], results: list[dict[str, Any]]
    ) -> Iterator[Line]:
        """Yield what a person wrote, else what tools answered."""
        session, name, at = _place(value)
        text = "\n\n".join(part for part in texts if part.strip())
        if text.strip():
            if _COMMAND.match(text) or text.strip().startswith(_INTERRUPTED):
                self._notes.leave_out("lines of the program itself")
            else:
                yield said(session, name, Role.USER, text, at)
            return
        for number, result in enumerate(results):
            call = text_of(result.get("tool_use_id"))
            if call in self._notes.pmem_calls:
                self._notes.leave_out(OWN_WORDS)
                continue
            answer = "\n".join(texts_in(result.get("content"), "text"))
            yield answered(session, f"{name}/{number}" if number else name, call, answer, at)

    def _answer(
        self,
        value: dict[str, Any],
        message: dict[str, Any],
        texts: list[str],
        calls: list[dict[str, Any]],
    ) -> Iterator[Line]:
        """Yield what a model said and called; one message may be several records."""
        session, name, at = _place(value)
        whole = message.get("id")
        if whole is None or whole != self._message:
            yield from self.rest()
        self._message = whole
        text = "\n\n".join(part for part in texts if part.strip())
        if text.strip() and self._spoken:
            self._spoken[-1]["content"] += f"\n\n{text.strip()}"
        elif text.strip():
            self._spoken.append(said(session, name, Role.ASSISTANT, text, at))
        for number, item in enumerate(calls):
            call = RecordedCall(
                text_of(item.get("name")), text_of(item.get("id")) or None, item.get("input")
            )
            if self._notes.says_itself(call):
                self._notes.leave_out(OWN_WORDS)
                continue
            yield from self._spoken
            self._spoken = []
            yield called(session, f"{name}/call{number}" if number or text else name, call, at)


def _items(content: Any, kind: str) -> list[dict[str, Any]]:
    items = content if isinstance(content, list) else []
    return [item for item in items if isinstance(item, dict) and item.get("type") == kind]


def _place(value: dict[str, Any]) -> tuple[str, str, Any]:
    """Return the session, the record's id, and when it was written."""
    session = text_of(value.get("sessionId")) or "session"
    return session, text_of(value.get("uuid")) or "record", value.get("timestamp")
