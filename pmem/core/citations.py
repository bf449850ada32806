"""Whether what a memory cites still stands where it stood, and where it went.

A citation keeps no text, only what recognises it: a digest of the cited lines. Its first eight
digits are a checksum that can be had of all the stretches of a file in one pass, as in the search
of Rabin and Karp; the others are a hash (BLAKE2b, 96 bits) that settles the matter. White space
at the ends of lines, the kind of line ends, and a byte-order mark count for nothing.
"""

import zlib
from collections.abc import Container, Iterable, Iterator, Sequence
from enum import StrEnum
from functools import cached_property
from hashlib import blake2b
from itertools import accumulate, islice
from operator import itemgetter
from typing import Final, NamedTuple

from pmem.records import Citation

ENOUGH: Final = 20
"""Text with so many letters and digits is taken for the cited one in any file."""
LEAST: Final = 4
"""With fewer it is never looked for in other files; in between it must be the only one."""

_CHECKSUM_DIGITS: Final = 8
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


class State(StrEnum):
    """What became of a citation."""

    FRESH = "fresh"
    MOVED = "moved"
    CHANGED = "changed"
    GONE = "gone"


class Place(NamedTuple):
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
        checksum = sum(accumulate(map(zlib.crc32, cut))) & _CHECKSUMS
        return f"{checksum:0{_CHECKSUM_DIGITS}x}{_hash(cut)}"

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
        for starts in self.alike({checksum_of(digest)}, size).values():
            yield from self.nearest(starts, digest, size, near)

    def alike(self, checksums: Container[int], size: int) -> dict[int, list[int]]:
        """Return where stretches begin, counted from zero, by their checksum.

        Args:
            checksums: Only these.
            size: How many lines the stretches have.
        """
        found: dict[int, list[int]] = {}
        if self.is_binary or not 1 <= size <= self.size:
            return found
        once, twice = self._sums
        ends = islice(twice, size, None)
        for start, (one, two, end) in enumerate(zip(once, twice, ends, strict=False)):
            checksum = (end - two - size * one) & _CHECKSUMS
            if checksum in checksums:
                found.setdefault(checksum, []).append(start)
        return found

    def nearest(self, starts: Iterable[int], digest: str, size: int, near: int) -> Iterator[int]:
        """Yield, of the places where a text may begin, those where it does; see `places`."""
        hash_ = digest[_CHECKSUM_DIGITS:]
        tries = 0
        for start in sorted(starts, key=lambda at: (abs(at + 1 - near), at)):
            if _hash(self._lines[start : start + size]) == hash_:
                yield start + 1
                continue
            tries += 1
            if tries == _TRIES:
                return

    @cached_property
    def _lines(self) -> list[bytes]:
        return self._cut(0, self.size)

    @cached_property
    def _sums(self) -> tuple[list[int], list[int]]:
        """The sums of the lines' checksums up to each line, and the sums of those sums.

        A stretch's own checksum is the sum of its sums, which is a difference of these.
        """
        once = list(accumulate(map(zlib.crc32, self._lines), initial=0))
        return once, list(accumulate(once))

    def _cut(self, start: int, end: int) -> list[bytes]:
        raw = self._raw[start:end]
        return raw if self.is_binary else [line.rstrip() for line in raw]


def judged(cited: Citation, here: Content) -> Place | None:
    """Return where a cited text stands in its own file; the nearest place if it has moved.

    Args:
        cited: The citation.
        here: What its file holds.

    Returns:
        The place, or None when the text is not in the file.
    """
    if cited.lines is None:
        return Place(cited.file, None) if here.digest() == cited.digest else None
    if here.has(cited.lines) and here.digest(cited.lines) == cited.digest:
        return Place(cited.file, cited.lines)
    first, last = cited.lines
    found = next(here.places(cited.digest, last - first + 1, first), None)
    return None if found is None else Place(cited.file, (found, found + last - first))


class _Sighting(NamedTuple):
    """Where a lost text was seen, and how well the place fits: the lowest fits best."""

    fit: tuple[bool, bool, bool, bool, int, str]
    place: Place
    weight: int
    is_only: bool


class Hunt:
    """Looks for lost texts in one file after another.

    Args:
        lost: What is cited, and is not in its own file.
    """

    def __init__(self, lost: Iterable[Citation]) -> None:
        self._files: list[Citation] = []
        self._stretches: dict[int, dict[int, list[tuple[Citation, Lines]]]] = {}
        self._seen: dict[Citation, list[_Sighting]] = {}
        self.work = 0
        """How many lines were looked at, each as often as there are sizes of lost texts."""
        for cited in lost:
            if cited.lines is None:
                self._files.append(cited)
            else:
                same_size = self._stretches.setdefault(_size(cited.lines), {})
                alike = same_size.setdefault(checksum_of(cited.digest), [])
                alike.append((cited, cited.lines))

    def look(self, file: str, content: Content, blob: str) -> None:
        """Look into a file.

        Args:
            file: Its name, relative to the top of the project.
            content: What it holds.
            blob: Git's name of that.
        """
        self.work += content.size * (1 + len(self._stretches))
        if self._files:
            digest = content.digest()
            for cited in self._files:
                if cited.digest == digest:
                    self._note(cited, Place(file, None), content, blob, is_only=True)
        for size, wanted in self._stretches.items():
            for checksum, starts in content.alike(wanted, size).items():
                for cited, lines in wanted[checksum]:
                    nearest = content.nearest(starts, cited.digest, size, lines[0])
                    first, *others = [*islice(nearest, 2), 0]
                    if first:
                        place = Place(file, (first, first + size - 1))
                        self._note(cited, place, content, blob, is_only=others == [0])

    def found(self, cited: Citation, *, everywhere: bool) -> Place | None:
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
        self, cited: Citation, place: Place, content: Content, blob: str, *, is_only: bool
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
        self._seen.setdefault(cited, []).append(_Sighting(fit, place, weight, is_only))


def checksum_of(digest: str) -> int:
    """Return the checksum in a digest; that of one which pmem never wrote fits no text.

    Args:
        digest: A cited text's.
    """
    try:
        return int(digest[:_CHECKSUM_DIGITS], 16)
    except ValueError:
        return -1


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


def _size(lines: Lines) -> int:
    return lines[1] - lines[0] + 1


def _hash(lines: Sequence[bytes]) -> str:
    return blake2b(b"\n".join((*lines, b"")), digest_size=_HASH_BYTES).hexdigest()
