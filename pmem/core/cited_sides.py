"""A citation side by side: the text that a memory cites, and the file's text now."""

import re
from collections.abc import Sequence
from functools import cached_property
from typing import Final, NamedTuple

import msgspec

from pmem.core.citations import (
    LEAST,
    CitationState,
    Content,
    FileRange,
    Lines,
    constant_of,
    judged,
    suffix_of,
    values_of,
)
from pmem.core.code.languages import language_of
from pmem.core.lines import shortened
from pmem.core.secrets import find_named, redacted, unsecret
from pmem.values.records import Citation

_SHOWN: Final = 60
"""Characters of a side that are shown."""
_KEPT: Final = 1000
"""Characters of a side that are compared with a memory's text."""
_NUMBER: Final = re.compile(r"(?<![\w.])\d[\d_,]*(?:\.\d[\d_]*)?(?![\w])")
_QUOTED: Final = re.compile(r'"([^"\n]+)"|\'([^\'\n]+)\'')
_SEPARATORS: Final = re.compile(r"(?<=\d)[_,](?=\d)")


class Sides(NamedTuple):
    """What was cited and what stands in its place, each on one line, without secrets.

    `is_value` says that they are values of a constant, and no lines of code.
    """

    was: str
    now: str
    is_value: bool

    @property
    def said(self) -> str:
        """Both in one sentence."""
        was, now = shortened(self.was, _SHOWN), shortened(self.now, _SHOWN)
        if not self.is_value:
            was, now = f'"{was}"', f'"{now}"'
        return f"cited {was}, the code says {now}"

    def old_value_in(self, text: str) -> str:
        """Return an old value that a memory's text still has; nothing if it has a new one, too."""
        was, now = self._values(self.was), self._values(self.now)
        if any(_has(text, value) for value in now if value not in was):
            return ""
        return next((value for value in was if value not in now and _has(text, value)), "")

    def _values(self, side: str) -> list[str]:
        """Return the numbers and the quoted texts of a side, and all of a constant's value."""
        quoted = [one or other for one, other in _QUOTED.findall(side)]
        whole = [_plain(side.strip("\"'"))] if self.is_value else []
        return [*whole, *quoted, *map(_plain, _NUMBER.findall(side))]


def _plain(number: str) -> str:
    return _SEPARATORS.sub("", number)


def _has(text: str, value: str) -> bool:
    """Tell whether a text has a value as words of its own."""
    return bool(re.search(rf"(?<![\w.]){re.escape(value)}(?!\w|\.\d)", _plain(text)))


def sides_of_constant(cited: Citation, here: Content) -> Sides | None:
    """Return a constant's value as it is cited and as a file has it; None for no constant."""
    constant = constant_of(cited)
    found = values_of(cited, here, constant[0]) if constant else []
    if constant is None or not found:
        return None
    name = (cited.symbol or "").partition("=")[0]
    values = (" ".join(one.value.decode("utf-8", "replace").split()) for one in found)
    now = dict.fromkeys(redacted(value, find_named(name, value)) for value in values)
    return Sides(constant[1].decode("utf-8", "replace"), " and ".join(now), is_value=True)


def sides_of_lines(was: Sequence[str], now: Sequence[str]) -> Sides | None:
    """Return the lines in which two texts differ, each on one line; None if one side has none."""
    before, after = ([line.strip() for line in lines] for lines in (was, now))
    while before and after and before[0] == after[0]:
        before, after = before[1:], after[1:]
    while before and after and before[-1] == after[-1]:
        before, after = before[:-1], after[:-1]
    one, other = (unsecret(" ".join(lines)[:_KEPT]).strip() for lines in (before, after))
    return Sides(one, other, is_value=False) if one and other else None


def what_became(place: str, state: CitationState, sides: Sides | None) -> str:
    """Say what became of a citation: both sides where they are known, else its state."""
    if sides is None:
        return f"{place} {state}"
    return f"{place.partition('=')[0] if sides.is_value else place}: {sides.said}"


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
    """Tell whether a text that stood in one version of a file stands in another one."""
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
    """Tell whether a text that its file lost came to another file in the same change."""
    place = home.place(cited)
    if place is None or home.weight(place.lines) < LEAST:
        return False
    return stands_after(cited, home, after) and not (
        before is not None and stands_after(cited, home, before)
    )
