"""Shortening what does not fit as a whole, with a mark that says so."""

from collections.abc import Sequence
from typing import Final

import msgspec

from pmem.core.context.parts import Item

LEAST_KEPT: Final = 20
"""Of a text that is cut, at least so many characters are kept."""


def cut(items: Sequence[Item], kept: int) -> list[Item]:
    """Return items whose longer texts end after some characters, and say how many are missing.

    Args:
        items: What to shorten.
        kept: So many characters of each are kept.
    """
    return [_cut(item, kept) for item in items]


def longest(items: Sequence[Item]) -> int:
    """Return the characters of the longest text."""
    return max((len(item.text) for item in items), default=0)


def _cut(item: Item, kept: int) -> Item:
    missing = len(item.text) - kept
    if missing <= 0:
        return item
    mark = f"... [{missing:,} more characters left out]"
    return msgspec.structs.replace(item, text=f"{item.text[:kept]}{mark}")
