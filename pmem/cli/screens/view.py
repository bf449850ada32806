"""What a screen is drawn for: how wide it is, what time it is there, and how times read."""

import sys
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime, timedelta
from typing import Final, NamedTuple
from unicodedata import bidirectional

from pmem.cli.screens.wrapping import cells, line_cells, wrapped
from pmem.cli.session import CommandSession, Line, Span
from pmem.values.times import UNDATED, is_date, iso

NARROW: Final = 40
"""Columns below which nothing is left out: two such lines would say too little."""
_LEAST_TEXT: Final = 26
"""Cells that a text needs beside its row's head; with fewer it stands below."""
_INDENT: Final = 2
_MINUTE: Final = timedelta(minutes=1)
_HOUR: Final = timedelta(hours=1)
_DAY: Final = timedelta(days=1)
_WEEK: Final = 7


class ScreenView(NamedTuple):
    """A terminal of so many cells, or a pipe of `sys.maxsize`, where every entry is one line.

    Times are told as seen from now, or, if they are to be exact, to the second in UTC.
    """

    width: int
    now: datetime
    exact: bool = False

    def when(self, at: datetime) -> str:
        """Tell a moment for people, in local time unless it is to be exact."""
        if at.year <= UNDATED.year:
            return "undated"
        return iso(at.replace(microsecond=0)) if self.exact else _tell_moment(at, self.now)

    @property
    def is_pipe(self) -> bool:
        """Tell whether lines are as long as what they say."""
        return self.width == sys.maxsize


def view_of(session: CommandSession, width: int) -> ScreenView:
    """Return what a command's screen is drawn for."""
    return ScreenView(width, session.present, session.exact_times or width == sys.maxsize)


class Row(NamedTuple):
    """One entry of a list: the cells of its columns, what it says, and what is told last."""

    cells: Sequence[Span]
    text: Line
    tail: Sequence[Span] = ()


def aligned(table: Iterable[Sequence[Span]]) -> list[Line]:
    """Return rows of cells as lines with a gap behind each; an empty column takes no room."""
    rows = list(table)
    widths = [max(cells(text) for text, _ in column) for column in zip(*rows, strict=True)]
    return [
        [
            (text + " " * (width - cells(text) + 2), style)
            for (text, style), width in zip(row, widths, strict=True)
            if width
        ]
        for row in rows
    ]


def drawn_rows(rows: Iterable[Row], view: ScreenView, most: int = 2) -> Iterator[Line]:
    """Yield rows in columns, each text in so many lines; any number when 0."""
    entries = list(rows)
    width = max(view.width, 2 * _INDENT)
    most = 0 if width < NARROW else most
    for head, (_, text, tail) in zip(aligned(row.cells for row in entries), entries, strict=True):
        if view.is_pipe:
            yield [*head, *text, ("  " * bool(line_cells(tail)), ""), *tail]
            continue
        start = line_cells(head)
        if width - start >= _LEAST_TEXT:
            first, *others = _told_in(text, tail, width - start, most)
            yield [*head, *first]
        else:
            yield from wrapped(head, width, hang=_INDENT)
            start, others = _INDENT, _told_in(text, tail, width - _INDENT, most)
        yield from ([(" " * start, ""), *line] for line in others)


def _told_in(text: Line, tail: Sequence[Span], width: int, most: int) -> list[Line]:
    """Return the lines of a text, and of what is told last beside it or below."""
    lines = wrapped(text, width, most=most)
    if not line_cells(tail):
        return lines
    *others, last = lines
    if not line_cells(last):
        return [*others, *wrapped(list(tail), width)]
    if line_cells(last) + 2 + line_cells(tail) <= width and not _is_turned(last):
        return [*others, [*last, ("  ", ""), *tail]]
    return [*lines, *wrapped(list(tail), width)]


def _is_turned(line: Line) -> bool:
    """Tell whether a line is written from the right: what follows would be drawn within it."""
    text = "".join(part for part, _ in line)
    return not text.isascii() and any(bidirectional(one) in ("R", "AL") for one in text)


def _tell_moment(at: datetime, now: datetime) -> str:
    """Tell a moment as people do: how long ago, or on which day."""
    ago = now - at
    is_day = is_date(at)
    if abs(ago) < _DAY and not is_day:
        return _within_a_day(ago)
    try:
        here, there = now.astimezone().date(), (at if is_day else at.astimezone()).date()
    except OverflowError:  # the calendar's first or last day, seen from another zone
        return f"{at:%Y}"
    days = (here - there).days
    if not days:
        return "today"
    if abs(days) == 1:
        return "yesterday" if days > 0 else "tomorrow"
    if abs(days) < _WEEK:
        return f"{days} days ago" if days > 0 else f"in {-days} days"
    day = f"{there.day} {there:%b}"
    return day if there.year == here.year else f"{day} {there.year}"


def _within_a_day(ago: timedelta) -> str:
    if abs(ago) < _MINUTE:
        return "just now"
    size, unit = (_MINUTE, "min") if abs(ago) < _HOUR else (_HOUR, "h")
    count = abs(ago) // size
    return f"{count} {unit} ago" if ago > timedelta() else f"in {count} {unit}"
