"""Gemini CLI's sessions: JSON Lines of messages, each written anew as it grows, and of patches.

Form as written by Gemini CLI 0.61: the last record with an id holds, and `{"$set": {"messages":
[...]}}` brings several.
"""

import re
from collections.abc import Iterator
from typing import Any, Final

from pmem.core.own_words import ASKS
from pmem.interchange.sessions import (
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

_HOOK: Final = re.compile(r"<hook_context>.*?</hook_context>", re.DOTALL)
_PROGRAM: Final = ("<session_context>", ASKS)
"""How texts begin that stand in a person's place and are the program's, or pmem's."""


def read(lines: Lines, notes: SessionNotes, *, sub_agents: bool = False) -> Iterator[Line]:
    """Yield what was said in a session."""
    told = SessionLines("session", notes)
    kind = "main"
    messages: dict[str, dict[str, Any]] = {}
    for number, value in objects(lines(), notes):
        patch = value.get("$set")
        listed = patch.get("messages") if isinstance(patch, dict) else value.get("messages")
        if "sessionId" in value:
            told.session = text_of(value["sessionId"]) or told.session
            kind = text_of(value.get("kind")) or kind
        if not isinstance(listed, list):
            listed = [value] if "type" in value else []
            if not listed:
                notes.leave_out()
        for place, part in enumerate(objects_in(listed)):
            messages[text_of(part.get("id")) or f"{number}/{place}"] = part
    if kind != "main" and not sub_agents:
        notes.leave_out("sessions of sub-agents")
        return
    for name, message in messages.items():
        yield from _message(told, name, message)


def _message(told: SessionLines, id_: str, message: dict[str, Any]) -> Iterator[Line]:
    at, content = message.get("timestamp"), message.get("content")
    if message.get("type") == "gemini":
        yield from told.said(id_, Role.ASSISTANT, texts_in(content), at)
        for number, item in enumerate(objects_in(message.get("toolCalls"))):
            when = item.get("timestamp") or at
            yield from told.called(f"{id_}/call{number}", item, item.get("args"), when)
        return
    texts = []
    if message.get("type") == "user":
        yield from _results(told, id_, content, at)
        texts = [_HOOK.sub("", text) for text in texts_in(content)]
        texts = [text.strip() for text in texts if text.strip()]
    if texts and not texts[0].startswith(_PROGRAM):
        yield from told.said(id_, Role.USER, texts, at)
    elif texts or message.get("type") != "user":
        told.notes.leave_out()


def _results(told: SessionLines, id_: str, content: Any, at: Any) -> Iterator[Line]:
    for number, item in enumerate(content if isinstance(content, list) else ()):
        result = item.get("functionResponse") if isinstance(item, dict) else None
        if not isinstance(result, dict):
            continue
        call, response = text_of(result.get("id")), result.get("response")
        output = response.get("output", response.get("error")) if isinstance(response, dict) else ""
        text, tool = _HOOK.sub("", text_of(output)), text_of(result.get("name"))
        yield from told.answered(f"{id_}/result{number}", call, text, at, tool)
