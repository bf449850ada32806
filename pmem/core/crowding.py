"""Whether JSON would take too long to read, judged by its bytes alone."""

import re
from typing import Final

from pmem.values.bounds import RECORD_LEVELS, RECORD_VALUES

_STRING: Final = re.compile(rb'"[^"\\]*(?:\\.[^"\\]*)*"', re.DOTALL)
_LEVELS: Final = bytes.maketrans(b"{}", b"[]")
_NOT_LEVELS: Final = bytes(byte for byte in range(256) if byte not in b"[]{}")
_BEGINNINGS: Final = (b",", b"[", b"{")
_QUOTES: Final = 4
"""A value has at most two strings, itself and its key, with two quotation marks each."""


def is_crowded(data: bytes) -> bool:
    """Tell whether JSON has more values than a record may have."""
    if len(data) <= RECORD_VALUES or _values(data) <= RECORD_VALUES:
        return False
    if data.count(b'"') - data.count(b'\\"') > _QUOTES * RECORD_VALUES:
        return True
    return _values(_STRING.sub(b"", data)) > RECORD_VALUES


def is_too_deep(data: bytes) -> bool:
    """Tell whether lists and objects are nested too deep: take off a level at a time."""
    if data.count(b"[") + data.count(b"{") <= RECORD_LEVELS:
        return False
    rest = _STRING.sub(b"", data).translate(_LEVELS, _NOT_LEVELS)
    for _ in range(RECORD_LEVELS):
        if not rest:
            return False
        rest = rest.replace(b"[]", b"")
    return b"[]" in rest or rest.count(b"[") > RECORD_LEVELS


def _values(data: bytes) -> int:
    return sum(map(data.count, _BEGINNINGS))
