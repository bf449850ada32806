"""The few lines that a prompt is given: a fence that no memory can close, within a length."""

from collections.abc import Iterable, Iterator
from typing import Final

import msgspec

from pmem.core.context.cutting import LEAST_KEPT, cut
from pmem.core.context.parts import Chosen, Item
from pmem.core.context.writing import write
from pmem.memory.reading import Staleness
from pmem.project.workspace import Workspace
from pmem.search.context_items import episode_item, memory_item
from pmem.search.hits import LoadedHit, SearchKind

MOST_ITEMS: Final = 5


class PromptText:
    """What answers a prompt, as it fills up.

    Args:
        workspace: Whose memory it is.
        longest: Characters at the most; bytes with `in_bytes`.
        in_bytes: Whether bytes are counted.
    """

    def __init__(self, workspace: Workspace, longest: int, *, in_bytes: bool) -> None:
        self._workspace = workspace
        self._longest = longest
        self._in_bytes = in_bytes
        self._items: list[Item] = []

    def add(self, found: Iterable[LoadedHit]) -> Iterator[tuple[str, str]]:
        """Take what there is room for, and yield the id and the whole text of each.

        Args:
            found: What answers, the best first.
        """
        staleness = Staleness(self._workspace)
        for one in found:
            if len(self._items) == MOST_ITEMS:
                return
            item = memory_item(one.document) if _is_memory(one) else episode_item(one)
            item = self._workspace.mask.fields(item)
            stale = staleness(one.document)
            if stale:
                item = msgspec.structs.replace(item, label=f"{item.label}(stale: {stale[0]}) ")
            if self._take(item):
                text = item.text if _is_memory(one) else one.document.summary
                yield item.id, text if _is_memory(one) else self._workspace.mask.text(text)

    def written(self, *further: Item) -> str:
        """Return the text.

        Args:
            further: What stands at its end, as a trial.
        """
        chosen = Chosen(
            title=f"Memory of {self._workspace.settings.project_name}",
            sections={"recalled": [*self._items, *further]},
            recent=(),
            receipt="",
        )
        return write(chosen, "markdown").rstrip("\n")

    def _take(self, item: Item) -> bool:
        """Take an item if there is room; the first one also cut."""
        left = self._left(item)
        if left < 0 and not self._items:
            kept = len(item.text)
            while left < 0 and kept > LEAST_KEPT:
                kept = max(LEAST_KEPT, kept * 3 // 4)
                (shorter,) = cut([item], kept)
                left = self._left(shorter)
            item = shorter if left >= 0 else item
        if left >= 0:
            self._items.append(item)
        return left >= 0

    def _left(self, item: Item) -> int:
        text = self.written(item)
        return self._longest - (len(text.encode()) if self._in_bytes else len(text))


def _is_memory(found: LoadedHit) -> bool:
    return found.kind is SearchKind.MEMORY
