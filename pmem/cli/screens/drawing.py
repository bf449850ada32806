"""What all screens are drawn with: line breaks, columns, panels, bars, times.

Widths are counted in the cells that a terminal takes, high where terminals disagree.
"""

import re
import sys
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime, timedelta
from itertools import islice
from typing import Final, NamedTuple

from pmem.cli.session import CommandSession, Line, Span
from pmem.core.visible import visible
from pmem.values.times import UNDATED, is_date, iso

WIDEST: Final = 78  # cells of a panel
NARROW: Final = 60  # columns below which a terminal gets no frames
LABEL: Final = 15  # cells of the names of figures, unless a name is longer
ELLIPSIS: Final = "…"
_NARROWEST_PANEL: Final = 34
_NARROWEST_ROW: Final = 40
"""Columns below which no text is left out: two such lines would say too little."""
_LEAST_TEXT: Final = 26  # cells that a text needs beside its row's head; with fewer it stands below
_INDENT: Final = 2
_EIGHTHS: Final = " ▏▎▍▌▋▊▉"
_HEIGHTS: Final = "▁▂▃▄▅▆▇█"
_DAY: Final = timedelta(days=1)
_DRAWN_OVER: Final = ("Mn", "Me", "Cf")
"""Marks, joiners and variation selectors take no cell of their own."""
_LATER_JAMO: Final = "\u1160-\u11ff"
"""Vowels and endings of Korean syllables that are written in parts."""
_WIDE: Final = (
    "\u1100-\u115f\u2e80-\ua4cf\ua960-\ua97f\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60"
    "\uffe0-\uffe6\U0001f000-\U0001faff\U00020000-\U0003fffd"
)
"""Chinese, Japanese and Korean signs, and emoji: a line may be broken between any two of them."""
_CLOSING: Final = "、。，．・：；？！）］｝〕〉》」』】ーヽヾ々"
"""What no line of Chinese or Japanese begins with."""
_JOINED: Final = f"\u0300-\u036f\u200c\u200d\u20e3\ufe00-\ufe0f\U0001f3fb-\U0001f3ff{_LATER_JAMO}"
_SIGN: Final = f"[\U0001f1e6-\U0001f1ff]{{2}}|[^\\s][{_JOINED}]*(?:(?<=\u200d).[{_JOINED}]*)*"
"""The smallest part of a text: a flag, or a letter or an emoji with all that belongs to it."""
_SIGNS: Final = re.compile(_SIGN)
_PIECES: Final = re.compile(
    f"\n|[^\\S\n]+|(?=[{_WIDE}])(?:{_SIGN})[{_CLOSING}]*|(?:(?![{_WIDE}])\\S)+"
)


def cells(text: str) -> int:
    """Count the cells that a text takes on a terminal."""
    if text.isascii() and text.isprintable():
        return len(text)
    return sum(
        1 + (unicodedata.east_asian_width(character) in "WF")
        for character in visible(text)
        if unicodedata.category(character) not in _DRAWN_OVER
        and not "\u1160" <= character <= "\u11ff"
    )


def folded(text: str) -> str:
    """Return a text on one line."""
    return " ".join(text.split())


def line_cells(line: Iterable[Span]) -> int:
    """Count the cells of a line."""
    return sum(cells(text) for text, _ in line)


def pieces(text: str) -> list[str]:
    """Return a text in its words and the spaces between them; scripts without spaces by signs."""
    return _PIECES.findall(text)


def wrapped(line: Line, width: int, *, hang: int = 0, most: int = 0) -> list[Line]:
    """Break a line at words, and a word that is longer than the line.

    Every line but the first begins with `hang` spaces, at least two fewer than `width`. Of more
    than `most` lines, if that is not 0, the last one ends with an ellipsis.
    """
    shown = [(visible(text).replace("\t", "    "), style) for text, style in line]
    text = "".join(part for part, _ in shown)
    found = list(islice(_ranges(text, width, width - hang), most + 1 if most else None))
    lines = [_part(shown, start, end) for start, end in found[: most or None]]
    if most and len(found) > most:
        start, end = found[most - 1]
        kept = cut_text(text[start:end], (width - hang if most > 1 else width) - 1)
        lines[-1] = [*_part(shown, start, start + len(kept.rstrip(" ,;:"))), (ELLIPSIS, "")]
    indent: Line = [(" " * hang, "")] if hang else []
    return [lines[0], *([*indent, *part] if part else part for part in lines[1:])]


def cut_text(text: str, width: int) -> str:
    """Return the first words of a text that fit, or the start of the first, or nothing."""
    shown = visible(text)
    start, end = next(_ranges(shown, width, width))
    return shown[start:end] if cells(shown[start:end]) <= width else ""


def _part(line: Line, start: int, end: int) -> Line:
    """Return what stands between two places, neighbours of one style as one part."""
    found: Line = []
    for text, style in line:
        piece = text[max(0, start) : max(0, end)]
        start, end = start - len(text), end - len(text)
        if piece and found and found[-1][1] == style:
            found[-1] = (found[-1][0] + piece, style)
        elif piece:
            found.append((piece, style))
    return found


