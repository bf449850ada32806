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
from pmem.core.text.calls import RecordedCall
from pmem.errors import InvalidValue
from pmem.interchange.sessions import (
    OWN_WORDS,
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

_TEXTS: Final = ("text", "multimodal_text")
_HIDDEN: Final = "is_visually_hidden_from_conversation"
_PROGRAM: Final = "lines of the program itself"
_OTHER: Final = "what is no text"
_THOUGHTS: Final = "thoughts and calls of tools"
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
        session = session or f"{name} {number}"
        _note_title(notes, session, chat.get("title"))
        for id_, message in _way(chat):
            yield from _said_to_chatgpt(session, id_, message, notes)


def _way(chat: dict[str, Any]) -> list[tuple[str, dict[str, Any]]]:
    """Return the messages from the root of a tree to the node that is shown."""
    nodes = chat.get("mapping")
    nodes = nodes if isinstance(nodes, dict) else {}
    here = text_of(chat.get("current_node")) or next(reversed(nodes), "")
    found: list[tuple[str, dict[str, Any]]] = []
    seen: set[str] = set()
    while here in nodes and here not in seen:
        seen.add(here)
        node = nodes[here] if isinstance(nodes[here], dict) else {}
        if isinstance(node.get("message"), dict):
            found.append((here, node["message"]))
        here = text_of(node.get("parent"))
    return found[::-1]


def _said_to_chatgpt(
    session: str, id_: str, message: dict[str, Any], notes: SessionNotes
) -> Iterator[Line]:
    author, content = message.get("author"), message.get("content")
    role = text_of(author.get("role")) if isinstance(author, dict) else ""
    content = content if isinstance(content, dict) else {}
    parts = content.get("parts")
    parts = parts if isinstance(parts, list) else [content.get("text")]
    texts = [text for part in parts if (text := _text_of_part(part, notes)).strip()]
    metadata = message.get("metadata")
    is_hidden = isinstance(metadata, dict) and metadata.get(_HIDDEN) is True
    if role == "system" or is_hidden or message.get("weight") == 0:
        if texts:
            notes.leave_out(_PROGRAM)
    elif texts and role in ("user", "assistant"):
        is_said = message.get("recipient") in (None, "all")
        if is_said and content.get("content_type") in _TEXTS:
            at = _moment(message.get("create_time"), 1)
            yield said(session, id_, Role(role), "\n\n".join(texts), at)
        else:
            notes.leave_out(_THOUGHTS)
    elif role == "assistant" and content.get("content_type") not in _TEXTS:
        notes.leave_out(_THOUGHTS)
    elif texts and role == "tool":
        at = _moment(message.get("create_time"), 1)
        yield answered(session, id_, None, "\n\n".join(texts), at)


def _text_of_part(part: Any, notes: SessionNotes) -> str:
    """Return the text of a part: of what was spoken, what was understood."""
    if isinstance(part, str | None):
        return _REFERENCE.sub("", part or "")
    text = text_of(part.get("text")) if isinstance(part, dict) else ""
    if not text:
        notes.leave_out(_OTHER)
    return text


def read_claude_ai(name: str, data: bytes, notes: SessionNotes) -> Iterator[Line]:
    """Yield what was said in the chats of an export of Claude.ai.

    A chat without an id is called `name`.
    """
    for number, chat in enumerate(_chats(name, data), start=1):
        session = text_of(chat.get("uuid")) or f"{name} {number}"
        _note_title(notes, session, chat.get("name"))
        messages = chat.get("chat_messages")
        for place, message in enumerate(messages if isinstance(messages, list) else (), start=1):
            if not isinstance(message, dict):
                continue
            texts = texts_in(message.get("content"), "text") or texts_in(message.get("text"))
            for kind in ("attachments", "files"):
                for _ in message.get(kind) or ():
                    notes.leave_out("attached files")
            if texts:
                role = Role.USER if message.get("sender") == "human" else Role.ASSISTANT
                id_ = text_of(message.get("uuid")) or str(place)
                yield said(session, id_, role, "\n\n".join(texts), message.get("created_at"))


def _chats(name: str, data: bytes) -> list[dict[str, Any]]:
    value = exactjson.read_given(data, name, "export it again")
    if isinstance(value, dict) and isinstance(value.get("conversations"), list):
        value = value["conversations"]
    chats = value if isinstance(value, list) else [value]
    return [chat for chat in chats if isinstance(chat, dict)]


def _note_title(notes: SessionNotes, session: str, title: Any) -> None:
    if text_of(title).strip():
        notes.titles[session] = text_of(title).strip()


def read_cline(name: str, data: bytes, notes: SessionNotes) -> Iterator[Line]:
    """Yield what was said in a task of Cline.

    `data` is either of its two files.
    """
    value = _json(name, data)
    items = [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []
    first = texts_in(items[0].get("content"), "text") if items else []
    is_marked = any(map(_TYPED.search, first))
    for number, item in enumerate(items, start=1):
        at = _moment(item.get("ts"))
        if "role" not in item:
            yield from _seen(name, str(number), item, at, notes)
            continue
        if item["role"] == "user" and is_marked:
            yield from _sent_by_program(name, str(number), item, at, notes)
        else:
            yield from _sent_as_it_is(name, str(number), item, at, notes)
        yield from _sent_calls(name, str(number), item, at, notes)


def _sent_by_program(
    session: str, id_: str, item: dict[str, Any], at: str | None, notes: SessionNotes
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
            yield answered(session, f"{id_}/answer{place}", None, result, at)
        elif not marked and not is_result:
            notes.leave_out(_PROGRAM)
    if any(typed):
        yield said(session, id_, Role.USER, "\n\n".join(filter(None, typed)), at)


def _sent_as_it_is(
    session: str, id_: str, item: dict[str, Any], at: str | None, notes: SessionNotes
) -> Iterator[Line]:
    role = Role.USER if item["role"] == "user" else Role.ASSISTANT
    texts = [_DETAILS.sub("", text) for text in texts_in(item.get("content"), "text")]
    text, thoughts = _THOUGHT.subn("", "\n\n".join(texts))
    if thoughts:
        notes.leave_out(_THOUGHTS)
    if text.strip():
        yield said(session, id_, role, text.strip(), at)


def _sent_calls(
    session: str, id_: str, item: dict[str, Any], at: str | None, notes: SessionNotes
) -> Iterator[Line]:
    content = item.get("content")
    for place, part in enumerate(content if isinstance(content, list) else ()):
        kind = part.get("type") if isinstance(part, dict) else None
        if kind == "tool_use":
            call = RecordedCall(
                text_of(part.get("name")), text_of(part.get("id")) or None, part.get("input")
            )
            if notes.says_itself(call):
                notes.leave_out(OWN_WORDS)
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
    role = Role.USER if kind in _PEOPLE or is_first else Role.ASSISTANT
    if item.get("ask") in _ASKED:
        text = _asked_in(text)
    elif role is Role.ASSISTANT and kind not in _MODEL:
        notes.leave_out(_PROGRAM)
        return
    if text.strip():
        yield said(session, id_, role, text, at)


def _asked_in(text: str) -> str:
    """Return what the model says to a person in a line of JSON, or the line where it is none."""
    try:
        value = exactjson.read(text.encode())
    except exactjson.InexactJson:
        return text
    value = value if isinstance(value, dict) else {}
    return text_of(value.get("response")) or text_of(value.get("question"))


def read_copilot_chat(name: str, data: bytes, notes: SessionNotes) -> Iterator[Line]:
    """Yield what was said in a session of Copilot Chat."""
    value = _replayed(name, data, notes) if data.startswith(_LOG) else _json(name, data)
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
        asked = text_of(message.get("text") if isinstance(message, dict) else message)
        if not asked and isinstance(message, dict):
            asked = "".join(texts_in(message.get("parts")))
        if asked.strip():
            yield said(session, id_, Role.USER, asked, at)
        answer = "".join(_response_texts(request.get("response"), notes))
        if answer.strip():
            yield said(session, f"{id_}/response", Role.ASSISTANT, answer, at)


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
    for part in response if isinstance(response, list) else ():
        if not isinstance(part, dict):
            continue
        kind = part.get("kind")
        inner = part.get("content") if kind == "markdownContent" else part
        text = inner.get("value") if isinstance(inner, dict) else inner
        if isinstance(text, str) and kind in (None, "markdownContent"):
            yield text
        elif kind == "inlineReference":
            yield text_of(part.get("name")) or _name_in(part.get("inlineReference"))
        else:
            notes.leave_out(_THOUGHTS)


def _name_in(reference: Any) -> str:
    """Return the name of the file that an answer refers to: a place, or a range in one."""
    place = reference.get("uri", reference) if isinstance(reference, dict) else {}
    path = text_of(place.get("path")) if isinstance(place, dict) else ""
    return f"`{path.rpartition('/')[2]}`" if path else ""


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
