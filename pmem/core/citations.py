"""Whether a cited text is still at its place, and where it moved to.

A citation keeps no text, only what recognises it: a digest of three parts. Eight digits are the
checksum of the text's first line, by which the places come together where it may stand, eight are
a checksum of all its lines, and the others are a hash (BLAKE2b, 96 bits) that settles the matter.
White space at the ends of lines, the kind of line ends, and a byte-order mark count for
nothing. What is not found so may stand there in another layout: that is told by a second digest,
of the text without the white space that means nothing (`core.code.folding`). A symbol is cited by
its name: where its text stands counts for nothing, and of a constant the value alone counts.
"""

import zlib
from collections.abc import Iterable, Iterator, Sequence
from enum import StrEnum
from functools import cached_property
from hashlib import blake2b
from itertools import accumulate, chain, islice
from operator import itemgetter
from typing import Final, NamedTuple

import msgspec

from pmem.core.code import constants, definitions, folding
from pmem.core.code.languages import language_of
from pmem.core.lines import file_lines
from pmem.core.managed_block import others_words
from pmem.values.records import Citation

ENOUGH: Final = 20
"""Text with so many letters and digits is taken for the cited one in any file."""
LEAST: Final = 4
"""With fewer it is never looked for in other files; in between it must be the only one."""

_DIGITS: Final = 8
_CHECKSUMS: Final = 0xFFFFFFFF
_HASH_BYTES: Final = 12
_TRIES: Final = 200
"""So many places are looked at where a text may begin, the nearest first: the objects in a long
file of data all begin alike."""
_TRIES_FOLDED: Final = 8
"""So many places of a text are looked at for what encloses them, or folded."""
_LOOKED_AT: Final = 8000
"""A file with a zero byte among so many is binary, as for git."""
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


class Effort:
    """How many bytes, or lines, may still be looked through to fold text: that takes long."""

    def __init__(self, left: int = 16 * 1024 * 1024) -> None:
        self._left = left

    def spend(self, amount: int) -> bool:
        """Tell whether so much may be done, and count it as done."""
        self._left -= amount
        return self._left >= 0


