"""Gemini CLI's sessions: JSON Lines of messages, each written anew as it grows, and of patches.

Form as written by Gemini CLI 0.61: the last record with an id holds, and `{"$set": {"messages":
[...]}}` brings several.
"""

import re
from collections.abc import Iterator
from typing import Any, Final

from pmem.core.own_words import ASKS
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

_HOOK: Final = re.compile(r"<hook_context>.*?</hook_context>", re.DOTALL)
_PROGRAM: Final = ("<session_context>", ASKS)
"""How texts begin that stand in a person's place and are the program's, or pmem's."""


def read(lines: Lines, notes: SessionNotes, *, sub_agents: bool = False) -> Iterator[Line]:
    """Yield what was said in a session."""
    session, kind = "session", "main"
    messages: dict[str, dict[str, Any]] = {}
    for number, value in objects(lines(), notes):
        patch = value.get("$set")
        listed = patch.get("messages") if isinstance(patch, dict) else value.get("messages")
        if "sessionId" in value:
            session = text_of(value["sessionId"]) or session
            kind = text_of(value.get("kind")) or kind
        if isinstance(listed, list):
            parts = [part for part in listed if isinstance(part, dict)]
        elif "type" in value:
            parts = [value]
        else:
            parts = []
            notes.leave_out("lines of the program itself")
        for place, part in enumerate(parts):
            messages[text_of(part.get("id")) or f"{number}/{place}"] = part
    if kind != "main" and not sub_agents:
        notes.leave_out("sessions of sub-agents")
        return
    for name, message in messages.items():
        yield from _message(session, name, message, notes)


def _message(
    session: str, name: str, message: dict[str, Any], notes: SessionNotes
) -> Iterator[Line]:
    at = message.get("timestamp")
    content = message.get("content")
    kind = message.get("type")
    if kind == "gemini":
        text = "\n\n".join(texts_in(content))
        if text.strip():
            yield said(session, name, Role.ASSISTANT, text, at)
        yield from _calls(session, name, message, notes)
    elif kind == "user":
        yield from _results(session, name, content, at, notes)
        texts = [_HOOK.sub("", text) for text in texts_in(content)]
        texts = [text for text in texts if text.strip()]
        if texts and not texts[0].lstrip().startswith(_PROGRAM):
            yield said(session, name, Role.USER, "\n\n".join(map(str.strip, texts)), at)
        elif texts:
            notes.leave_out("lines of the program itself")
    else:
        notes.leave_out("lines of the program itself")


def _calls(session: str, name: str, message: dict[str, Any], notes: SessionNotes) -> Iterator[Line]:
    calls = message.get("toolCalls")
    for number, item in enumerate(calls if isinstance(calls, list) else ()):
        if not isinstance(item, dict):
            continue
        call = RecordedCall(
            text_of(item.get("name")), text_of(item.get("id")) or None, item.get("args")
        )
        if notes.says_itself(call):
            notes.leave_out(OWN_WORDS)
        else:
            at = item.get("timestamp") or message.get("timestamp")
            yield called(session, f"{name}/call{number}", call, at)


def _results(session: str, name: str, content: Any, at: Any, notes: SessionNotes) -> Iterator[Line]:
    for number, item in enumerate(content if isinstance(content, list) else ()):
        result = item.get("functionResponse") if isinstance(item, dict) else None
        if not isinstance(result, dict):
            continue
        call = text_of(result.get("id"))
        own = RecordedCall(text_of(result.get("name")), call)
        if call in notes.pmem_calls or notes.says_itself(own):
            notes.leave_out(OWN_WORDS)
            continue
        response = result.get("response")
        output = response.get("output", response.get("error")) if isinstance(response, dict) else ""
        yield answered(session, f"{name}/result{number}", call, _HOOK.sub("", text_of(output)), at)
