"""Reading JSON from outside: whole numbers of any size as they stand, and sentences of our own.

orjson reads, and turns whole numbers beyond 64 bits into others; where a text may have some, the
standard library reads it again.
"""

import re
from codecs import BOM_UTF8
from typing import Any, Final

import orjson

from pmem.errors import InvalidValue

_LONG_NUMBER: Final = re.compile(rb"[0-9]{19}")
_TOO_DEEP: Final = "it is nested too deep"


class InexactJson(ValueError):
    """Bytes that are no JSON; the message says why and where, such as `it is empty`."""


def read(data: bytes | str) -> Any:
    """Read JSON that came from outside.

    Raises:
        InexactJson: It is none, is nested too deep, or has a number beyond all reason.
    """
    raw = data.encode("utf-8", "surrogatepass") if isinstance(data, str) else data
    raw = raw.removeprefix(BOM_UTF8)
    try:
        value = orjson.loads(raw)
        return reread(raw) if _LONG_NUMBER.search(raw) else value
    except RecursionError:
        raise InexactJson(_TOO_DEEP) from None
    except orjson.JSONDecodeError as error:
        raise InexactJson(_why(raw, error)) from None


def read_given(data: bytes | str, what: str, hint: str) -> Any:
    """Read JSON that somebody gave; an `InvalidValue` names what is none."""
    try:
        return read(data)
    except InexactJson as error:
        raise InvalidValue(f"{what} is not valid JSON: {error}", hint) from None


def reread(data: bytes) -> Any:
    """Read JSON that pmem has just written, which may have numbers of any size."""
    if not _LONG_NUMBER.search(data):
        return orjson.loads(data)
    import json

    return json.loads(data)


def _why(data: bytes, error: orjson.JSONDecodeError) -> str:
    if not data.strip():
        return "it is empty"
    try:
        text = data.decode()
    except UnicodeDecodeError as wrong:
        return f"it is not UTF-8 at byte {wrong.start}"
    if "depth" in error.msg or "recursion" in error.msg:
        return _TOO_DEEP
    if "infinity" in error.msg:
        return "it has a number too large to be kept"
    if error.pos >= len(text.rstrip()):
        return "it ends too soon"
    line = f"line {error.lineno}, " if "\n" in text.strip() else ""  # else others name the line
    return f"the mistake is at {line}column {error.colno}"
