"""The texts in a value, and the secrets in a file."""

from collections.abc import Iterator
from enum import Enum
from functools import lru_cache
from typing import Any, Final, NamedTuple

import msgspec
import orjson

from pmem.core.secrets import Secret, find, place

_LONGEST_NAME: Final = 24
_LONG: Final = 20
"""Shorter keys hold no token, and nothing calls them so."""
_SHORT: Final = 64
_TIME_SIGNS: Final = frozenset("0123456789-:.TZ+")


class Spot(NamedTuple):
    """A secret in a file: its line, where known, its kind, and where it stands in words."""

    line: int | None
    kind: str
    where: str


def inside(where: str, name: Any) -> str:
    """Name a part of something; a name that is somebody's text may be a secret itself.

    Args:
        where: What it is a part of.
        name: A field's name, or a key.
    """
    plain = isinstance(name, str) and name.isidentifier() and len(name) <= _LONGEST_NAME
    part = name if plain else "a value"
    between = ": " if " " in where and ":" not in where else "."
    return f"{where}{between}{part}" if where else part


def texts(value: Any, where: str = "") -> Iterator[tuple[str, str]]:
    """Yield every text in a value, the keys of objects too, with the names that lead to it.

    Args:
        value: A record, a part of one, or what JSON holds.
        where: What leads to it.
    """
    left: list[tuple[str, Any]] = [(where, value)]
    while left:
        place_, item = left.pop()
        if isinstance(item, str):
            if not isinstance(item, Enum):
                yield place_, item
        elif isinstance(item, list | tuple):
            parts = [(f"{place_}[{number}]", part) for number, part in enumerate(item, start=1)]
            left += reversed(parts)
        elif isinstance(item, dict):
            left += [(inside(place_, key), part) for key, part in reversed(item.items())]
            left += [(f"{place_}'s key", key) for key in item if len(str(key)) >= _LONG]
        elif isinstance(item, msgspec.Struct):
            names = reversed(item.__struct_fields__)
            left += [(inside(place_, name), getattr(item, name)) for name in names]


def in_file(data: bytes, allowed: tuple[str, ...] = ()) -> list[Spot]:
    """Return the secrets in a file, each once, whether or not it is the JSON that it should be.

    Args:
        data: What the file holds.
        allowed: See `find`.
    """
    spots: dict[tuple[str, str], Spot] = {}
    for where, text in _parts(data):
        for found in _found(text, allowed) if len(text) < _SHORT else find(text, allowed):
            value = text[found.start : found.end]
            at = place(text, found)
            said = f"{where}, {at}" if where else at
            line = _line(data, text) if where else text.count("\n", 0, found.start) + 1
            spots.setdefault((found.kind, value), Spot(line, found.kind, said))
    return list(spots.values())


@lru_cache(maxsize=4096)
def _found(text: str, allowed: tuple[str, ...]) -> list[Secret]:
    """Return the secrets in a short text, of which records have many the same: names, kinds."""
    return [] if _TIME_SIGNS.issuperset(text) else find(text, allowed)


def _parts(data: bytes) -> Iterator[tuple[str, str]]:
    """Yield the texts of a JSON file; of any other file, all of it."""
    if data.lstrip()[:1] in (b"{", b"["):
        try:
            return texts(orjson.loads(data))
        except orjson.JSONDecodeError:
            pass
    return iter([("", data.decode("utf-8", "replace"))])


def _line(data: bytes, text: str) -> int | None:
    """Return the line of a JSON file on which a text stands, if it is written as pmem writes."""
    start = data.find(orjson.dumps(text))
    return None if start < 0 else data.count(b"\n", 0, start) + 1
