"""Identifiers: `<milliseconds in base 36>-<8 random characters>`.

The first part sorts records by the time they were made; the second is the short id that
people and models see. Identifiers double as file names, so only `is_id` decides what may
become a path.
"""

import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

ALPHABET = "0123456789abcdefghijklmnopqrstuvwxyz"
SHORT_LENGTH = 8
_SPACE = len(ALPHABET) ** SHORT_LENGTH
_PATTERN = re.compile(r"[0-9a-z]{1,11}-[0-9A-Za-z]{8}")
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def is_id(text: str) -> bool:
    """Tell whether `text` is a whole, well-formed identifier."""
    return _PATTERN.fullmatch(text) is not None


def milliseconds(at: datetime) -> int:
    """Return whole milliseconds since 1970, never below zero."""
    delta = at - _EPOCH
    return max(0, (delta.days * 86_400 + delta.seconds) * 1000 + delta.microseconds // 1000)


def make_id(moment: int, chance: int) -> str:
    """Compose an identifier.

    `chance` has at least 42 bits; eight characters are made of them.
    """
    return f"{_padded(moment)}-{_padded(chance % _SPACE)}"


def derived_id(at: datetime, *parts: str) -> str:
    """Return the same identifier for the same time and parts, on every machine.

    Imports use it, so that two clones that import one transcript agree on every file name.
    """
    from hashlib import blake2b

    digest = blake2b("\x1f".join(parts).encode("utf-8", "surrogatepass"), digest_size=8)
    return make_id(milliseconds(at), int.from_bytes(digest.digest(), "big"))


def moment_of(identifier: str) -> datetime | None:
    """Return the time in an id's first part; None for what is no id, or beyond the calendar."""
    if not is_id(identifier):
        return None
    try:
        return _EPOCH + timedelta(milliseconds=milliseconds_of(identifier))
    except OverflowError:
        return None


def milliseconds_of(identifier: str) -> int:
    """Return the first part of an id: milliseconds since 1970."""
    return int(identifier.partition("-")[0], 36)


def short(identifier: str) -> str:
    """Return the eight characters after the dash."""
    return identifier.rpartition("-")[2]


def ids_in(value: Any) -> Iterator[str]:
    """Yield the ids that stand alone in what JSON holds, and the short part of each."""
    if isinstance(value, str) and is_id(value):
        yield from (value, short(value))
    elif isinstance(value, dict):
        for part in (*value, *value.values()):
            yield from ids_in(part)
    elif isinstance(value, list):
        for part in value:
            yield from ids_in(part)


def matches(reference: str, identifier: str) -> bool:
    """Tell whether `reference` is a prefix of either part of `identifier`."""
    if identifier.startswith(reference):
        return True
    return "-" not in reference and identifier.rpartition("-")[2].startswith(reference)


def _padded(number: int) -> str:
    """Write a number in base 36, in eight characters; as milliseconds they sort until 2059."""
    digits = ""
    while number:
        number, rest = divmod(number, 36)
        digits = ALPHABET[rest] + digits
    return digits.rjust(SHORT_LENGTH, "0")
