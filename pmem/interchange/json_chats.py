"""Chats in JSON: exports of ChatGPT and of Claude.ai, and what extensions of editors keep.

The `conversations.json` of ChatGPT and of Claude.ai has many chats. ChatGPT keeps a tree: what
counts is the way from `current_node` up to the root. Titles and times may be null.

Cline (Roo Code writes the same) has two files of a task, what was sent to the model
(`api_conversation_history.json`) and what people see (`ui_messages.json`). Copilot Chat has a list
of requests, each with its response.
"""

import re
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any, Final

from pmem.core import exactjson
from pmem.errors import InvalidValue
from pmem.interchange.sessions import (
    THOUGHTS,
    Line,
    SessionLines,
    SessionNotes,
    objects_in,
    text_of,
    texts_in,
)
from pmem.values.records import Role
from pmem.values.times import iso

_TEXTS: Final = ("text", "multimodal_text")
_HIDDEN: Final = "is_visually_hidden_from_conversation"
_OTHER: Final = "what is no text"
_REFERENCE: Final = re.compile("\ue200[^\ue201]*\ue201")
"""A reference to what was found on the web, between two characters for private use."""


_DETAILS: Final = re.compile(
    r"<environment_details>(?:(?!</environment_details>).)*(?:</environment_details>|\Z)", re.DOTALL
)
_TYPED: Final = re.compile(r"<(task|feedback|answer|user_message)>((?:(?!</\1>).)*)", re.DOTALL)
"""What a person typed, as Cline marks it for the model."""
_THOUGHT: Final = re.compile(r"\A\s*<thinking>(?:(?!</thinking>).)*</thinking>", re.DOTALL)
_RESULT: Final = re.compile(r"\[[^\]\n]+\] Result:\s*")
_PEOPLE: Final = frozenset({"task", "user_feedback"})
_MODEL: Final = frozenset({"text", "completion_result"})
_ASKED: Final = ("plan_mode_respond", "followup")
_LOG: Final = b'{"kind":0,'
"""How the first line begins of a session that Copilot Chat keeps as JSON Lines."""


def read_chatgpt(name: str, data: bytes, notes: SessionNotes) -> Iterator[Line]:
    """Yield what was said in the chats of an export of ChatGPT.

    A chat without an id is called `name`.
    """
    for number, chat in enumerate(_chats(name, data), start=1):
        session = text_of(chat.get("conversation_id")) or text_of(chat.get("id"))
        told = _begun(session or f"{name} {number}", chat.get("title"), notes)
        for id_, message in _way(chat):
            yield from _said_to_chatgpt(told, id_, message)


def _way(chat: dict[str, Any]) -> list[tuple[str, dict[str, Any]]]:
    """Return the messages from the root of a tree to the node that is shown."""
    nodes = _object(chat.get("mapping"))
    here = text_of(chat.get("current_node")) or next(reversed(nodes), "")
    found: list[tuple[str, dict[str, Any]]] = []
    seen: set[str] = set()
    while here in nodes and here not in seen:
        seen.add(here)
        node = _object(nodes[here])
        if isinstance(node.get("message"), dict):
            found.append((here, node["message"]))
        here = text_of(node.get("parent"))
    return found[::-1]


def _said_to_chatgpt(told: SessionLines, id_: str, message: dict[str, Any]) -> list[Line]:
    role = text_of(_object(message.get("author")).get("role"))
    content, at = _object(message.get("content")), _moment(message.get("create_time"), 1)
    parts = content.get("parts")
    parts = parts if isinstance(parts, list) else [content.get("text")]
    texts = [text for part in parts if (text := _text_of_part(part, told.notes)).strip()]
    is_hidden = _object(message.get("metadata")).get(_HIDDEN) is True
    is_text = content.get("content_type") in _TEXTS
    if role == "system" or is_hidden or message.get("weight") == 0:
        if texts:
            told.notes.leave_out()
    elif texts and role in ("user", "assistant"):
        if is_text and message.get("recipient") in (None, "all"):
            return told.said(id_, Role(role), texts, at)
        told.notes.leave_out(THOUGHTS)
    elif role == "assistant" and not is_text:
        told.notes.leave_out(THOUGHTS)
    elif texts and role == "tool":
        return told.answered(id_, None, "\n\n".join(texts), at)
    return []


