"""How a context shows the memories of a category: always, when they are found, or not at all."""

from collections import Counter
from collections.abc import Mapping
from typing import Final

from pmem.core.policy import PROCEDURAL, is_procedural
from pmem.values.records import Memory

_STRICTEST: Final = ("none", "rag", "", "all")


def mode_of(memory: Memory, modes: Mapping[str, str]) -> str:
    """Return how a context shows a memory: `all`, `rag`, `none`, or `` for the usual way.

    What tells how something is done is also of the category `procedural`, whatever its own; the
    stricter of the two modes holds.
    """
    mode = modes.get(memory.category, "")
    if is_procedural(memory):
        return min(mode, modes.get(PROCEDURAL, mode), key=_STRICTEST.index)
    return mode


class Lengths:
    """Counts the memories that were found, of each category that is shown by `rag`."""

    def __init__(self, modes: Mapping[str, str], most: Mapping[str, int]) -> None:
        self._modes = modes
        self._most = most
        self._seen: Counter[str] = Counter()

    def take(self, memory: Memory) -> bool:
        """Tell whether there is still room for a memory of its category, and take it."""
        if mode_of(memory, self._modes) != "rag" or memory.category not in self._most:
            return True
        self._seen[memory.category] += 1
        return self._seen[memory.category] <= self._most[memory.category]
