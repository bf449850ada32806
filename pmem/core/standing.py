"""Whether what was cited still stands after a change of its file.

A text stands if it is found as it was, or only reformatted (`core.code.folding`), also with other
quotes where a language has two that mean the same.
"""

from functools import cached_property
from typing import Final

import msgspec

from pmem.core.citations import LEAST, Content, FileRange, Lines, constant_of, judged, suffix_of
from pmem.core.code.languages import language_of
from pmem.values.records import Citation

_TWO_QUOTES: Final = ("python", "script")


class FileVersion:
    """What a file holds, by name and bytes, at one end of a change."""

    def __init__(self, name: str, data: bytes) -> None:
        self.name = name
        self.size = len(data)
        self.content = Content(data)
        self._data = data

    def place(self, cited: Citation) -> FileRange | None:
        """Return where a text is cited or stands here, whatever file it names; None for nowhere."""
        return judged(msgspec.structs.replace(cited, file=self.name), self.content)

    def weight(self, lines: Lines | None) -> int:
        """Return how many letters and digits lines have; see `Content.weight`."""
        return self.content.weight(lines)

    def says_the_same(self, other: "FileVersion") -> bool:
        """Tell whether two versions differ in nothing but their format."""
        if self.content.digest() == other.content.digest():
            return True
        folded = self.with_one_quote.folded(None, self.name)
        return folded is not None and folded == other.with_one_quote.folded(None, other.name)

    @cached_property
    def with_one_quote(self) -> Content:
        """The content with one kind of quotes, where the language has two that mean the same."""
        if language_of(suffix_of(self.name)).literals not in _TWO_QUOTES:
            return self.content
        return Content(self._data.replace(b"'", b'"'))


def stands_after(cited: Citation, before: FileVersion, after: FileVersion) -> bool:
    """Tell whether a text that stood in one version of a file stands in another one.

    Args:
        cited: The citation.
        before: The version that has it.
        after: The other one, which may have another name.
    """
    if after.place(msgspec.structs.replace(cited, folded=None)) is not None:
        return True
    place = before.place(cited)
    if place is None or before.content.is_binary or constant_of(cited) is not None:
        return False
    there = before.with_one_quote
    again = Citation(
        file=after.name,
        lines=place.lines,
        digest=there.digest(place.lines),
        folded=there.folded(place.lines, before.name),
    )
    return judged(again, after.with_one_quote) is not None


def went_to(
    cited: Citation, home: FileVersion, before: FileVersion | None, after: FileVersion
) -> bool:
    """Tell whether a text that its file lost came to another file in the same change.

    Args:
        cited: The citation.
        home: Its file before the change.
        before: The other file before the change; None where it is new.
        after: The other file after it.
    """
    place = home.place(cited)
    if place is None or home.weight(place.lines) < LEAST:
        return False
    return stands_after(cited, home, after) and not (
        before is not None and stands_after(cited, home, before)
    )
