"""Reading and writing JSON without losing how its numbers were written.

The standard library reads everything that the record classes do, only slower, and starts quicker.
What is written has the form of the files on disk: two spaces, UTF-8, a final newline.
"""

import json
from collections import Counter
from json.encoder import encode_basestring
from typing import Any

from pmem.values.bounds import RECORD_LEVELS, RECORD_VALUES, is_crowded, is_too_deep
from pmem.values.json_layout import fold_lists


class NotJson(Exception):
    """Bytes that are not one JSON object that could be written again as it was."""


class _Number(float):
    """A number that remembers how it was written."""

    text: str

    def __new__(cls, text: str) -> "_Number":
        number = super().__new__(cls, text)
        number.text = text
        return number


def load(data: bytes) -> dict[str, Any]:
    """Read a JSON object.

    Raises:
        NotJson: It is anything else, or has a key twice, is nested too deep, or crowded.
    """
    if is_crowded(data):
        raise NotJson(f"more than {RECORD_VALUES} values")
    if is_too_deep(data):
        raise NotJson("nested too deep")
    try:
        text = data.decode("utf-8-sig")
        value = json.loads(
            text, parse_float=_Number, parse_constant=_refuse, object_pairs_hook=_object
        )
    except ValueError as error:
        raise NotJson(str(error)) from None
    if not isinstance(value, dict):
        raise NotJson("no object")
    return value


def dump(value: Any) -> bytes:
    """Write JSON as the files on disk are.

    Raises:
        NotJson: It cannot be written as UTF-8, or is nested too deep.
    """
    try:
        return fold_lists(f"{_write_value(value, 0)}\n".encode())
    except UnicodeEncodeError as error:
        raise NotJson(f"half a character: {error.reason}") from None


def _write_value(value: Any, level: int) -> str:
    if level > RECORD_LEVELS:
        raise NotJson("nested too deep")
    if isinstance(value, _Number):
        return value.text
    if isinstance(value, str):
        return encode_basestring(value)
    if not isinstance(value, dict | list):
        return json.dumps(value)
    inner = [
        f"{encode_basestring(key)}: {_write_value(value[key], level + 1)}"
        if isinstance(value, dict)
        else _write_value(key, level + 1)
        for key in value
    ]
    opening, closing = "{}" if isinstance(value, dict) else "[]"
    if not inner:
        return opening + closing
    edge = "\n" + "  " * level
    return f"{opening}{edge}  {f',{edge}  '.join(inner)}{edge}{closing}"


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        twice = next(key for key, times in Counter(key for key, _ in pairs).items() if times > 1)
        raise NotJson(f"the key {twice!r} stands there twice")
    return found


def _refuse(constant: str) -> None:
    raise NotJson(f"{constant} is no JSON")
