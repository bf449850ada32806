"""Reading JSON from outside: whole numbers of any size as they stand, and sentences of our own."""

import re
from codecs import BOM_UTF8
from typing import Any, Final

import msgspec

from pmem.errors import InvalidValue

_BYTE: Final = re.compile(r"\(byte (\d+)\)")
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
        return msgspec.json.decode(raw)
    except RecursionError:
        raise InexactJson(_TOO_DEEP) from None
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise InexactJson(_why(raw, str(error))) from None


def read_given(data: bytes | str, what: str, hint: str) -> Any:
    """Read JSON that somebody gave; an `InvalidValue` names what is none."""
    try:
        return read(data)
    except InexactJson as error:
        raise InvalidValue(f"{what} is not valid JSON: {error}", hint) from None


def _why(data: bytes, error: str) -> str:
    if not data.strip():
        return "it is empty"
    try:
        data.decode()
    except UnicodeDecodeError as wrong:
        return f"it is not UTF-8 at byte {wrong.start}"
    if "out of range" in error:
        return "it has a number too large to be kept"
    place = _BYTE.search(error)
    if place is None or int(place[1]) >= len(data.rstrip()):
        return "it ends too soon"
    before = data[: int(place[1])].decode(errors="ignore")
    line = f"line {before.count(chr(10)) + 1}, " if b"\n" in data.strip() else ""
    return f"the mistake is at {line}column {len(before) - before.rfind(chr(10))}"
