"""Whether what a memory cites still stands where it stood, and where it went.

A citation keeps no text, only what recognises it: a digest of three parts. Eight digits are the
checksum of the text's first line, by which the places come together where it may stand. Eight are
a checksum of all its lines that can be had of any stretch of a file at once, from sums over the
file, as in the search of Rabin and Karp. The others are a hash (BLAKE2b, 96 bits) that settles the
matter. White space at the ends of lines, the kind of line ends, and a byte-order mark count for
nothing.
"""

import zlib
from collections.abc import Iterable, Iterator, Sequence
from enum import StrEnum
from functools import cached_property
from hashlib import blake2b
from itertools import accumulate, islice
from operator import itemgetter
from typing import Final, NamedTuple

from pmem.values.records import Citation

ENOUGH: Final = 20
"""Text with so many letters and digits is taken for the cited one in any file."""
LEAST: Final = 4
"""With fewer it is never looked for in other files; in between it must be the only one."""

_DIGITS: Final = 8
_CHECKSUMS: Final = 0xFFFFFFFF
_HASH_BYTES: Final = 12
_TRIES: Final = 64
"""So many stretches may have the checksum and another text; only made-up files have more."""
_LOOKED_AT: Final = 8000
"""A file with a zero byte among so many is binary, as for git."""
_MARK: Final = b"\xef\xbb\xbf"
_SIGNS: Final = bytes(code for code in range(128) if not chr(code).isalnum())

Lines = tuple[int, int]
"""The first and the last line of a stretch, counted from one."""


class CitationState(StrEnum):
    """What became of a citation."""

    FRESH = "fresh"
    MOVED = "moved"
    CHANGED = "changed"
    GONE = "gone"


class FileRange(NamedTuple):
    """A file, or lines of it."""

    file: str
    lines: Lines | None


class Content:
    """What a file holds, line by line.

    Args:
        data: The file's bytes.
    """

    def __init__(self, data: bytes) -> None:
        self.is_binary = b"\0" in data[:_LOOKED_AT]
        self._raw = [data] if self.is_binary else data.removeprefix(_MARK).split(b"\n")
        if not self.is_binary and not self._raw[-1]:
            self._raw.pop()

    @property
    def size(self) -> int:
        """How many lines it has; a binary file counts as one."""
        return len(self._raw)

    def digest(self, lines: Lines | None = None) -> str:
        """Return what recognises the text of lines, or of the whole file.

        Args:
            lines: Which ones; they must be there.
        """
        start, end = (0, self.size) if lines is None else (lines[0] - 1, lines[1])
        cut = self._cut(start, end)
        checksums = [zlib.crc32(line) for line in cut] or [0]
        together = sum(accumulate(checksums)) & _CHECKSUMS
        return f"{checksums[0]:0{_DIGITS}x}{together:0{_DIGITS}x}{_hash(cut)}"

    def has(self, lines: Lines) -> bool:
        """Tell whether there are such lines."""
        return not self.is_binary and 1 <= lines[0] <= lines[1] <= self.size

    def weight(self, lines: Lines | None = None) -> int:
        """Return how many letters and digits a text has; what is not ASCII counts by bytes."""
        start, end = (0, self.size) if lines is None else (lines[0] - 1, lines[1])
        return sum(len(line.translate(None, _SIGNS)) for line in self._raw[start:end])

    def places(self, digest: str, size: int, near: int) -> Iterator[int]:
        """Yield where a text begins, the nearest first; of two as near, the one above.

        Args:
            digest: The text's.
            size: How many lines it has.
            near: The line, counted from one, to begin at.
        """
        return self.nearest(self.starts(first_of(digest)), digest, size, near)

    def common(self, firsts: Iterable[int]) -> frozenset[int]:
        """Return those checksums that lines of it have.

        Args:
            firsts: Checksums of lines.
        """
        return frozenset() if self.is_binary else self._known.intersection(firsts)

    def starts(self, first: int) -> Sequence[int]:
        """Return where the lines of a checksum stand, counted from zero."""
        return self._places.get(first, ()) if self.common((first,)) else ()

    def nearest(self, starts: Iterable[int], digest: str, size: int, near: int) -> Iterator[int]:
        """Yield, of the places where a text may begin, those where it does; see `places`."""
        together, hash_ = _number(digest[_DIGITS : 2 * _DIGITS]), digest[2 * _DIGITS :]
        alike = [start for start in starts if self._together(start, size) == together]
        tries = 0
        for start in sorted(alike, key=lambda at: (abs(at + 1 - near), at)):
            if _hash(self._lines[start : start + size]) == hash_:
                yield start + 1
                continue
            tries += 1
            if tries == _TRIES:
                return

    def _together(self, start: int, size: int) -> int | None:
        """Return the checksum of a stretch: the sum of the sums within it."""
        if not 0 < size <= self.size - start:
            return None
        once, twice = self._sums
        return (twice[start + size] - twice[start] - size * once[start]) & _CHECKSUMS

    @cached_property
    def _lines(self) -> list[bytes]:
        return self._cut(0, self.size)

    @cached_property
    def _checksums(self) -> list[int]:
        return list(map(zlib.crc32, self._lines))

    @cached_property
    def _known(self) -> frozenset[int]:
        return frozenset(self._checksums)

    @cached_property
    def _places(self) -> dict[int, list[int]]:
        """Where the lines of each checksum stand."""
        found: dict[int, list[int]] = {}
        for place, checksum in enumerate(self._checksums):
            found.setdefault(checksum, []).append(place)
        return found

    @cached_property
    def _sums(self) -> tuple[list[int], list[int]]:
        """The sums of the lines' checksums up to each line, and the sums of those sums."""
        once = list(accumulate(self._checksums, initial=0))
        return once, list(accumulate(once))

    def _cut(self, start: int, end: int) -> list[bytes]:
        raw = self._raw[start:end]
        return raw if self.is_binary else [line.rstrip() for line in raw]


