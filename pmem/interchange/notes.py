"""Instruction files of assistants (CLAUDE.md, AGENTS.md, rules): what each bullet of them says.

Markdown as people write it. A bullet is one note with all that is indented below it; the headings
above it are its tags. Code in fences, blocks that other tools keep for themselves, comments, front
matter and imports of other files are no notes.
"""

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

_FENCE: Final = re.compile(r" {0,3}(`{3,}|~{3,})")
_HEADING: Final = re.compile(r" {0,3}(#{1,6})\s+(.*?)\s*#*\s*$")
_BULLET: Final = re.compile(r"( {0,3})(?:[-*+]|\d{1,3}[.)])\s+(.*)$")
_TASK: Final = re.compile(r"\[[ xX]\]\s")
_BEGIN: Final = re.compile(r"<!--\s*BEGIN\b", re.IGNORECASE)
_END: Final = re.compile(r"<!--\s*END\b", re.IGNORECASE)
_IMPORT: Final = re.compile(r"@[\w./~-]+\s*$")
_NO_TAG: Final = re.compile(r"[^\w]+")
_MOST_TAG: Final = 40


class Note(NamedTuple):
    """A bullet.

    Attributes:
        text: What it says, on one line.
        tags: The headings above it, the outermost first.
        lines: Its first and its last line, counted from one.
    """

    text: str
    tags: tuple[str, ...]
    lines: tuple[int, int]


def notes_of(text: str) -> Iterator[Note]:
    """Yield the notes of a file in their order.

    Args:
        text: The file.
    """
    headings: list[tuple[int, str]] = []
    open_: list[str] = []
    first = last = indent = 0
    for number, line in _prose(text):
        heading, bullet = _HEADING.match(line), _BULLET.match(line)
        width = len(line) - len(line.lstrip())
        goes_on = bool(open_) and bool(line.strip()) and (width > indent or not (bullet or heading))
        if goes_on and number <= last + 2:
            open_.append(_unmarked(line))
            last = number
            continue
        if open_ and (line.strip() or number > last + 1):
            yield _note(open_, headings, first, last)
            open_ = []
        if heading:
            level = len(heading[1])
            headings = [one for one in headings if one[0] < level]
            headings.append((level, heading[2]))
        elif bullet and not _TASK.match(bullet[2]) and not _IMPORT.match(bullet[2]):
            open_, first, last, indent = [bullet[2].strip()], number, number, width
    if open_:
        yield _note(open_, headings, first, last)


def _prose(text: str) -> Iterator[tuple[int, str]]:
    """Yield the lines that are prose with their numbers; an empty one for each that is not."""
    fence = ""
    is_others = is_comment = False
    lines = text.removeprefix("\ufeff").splitlines()
    front = _front_matter(lines)
    for number, line in enumerate(lines, start=1):
        mark = _FENCE.match(line)
        if fence:
            is_end = mark is not None and mark[1].startswith(fence) and not line.strip(" `~")
            fence = "" if is_end else fence
        elif mark:
            fence = mark[1]
        elif is_others or is_comment or _BEGIN.search(line):
            is_comment = is_comment and "-->" not in line
            is_others = (is_others or bool(_BEGIN.search(line))) and not _END.search(line)
        elif line.lstrip().startswith("<!--"):
            is_comment = "-->" not in line
        elif number > front:
            yield number, line
            continue
        yield number, ""


def _front_matter(lines: list[str]) -> int:
    """Return how many lines the front matter has."""
    if not lines or lines[0].strip() != "---":
        return 0
    ends = (number for number, line in enumerate(lines[1:], start=2) if line.strip() == "---")
    return next(ends, 0)


def _note(parts: list[str], headings: list[tuple[int, str]], first: int, last: int) -> Note:
    tags = (_NO_TAG.sub("-", title.casefold()).strip("-")[:_MOST_TAG] for _, title in headings)
    text = " ".join(" ".join(parts).split())
    return Note(text, tuple(dict.fromkeys(filter(None, tags))), (first, last))


def _unmarked(line: str) -> str:
    bullet = re.match(r"\s*(?:[-*+]|\d{1,3}[.)])\s+(.*)$", line)
    return (bullet[1] if bullet else line).strip()
