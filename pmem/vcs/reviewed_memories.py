"""The memories on both sides of a change: those that may have to do with it, and no others."""

from collections.abc import Iterable, Iterator
from functools import cached_property

from pmem.core.filters import Filter
from pmem.core.retention import valid_at
from pmem.errors import PmemError
from pmem.project.workspace import Workspace
from pmem.storage.files.listing import SUFFIX
from pmem.storage.git.changed_files import ChangedPath
from pmem.storage.git.revision import Tree
from pmem.values.records import STORES, Memory


class ReviewedMemories:
    """The memories after a change, and which of them the change wrote.

    Args:
        before: The memory before the change; None where there was none.
        after: The memory after it.
        own: The files of the memory folder that it changes.
        place: The memory folder's path from the top.
    """

    def __init__(
        self,
        before: Workspace | None,
        after: Workspace,
        own: Iterable[ChangedPath],
        place: str,
    ) -> None:
        self._before, self._after = before, after
        self._own, self._place = own, place

    @cached_property
    def active(self) -> dict[str, Memory]:
        """Those that hold after the change, by id."""
        at = self._after.now()
        return {one.id: one for one in self._after.memories.find(Filter()) if valid_at(one, at)}

    @cached_property
    def written(self) -> dict[str, Memory]:
        """Those that the change wrote, in any state, by id."""
        found = ((id_, _memory(self._after, id_)) for id_ in sorted(self._names()))
        return {id_: one for id_, one in found if one is not None}

    @property
    def added(self) -> Iterator[Memory]:
        """Those that the change added, and that hold after it."""
        return (one for one in self.active.values() if self.is_new(one))

    def is_new(self, memory: Memory) -> bool:
        """Tell whether the change added a memory."""
        return memory.id in self.written and memory.id not in self._known

    def earlier(self, memory: Memory) -> Memory | None:
        """Return a memory as it was before the change; None where it was not, or is unreadable."""
        if memory.id not in self.written:
            return memory
        return None if self._before is None else _memory(self._before, memory.id)

    @cached_property
    def _known(self) -> frozenset[str]:
        return frozenset(() if self._before is None else self._before.memories.ids())

    def _names(self) -> set[str]:
        """Return the ids of what the change wrote, and of what git does not track yet."""
        store = f"{self._place}{STORES[Memory]}/"
        names = (one.after or "" for one in self._own)
        inside = {name.removeprefix(store) for name in names if name.startswith(store)}
        found = {name.removesuffix(SUFFIX) for name in inside if name.endswith(SUFFIX)}
        if isinstance(self._after.whole, Tree) or self._before is None:
            return found
        return found | set(self._after.memories.ids()) - self._known


def _memory(view: Workspace, identifier: str) -> Memory | None:
    try:
        return view.memories.get(identifier)
    except PmemError:  # reported with the problems of the view
        return None
