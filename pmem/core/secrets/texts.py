"""The texts in a value, and the secrets in a file."""

from collections.abc import Iterator
from enum import Enum
from functools import lru_cache
from typing import Any, Final, NamedTuple

import msgspec
import orjson

from pmem.core.secrets import find, find_named, place
from pmem.core.secrets.rules import Secret
from pmem.values.bounds import is_crowded

MOST_SPOTS: Final = 100
"""Secrets of one file that are told."""
_PIECE: Final = 256 * 1024
_BEYOND: Final = 16 * 1024
"""Characters after a piece that are looked at with it: longer than any secret."""
_LONGEST_NAME: Final = 24
_LONG: Final = 20
"""Shorter keys hold no token, and nothing calls them so."""
_SHORT: Final = 64
_TIME_SIGNS: Final = frozenset("0123456789-:.TZ+")


class Text(NamedTuple):
    """A text in a value: the names that lead to it, the text, and its key in an object, if any."""

    where: str
    text: str
    name: str


class Spot(NamedTuple):
    """A secret in a file: its line, where known, its kind, and where it stands in words."""

    line: int | None
    kind: str
    where: str


def inside(where: str, name: Any) -> str:
    """Name a part of something; a name that is somebody's text may be a secret itself."""
    plain = isinstance(name, str) and name.isidentifier() and len(name) <= _LONGEST_NAME
    part = name if plain else "a value"
    between = ": " if " " in where and ":" not in where else "."
    return f"{where}{between}{part}" if where else part


def texts(value: Any, where: str = "") -> Iterator[Text]:
    """Yield every text in a value, the keys of objects too, with the names that lead to it."""
    left: list[tuple[str, Any, str]] = [(where, value, "")]
    while left:
        place_, item, called = left.pop()
        if isinstance(item, str):
            if not isinstance(item, Enum):
                yield Text(place_, item, called)
        elif isinstance(item, list | tuple):
            parts = [(f"{place_}[{number}]", part, "") for number, part in enumerate(item, 1)]
            left += reversed(parts)
        elif isinstance(item, dict):
            left += [(inside(place_, key), part, str(key)) for key, part in reversed(item.items())]
            left += [(f"{place_}'s key", key, "") for key in item if len(str(key)) >= _LONG]
        elif isinstance(item, msgspec.Struct):
            names = reversed(item.__struct_fields__)
            left += [(inside(place_, name), getattr(item, name), "") for name in names]


def in_file(data: bytes, allowed: tuple[str, ...] = ()) -> list[Spot]:
    """Return the secrets in a file, each once, whether or not it is the JSON that it should be.

    Of more than `MOST_SPOTS` those that come first; to say where one is takes time.
    """
    spots: dict[tuple[str, str], Spot] = {}
    for where, text, name in _parts(data):
        for found in _secrets(name, text, allowed):
            value = text[found.start : found.end]
            if (found.kind, value) in spots:
                continue
            at = place(text, found)
            said = f"{where}, {at}" if where else at
            line = _line(data, text) if where else text.count("\n", 0, found.start) + 1
            spots[found.kind, value] = Spot(line, found.kind, said)
            if len(spots) == MOST_SPOTS:
                return list(spots.values())
    return list(spots.values())


def _secrets(name: str, text: str, allowed: tuple[str, ...]) -> Iterator[Secret]:
    """Yield the secrets in a text; of a long one piece by piece, so that one can stop early."""
    if len(text) <= _PIECE:
        yield from (_find_in_short_text if len(text) < _SHORT else find_named)(name, text, allowed)
        return
    start = 0
    while start < len(text):
        end = text.find(" ", start + _PIECE)
        end = len(text) if not start + _PIECE <= end < start + 2 * _PIECE else end
        for kind, first, last in find(text[start : end + _BEYOND], allowed):
            if start + first < end:
                yield Secret(kind, start + first, start + last)
        start = end


@lru_cache(maxsize=4096)
def _find_in_short_text(name: str, text: str, allowed: tuple[str, ...]) -> list[Secret]:
    """Return the secrets in a short text, of which records have many the same: names, kinds."""
    return [] if _TIME_SIGNS.issuperset(text) else find_named(name, text, allowed)


def _parts(data: bytes) -> Iterator[Text]:
    """Yield the texts of a JSON file; of any other file, or one with too many values, all of it."""
    if data.lstrip()[:1] in (b"{", b"[") and not is_crowded(data):
        try:
            return texts(orjson.loads(data))
        except orjson.JSONDecodeError:
            pass
    return iter([Text("", data.decode("utf-8", "replace"), "")])


def _line(data: bytes, text: str) -> int | None:
    """Return the line of a JSON file on which a text stands, if it is written as pmem writes."""
    start = data.find(orjson.dumps(text))
    return None if start < 0 else data.count(b"\n", 0, start) + 1
