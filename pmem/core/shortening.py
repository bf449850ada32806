"""A text cut to a length, at a word's end."""

from typing import Final

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