def _ranges(text: str, room: int, later: int) -> Iterator[tuple[int, int]]:
    """Yield where each line begins and ends: one of `room` cells, then those of `later`."""
    start = end = at = used = gap = 0
    for piece in pieces(text):
        if piece == "\n":
            yield start, end
            at += 1
            start, end, used, gap, room = at, at, 0, 0, later
        elif piece.isspace():
            at, gap = at + len(piece), gap + cells(piece)
        else:
            for part in [piece] if cells(piece) <= later else _apart(piece, later):
                wide = cells(part)
                if used + gap + wide > room:
                    if end > start:
                        yield start, end
                        room = later
                    start, used, gap = at, 0, 0
                used, gap, at = used + gap + wide, 0, at + len(part)
                end = at
    yield start, end


def _apart(word: str, width: int) -> Iterator[str]:
    """Yield the signs of a word; one that is wider than a line falls apart."""
    for sign in _SIGNS.findall(word):
        yield from [sign] if cells(sign) <= width else sign


def hung(line: Line, width: int) -> list[Line]:
    """Break a line so that what follows hangs below its longest part, if that leaves some room."""
    start = place = 0
    longest = -1
    for text, _ in line:
        if cells(text) > longest:
            longest, start = cells(text), place + len(text) - len(text.lstrip(" "))
        place += cells(text)
    return wrapped(line, width, hang=start if start <= width // 2 else min(2, width // 2))


def all_hung(lines: Iterable[Line], width: int) -> Iterator[Line]:
    """Break lines so that none is wider than a terminal, but for one with an address to copy."""
    for line in lines:
        is_whole = line_cells(line) <= width or any("://" in text for text, _ in line)
        yield from [line] if is_whole else hung(line, max(width, 4))


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


def _tell_moment(at: datetime, now: datetime) -> str:
    ago = now - at
    is_day = is_date(at)
    if abs(ago) < _DAY and not is_day:
        minutes = abs(ago) // timedelta(minutes=1)
        if not minutes:
            return "just now"
        told = f"{minutes} min" if minutes < 60 else f"{minutes // 60} h"
        return f"{told} ago" if ago > timedelta() else f"in {told}"
    try:
        here, there = now.astimezone().date(), (at if is_day else at.astimezone()).date()
    except OverflowError:  # the calendar's first or last day, seen from another zone
        return f"{at:%Y}"
    days = (here - there).days
    if abs(days) <= 1:
        return ("tomorrow", "today", "yesterday")[days + 1]
    if abs(days) < 7:
        return f"{days} days ago" if days > 0 else f"in {-days} days"
    day = f"{there.day} {there:%b}"
    return day if there.year == here.year else f"{day} {there.year}"


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
    most = 0 if width < _NARROWEST_ROW else most
    for head, (_, text, tail) in zip(aligned(row.cells for row in entries), entries, strict=True):
        if view.is_pipe:
            yield [*head, *text, ("  " * bool(line_cells(tail)), ""), *tail]
            continue
        start = line_cells(head)
        if width - start >= _LEAST_TEXT:
            first, *others = _with_tail(text, tail, width - start, most)
            yield [*head, *first]
        else:
            yield from wrapped(head, width, hang=_INDENT)
            start, others = _INDENT, _with_tail(text, tail, width - _INDENT, most)
        yield from ([(" " * start, ""), *line] for line in others)


def _with_tail(text: Line, tail: Sequence[Span], width: int, most: int) -> list[Line]:
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
    return not text.isascii() and any(unicodedata.bidirectional(one) in ("R", "AL") for one in text)


def panel(title: str, lines: Sequence[Line], width: int) -> Iterator[Line]:
    """Draw a frame of 34 to 78 cells around lines; what is too long for it is cut."""
    inner = min(WIDEST, max(_NARROWEST_PANEL, width)) - 4
    (head,) = wrapped([(title, "bold")], inner - 2, most=1)
    yield [("╭─ ", "dim"), *head, (f" {'─' * (inner - 1 - line_cells(head))}╮", "dim")]
    for line in lines:
        (shown,) = wrapped(line, inner, most=1)
        yield [("│ ", "dim"), *shown, (" " * (inner - line_cells(shown)), ""), (" │", "dim")]
    yield [(f"╰{'─' * (inner + 2)}╯", "dim")]


def figure(name: str, value: str, width: int = LABEL) -> Line:
    """Write a figure behind its name."""
    return [(name + " " * (width - cells(name)), "bold"), (value, "")]


def bar(share: float, width: int) -> str:
    """Draw a bar of so many cells, full from 0 to 1; more than nothing is never empty."""
    eighths = round(min(1.0, max(0.0, share)) * width * 8)
    full, rest = divmod(max(eighths, 1 if share > 0 else 0), 8)
    drawn = "█" * full + (_EIGHTHS[rest] if rest else "")
    return drawn + "░" * (width - len(drawn))


def sparkline(values: Sequence[float]) -> str:
    """Draw one cell for each value, as high as its share of the highest."""
    most = max((value for value in values if value > 0), default=1)
    steps = len(_HEIGHTS) - 1
    return "".join(
        _HEIGHTS[0 if value <= 0 else max(1, round(steps * (value / most)))] for value in values
    )
