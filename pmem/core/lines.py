"""Lines as git and editors count them, texts cut to one line, and names composed."""

from typing import Any, Final, TypeVar

import msgspec

MARK: Final = b"\xef\xbb\xbf"
"""A byte-order mark in UTF-8, which is no part of the first line."""


def split_lines(text: str) -> list[str]:
    """Return the lines of a text without their ends.

    A line feed ends a line, with a carriage return before it or not. No other sign does: neither a
    carriage return alone, nor a form feed, nor the separators of Unicode.
    """
    lines = [line.removesuffix("\r") for line in text.split("\n")]
    return lines if lines[-1] else lines[:-1]


def file_lines(data: bytes) -> list[bytes]:
    """Return the lines of a file, counted as `split_lines` does; a carriage return stays."""
    lines = data.removeprefix(MARK).split(b"\n")
    return lines if lines[-1] else lines[:-1]


_UNSPACED: Final = "\u2e80"
"""From this character on, scripts put no spaces between words: Chinese, Japanese and others."""


def shortened(text: str, most: int) -> str:
    """Cut a text at a word's end so that it has `most` characters, the ellipsis included."""
    if len(text) <= most:
        return text
    cut = text[: most - 1]
    head, _, _ = cut.rpartition(" ")
    is_spaced = cut[-1] < _UNSPACED
    return (head if head and is_spaced else cut).rstrip(" ,;:") + "…"


Q = TypeVar("Q")
_NAMES: Final = frozenset(
    "subject subjects tags add_tags remove_tags category categories places not_places app user"
    " agent run role actor by speaker participants thread".split()
)
"""The fields of requests and filters that hold names; a file's is found on the disk in any form."""


def composed(name: str) -> str:
    """Return a name in Unicode's composed form, NFC."""
    if name.isascii():
        return name
    from unicodedata import normalize

    return normalize("NFC", name)


def with_composed_names(request: Q) -> Q:
    """Return a request whose names, also those of its filter, are composed."""
    if not isinstance(request, msgspec.Struct):
        return request
    changed = {}
    for field in request.__struct_fields__:
        value = getattr(request, field)
        new = _composed_field(field, value)
        if new is not value and new != value:
            changed[field] = new
    return msgspec.structs.replace(request, **changed) if changed else request


def _composed_field(field: str, value: Any) -> Any:
    if isinstance(value, msgspec.Struct):
        return with_composed_names(value)
    if isinstance(value, tuple):
        return tuple(_composed_field(field, one) for one in value)
    return composed(value) if field in _NAMES and isinstance(value, str) else value
