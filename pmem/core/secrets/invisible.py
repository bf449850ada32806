"""Texts without invisible characters, which could split a secret."""

import re
from bisect import bisect_right
from typing import Final, NamedTuple

MARKS: Final = frozenset(
    chr(code)
    for first, last in (
        (0x00AD, 0x00AD),
        (0x034F, 0x034F),
        (0x061C, 0x061C),
        (0x180B, 0x180E),
        (0x200B, 0x200F),
        (0x202A, 0x202E),
        (0x2060, 0x206F),
        (0xFE00, 0xFE0F),
        (0xFEFF, 0xFEFF),
        (0xE0000, 0xE007F),
    )
    for code in range(first, last + 1)
)
"""Soft hyphens, joiners, marks of direction, selectors and tags: none of them has a shape."""
_ANY: Final = f"[{''.join(sorted(MARKS))}]"
_UNSEEN: Final = re.compile(rf"{_ANY}++|\\{_ANY}*+(?:\r{_ANY}*+)?\n")


class Joined(NamedTuple):
    """A text without what nobody sees, and where its pieces begin in it and in the original."""

    text: str
    starts: list[int]
    origins: list[int]

    def span(self, start: int, end: int) -> tuple[int, int]:
        """Return where a part of the text stands in the original."""
        return self._origin(start), self._origin(end - 1) + 1

    def _origin(self, place: int) -> int:
        piece = bisect_right(self.starts, place) - 1
        return self.origins[piece] + place - self.starts[piece]


def has_any(text: str) -> bool:
    """Tell whether a text has what nobody sees, or lines that a backslash parts."""
    return not MARKS.isdisjoint(text) or "\\\n" in text or "\\\r\n" in text


def joined(text: str) -> Joined:
    """Return a text without invisible characters, and lines that a backslash parts as one."""
    pieces, starts, origins = [], [], []
    length = end = 0
    for match in _UNSEEN.finditer(text):
        pieces.append(text[end : match.start()])
        starts.append(length)
        origins.append(end)
        length += match.start() - end
        end = match.end()
    return Joined("".join((*pieces, text[end:])), [*starts, length], [*origins, end])
