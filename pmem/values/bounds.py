"""How large things may be, so that what one file or one request holds never stalls a command.

The limits of most of what people write are settings (`pmem config get limits.memory`); these here
hold whatever the settings say. The table in `docs/reliability.md` names them all.
"""

import re
from typing import Final

SUBJECT_CHARACTERS: Final = 200
CATEGORY_CHARACTERS: Final = 50
MESSAGE_CHARACTERS: Final = 1_000_000
AGENT_CHARACTERS: Final = 5
"""The fewest that an agent adds or edits."""
RECORD_BYTES: Final = 8 * 1024 * 1024
"""Bytes of a record's file, as it is written and as it is read.

A message of a million characters takes six million, if each of them must be escaped.
"""
RECORD_LEVELS: Final = 64
"""Levels of lists and objects in a record."""
RECORD_VALUES: Final = 500_000
"""Values in a record, those in lists and objects included."""
LARGE_RECORD_BYTES: Final = 1024 * 1024
"""From here on `check` tells of a record."""

MESSAGES_BYTES: Final = 768 * 1024
"""Bytes of the recent messages of a conversation, and of those of a chunk; a single one that is
larger stands alone."""
MESSAGE_BYTES: Final = RECORD_BYTES - LARGE_RECORD_BYTES
"""Bytes of one message with a tool's call and result, as its record holds it."""

SEARCHED_CHARACTERS: Final = 250_000
"""Characters of a record's texts that search looks at."""
SEARCHED_TERMS: Final = 60_000
"""Distinct terms that search keeps of a record."""
SEARCHED_NAMES: Final = 1000
"""Tags, participants or topics of a record that search looks at, and links that it follows."""
SEARCHED_NAME_CHARACTERS: Final = 200
"""Characters of such a name, of a subject, a title and a category."""
SEARCHED_MESSAGES: Final = 5000
"""Messages of one record that search looks at: the latest."""

CONTEXT_CHARACTERS: Final = 1_000_000
"""Characters of a text that a context has room for, whatever its budget, and that search shows."""

LINE_BYTES: Final = RECORD_BYTES
"""Bytes of a line that is imported or added: one record, or one message."""

QUERY_CHARACTERS: Final = 100_000
"""Characters of a query that are searched for."""

TEXT_BYTES: Final = 2 * RECORD_BYTES
"""Bytes that standard input may have where one text, or one request, is read from it."""
LINES_BYTES: Final = 512 * 1024 * 1024
"""Bytes of a file, or of standard input, whose lines are imported or added."""

BODY_BYTES: Final = 1024 * 1024
"""Bytes of a body that is sent to `pmem serve`."""
HEADER_BYTES: Final = 16 * 1024
"""Bytes of the line and the headers of a request to it."""

_STRING: Final = rb'(?s)"[^"\\]*(?:\\.[^"\\]*)*"'
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
    return _values(re.sub(_STRING, b"", data)) > RECORD_VALUES


def is_too_deep(data: bytes) -> bool:
    """Tell whether lists and objects are nested too deep: take off a level at a time."""
    if data.count(b"[") + data.count(b"{") <= RECORD_LEVELS:
        return False
    rest = re.sub(_STRING, b"", data).translate(_LEVELS, _NOT_LEVELS)
    for _ in range(RECORD_LEVELS):
        if not rest:
            return False
        rest = rest.replace(b"[]", b"")
    return b"[]" in rest or rest.count(b"[") > RECORD_LEVELS


def _values(data: bytes) -> int:
    return sum(map(data.count, _BEGINNINGS))
