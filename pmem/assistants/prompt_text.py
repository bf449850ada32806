"""The few lines that a prompt is given: a fence that no memory can close, within a length."""

from collections.abc import Iterable, Iterator
from typing import Final

import msgspec

from pmem.core.context.parts import YOURS, Item
from pmem.core.context.writing import LEAST_KEPT, cut, fence_of
from pmem.core.own_words import ON_PROMPT
from pmem.memory.reading import Staleness
from pmem.project.workspace import Workspace
from pmem.search.context_items import episode_item, memory_item
from pmem.search.hits import LoadedHit, SearchKind

MOST_ITEMS: Final = 5
MOST_OF_OWN: Final = 2
"""And so many of the memory of whoever asks."""


class PromptText:
    """What answers a prompt, as it fills up.

    `longest` counts characters, or bytes with `in_bytes`.
    """

    def __init__(self, workspace: Workspace, longest: int, *, in_bytes: bool) -> None:
        self._workspace = workspace
        self._longest = longest
        self._in_bytes = in_bytes
        self._items: list[Item] = []
        self._own: list[Item] = []

    def add(self, found: Iterable[LoadedHit]) -> Iterator[tuple[str, str]]:
        """Take what there is room for, and yield the id and the whole text of each."""
        yield from self._added(self._workspace, found, self._items, MOST_ITEMS)

    def add_own(self, own: Workspace, found: Iterable[LoadedHit]) -> Iterator[tuple[str, str]]:
        """Do the same for what is not the project's but of the memory of whoever asks."""
        yield from self._added(own, found, self._own, MOST_OF_OWN)

    def _added(
        self, place: Workspace, found: Iterable[LoadedHit], items: list[Item], most: int
    ) -> Iterator[tuple[str, str]]:
        staleness = Staleness(place)
        for one in found:
            if len(items) == most:
                return
            is_ours = items is self._items
            item = memory_item(one.document, ids=is_ours) if _is_memory(one) else episode_item(one)
            item = msgspec.structs.replace(place.mask.fields(item), heading="")
            stale = staleness(one.document)
            if stale:
                item = msgspec.structs.replace(item, label=f"{item.label}(stale: {stale[0]}) ")
            if self._take(item, items):
                text = item.text if _is_memory(one) else one.document.summary
                yield item.id, text if _is_memory(one) else place.mask.text(text)

    def written(self) -> str:
        """Return the text."""
        own = [msgspec.structs.replace(item, heading=YOURS) for item in self._own]
        return "\n".join([f"{ON_PROMPT}:", *fence_of([*self._items, *own])])

    def _take(self, item: Item, items: list[Item]) -> bool:
        """Take an item if there is room; the first one also cut."""
        is_first = not self._items and not self._own
        items.append(item)
        kept = len(item.text)
        while self._left() < 0 and is_first and kept > LEAST_KEPT:
            kept = max(LEAST_KEPT, kept * 3 // 4)
            items[-1:] = cut([item], kept)
        if self._left() >= 0:
            return True
        items.pop()
        return False

    def _left(self) -> int:
        text = self.written()
        return self._longest - (len(text.encode()) if self._in_bytes else len(text))


def _is_memory(found: LoadedHit) -> bool:
    return found.kind is SearchKind.MEMORY
