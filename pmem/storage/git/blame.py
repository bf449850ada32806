"""Who wrote a line of a file, and with which commit."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Final

import msgspec

from pmem.core.lines import file_lines, split_lines
from pmem.storage.git import git
from pmem.storage.git.repository import oldest_of_shallow

_HEAD: Final = "HEAD"


class LineOrigin(msgspec.Struct, frozen=True, kw_only=True):
    """The commit that a line comes from: its id, author, time and subject."""

    commit: str
    author: str
    at: datetime
    subject: str


def origin_of(
    top: str, environment: Mapping[str, str], file: str, line: int, now: bytes
) -> LineOrigin | str:
    """Return where a line comes from, else why that is not known.

    Filters and text conversions that the repository names are not run.

    Lines are counted from one; `now` is what the file holds.
    """
    try:
        found = git.run(top, ["cat-file", "blob", f"{_HEAD}:{file}"], environment)
        place = None if found.code else earlier_line(_lines(found.out), _lines(now), line)
        if place is None:
            return "not committed yet"
        asked = ["blame", "--no-textconv", "--porcelain", "-L", f"{place},{place}", _HEAD, "--"]
        told = git.run(top, [*asked, file], environment)
    except git.UNAVAILABLE:
        return "git cannot be run"
    except git.Distrusted as error:
        return error.message
    if told.code:
        return "git lacks a part of its history in this clone"
    origin = _parse_blame(told.out.decode("utf-8", "replace"))
    return "older than this shallow clone" if origin.commit in oldest_of_shallow(top) else origin


def _lines(data: bytes) -> list[bytes]:
    return [line.rstrip(b"\r") for line in file_lines(data)]


def _parse_blame(porcelain: str) -> LineOrigin:
    """Read what blame tells of one line, in its porcelain form."""
    first, *rest = split_lines(porcelain)
    fields = dict(line.partition(" ")[::2] for line in rest)
    return LineOrigin(
        commit=first.partition(" ")[0],
        author=fields.get("author", ""),
        at=datetime.fromtimestamp(int(fields.get("author-time", 0)), UTC),
        subject=fields.get("summary", ""),
    )


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
