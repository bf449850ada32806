"""How much of a record is searched: all of it, unless it is beyond all reason.

One file of a project that others wrote must not stall every search.
"""

from collections.abc import Sequence
from typing import Any, Final, TypeVar

import msgspec

from pmem.values.bounds import (
    SEARCHED_CHARACTERS,
    SEARCHED_MESSAGES,
    SEARCHED_NAME_CHARACTERS,
    SEARCHED_NAMES,
)
from pmem.values.records import Chunk, Episode, Memory, Message, Record

_TEXTS: Final[dict[type[Record], tuple[str, ...]]] = {
    Memory: ("content",),
    Episode: ("summary", "context", "outcome"),
    Chunk: ("summary",),
}
_NAMES: Final[dict[type[Record], tuple[str, ...]]] = {
    Memory: ("subject", "category"),
    Episode: ("title",),
}
_LISTS: Final[dict[type[Record], tuple[str, ...]]] = {
    Memory: ("tags",),
    Episode: ("participants", "tags"),
    Chunk: ("key_topics",),
}

R = TypeVar("R", Memory, Episode, Chunk)


def searched_part(record: R) -> R:
    """Return a record with so much of its texts and names as is searched; mostly itself."""
    known = type(record)
    cut: dict[str, Any] = {}
    left = SEARCHED_CHARACTERS
    for name in _TEXTS[known]:
        text = getattr(record, name) or ""
        if len(text) > left:
            cut[name] = text[:left]
        left = max(0, left - len(text))
    for name in _NAMES.get(known, ()):
        if len(getattr(record, name) or "") > SEARCHED_NAME_CHARACTERS:
            cut[name] = getattr(record, name)[:SEARCHED_NAME_CHARACTERS]
    for name in _LISTS[known]:
        if _is_long(getattr(record, name)):
            names = getattr(record, name)[:SEARCHED_NAMES]
            cut[name] = tuple(each[:SEARCHED_NAME_CHARACTERS] for each in names)
    return msgspec.structs.replace(record, **cut) if cut else record


def searched_messages(messages: Sequence[Message]) -> list[tuple[int, Message]]:
    """Return the latest messages of a record with their places, and so much of each as is searched.

    All have the same limit, the highest that keeps them within `SEARCHED_CHARACTERS` together.
    """
    found = list(enumerate(messages))[-SEARCHED_MESSAGES:]
    lengths = [len(message.content) for _, message in found]
    if sum(lengths) > SEARCHED_CHARACTERS:
        most = _level(lengths, SEARCHED_CHARACTERS)
        found = [
            (place, msgspec.structs.replace(message, content=message.content[:most]))
            for place, message in found
        ]
    return [(place, _with_speaker_name(message)) for place, message in found]


def _is_long(names: Sequence[str]) -> bool:
    return len(names) > SEARCHED_NAMES or any(
        len(name) > SEARCHED_NAME_CHARACTERS for name in names
    )


def _with_speaker_name(message: Message) -> Message:
    if len(message.speaker or "") <= SEARCHED_NAME_CHARACTERS:
        return message
    assert message.speaker is not None
    return msgspec.structs.replace(message, speaker=message.speaker[:SEARCHED_NAME_CHARACTERS])


def _level(lengths: Sequence[int], most: int) -> int:
    """Return the highest level to which lengths may be cut so that their sum is within bounds."""
    left = most
    for place, length in enumerate(sorted(lengths)):
        share = left // (len(lengths) - place)
        if length > share:
            return share
        left -= length
    return most