class Content:
    """What a file holds, line by line; those in which pmem repeats memories count as empty."""

    def __init__(self, data: bytes, effort: Effort | None = None) -> None:
        self._effort = effort or Effort()
        self._data = data = others_words(data)
        self.is_binary = b"\0" in data[:_LOOKED_AT]
        self._raw = [data] if self.is_binary else file_lines(data)

    @property
    def size(self) -> int:
        """How many lines it has; a binary file counts as one."""
        return len(self._raw)

    def digest(self, lines: Lines | None = None) -> str:
        """Return what recognises the text of lines, or of the whole file."""
        start, end = (0, self.size) if lines is None else (lines[0] - 1, lines[1])
        cut = self._cut(start, end)
        checksums = [zlib.crc32(line) for line in cut] or [0]
        together = sum(accumulate(checksums)) & _CHECKSUMS
        return f"{checksums[0]:0{_DIGITS}x}-{together:0{_DIGITS}x}-{_hash(cut)}"

    def has(self, lines: Lines) -> bool:
        """Tell whether there are such lines."""
        return not self.is_binary and 1 <= lines[0] <= lines[1] <= self.size

    def folded(self, lines: Lines | None, file: str) -> str | None:
        """Return what recognises a text in another layout; None where it is too long or binary."""
        start, end = (0, self.size) if lines is None else (lines[0] - 1, lines[1])
        if self.is_binary or not self._effort.spend(end - start):
            return None
        text = b"\n".join(self.lines[start:end])
        return folding.folded_digest(text, language_of(suffix_of(file)))

    def folded_places(self, cited: Citation) -> Iterator[Lines]:
        """Yield where a text stands in another layout, the nearest first."""
        if cited.folded is None or cited.lines is None or self.is_binary:
            return
        wanted = folding.bare_of(cited.folded)
        if not 0 < wanted.length <= folding.MOST_BYTES or not self._effort.spend(self.size):
            return
        near = cited.lines[0]
        found = sorted(self._folded_lines.places(wanted), key=lambda at: (abs(at[0] - near), at))
        for lines in [cited.lines] * self.has(cited.lines) + found[:_TRIES_FOLDED]:
            if self._effort.spend(wanted.length) and self.folded(lines, cited.file) == cited.folded:
                yield lines

    def is_within(self, at: int, symbol: definitions.Symbol, file: str) -> bool:
        """Tell whether a line, counted from zero, stands in all that a symbol names."""
        if definitions.is_within(self.lines, at, symbol):
            return True
        if not self._effort.spend(at):
            return False
        language = language_of(suffix_of(file))
        return bool(definitions.enclosed(self.lines, (at,), symbol, language))

    def mentions(self, name: bytes) -> bool:
        """Tell whether a name stands anywhere, as a word or in one."""
        return name in self._data

    def weight(self, lines: Lines | None = None) -> int:
        """Return how many letters and digits a text has; what is not ASCII counts by bytes."""
        start, end = (0, self.size) if lines is None else (lines[0] - 1, lines[1])
        return sum(len(line.translate(None, _SIGNS)) for line in self._raw[start:end])

    def places(self, digest: str, size: int, near: int) -> Iterator[int]:
        """Yield where a text begins, the lines nearest to `near` first, all counted from one."""
        return self.nearest(self.starts(first_of(digest)), digest, size, near)

    def common(self, firsts: Iterable[int]) -> frozenset[int]:
        """Return those checksums that lines of it have."""
        return frozenset() if self.is_binary else self._known.intersection(firsts)

    def starts(self, first: int) -> Sequence[int]:
        """Return where the lines of a checksum stand, counted from zero."""
        return self._places.get(first, ()) if self.common((first,)) else ()

    def nearest(self, starts: Iterable[int], digest: str, size: int, near: int) -> Iterator[int]:
        """Yield, of the places where a text may begin, those where it does; see `places`."""
        hash_ = digest.rpartition("-")[2]
        inside = (start for start in starts if 0 < size <= self.size - start)
        ordered = sorted(inside, key=lambda at: (abs(at + 1 - near), at))
        for start in ordered[:_TRIES]:
            if _hash(self.lines[start : start + size]) == hash_:
                yield start + 1

    @cached_property
    def lines(self) -> list[bytes]:
        """The lines, without white space at their ends."""
        return self._cut(0, self.size)

    @cached_property
    def _folded_lines(self) -> folding.FoldedLines:
        return folding.FoldedLines(self.lines)

    @cached_property
    def _checksums(self) -> list[int]:
        return list(map(zlib.crc32, self.lines))

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

    def _cut(self, start: int, end: int) -> list[bytes]:
        raw = self._raw[start:end]
        return raw if self.is_binary else [line.rstrip() for line in raw]


def each_once(citations: Iterable[Citation]) -> tuple[Citation, ...]:
    """Return citations without repetition: of each place, and each constant, the last one."""
    places = {}
    for cited in citations:
        name = (cited.symbol or "").partition("=")[0]
        places[f"{cited.file}::{name}" if name else cited.place] = cited
    return tuple(places.values())


def judged(cited: Citation, here: Content) -> FileRange | None:
    """Return where a cited text stands in its own file, the nearest place; None for nowhere."""
    if cited.lines is None:
        return FileRange(cited.file, None) if _is_whole(cited, here) else None
    constant = constant_of(cited)
    if constant is not None:
        lines = stated(cited, here, *constant)
        return None if lines is None else FileRange(cited.file, lines)
    for lines in chain(_exact_places(cited.lines, cited.digest, here), here.folded_places(cited)):
        if _is_within(cited, here, lines):
            return FileRange(cited.file, lines)
    return None


def constant_of(cited: Citation) -> tuple[definitions.Symbol, bytes] | None:
    """Return the name and the value that are cited; None where it is no constant."""
    name, equals, value = (cited.symbol or "").partition("=")
    symbol = definitions.parse_symbol(name) if equals else None
    return None if symbol is None else (symbol, value.encode())


def values_of(
    cited: Citation, here: Content, symbol: definitions.Symbol
) -> list[constants.Assignment]:
    """Return what a file gives to a cited constant; nothing where it has none of that name."""
    if here.is_binary or not here.mentions(symbol.name):
        return []
    near = (cited.lines or (1, 1))[0] - 1
    return constants.assignments(here.lines, symbol, language_of(suffix_of(cited.file)), near)


