"""Lines broken at words, by the cells that a terminal takes for them."""

import re
import unicodedata
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Final, NamedTuple

from pmem.cli.session import Line, Span
from pmem.core.visible import visible

ELLIPSIS: Final = "…"
_RUNS: Final = re.compile(r"\s+|\S+")
_JOINER: Final = "\u200d"
_LEAST: Final = 12
"""Cells at the end of a line in which a word that no line holds may begin."""
_TAB: Final = "    "
_BREAKS: Final = frozenset("\n\t")
_ATTACHED: Final = ("Mn", "Me", "Mc", "Cf", "Sk")
"""What belongs to the character before it: marks, joiners, and the skin tones of emoji."""
_CLOSING: Final = ("Pe", "Pf", "Po", "Lm")
"""Punctuation, and the signs of long vowels, that no line of Chinese or Japanese begins with."""
_DRAWN_OVER: Final = ("Mn", "Me", "Cf")
"""Marks, joiners and variation selectors take no cell of their own."""
_LATER_JAMO: Final = frozenset(map(chr, range(0x1160, 0x1200)))
"""Vowels and endings of Korean syllables that are written in parts."""


class _Word(NamedTuple):
    """What is not broken, the spaces before it, and the cells of both."""

    gap: Line
    parts: Line
    gap_width: int
    width: int


def wrapped(line: Line, width: int, *, hang: int = 0, most: int = 0) -> list[Line]:
    """Break a line at words; a word that is longer than the line goes on in the next one.

    Args:
        line: What to break; a line break in it breaks it as well.
        width: Cells of a line, at least two more than `hang`.
        hang: Spaces before every line but the first.
        most: Lines at the most, the last one with an ellipsis; any number when 0.
    """
    found = list(islice(_lines(line, width, width - hang), most + 1 if most else None))
    if most and len(found) > most:
        room = width - hang if most > 1 else width
        found = [*found[: most - 1], _ended(found[most - 1], room)]
    indent: Line = [(" " * hang, "")] if hang else []
    return [
        _join_spans([*indent, *part] if number and part else part)
        for number, part in enumerate(found)
    ]


def cells(text: str) -> int:
    """Count the cells that a text takes on a terminal."""
    if text.isascii() and text.isprintable():
        return len(text)
    return sum(_cells(character) for character in visible(text))


def _cells(character: str) -> int:
    if unicodedata.category(character) in _DRAWN_OVER or character in _LATER_JAMO:
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1


def cut_text(text: str, width: int) -> str:
    """Return the words at the start of a text that fit; the start of a word where none does."""
    shown = visible(text)
    whole = _fitting(pieces(shown), width).rstrip()
    return whole if whole.strip() else _fitting(clusters(shown), width)


def _fitting(parts: Iterable[str], width: int) -> str:
    kept = ""
    for part in parts:
        width -= cells(part)
        if width < 0:
            break
        kept += part
    return kept


def line_cells(line: Iterable[Span]) -> int:
    """Count the cells of a line."""
    return sum(cells(text) for text, _ in line)


def clusters(text: str) -> Iterator[str]:
    """Yield a text in the smallest parts that a line may be broken between."""
    kept = ""
    for character in text:
        if kept and not _belongs(kept, character):
            yield kept
            kept = ""
        kept += character
    if kept:
        yield kept


def pieces(text: str) -> Iterator[str]:
    """Yield a text in its words and the spaces between them; scripts without spaces by signs."""
    for run in _RUNS.findall(text):
        if run.isascii() or run.isspace():
            yield run
        else:
            yield from _signs(run)


def _signs(run: str) -> Iterator[str]:
    """Yield the parts of a run without spaces: wide signs each for itself, all else together."""
    kept = ""
    for cluster in clusters(run):
        wide = _is_wide(cluster)
        closes = wide and unicodedata.category(cluster[0]) in _CLOSING
        if kept and not closes and (wide or _is_wide(kept)):
            yield kept
            kept = ""
        kept += cluster
    yield kept


def _is_wide(cluster: str) -> bool:
    return unicodedata.east_asian_width(cluster[0]) in "WF"


def _belongs(kept: str, character: str) -> bool:
    if character.isascii():
        return False
    if kept[-1] == _JOINER or character in _LATER_JAMO:
        return True
    if "\U0001f1e6" <= character <= "\U0001f1ff":  # a flag is two letters
        return len(kept) == 1 and "\U0001f1e6" <= kept <= "\U0001f1ff"
    return unicodedata.category(character) in _ATTACHED


def _paragraphs(line: Line) -> Iterator[Line]:
    """Yield a line in the parts that line breaks leave, its hidden characters written out."""
    part: Line = []
    for text, style in line:
        if text.isascii() and text.isprintable():
            part.append((text, style))
            continue
        first, *others = visible(text).replace("\t", _TAB).split("\n")
        part.append((first, style))
        for other in others:
            yield part
            part = [(other, style)]
    yield part


