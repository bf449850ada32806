"""A small strict reader of the code fences of CommonMark 0.31, section 4.5."""

import re
from typing import Final, NamedTuple

_OPENING: Final = re.compile(r" {0,3}(`{3,}(?=[^`]*$)|~{3,})")
_CLOSING: Final = re.compile(r" {0,3}(`{3,}|~{3,})[ \t]*$")
_LINE: Final = re.compile("\r\n|\n|\r")


class Read(NamedTuple):
    """The lines of a document: those outside fences, fences themselves, and the blocks inside."""

    outside: list[str]
    blocks: list[list[str]]
    is_closed: bool


def read(text: str) -> Read:
    """Divide a document into what is in fences and what is not."""
    outside: list[str] = []
    blocks: list[list[str]] = []
    fence = ""
    for line in _LINE.split(text):
        if not fence:
            opening = _OPENING.match(line)
            if opening:
                fence = opening[1]
                blocks.append([])
            else:
                outside.append(line)
            continue
        closing = _CLOSING.match(line)
        if closing and closing[1][0] == fence[0] and len(closing[1]) >= len(fence):
            fence = ""
        else:
            blocks[-1].append(line)
    return Read(outside, blocks, not fence)
