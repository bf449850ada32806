"""Chats that extensions of editors keep: Cline (Roo Code writes the same), and Copilot Chat.

Cline has two files of a task, what was sent to the model (`api_conversation_history.json`) and what
people see (`ui_messages.json`). Copilot Chat has a list of requests, each with its response.
"""

import re
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any, Final

from pmem.core import exactjson
from pmem.core.text.calls import RecordedCall
from pmem.errors import InvalidValue
from pmem.interchange.sessions import (
    Line,
    SessionNotes,
    answered,
    called,
    said,
    text_of,
    texts_in,
)
from pmem.values.records import Role
from pmem.values.times import iso

_DETAILS: Final = re.compile(r"<environment_details>.*?</environment_details>", re.DOTALL)
_WRAPPED: Final = re.compile(r"</?(?:task|feedback|answer|user_message)>")
_PEOPLE: Final = frozenset({"task", "user_feedback"})
_MODEL: Final = frozenset({"text", "completion_result"})
_OTHER: Final = "what is no text"
_LOG: Final = b'{"kind":0,'
"""How the first line begins of a session that Copilot Chat keeps as JSON Lines."""


def read_cline(name: str, data: bytes, notes: SessionNotes) -> Iterator[Line]:
    """Yield what was said in a task of Cline.

    Args:
        name: The task's name.
        data: Either of its two files.
        notes: Told what is left out.

    Raises:
        InvalidValue: It is no JSON.
    """
    value = _json(name, data)
    for number, item in enumerate(value if isinstance(value, list) else (), start=1):
        if not isinstance(item, dict):
            continue
        at = _moment(item.get("ts"))
        if "role" in item:
            yield from _sent(name, str(number), item, at, notes)
        else:
            yield from _seen(name, str(number), item, at, notes)


def _sent(
    session: str, id_: str, item: dict[str, Any], at: str | None, notes: SessionNotes
) -> Iterator[Line]:
    """Yield the lines of a message as it was sent to the model."""
    role = Role.USER if item["role"] == "user" else Role.ASSISTANT
    content = item.get("content")
    texts = [_DETAILS.sub("", text) for text in texts_in(content, "text")]
    text = "\n\n".join(part for one in texts if (part := _WRAPPED.sub("", one).strip()))
    if text:
        yield said(session, id_, role, text, at)
    for place, part in enumerate(content if isinstance(content, list) else ()):
        kind = part.get("type") if isinstance(part, dict) else None
        if kind == "tool_use":
            call = RecordedCall(
                text_of(part.get("name")), text_of(part.get("id")) or None, part.get("input")
            )
            if notes.says_itself(call):
                notes.leave_out("pmem's own words")
            else:
                yield called(session, f"{id_}/call{place}", call, at)
        elif kind == "tool_result" and part.get("tool_use_id") not in notes.pmem_calls:
            result = "\n".join(texts_in(part.get("content")))
            yield answered(
                session, f"{id_}/result{place}", text_of(part.get("tool_use_id")), result, at
            )
        elif kind != "text":
            notes.leave_out(_OTHER)


def _seen(
    session: str, id_: str, item: dict[str, Any], at: str | None, notes: SessionNotes
) -> Iterator[Line]:
    """Yield the line of a message as people see it."""
    kind, text = item.get("say") or item.get("ask"), text_of(item.get("text"))
    is_first = id_ == "1" and item.get("say") == "text"
    if kind in _PEOPLE or is_first:
        role = Role.USER
    elif kind in _MODEL:
        role = Role.ASSISTANT
    else:
        notes.leave_out("lines of the program itself")
        return
    if text.strip():
        yield said(session, id_, role, text, at)


def read_copilot_chat(name: str, data: bytes, notes: SessionNotes) -> Iterator[Line]:
    """Yield what was said in a session of Copilot Chat.

    Args:
        name: The session's name where the file has none.
        data: The file.
        notes: Told the title, and what is left out.

    Raises:
        InvalidValue: It is no JSON.
    """
    first, _, later = data.partition(b"\n")
    if first.startswith(_LOG):
        for _ in filter(None, later.split(b"\n")):
            notes.leave_out("changes after a session's first line")
        value = _json(name, first)["v"]
    else:
        value = _json(name, data)
    value = value if isinstance(value, dict) else {}
    session = text_of(value.get("sessionId")) or name
    if text_of(value.get("customTitle")):
        notes.titles[session] = value["customTitle"]
    requests = value.get("requests")
    for number, request in enumerate(requests if isinstance(requests, list) else (), start=1):
        if not isinstance(request, dict):
            continue
        id_ = text_of(request.get("requestId")) or str(number)
        at = _moment(request.get("timestamp"))
        message = request.get("message")
        asked = message.get("text") if isinstance(message, dict) else message
        if text_of(asked).strip():
            yield said(session, id_, Role.USER, text_of(asked), at)
        answer = "".join(_response_texts(request.get("response"), notes))
        if answer.strip():
            yield said(session, f"{id_}/response", Role.ASSISTANT, answer, at)


def _response_texts(response: Any, notes: SessionNotes) -> Iterator[str]:
    for part in response if isinstance(response, list) else ():
        if not isinstance(part, dict):
            continue
        kind = part.get("kind")
        inner = part.get("content") if kind == "markdownContent" else part
        text = inner.get("value") if isinstance(inner, dict) else None
        if isinstance(text, str) and kind in (None, "markdownContent"):
            yield text
        elif kind == "inlineReference":
            yield text_of(part.get("name"))
        else:
            notes.leave_out("thoughts and calls of tools")


def _json(name: str, data: bytes) -> Any:
    try:
        return exactjson.read(data)
    except exactjson.InexactJson as error:
        raise InvalidValue(f"{name} is not valid JSON: {error}", "look at the file") from None


def _moment(milliseconds: Any) -> str | None:
    if not isinstance(milliseconds, int | float):
        return None
    try:
        return iso(datetime.fromtimestamp(milliseconds / 1000, UTC))
    except (OverflowError, ValueError, OSError):
        return None
