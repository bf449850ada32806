"""Shortening what does not fit as a whole, with a mark that says so."""

from collections.abc import Sequence
from itertools import chain
from typing import Any, Final

import msgspec

from pmem.core import exactjson
from pmem.core.context.parts import Item, ToolCall
from pmem.core.visible import escaped
from pmem.values.records import dump_line

LEAST_KEPT: Final = 20
"""Of a text that is cut, at least so many characters are kept."""


def cut(items: Sequence[Item], kept: int) -> list[Item]:
    """Return items whose longer texts end after some characters, and say how many are missing."""
    return [_cut(item, kept) for item in items]


def longest(items: Sequence[Item]) -> int:
    """Return the characters of the longest text, arguments of calls among them."""
    texts = ((item.text, *(call.arguments for call in item.calls)) for item in items)
    return max(map(len, chain.from_iterable(texts)), default=0)


def _cut(item: Item, kept: int) -> Item:
    calls = tuple(_with_short_arguments(call, kept) for call in item.calls)
    text = _cut_text(item.text, kept)
    if text == item.text and calls == item.calls:
        return item
    return msgspec.structs.replace(item, text=text, calls=calls)


def _cut_text(text: str, kept: int) -> str:
    missing = len(text) - kept
    return text if missing <= 0 else f"{text[:kept]}... [{missing:,} more characters left out]"


def _with_short_arguments(call: ToolCall, kept: int) -> ToolCall:
    """Return a call whose long arguments are cut one by one, so that they stay JSON."""
    if len(call.arguments) <= kept:
        return call
    short = escaped(dump_line(_cut_inside(exactjson.read(call.arguments), kept)).decode())
    return msgspec.structs.replace(call, arguments=short)


def _cut_inside(value: Any, kept: int) -> Any:
    if isinstance(value, str):
        return _cut_text(value, kept)
    if isinstance(value, dict):
        return {key: _cut_inside(part, kept) for key, part in value.items()}
    return [_cut_inside(part, kept) for part in value] if isinstance(value, list) else value
