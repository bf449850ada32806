"""Where a line of a file stood in an earlier version of it."""

from collections.abc import Sequence
from typing import Final

_MOST_LINES: Final = 5000
"""Where more lines differ, no line between them is looked for."""


def earlier_line(before: Sequence[bytes], after: Sequence[bytes], line: int) -> int | None:
    """Return where a line stood before, or None where it is new or was changed.

    Lines count from one.
    """
    shared = min(len(before), len(after))
    head = next((n for n in range(shared) if before[n] != after[n]), shared)
    if line <= head:
        return line
    rest = shared - head
    tail = next((n for n in range(rest) if before[-1 - n] != after[-1 - n]), rest)
    if line > len(after) - tail:
        return line - len(after) + len(before)
    old, new = before[head : len(before) - tail], after[head : len(after) - tail]
    if max(len(old), len(new)) > _MOST_LINES:
        return None
    from difflib import SequenceMatcher

    for start, place, size in SequenceMatcher(None, old, new, autojunk=False).get_matching_blocks():
        if place <= line - 1 - head < place + size:
            return head + start + line - head - place
    return None
