"""The part of a text that a search shows: the words around the first that was asked for."""

from collections.abc import Collection
from typing import Final

from pmem.core.text.terms import terms

_WORDS_BEFORE: Final = 8


def snippet(words: list[str], asked: Collection[str], most: int) -> str:
    """Return a text's words, so many at the most, from shortly before the first asked for."""
    if len(words) <= most:
        return " ".join(words)
    found = (place for place, word in enumerate(words) if not set(terms(word)).isdisjoint(asked))
    start = max(0, min(next(found, 0) - _WORDS_BEFORE, len(words) - most))
    shown = words[start : start + most]
    end = "" if start + most >= len(words) else " …"
    return ("… " if start else "") + " ".join(shown) + end