def _lines(line: Line, first: int, later: int) -> Iterator[Line]:
    """Yield the lines that a line is broken into, the first one of another width."""
    room = first
    for part in _paragraphs(line):
        for filled in _filled(part, room, later):
            yield filled
            room = later


def _filled(line: Line, first: int, later: int) -> Iterator[Line]:
    """Fill lines with words; the spaces where a line is broken are left out."""
    if line_cells(line) <= first:
        yield without_end(line)
        return
    current: Line = []
    used, room, begins = 0, first, True
    for word in _words(line):
        lead = word.gap if current or begins else []
        if used + word.gap_width * bool(lead) + word.width <= room:
            current = [*current, *lead, *word.parts]
            used = line_cells(current)
            begins = False
            continue
        if not current and (word.width <= room or room - line_cells(lead) < _LEAST):
            lead = []  # without the spaces before it there is room
        left = room - used - line_cells(lead)
        if current and (word.width <= later or left < _LEAST):
            yield current
            current, lead, left, room = [], [], later, later
        begins = False
        first_part, *others = _broken(word.parts, left, later)
        current = [*current, *lead, *first_part]
        for part in others:
            yield current
            current, room = part, later
        used = line_cells(current)
    yield current


def without_end(line: Line) -> Line:
    """Return a line without the spaces at its end."""
    while line and not line[-1][0].rstrip():
        line = line[:-1]
    return [*line[:-1], (line[-1][0].rstrip(), line[-1][1])] if line else []


def _broken(parts: Line, first: int, later: int) -> list[Line]:
    """Break a word that begins a line wherever the line ends."""
    found: list[Line] = [[]]
    used, room = 0, first
    for text, style in parts:
        for cluster in _narrow(text, later):
            width = cells(cluster)
            if used + width > room and found[-1]:
                found.append([])
                used, room = 0, later
            _append(found[-1], cluster, style)
            used += width
    return found


def _narrow(text: str, width: int) -> Iterator[str]:
    """Yield the clusters of a text; one that is wider than a line falls apart."""
    for cluster in clusters(text):
        if cells(cluster) <= width:
            yield cluster
        else:
            yield from (character for character in cluster if character != _JOINER)


def _join_spans(parts: Line) -> Line:
    """Return a line whose neighbours of one style are one part."""
    line: Line = []
    for text, style in parts:
        _append(line, text, style)
    return line


def _append(line: Line, text: str, style: str) -> None:
    if line and line[-1][1] == style:
        line[-1] = (line[-1][0] + text, style)
    else:
        line.append((text, style))


def _words(line: Line) -> Iterator[_Word]:
    """Yield the words of a line; one that changes its style in its middle is one word."""
    gap: Line = []
    parts: Line = []
    for text, style in line:
        for number, piece in enumerate(pieces(text)):
            if piece.isspace():
                if parts:
                    yield _word(gap, parts)
                    gap, parts = [], []
                gap.append((piece, style))
                continue
            if parts and (number or (_is_wide(piece) and _is_wide(parts[-1][0]))):
                yield _word(gap, parts)
                gap, parts = [], []
            parts.append((piece, style))
    if parts:
        yield _word(gap, parts)


def _word(gap: Line, parts: Line) -> _Word:
    return _Word(gap, parts, line_cells(gap), line_cells(parts))


def _ended(line: Line, room: int) -> Line:
    """Return a line with an ellipsis, without the words that leave it no room."""
    kept: Line = []
    for word in _words(line):
        if line_cells(kept) + word.gap_width + word.width > room - 1:
            break
        kept += [*word.gap, *word.parts]
    kept = kept or _broken(line, room - 1, room - 1)[0]
    text, style = kept[-1] if kept else ("", "")
    return [*kept[:-1], (text.rstrip(" ,;:"), style), (ELLIPSIS, "")]


def hung(line: Line, width: int) -> list[Line]:
    """Break a line so that what follows hangs below its longest part."""
    return wrapped(line, width, hang=_hang(line, width))


def all_hung(lines: Iterable[Line], width: int) -> Iterator[Line]:
    """Break lines so that none is wider than a terminal."""
    for line in lines:
        yield from hung(line, max(width, 4))


def _hang(line: Line, width: int) -> int:
    """Return where the longest part of a line begins, if that leaves the lines some room."""
    start = place = 0
    longest = -1
    for text, _ in line:
        own = len(text) - len(text.lstrip(" "))
        if cells(text) > longest:
            longest, start = cells(text), place + own
        place += cells(text)
    return start if start <= width // 2 else min(2, width // 2)
