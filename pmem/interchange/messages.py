"""Transcripts as JSON Lines: the way in for any conversation without an importer of its own.

One message a line: `{"conversation", "id", "role", "speaker", "content", "timestamp"}`, and where
a tool is used `"tool_call"` or `"tool_result"`. Only `content` is needed. What cannot be used is
skipped and reported, never guessed.
"""

from collections import Counter
from collections.abc import Callable, Iterable
from datetime import datetime
from functools import partial
from typing import Any, Final

import msgspec

from pmem.core import exactjson
from pmem.core.checks import MOST_TOOL_LEVELS, nesting
from pmem.core.chunking import fitting
from pmem.core.lines import MARK, composed
from pmem.errors import InvalidValue
from pmem.interchange import Skipped
from pmem.values.bounds import LINE_BYTES
from pmem.values.ids import derived_id
from pmem.values.records import Message, Role
from pmem.values.times import UNDATED, parse_moment

_KEYS: Final = frozenset(
    "conversation id role speaker content timestamp tool_call tool_result".split()
)


class ParsedMessages(msgspec.Struct, frozen=True):
    """Messages by conversation, each in the order of the file, and what was skipped.

    `left_out` counts the keys of lines that say nothing here.
    """

    conversations: dict[str, list[Message]]
    skipped: list[Skipped]
    left_out: Counter[str]


def parse(
    lines: Iterable[bytes],
    name: str,
    most_characters: int,
    admit: Callable[[Any, str], Any] = lambda value, _: value,
) -> ParsedMessages:
    """Read a transcript.

    Lines that name no conversation are of `name`; longer messages are skipped. `admit` returns a
    line's object as it may be kept, or raises; it is told which line that is.

    Returns:
        Messages with ids that depend only on what the file says.
    """
    reader = MessageReader(name, most_characters, admit)
    conversations: dict[str, list[Message]] = {}
    for number, line in enumerate(lines, start=1):
        if number == 1:
            line = line.removeprefix(MARK)  # noqa: PLW2901 - a caller of the library may have it
        if line.strip():
            found = reader.read(f"line {number}", partial(_object, line))
            if found is not None:
                conversations.setdefault(found[0], []).append(found[1])
    return ParsedMessages(conversations, reader.skipped, reader.left_out)


class MessageReader:
    """Makes messages of the lines of a transcript, one after another.

    `left_out` counts the keys of lines that say nothing here.
    """

    def __init__(self, name: str, most_characters: int, admit: Callable[[Any, str], Any]) -> None:
        self.skipped: list[Skipped] = []
        self.left_out: Counter[str] = Counter()
        self._admit = admit
        self._latest: dict[str, datetime] = {}
        self._name = name
        self._most = most_characters
        self._ids: dict[str, set[str]] = {}
        self._seen: Counter[tuple[str, str]] = Counter()

    def read(self, where: str, value: Callable[[], dict[str, Any]]) -> tuple[str, Message] | None:
        """Return a line's conversation and message; None where it cannot be used."""
        try:
            admitted = self._admit(value(), where)
            conversation, message = self._message(admitted)
        except InvalidValue as error:
            self.skipped.append(Skipped(where, error.message))
            return None
        said = self._ids.setdefault(conversation, set())
        if message.id in said:
            self.skipped.append(Skipped(where, "repeats an earlier message's id"))
            return None
        said.add(message.id)
        self.left_out.update(set(admitted) - _KEYS)
        self._latest[conversation] = message.created_at
        return conversation, message

    def _message(self, value: dict[str, Any]) -> tuple[str, Message]:
        conversation = _name(value, "conversation") or self._name
        content = self._content(value)
        at = self._time(value, conversation)
        external_id = _name(value, "id")
        role = _role(value)
        speaker = _name(value, "speaker")
        said = f"{role}\x1f{speaker}\x1f{content}"
        if not external_id:  # equal messages without ids are told apart by counting them
            self._seen[conversation, said] += 1
        identity = external_id or f"{said}\x1f{self._seen[conversation, said]}"
        return conversation, fitting(
            Message(
                id=derived_id(at, "message", conversation, identity),
                external_id=external_id,
                role=role,
                speaker=composed(speaker) if speaker else None,
                content=content,
                created_at=at,
                tool_call=_tool(value, "tool_call"),
                tool_result=_tool(value, "tool_result"),
            )
        )

    def _content(self, value: dict[str, Any]) -> str:
        content = value.get("content")
        if not isinstance(content, str) or not content.strip():
            raise InvalidValue("has no text in `content`")
        if len(content) > self._most:
            raise InvalidValue(f"has {len(content)} characters, and the limit is {self._most}")
        return content

    def _time(self, value: dict[str, Any], conversation: str) -> datetime:
        stamp = value.get("timestamp")
        if stamp is not None:
            try:
                return parse_moment(stamp)
            except InvalidValue:
                raise InvalidValue(f"has a timestamp that is no time: {stamp!r}") from None
        return self._latest.get(conversation, UNDATED)


def _object(line: bytes) -> dict[str, Any]:
    if len(line) > LINE_BYTES:
        raise InvalidValue(f"has {len(line)} bytes, and the limit is {LINE_BYTES}")
    try:
        value = exactjson.read(line)
    except exactjson.InexactJson as error:
        raise InvalidValue(f"is not JSON: {error}") from None
    if not isinstance(value, dict):
        raise InvalidValue("is not a JSON object")
    return value


def _name(value: dict[str, Any], key: str) -> str | None:
    found = value.get(key)
    if found is None or found == "":
        return None
    if not isinstance(found, str | int) or isinstance(found, bool):
        raise InvalidValue(f"has a `{key}` that is neither text nor a whole number")
    return str(found)


def _tool(value: dict[str, Any], key: str) -> Any:
    try:
        return nesting(value.get(key), MOST_TOOL_LEVELS)
    except InvalidValue as error:
        raise InvalidValue(f"has a `{key}` that {error.message}") from None


def _role(value: dict[str, Any]) -> Role:
    try:
        return Role(value.get("role") or "user")
    except ValueError:
        raise InvalidValue(f"has the role {value['role']!r}, not {', '.join(Role)}") from None
