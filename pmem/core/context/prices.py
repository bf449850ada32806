"""What the parts of a context cost: what they add to its text when they are counted alone."""

from collections.abc import Iterable, Sequence
from typing import Final

from pmem.core.context.chat_turns import chat_frame
from pmem.core.context.cutting import longest
from pmem.core.context.parts import Counter, Format, Item
from pmem.core.context.writing import TURNS, entry, heading, marker, section
from pmem.values.bounds import CONTEXT_CHARACTERS

SEAM: Final = 2
"""Two texts may count so many tokens less together than apart."""

BEYOND: Final = 10**12
"""What a text costs that is too long for any context."""


class Price:
    """Prices in tokens."""

    def __init__(self, format_: Format, count: Counter, recent: Sequence[Item]) -> None:
        self._format: Format = format_
        self._count = count
        self._known: dict[tuple[str, Item], int] = {}
        self.marker = self._item("recent", marker(recent))
        self.least_marker = self._item("recent", marker(()))

    def frame(self, name: str, longest: int) -> int:
        """A section without its items, so many backticks in a row among them."""
        if longest > CONTEXT_CHARACTERS:
            return BEYOND
        return self._text(section(name, (), self._format, longest))

    def headings(self, headings: Iterable[str]) -> int:
        """Headings within a section."""
        return sum(self._text(heading(text, self._format)) for text in headings)

    def items(self, name: str, items: Iterable[Item]) -> int:
        """Items of the section `name`."""
        return sum(self._item(name, item) for item in items)

    def shared(self, name: str, items: Iterable[Item]) -> int:
        """What items may cost less at the most, where calls and results stand together."""
        if self._format != "messages" or name not in TURNS:
            return 0
        tools = [item for item in items if item.calls or item.answers]
        return sum(2 * (self._text(chat_frame(item)) + SEAM) for item in tools)

    def section(self, name: str, items: Sequence[Item]) -> int:
        """A whole section."""
        return self._text(section(name, items, self._format))

    def _item(self, name: str, item: Item) -> int:
        key = (name, item)
        if longest([item]) > CONTEXT_CHARACTERS:
            return BEYOND
        if key not in self._known:
            self._known[key] = self._text(entry(name, item, self._format))
        return self._known[key]

    def _text(self, text: str) -> int:
        return self._count(text) if text else 0
