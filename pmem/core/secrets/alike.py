"""Values that stand in one sentence with a secret and are drawn as it is: "from ... to ..."."""

import re
from collections.abc import Iterator, Sequence
from itertools import groupby, pairwise
from typing import Final, NamedTuple

from pmem.core.secrets.innocent import is_password, is_strong
from pmem.core.secrets.secret import Secret

_VALUE: Final = re.compile(r"""[^\s"'`<>]+""")
_LABEL: Final = re.compile(r"[A-Za-z][\w-]{0,24}[=:]+(?=[^=:])")
_PARTING: Final = frozenset("\"'`<> \t\n\r\f\v")
_BEFORE: Final = "([{*"
_TRAILING: Final = ".,;:)]}*"
_STOP: Final = ". "
_FAR: Final = 240
"""No sentence goes on farther than this on either side of a secret."""
_LEAST: Final = 6
_MOST: Final = 96
_LONG: Final = 30
"""From here on a value of mixed letters and digits is drawn, whatever it stands beside."""
_LEAST_CHANGES: Final = 3
_TIMES: Final = 2
"""How many times as long as the other one of a pair may be."""
_SIGN: Final = "!"


class _Known(NamedTuple):
    """How the secrets of one look in a sentence are: their kind, shortest and longest length."""

    kind: str
    least: int
    most: int


def beside(text: str, found: Sequence[tuple[str, int, int]]) -> Iterator[Secret]:
    """Yield the values that are drawn in the way of a secret in the same sentence.

    Args:
        text: Any text.
        found: The secrets in it in their order, each with its kind, start and end.
    """
    window: list[tuple[str, int, int]] = []
    first = last = 0
    for each in found:
        start, end = _sentence(text, each[1], each[2])
        if window and start > last:
            yield from _within(text, first, last, window)
            window = []
        first, last = (first, max(last, end)) if window else (start, end)
        window.append(each)
    if window:
        yield from _within(text, first, last, window)


def _sentence(text: str, start: int, end: int) -> tuple[int, int]:
    """Return where the sentence around a part of a text begins and ends, if it is short."""
    low, high = max(0, start - _FAR), min(len(text), end + _FAR)
    first = max(text.rfind("\n", low, start), text.rfind(_STOP, low, start))
    ends = (text.find("\n", end, high), text.find(_STOP, end, high))
    return max(low, first + 1), min((place for place in ends if place >= 0), default=high)


def _within(
    text: str, first: int, last: int, found: Sequence[tuple[str, int, int]]
) -> Iterator[Secret]:
    """Yield such values of a sentence from between the secrets in it."""
    known: dict[str, _Known] = {}
    for at, value in _others(text, first, last, found):
        known = known or _looks(text, found)
        kind = _kind(value, known)
        if kind:
            yield Secret(kind, at, at + len(value))


def _others(
    text: str, first: int, last: int, found: Sequence[tuple[str, int, int]]
) -> Iterator[tuple[int, str]]:
    """Yield the words of a sentence that have digits and are no secrets, and where they begin."""
    place = first
    for _, start, end in (*found, ("", last, last)):
        if start - place >= _LEAST:
            for match in _VALUE.finditer(text, place, start):
                at, value = _bare(match[0], match.start())
                is_long = _LEAST <= len(value) <= _MOST and any(map(str.isdigit, value))
                if is_long and _is_whole(text, *match.span()):
                    yield at, value
        place = end


def _looks(text: str, found: Sequence[tuple[str, int, int]]) -> dict[str, _Known]:
    """Return how the secrets of a sentence look."""
    known: dict[str, _Known] = {}
    for kind, start, end in found:
        if end - start <= _FAR:
            look, length = _look(text[start:end]), end - start
            old = known.get(look, _Known(kind, length, length))
            known[look] = _Known(old.kind, min(old.least, length), max(old.most, length))
    return known


def _is_whole(text: str, start: int, end: int) -> bool:
    """Tell whether nothing is glued to a value, such as the secret itself."""
    parted = _PARTING.issuperset(text[max(0, start - 1) : start])
    return parted and _PARTING.issuperset(text[end : end + 1])


def _bare(word: str, start: int) -> tuple[int, str]:
    """Return a value without its label and the signs around it, and where it begins."""
    inner = word.lstrip(_BEFORE)
    label = _LABEL.match(inner)
    value = inner[label.end() :] if label else inner
    return start + len(word) - len(value), value.rstrip(_TRAILING)


def _kind(value: str, known: dict[str, _Known]) -> str:
    """Return the kind of a value that is drawn as a known secret is; nothing for any other."""
    look = _look(value)
    same = known.get(look)
    if same and same.least <= _TIMES * len(value) and len(value) <= _TIMES * same.most:
        is_rough = _SIGN in look or _changes(value) >= _LEAST_CHANGES
        if is_rough and is_password(value):
            return "password" if same.kind == "password" else "assigned-secret"
    mixed = {"a", "A", "9"}.issubset(look)
    return "assigned-secret" if mixed and len(value) >= _LONG and is_strong(value) else ""


def _look(value: str) -> str:
    """Return which characters a value has; for one that is like a word, in which order."""
    runs = [sign for sign, _ in groupby(map(_class, value))]
    if _changes(value) >= _LEAST_CHANGES:
        return "".join(sorted(set(runs)))
    return "".join(runs)


def _class(character: str) -> str:
    if character.isdigit():
        return "9"
    if character.isalpha():
        return "A" if character.isupper() else "a"
    return _SIGN


def _changes(value: str) -> int:
    """Return how many times digits follow other characters, or are followed by them."""
    return sum(one.isdigit() != other.isdigit() for one, other in pairwise(value))