def _text_of_part(part: Any, notes: SessionNotes) -> str:
    """Return the text of a part: of what was spoken, what was understood."""
    if isinstance(part, str | None):
        return _REFERENCE.sub("", part or "")
    text = text_of(_object(part).get("text"))
    if not text:
        notes.leave_out(_OTHER)
    return text


def read_claude_ai(name: str, data: bytes, notes: SessionNotes) -> Iterator[Line]:
    """Yield what was said in the chats of an export of Claude.ai.

    A chat without an id is called `name`.
    """
    for number, chat in enumerate(_chats(name, data), start=1):
        told = _begun(text_of(chat.get("uuid")) or f"{name} {number}", chat.get("name"), notes)
        for place, message in enumerate(objects_in(chat.get("chat_messages")), start=1):
            texts = texts_in(message.get("content"), "text") or texts_in(message.get("text"))
            for kind in ("attachments", "files"):
                for _ in message.get(kind) or ():
                    notes.leave_out("attached files")
            role = Role.USER if message.get("sender") == "human" else Role.ASSISTANT
            id_ = text_of(message.get("uuid")) or str(place)
            yield from told.said(id_, role, texts, message.get("created_at"))


def _chats(name: str, data: bytes) -> list[dict[str, Any]]:
    value = exactjson.read_given(data, name, "export it again")
    if isinstance(value, dict) and isinstance(value.get("conversations"), list):
        value = value["conversations"]
    return objects_in(value if isinstance(value, list) else [value])


def _begun(session: str, title: Any, notes: SessionNotes) -> SessionLines:
    """Begin a session of which a file has several, and note its title."""
    if text_of(title).strip():
        notes.titles[session] = title.strip()
    return SessionLines(session, notes)


def read_cline(name: str, data: bytes, notes: SessionNotes) -> Iterator[Line]:
    """Yield what was said in a task of Cline.

    `data` is either of its two files.
    """
    told = SessionLines(name, notes)
    items = objects_in(_json(name, data))
    first = texts_in(items[0].get("content"), "text") if items else []
    is_marked = any(map(_TYPED.search, first))
    for number, item in enumerate(items, start=1):
        id_, at = str(number), _moment(item.get("ts"))
        if "role" not in item:
            yield from _seen(told, id_, item, at)
            continue
        sent = _sent_by_program if item["role"] == "user" and is_marked else _sent_as_it_is
        yield from sent(told, id_, item, at)
        yield from _sent_calls(told, id_, item, at)


def _sent_by_program(
    told: SessionLines, id_: str, item: dict[str, Any], at: str | None
) -> Iterator[Line]:
    """Yield what Cline sent to the model: what a person typed has marks, the rest is its own."""
    typed: list[str] = []
    is_result = False
    for place, text in enumerate(texts_in(item.get("content"), "text")):
        marked = [found[2].strip() for found in _TYPED.finditer(text)]
        begun = _RESULT.match(text)
        result = text[begun.end() :] if begun else text if is_result else ""
        is_result = begun is not None and not result
        typed += marked
        if not marked and result:
            yield from told.answered(f"{id_}/answer{place}", None, result, at)
        elif not marked and not is_result:
            told.notes.leave_out()
    yield from told.said(id_, Role.USER, typed, at)


def _sent_as_it_is(
    told: SessionLines, id_: str, item: dict[str, Any], at: str | None
) -> list[Line]:
    role = Role.USER if item["role"] == "user" else Role.ASSISTANT
    texts = [_DETAILS.sub("", text) for text in texts_in(item.get("content"), "text")]
    text, thoughts = _THOUGHT.subn("", "\n\n".join(texts))
    if thoughts:
        told.notes.leave_out(THOUGHTS)
    return told.said(id_, role, [text], at)


def _sent_calls(
    told: SessionLines, id_: str, item: dict[str, Any], at: str | None
) -> Iterator[Line]:
    content = item.get("content")
    for place, one in enumerate(content if isinstance(content, list) else ()):
        part = _object(one)
        if part.get("type") == "tool_use":
            yield from told.called(f"{id_}/call{place}", part, part.get("input"), at)
        elif part.get("type") == "tool_result":
            call, result = text_of(part.get("tool_use_id")), texts_in(part.get("content"))
            yield from told.answered(f"{id_}/result{place}", call, "\n".join(result), at)
        elif part.get("type") != "text":
            told.notes.leave_out(_OTHER)


