"""Lines broken at words, by the cells that a terminal takes for them."""

import re
import unicodedata
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Final

from pmem.cli.session import Line, Span
from pmem.core.visible import visible

ELLIPSIS: Final = "…"
_RUNS: Final = re.compile(r"\s+|\S+")
_JOINER: Final = "\u200d"
_LEAST: Final = 12
"""Cells at the end of a line in which a word that no line holds may begin."""
_TAB: Final = "    "
_ATTACHED: Final = ("Mn", "Me", "Mc", "Cf", "Sk")
"""What belongs to the character before it: marks, joiners, and the skin tones of emoji."""
_CLOSING: Final = ("Pe", "Pf", "Po", "Lm")
"""Punctuation, and the signs of long vowels, that no line of Chinese or Japanese begins with."""
_DRAWN_OVER: Final = ("Mn", "Me", "Cf")
"""Marks, joiners and variation selectors take no cell of their own."""
_LATER_JAMO: Final = frozenset(map(chr, range(0x1160, 0x1200)))
"""Vowels and endings of Korean syllables that are written in parts."""


def wrapped(line: Line, width: int, *, hang: int = 0, most: int = 0) -> list[Line]:
    """Break a line at words, and a word that is longer than the line.

    Every line but the first begins with `hang` spaces, at least two fewer than `width`. Of more
    than `most` lines, if that is not 0, the last one ends with an ellipsis.
    """
    shown = [(visible(text).replace("\t", _TAB), style) for text, style in line]
    text = "".join(part for part, _ in shown)
    found = list(islice(_ranges(text, width, width - hang), most + 1 if most else None))
    indent: Line = [(" " * hang, "")] if hang else []
    lines = [_part(shown, start, end) for start, end in found[: most or None]]
    if most and len(found) > most:
        start, end = found[most - 1]
        kept = cut_text(text[start:end], (width - hang if most > 1 else width) - 1)
        lines[-1] = [*_part(shown, start, start + len(kept.rstrip(" ,;:"))), (ELLIPSIS, "")]
    return [lines[0], *([*indent, *part] if part else part for part in lines[1:])]


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


def _ranges(text: str, first: int, later: int) -> Iterator[tuple[int, int]]:
    """Yield where each line begins and ends, the first one of another width."""
    place, room = 0, first
    for part in text.split("\n"):
        for start, end in _filled(part, room, later):
            yield place + start, place + end
            room = later
        place += len(part) + 1


def _filled(text: str, first: int, later: int) -> Iterator[tuple[int, int]]:
    """Fill lines with words; the spaces where a line is broken are left out."""
    start = end = at = used = 0
    room = first
    for piece in pieces(text):
        if piece.isspace():
            at += len(piece)
            continue
        gap, width = cells(text[end:at]), cells(piece)
        if used + gap + width > room:
            if end > start and (width <= later or room - used - gap < _LEAST):
                yield start, end
                start, used, gap, room = at, 0, 0, later
            elif end == start and (width <= room or room - gap < _LEAST):
                start, gap = at, 0  # without the spaces before it there is room
        used += gap
        for cluster in [piece] if used + width <= room else _apart(piece, later):
            wide = cells(cluster)
            if used + wide > room and at > start:
                yield start, at
                start, used, room = at, 0, later
            at += len(cluster)
            used += wide
        end = at
    yield start, end


def _apart(word: str, width: int) -> Iterator[str]:
    """Yield the clusters of a word; one that is wider than a line falls apart."""
    for cluster in clusters(word):
        yield from [cluster] if cells(cluster) <= width else cluster


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


def hung(line: Line, width: int) -> list[Line]:
    """Break a line so that what follows hangs below its longest part."""
    return wrapped(line, width, hang=_hang(line, width))


def all_hung(lines: Iterable[Line], width: int) -> Iterator[Line]:
    """Break lines so that none is wider than a terminal, but for one with an address to copy."""
    for line in lines:
        is_whole = line_cells(line) <= width or any("://" in text for text, _ in line)
        yield from [line] if is_whole else hung(line, max(width, 4))


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
