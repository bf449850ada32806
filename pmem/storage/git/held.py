"""Which records git has: in the last commit, or staged for the next one."""

from collections.abc import Callable, Container, Mapping
from functools import cached_property

from pmem.errors import PmemError
from pmem.storage.files.listing import SUFFIX
from pmem.storage.files.worktree import top_of
from pmem.storage.git.repository import Repository
from pmem.values.records import STORES, Record


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
    return f"{STORES[type(record)]}/{record.id}{SUFFIX}"
