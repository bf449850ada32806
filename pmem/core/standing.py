"""Whether what was cited still stands after a change of its file.

A text stands if it is found as it was, or only reformatted: with other white space, other line
breaks, a comma more before a closing bracket, or, where a language has two that mean the same,
other quotes. What recognises a reformatted text: `core.code.folding`.
"""

from functools import cached_property
from typing import Final

import msgspec

from pmem.core.citations import LEAST, Content, FileRange, Lines, constant_of, judged, suffix_of
from pmem.core.code.folding import FoldedLines, bare_of, folded_digest
from pmem.core.code.languages import Language, language_of
from pmem.core.lines import file_lines
from pmem.values.records import Citation

_TRIES: Final = 16
"""So many places are looked at that may hold a reformatted text."""
_LAYOUT: Final = b" \t\r\n\f\v,\\"
_TWO_QUOTES: Final = ("python", "script")


class FileVersion:
    """What a file holds at one end of a change.

    Args:
        name: The file's name.
        data: Its bytes.
    """

    def __init__(self, name: str, data: bytes) -> None:
        self.name = name
        self.size = len(data)
        self.content = Content(data)
        self._lines = file_lines(data)

    def place(self, cited: Citation) -> FileRange | None:
        """Return where a text is cited or stands in this version; None where it does not."""
        return judged(msgspec.structs.replace(cited, file=self.name), self.content)

    def weight(self, lines: Lines | None) -> int:
        """Return how many letters and digits lines have; see `Content.weight`."""
        return self.content.weight(lines)

    def says_the_same(self, other: "FileVersion") -> bool:
        """Tell whether two versions differ in nothing but their format."""
        if self.content.digest() == other.content.digest():
            return True
        if self.content.is_binary or other.content.is_binary:
            return False
        digest = self.folded(None)
        return digest is not None and digest == other.folded(None)

    def has_reformatted(self, other: "FileVersion", lines: Lines) -> bool:
        """Tell whether lines of another version stand here in another format."""
        digest = None if self.content.is_binary else other.folded(lines)
        if digest is None or other.bare(lines) not in self._bare:
            return False
        places = self._sums.places(bare_of(digest))[:_TRIES]
        return any(self.folded(lines) == digest for lines in places)

    def bare(self, lines: Lines) -> bytes:
        """Return lines without any byte that another format may have or lack."""
        return b"".join(self._plain[lines[0] - 1 : lines[1]]).translate(None, _LAYOUT)

    def folded(self, lines: Lines | None) -> str | None:
        """Return the folded digest of lines, or of the whole file; None where it has too many."""
        first, last = (1, len(self._plain)) if lines is None else lines
        return folded_digest(b"\n".join(self._plain[first - 1 : last]), self._language)

    @property
    def _language(self) -> Language:
        return language_of(suffix_of(self.name))

    @cached_property
    def _plain(self) -> list[bytes]:
        """The lines, with one kind of quotes where a language has two that mean the same."""
        if self._language.literals not in _TWO_QUOTES:
            return self._lines
        return [line.replace(b"'", b'"') for line in self._lines]

    @cached_property
    def _bare(self) -> bytes:
        return self.bare((1, len(self._plain)))

    @cached_property
    def _sums(self) -> FoldedLines:
        return FoldedLines(self._plain)


def stands_after(cited: Citation, before: FileVersion, after: FileVersion) -> bool:
    """Tell whether a text that stood in one version of a file stands in another one."""
    if after.place(msgspec.structs.replace(cited, folded=None)) is not None:
        return True
    place = before.place(cited)
    if place is None or before.content.is_binary or constant_of(cited) is not None:
        return False
    if place.lines is None:
        return before.says_the_same(after)
    return after.has_reformatted(before, place.lines)


def went_to(
    cited: Citation, home: FileVersion, before: FileVersion | None, after: FileVersion
) -> bool:
    """Tell whether a text that its file lost came to another file in the same change."""
    place = home.place(cited)
    if place is None or home.weight(place.lines) < LEAST:
        return False
    return stands_after(cited, home, after) and not (
        before is not None and stands_after(cited, home, before)
    )
