"""Which records git has: in its index, for the next commit, and in the last commit."""

import os
from collections.abc import Callable, Container, Mapping
from functools import cached_property
from typing import Final

from pmem.errors import Damaged, NotFound, PmemError
from pmem.storage.files.listing import record_file
from pmem.storage.files.worktree import top_of
from pmem.storage.git.repository import Repository
from pmem.storage.git.revision import Tree
from pmem.values.records import STORES, Record, RecordType

INDEX_FILE: Final = "GIT_INDEX_FILE"
"""The variable by which git tells a hook which index is going to be committed."""


class Staged(Tree):
    """The records as the next commit is going to have them.

    Files are named by the paths that they have on disk: that is where people mend them.

    Args:
        repository: Whose index.
        folder: The memory folder.
        environment: The environment's variables; `GIT_INDEX_FILE` counts where it names an
            index of this very work tree.
    """

    def __init__(self, repository: Repository, folder: str, environment: Mapping[str, str]) -> None:
        self.top = repository.top()
        self.own_folder = repository.own_folder()
        self.index = self._index_file(environment)
        held = repository.staging(self.index)
        super().__init__(repository, held.files, "the index")
        self.files = held.files
        self.unmerged = held.unmerged
        self.changes = repository.changes(self.index)
        self._folder = folder
        self._data: dict[str, bytes] = {}

    def where(self, path: str) -> str:
        """Return a path in the memory folder as it is on disk."""
        return os.path.join(self._folder, path).encode("utf-8", "backslashreplace").decode()

    def data(self, where: str) -> bytes:
        """Return what a record's file that was read holds; nothing where it was not."""
        return self._data.get(where, b"")

    def text(self, path: str) -> bytes:
        """Return what a file that is no record holds; nothing where it is no plain file."""
        try:
            return self.file(path) or b""
        except Damaged:
            return b""

    def _parsed(self, type_: RecordType, name: str, data: bytes | None) -> Record | PmemError:
        self._data[self.where(record_file(STORES[type_], name))] = data or b""
        return super()._parsed(type_, name, data)

    def _index_file(self, environment: Mapping[str, str]) -> str:
        """Return the index that git gave to the hook we are in; none where we are in no hook.

        A hook of another repository may look at this memory, too; its index says nothing here.
        """
        given = environment.get(INDEX_FILE, "")
        path = os.path.join(self.top, given)
        if not given or not os.path.isfile(path):
            return ""
        if os.path.realpath(os.path.dirname(path)) == os.path.realpath(self.own_folder):
            return path
        try:
            here = Repository(os.getcwd(), environment).top()
        except NotFound:
            return ""
        return path if here == self.top else ""


class HeldByGit:
    """Asks git once, and not before it must."""

    def __init__(self, root: str, environment: Mapping[str, str]) -> None:
        self._root = root
        self._repository = Repository(root, environment)

    def is_committed(self, record: Record) -> bool:
        """Tell whether the last commit has a record's file; yes where git cannot tell."""
        return self._committed is None or _path(record) in self._committed

    def staged(self, record: Record) -> str:
        """Return the path of a record's file in the memory folder, if git has it staged."""
        path = _path(record)
        return path if path in self._staged else ""

    @cached_property
    def _committed(self) -> Container[str] | None:
        git = self._repository
        return self._asked(lambda: git.files(git.head_or_nothing()), None)

    @cached_property
    def _staged(self) -> Container[str]:
        return self._asked(lambda: self._repository.staging("").files, ()) or ()

    def _asked(
        self, ask: Callable[[], Container[str]], unknown: Container[str] | None
    ) -> Container[str] | None:
        if top_of(self._root) is None:
            return ()
        try:
            return ask()
        except PmemError:
            return unknown


def _path(record: Record) -> str:
    return record_file(STORES[type(record)], record.id)
