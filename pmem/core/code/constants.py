"""Finding the value of a name in a program or a settings file, as in `RETRIES = 3`.

A line assigns where nothing but words stands before the name, and a sign after it, with a type in
between where languages have one there. The value goes on while a bracket is open.
"""

import re
from collections.abc import Collection, Sequence
from typing import Final, NamedTuple

from pmem.core.code.definitions import HEAD, Symbol, enclosed, mentions, outermost
from pmem.core.code.folding import fold
from pmem.core.code.languages import Language, Layout, Stretch, pieces

MOST_CHARACTERS: Final = 200
"""A value that is cited is no longer; a longer one in a file is read so far."""
_MOST_LINES: Final = 50
_MOST_BYTES: Final = 4000
_BEFORE: Final = re.compile(rb"\s*(?:- )?(?:#\s*define\s|[\w\s@$&*<>\[\]?,{-]*)[\"']?", re.ASCII)
_VISIBLE: Final = re.compile(rb"\bpub\([^()]*\)")
_EQUALS: Final = rb"\s*:?=(?![=>~])"
_TYPED: Final = re.compile(
    _EQUALS
    + rb"|\s*[?!]?\s*:(?!:)(?:[^=\"'`]|'\w+\b(?!'))*=(?![=>])"
    + rb"|[ \t]+[\w.*\[\]<>]+[ \t]*=(?![=>])|\s*:(?![:=])"
)
_PLAIN: Final = re.compile(_EQUALS + rb"|\s*:(?![:=])")
_DEFINED: Final = re.compile(rb"\s")
_SIGN: Final = re.compile(rb"[()\[\]{};,\n]|(?<=\s)#")
_OPENING: Final = (b"(", b"[", b"{")
_CLOSING: Final = (b")", b"]", b"}")
_SETTINGS: Final = "text"
_ENDS: Final[dict[str, tuple[bytes, ...]]] = {_SETTINGS: (b"#",)}


class Assignment(NamedTuple):
    """A value that is given to a name: its first and last line, counted from one, and its text."""

    first: int
    last: int
    value: bytes


def assignments(
    lines: Sequence[bytes], symbol: Symbol, language: Language, near: int
) -> list[Assignment]:
    """Return what a text gives to a name, where it is indented least."""
    begun = {
        at: value
        for at in mentions(lines, symbol.name, near)
        if (value := _value_after(lines[at], symbol.name, language)) is not None
    }
    places = outermost(lines, enclosed(lines, list(begun), symbol, language))
    return [_whole(lines, at, begun[at], language) for at in places]


def same_value(one: bytes, other: bytes, language: Language) -> bool:
    """Tell whether two values are the same but for white space outside of strings."""
    free = language._replace(layout=Layout.FREE)
    return fold(one, free) == fold(other, free)


def _value_after(line: bytes, name: bytes, language: Language) -> int | None:
    """Return after which sign of a line the value of a name begins; None where it is given none."""
    head = _VISIBLE.sub(lambda found: b"p" * len(found.group()), line[:HEAD])
    at = head.find(name)
    before, after = head[:at], at + len(name)
    if _BEFORE.fullmatch(before) is None:
        return None
    if before[-1:] in (b'"', b"'"):
        if head[after : after + 1] != before[-1:]:
            return None
        after += 1
    if b"define" in before and before.lstrip().startswith(b"#"):
        sign = _DEFINED
    else:
        sign = _TYPED if language.driver else _PLAIN
    found = sign.match(head, after)
    return found.end() if found else None


def _whole(lines: Sequence[bytes], at: int, start: int, language: Language) -> Assignment:
    """Return a value to its end: of the line, of the statement, or of the last open bracket."""
    text = b"\n".join([lines[at][start:], *lines[at + 1 : at + _MOST_LINES]])[:_MOST_BYTES]
    ends = {b"\n", *_ENDS.get(language.literals, (b";",))}
    if lines[at][start - 1 : start] == b":" and language.literals != _SETTINGS:
        ends.add(b",")
    value, depth, end = [], 0, 0
    for kind, begin, after in pieces(text, language.literals):
        end = after
        if kind is Stretch.CODE:
            depth, end = _walk(text, begin, after, depth, ends)
        value.append(b" " if kind is Stretch.COMMENT else text[begin:end])
        if end < after:
            break
    said = b"".join(value).strip().removesuffix(b";").removesuffix(b",").rstrip()
    return Assignment(at + 1, at + 1 + text.count(b"\n", 0, end), said)


def _walk(
    text: bytes, begin: int, after: int, depth: int, ends: Collection[bytes]
) -> tuple[int, int]:
    """Return how many brackets are open at the end of some code, or of a value, and where that is.

    `depth` brackets are open where it begins; outside of brackets one of `ends` ends a value.
    """
    for found in _SIGN.finditer(text, begin, after):
        sign = found.group()
        if depth == 0 and (sign in ends or sign in _CLOSING):
            return depth, found.start()
        depth += (sign in _OPENING) - (sign in _CLOSING)
    return depth, after
