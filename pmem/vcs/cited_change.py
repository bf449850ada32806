"""Where a text that a memory cites stands after a change to it, and what it says there."""

from collections.abc import Mapping, Sequence
from difflib import SequenceMatcher
from typing import Final, NamedTuple

from pmem.core.citations import Content, Lines, constant_of, values_of
from pmem.core.cited_sides import sides_of_constant, sides_of_lines
from pmem.core.lines import split_lines
from pmem.storage.git.changed_files import Hunk, hunks, lines_after, touching
from pmem.values.records import Citation

_LOOKED_AT: Final = 200
"""Of the lines that came in one place so many are compared with the cited one."""
_ALIKE: Final = 0.5
_LONGEST: Final = 500
"""Characters of a line that are compared."""


class CitedChange(NamedTuple):
    """The line after a change, if one can be named, and the text before and after it in words."""

    line: int | None = None
    said: str = ""


def change_of(
    cited: Citation, lines: Lines, versions: tuple[bytes, bytes], environment: Mapping[str, str]
) -> CitedChange:
    """Return what a change did to a cited text.

    `lines` is where its text stood before the change, `versions` the file before and after it.
    """
    found = hunks(*versions, environment)
    before, after = (split_lines(data.decode("utf-8-sig", "replace")) for data in versions)
    line = _line(found, lines, (before, after))
    here = Content(versions[1])
    sides = sides_of_constant(cited, here)
    if sides is not None:
        return CitedChange(_assigned(cited, here, line or lines[0]), sides.said)
    place = lines_after(found, lines)
    if place is not None:
        sides = sides_of_lines(before[lines[0] - 1 : lines[1]], after[place[0] - 1 : place[1]])
    return CitedChange(line, sides.said if sides else "")


def _line(
    found: Sequence[Hunk], lines: Lines, texts: tuple[Sequence[str], Sequence[str]]
) -> int | None:
    """Return the line after a change that stands for the first cited one that it touches."""
    hunk = touching(found, lines)
    if hunk is None or hunk.new_size == 0:
        return None if hunk is None else max(1, hunk.new)
    touched = max(hunk.old, lines[0])
    near = min(hunk.new + touched - hunk.old, hunk.new + hunk.new_size - 1)
    if not hunk.old_size:
        return near
    matcher = SequenceMatcher(b=texts[0][touched - 1].strip()[:_LONGEST], autojunk=False)

    def alike(line: int) -> float:
        matcher.set_seq1(texts[1][line - 1].strip()[:_LONGEST])
        return matcher.ratio() if matcher.quick_ratio() >= _ALIKE else 0.0

    new = range(hunk.new, hunk.new + min(hunk.new_size, _LOOKED_AT))
    best = max(new, key=lambda line: (alike(line), -abs(line - near)))
    return best if alike(best) >= _ALIKE else near


def _assigned(cited: Citation, here: Content, near: int) -> int | None:
    """Return the line that gives a constant its value, the nearest one."""
    constant = constant_of(cited)
    values = values_of(cited, here, constant[0]) if constant else []
    return min((one.first for one in values), key=lambda first: abs(first - near), default=None)
