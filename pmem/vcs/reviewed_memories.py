"""The memories on both sides of a change: those that may have to do with it, and no others."""

from collections.abc import Collection, Iterable, Iterator
from functools import cached_property
from typing import Final

from pmem.core.filters import Filter
from pmem.core.retention import valid_at
from pmem.core.selection import Selection
from pmem.errors import PmemError
from pmem.project.workspace import Workspace
from pmem.storage.files.listing import SUFFIX
from pmem.storage.git.changed_files import ChangedPath
from pmem.storage.git.revision import Tree
from pmem.values.records import STORES, Memory, State

_MOST_ASKED: Final = 100
"""Of more files than these each memory is looked at, instead of asking the index for each file."""
_KEYS: Final = (b'"citations"', b'"places"')
"""What stands in the file of a memory that rests on a file, or applies to some."""


class ReviewedMemories:
    """The memories after a change, and which of them the change wrote.

    Args:
        before: The memory before the change; None where there was none.
        after: The memory after it.
        own: The files of the memory folder that it changes.
        touched: The other files that it changes.
        place: The memory folder's path from the top.
    """

    def __init__(
        self,
        before: Workspace | None,
        after: Workspace,
        own: Iterable[ChangedPath],
        touched: Iterable[ChangedPath],
        place: str,
    ) -> None:
        self._before, self._after = before, after
        self._own, self._place = own, place
        self._files = {name for one in touched for name in (one.before, one.after) if name}

    @cached_property
    def active(self) -> dict[str, Memory]:
        """Those that hold after the change and may have to do with it, by id."""
        at = self._after.now()
        known = (one for one in self._concerned() if one.state is State.ACTIVE)
        return {one.id: one for one in known if valid_at(one, at)}

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

    def _concerned(self) -> Collection[Memory]:
        """Return at least the memories that may have to do with the change, in order of id."""
        written = self.written.values()
        others = {tie.target for one in written for tie in one.relationships}
        if any(one.subject for one in written):  # they may clash with any
            return list(self._after.memories.find(Filter()))
        tree = self._after.whole
        if isinstance(tree, Tree):
            files = tree.bytes_of(Memory, tree.ids(Memory))
            naming = {id_ for id_, data in files if data and any(key in data for key in _KEYS)}
            ids = (naming | others | self._names()) & set(tree.ids(Memory))
            return list(tree.some(Memory, sorted(ids)))
        if len(self._files) > _MOST_ASKED:
            return list(self._after.memories.find(Filter()))
        wanted = (Selection(wanted=Filter(path=file)) for file in self._files)
        found = {one.id: one for each in wanted for one in self._after.memories.select(each)}
        found |= self.written
        linked = ((id_, _memory(self._after, id_)) for id_ in others - found.keys())
        found |= {id_: one for id_, one in linked if one is not None}
        return [found[id_] for id_ in sorted(found)]

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
