"""Exports of chats: the `conversations.json` of ChatGPT and of Claude.ai, many chats in one file.

ChatGPT keeps a tree: what counts is the way from `current_node` up to the root. Titles and times
may be null.
"""

import re
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any, Final

from pmem.core import exactjson
from pmem.interchange.sessions import Line, SessionNotes, answered, said, text_of, texts_in
from pmem.values.records import Role
from pmem.values.times import iso

_TEXTS: Final = ("text", "multimodal_text")
_HIDDEN: Final = "is_visually_hidden_from_conversation"
_HIDDEN_REASON: Final = "lines of the program itself"
_OTHER: Final = "what is no text"
_THOUGHTS: Final = "thoughts and calls of tools"
_REFERENCE: Final = re.compile("\ue200[^\ue201]*\ue201")
"""A reference to what was found on the web, between two characters for private use."""


def read_chatgpt(name: str, data: bytes, notes: SessionNotes) -> Iterator[Line]:
    """Yield what was said in the chats of an export of ChatGPT.

    A chat without an id is called `name`.

    Raises:
        InvalidValue: It is no JSON.
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
            notes.leave_out(_HIDDEN_REASON)
    elif texts and role in ("user", "assistant"):
        is_said = message.get("recipient") in (None, "all")
        if is_said and content.get("content_type") in _TEXTS:
            at = _moment(message.get("create_time"))
            yield said(session, id_, Role(role), "\n\n".join(texts), at)
        else:
            notes.leave_out(_THOUGHTS)
    elif role == "assistant" and content.get("content_type") not in _TEXTS:
        notes.leave_out(_THOUGHTS)
    elif texts and role == "tool":
        at = _moment(message.get("create_time"))
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

    Raises:
        InvalidValue: It is no JSON.
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


def _moment(seconds: Any) -> str | None:
    """Return a time that is given as seconds since 1970; None where there is none."""
    if not isinstance(seconds, int | float):
        return None
    try:
        return iso(datetime.fromtimestamp(seconds, UTC))
    except (OverflowError, ValueError, OSError):
        return None