def judged(cited: Citation, here: Content) -> FileRange | None:
    """Return where a cited text stands in its own file; the nearest place if it has moved.

    Args:
        cited: The citation.
        here: What its file holds.

    Returns:
        The place, or None when the text is not in the file.
    """
    if cited.lines is None:
        return FileRange(cited.file, None) if here.digest() == cited.digest else None
    if here.has(cited.lines) and here.digest(cited.lines) == cited.digest:
        return FileRange(cited.file, cited.lines)
    first, last = cited.lines
    found = next(here.places(cited.digest, last - first + 1, first), None)
    return None if found is None else FileRange(cited.file, (found, found + last - first))


class _LostTextSighting(NamedTuple):
    """Where a lost text was seen, and how well the place fits: the lowest fits best."""

    fit: tuple[bool, bool, bool, bool, int, str]
    place: FileRange
    weight: int
    is_only: bool


class Hunt:
    """Looks for lost texts in one file after another.

    Args:
        lost: What is cited, and is not in its own file.
    """

    def __init__(self, lost: Iterable[Citation]) -> None:
        self._files: list[Citation] = []
        self._stretches: dict[int, list[tuple[Citation, Lines]]] = {}
        self._seen: dict[Citation, list[_LostTextSighting]] = {}
        self.work = 0
        """How many lines were looked at, those where a text may begin once for each such text."""
        for cited in lost:
            if cited.lines is None:
                self._files.append(cited)
            else:
                alike = self._stretches.setdefault(first_of(cited.digest), [])
                alike.append((cited, cited.lines))

    def look(self, file: str, content: Content, blob: str) -> None:
        """Look into a file.

        Args:
            file: Its name, relative to the top of the project.
            content: What it holds.
            blob: Git's name of that.
        """
        self.work += content.size
        if self._files:
            digest = content.digest()
            for cited in self._files:
                if cited.digest == digest:
                    self._note(cited, FileRange(file, None), content, blob, is_only=True)
        for first in content.common(self._stretches):
            starts = content.starts(first)
            for cited, lines in self._stretches[first]:
                self.work += len(starts)
                size = _size(lines)
                found = content.nearest(starts, cited.digest, size, lines[0])
                nearest, *others = [*islice(found, 2), 0]
                if nearest:
                    place = FileRange(file, (nearest, nearest + size - 1))
                    self._note(cited, place, content, blob, is_only=others == [0])

    def found(self, cited: Citation, *, everywhere: bool) -> FileRange | None:
        """Return where a lost text stands, if that is beyond doubt.

        Args:
            cited: The citation.
            everywhere: Every file was looked into, so that what was seen once is there once.
        """
        seen = self._seen.get(cited, ())
        if not seen:
            return None
        best = min(seen, key=itemgetter(0))
        is_only = everywhere and len(seen) == 1 and best.is_only
        needed = LEAST if is_only else ENOUGH
        return best.place if best.weight >= needed else None

    def _note(
        self, cited: Citation, place: FileRange, content: Content, blob: str, *, is_only: bool
    ) -> None:
        if place.file == cited.file:
            return
        folder, name, suffix = _parts(cited.file)
        other_folder, other_name, other_suffix = _parts(place.file)
        here, there = ((lines or (0, 0))[0] for lines in (cited.lines, place.lines))
        fit = (
            blob != cited.blob,
            other_name != name,
            other_suffix != suffix,
            other_folder != folder,
            abs(here - there),
            place.file,
        )
        weight = content.weight(place.lines)
        self._seen.setdefault(cited, []).append(_LostTextSighting(fit, place, weight, is_only))


def first_of(digest: str) -> int:
    """Return the checksum of a text's first line; one that pmem never wrote fits no line.

    Args:
        digest: The text's.
    """
    return _number(digest[:_DIGITS])


def suffix_of(file: str) -> str:
    """Return the end of a file's name from its last dot on.

    Args:
        file: Its path, with slashes.
    """
    return _parts(file)[2]


def _parts(file: str) -> tuple[str, str, str]:
    """Return the folder, the name and the suffix of a file."""
    folder, _, name = file.rpartition("/")
    return folder, name, name[name.rfind(".") :] if "." in name[1:] else ""


def _number(digits: str) -> int:
    try:
        return int(digits, 16)
    except ValueError:
        return -1


def _size(lines: Lines) -> int:
    return lines[1] - lines[0] + 1


def _hash(lines: Sequence[bytes]) -> str:
    return blake2b(b"\n".join((*lines, b"")), digest_size=_HASH_BYTES).hexdigest()
