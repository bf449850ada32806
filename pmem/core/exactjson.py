"""Reading JSON from outside: whole numbers stay exact at any size, and errors are sentences."""

import re
from codecs import BOM_UTF8
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any, Final

import msgspec

from pmem.errors import InvalidValue

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
    import json

    try:
        json.loads(data)  # it says where; the decoder that reads is quicker, and stricter
    except json.JSONDecodeError as wrong:
        text = data.decode().rstrip()
        if wrong.pos >= len(text) or wrong.msg.startswith("Unterminated"):
            return "it ends too soon"
        line = f"line {wrong.lineno}, " if "\n" in text.strip() else ""
        return f"the mistake is at {line}column {wrong.colno}"
    except (ValueError, RecursionError):
        pass  # it got past the mistake, and failed at a long number, or too deep
    return "it has half a character, or a number that JSON does not know"


_NAMES: Final = {
    "str": "text",
    "int": "a whole number",
    "float": "a number",
    "bool": "true or false",
    "array": "a list",
    "object": "an object",
    "datetime": "a time",
    "null": "null",
    "bytes": "bytes",
}
"""Types, as error sentences call them."""
_BOUND: Final = r"Expected `(\w+)`( of length)?( [<>]=)? (\S+?)(?:, got \S+)?"
_BOUNDS: Final = {" >=": "at least ", " <=": "at most ", None: ""}


def sentence(
    error: Exception, choices: Mapping[str, Sequence[str]] = MappingProxyType({}), name: str = ""
) -> str:
    """Say what is wrong with a value: `content must be text, not a whole number`."""
    what, _, path = str(error).rpartition(" - at ")
    what, place = (
        (what, _place(path, name)) if path.startswith(("`$", "`key")) else (str(error), name)
    )
    quoted = re.search(r"`([^`]*)`", what)
    key = quoted[1] if quoted else ""
    if what.startswith("Object missing"):
        return f"{place or 'it'} has no `{key}`"
    if what.startswith("Object contains unknown"):
        return f"{place or 'it'} has the unknown key `{key}`"
    if place in choices:
        return f"{place} must be one of {', '.join(choices[place])}"
    if what.startswith("Invalid enum value"):
        return f"{place or 'it'} cannot be {what.removeprefix('Invalid enum value ')}"
    if "datetime" in what:
        zone = " with a zone," * ("zone" in what)
        return f"{place or 'it'} must be a time{zone} such as 2026-11-21T14:30:00Z"
    return f"{place or 'it'} {_must(what)}"


def _must(what: str) -> str:
    """Turn `Expected ...` into what a value must be."""
    bound = re.fullmatch(_BOUND, what)
    if bound:
        type_, has_length, side, number = bound.groups()
        unit = {"str": " characters", "array": " items"}.get(type_, "")
        verb = "have" if has_length else "be"
        return f"must {verb} {_BOUNDS[side]}{number}{unit if has_length else ''}"
    wanted, _, got = what.removeprefix("Expected ").replace("`", "").partition(", got ")
    if not got:
        return f"is not allowed: {what}"
    names = [_NAMES.get(name, name) for name in wanted.split(" | ") if name != "null"]
    is_fraction = got == "float" and "int" in wanted.split(" | ")
    other = "one with a fraction" if is_fraction else _NAMES.get(got, got)
    return f"must be {' or '.join(names or ['null'])}, not {other}"


def _place(path: str, name: str) -> str:
    """Return where a value stands: `history[0].at` for "`$.history[0].at`"."""
    if path.startswith("`key` in "):
        return f"a key of {_place(path.removeprefix('`key` in '), name) or 'it'}"
    return (name + path.strip("`").removeprefix("$")).removeprefix(".")