def _seen(told: SessionLines, id_: str, item: dict[str, Any], at: str | None) -> list[Line]:
    """Return the line of a message as people see it."""
    kind, text = item.get("say") or item.get("ask"), text_of(item.get("text"))
    is_first = id_ == "1" and item.get("say") == "text"
    role = Role.USER if kind in _PEOPLE or is_first else Role.ASSISTANT
    if item.get("ask") in _ASKED:
        text = _asked_in(text)
    elif role is Role.ASSISTANT and kind not in _MODEL:
        told.notes.leave_out()
        return []
    return told.said(id_, role, [text], at)


def _asked_in(text: str) -> str:
    """Return what the model says to a person in a line of JSON, or the line where it is none."""
    try:
        value = _object(exactjson.read(text.encode()))
    except exactjson.InexactJson:
        return text
    return text_of(value.get("response")) or text_of(value.get("question"))


def read_copilot_chat(name: str, data: bytes, notes: SessionNotes) -> Iterator[Line]:
    """Yield what was said in a session of Copilot Chat."""
    value = _object(_replayed(name, data, notes) if data.startswith(_LOG) else _json(name, data))
    told = _begun(text_of(value.get("sessionId")) or name, value.get("customTitle"), notes)
    for number, request in enumerate(objects_in(value.get("requests")), start=1):
        id_ = text_of(request.get("requestId")) or str(number)
        at = _moment(request.get("timestamp"))
        message = _object(request.get("message"))
        asked = text_of(message.get("text")) or text_of(request.get("message"))
        asked = asked or "".join(texts_in(message.get("parts")))
        yield from told.said(id_, Role.USER, [asked], at)
        answer = "".join(_response_texts(request.get("response"), notes))
        yield from told.said(f"{id_}/response", Role.ASSISTANT, [answer], at)


def _replayed(name: str, data: bytes, notes: SessionNotes) -> Any:
    """Return a session that is kept as its first state and the changes since, one on each line.

    VS Code writes 0 for the first state, 1 for a value that is set, 2 for items that are added to
    a list, cut to `i` before; what else a line says is left out.
    """
    first, *later = filter(None, data.split(b"\n"))
    root = _json(name, first)
    for line in later:
        try:
            _change(root, _json(name, line))
        except (InvalidValue, LookupError, TypeError, ValueError):  # the last may be half written
            notes.leave_out("changes of the window")
    return root["v"]


def _change(root: Any, change: Any) -> None:
    place = root["v"]
    *way, last = list(change["k"])
    for step in way:
        place = place[step]
    if change["kind"] == 2:
        place[last][change.get("i", len(place[last])) :] = change.get("v") or []
    elif change["kind"] == 1:
        place[last] = change["v"]
    else:
        raise KeyError(change["kind"])


def _response_texts(response: Any, notes: SessionNotes) -> Iterator[str]:
    for part in objects_in(response):
        kind = part.get("kind")
        inner = part.get("content") if kind == "markdownContent" else part
        text = inner.get("value") if isinstance(inner, dict) else inner
        if isinstance(text, str) and kind in (None, "markdownContent"):
            yield text
        elif kind == "inlineReference":
            place = _object(part.get("inlineReference"))
            path = text_of(_object(place.get("uri", place)).get("path"))
            name = f"`{path.rpartition('/')[2]}`" if path else ""
            yield text_of(part.get("name")) or name
        else:
            notes.leave_out(THOUGHTS)


def _object(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _json(name: str, data: bytes) -> Any:
    return exactjson.read_given(data, name, "look at the file")


def _moment(number: Any, per_second: int = 1000) -> str | None:
    """Return a time that is given as a number since 1970; None where there is none."""
    if not isinstance(number, int | float):
        return None
    try:
        return iso(datetime.fromtimestamp(number / per_second, UTC))
    except (OverflowError, ValueError, OSError):
        return None
