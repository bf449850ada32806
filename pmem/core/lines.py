"""Lines as git and editors count them, texts cut to one line, and names composed.

Only the standard library is loaded: a hook looks at every file that is touched.
"""

from typing import Final

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


def composed(name: str) -> str:
    """Return a name in Unicode's composed form, NFC."""
    if name.isascii():
        return name
    from unicodedata import normalize

    return normalize("NFC", name)
