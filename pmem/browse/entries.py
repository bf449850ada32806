"""The list of a browser: memories, or what waits for somebody."""

from collections.abc import Sequence

from textual.content import Content
from textual.widgets import OptionList
from textual.widgets.option_list import Option

from pmem.browse.drawing import draw_item, draw_row
from pmem.core.inbox import InboxItem
from pmem.values.records import Memory

Entry = Memory | InboxItem


class EntryList(OptionList):
    """A list that stands on one of its entries, if it has any."""

    _entries: Sequence[Entry] = ()

    @property
    def entry(self) -> Entry | None:
        """What the list stands on."""
        place = self.highlighted
        return self._entries[place] if place is not None and place < len(self._entries) else None

    def fill(self, entries: Sequence[Entry], *, stay: bool = False) -> None:
        """List other entries.

        Args:
            entries: In their order.
            stay: Whether to stand on the same row as before, if there is one, and not on the first.
        """
        place = (self.highlighted or 0) if stay else 0
        self._entries = entries
        self.clear_options().add_options([Option(_draw(each)) for each in entries])
        self.highlighted = min(place, len(entries) - 1) if entries else None


def _draw(entry: Entry) -> Content:
    return draw_row(entry) if isinstance(entry, Memory) else draw_item(entry)