def stated(
    cited: Citation, here: Content, symbol: definitions.Symbol, value: bytes
) -> Lines | None:
    """Return where a constant is given the cited value, if it is given no other."""
    language = language_of(suffix_of(cited.file))
    found = values_of(cited, here, symbol)
    if not found or not all(constants.same_value(one.value, value, language) for one in found):
        return None
    nearest = min(found, key=lambda one: abs(one.first - (cited.lines or (1, 1))[0]))
    return nearest.first, nearest.last


def _exact_places(lines: Lines, digest: str, here: Content) -> Iterator[Lines]:
    """Yield where a text stands letter for letter: where it stood, then the nearest places."""
    if here.has(lines) and here.digest(lines) == digest:
        yield lines
    size = _size(lines)
    for start in islice(here.places(digest, size, lines[0]), _TRIES_FOLDED):
        yield start, start + size - 1


def _is_whole(cited: Citation, here: Content) -> bool:
    if here.digest() == cited.digest:
        return True
    return cited.folded is not None and here.folded(None, cited.file) == cited.folded


def _is_within(cited: Citation, here: Content, lines: Lines) -> bool:
    """Tell whether a text stands in all that its symbol names, by what is indented less above."""
    symbol = definitions.parse_symbol(cited.symbol or "")
    if symbol is None or not symbol.within:
        return True
    text = here.lines[lines[0] - 1 : lines[1]]
    head = next((at for at, line in enumerate(text) if symbol.name in line), 0)
    return here.is_within(lines[0] - 1 + head, symbol, cited.file)


class _LostTextSighting(NamedTuple):
    """Where a lost text was seen, and how well the place fits: the lowest fits best."""

    fit: tuple[bool, bool, bool, bool, int, str]
    place: FileRange
    weight: int
    is_only: bool


class Hunt:
    """Looks for lost texts in one file after another."""

    def __init__(self, lost: Iterable[Citation]) -> None:
        self._files: list[Citation] = []
        self._symbols: list[tuple[Citation, bytes]] = []
        self._stretches: dict[int, list[tuple[Citation, Lines]]] = {}
        self._seen: dict[Citation, list[_LostTextSighting]] = {}
        self.work = 0
        """How many lines were looked at, those where a text may begin once for each such text."""
        for cited in lost:
            symbol = definitions.parse_symbol((cited.symbol or "").partition("=")[0])
            if cited.lines is None:
                self._files.append(cited)
            elif symbol is not None:
                self._symbols.append((cited, symbol.name))
            else:
                alike = self._stretches.setdefault(first_of(cited.digest), [])
                alike.append((cited, cited.lines))

    def look(self, file: str, content: Content, blob: str) -> None:
        """Look into a file."""
        self.work += content.size
        if self._files:
            digest = content.digest()
            for cited in self._files:
                if cited.digest == digest:
                    self._note(cited, FileRange(file, None), content, blob, is_only=True)
        for cited, name in self._symbols:
            if content.mentions(name):
                self.work += content.size
                place = judged(msgspec.structs.replace(cited, file=file), content)
                if place is not None:
                    self._note(cited, place, content, blob, is_only=True)
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

    def saw(self, cited: Citation) -> bool:
        """Tell whether a lost text was seen anywhere, however surely."""
        return cited in self._seen

    def found(self, cited: Citation, *, everywhere: bool) -> FileRange | None:
        """Return where a lost text stands, if that is beyond doubt.

        With `everywhere` every file was looked into: what was seen once is there once.
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
    """Return the checksum of a text's first line; one that pmem never wrote fits no line."""
    try:
        return int(digest.partition("-")[0], 16)
    except ValueError:
        return -1


def suffix_of(file: str) -> str:
    """Return the end of a file's name from its last dot on."""
    return _parts(file)[2]


def _parts(file: str) -> tuple[str, str, str]:
    """Return the folder, the name and the suffix of a file."""
    folder, _, name = file.rpartition("/")
    return folder, name, name[name.rfind(".") :] if "." in name[1:] else ""


def _size(lines: Lines) -> int:
    return lines[1] - lines[0] + 1


def _hash(lines: Sequence[bytes]) -> str:
    return blake2b(b"\n".join((*lines, b"")), digest_size=_HASH_BYTES).hexdigest()
