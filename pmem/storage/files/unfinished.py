"""A commit of several files that is real and not rolled forward yet, as readers meet it."""

import os
import time
from collections.abc import Callable, Iterable
from typing import Final

from pmem.errors import Locked, StorageRefused
from pmem.storage.files import durable
from pmem.storage.files.lock import LOCK, writer_lock
from pmem.storage.files.recordfile import Stamp

_MOMENT_SECONDS: Final = 0.1
_POLL_SECONDS: Final = 0.002


class UnfinishedCommit:
    """The files of an unfinished commit, if there is one; what a dead writer left is finished.

    A writer that lives holds the lock. It is not waited for: its files are read where they are.

    Args:
        root: The memory folder.
        local: Its untracked folder.
        read_file: Reads a file; see `recordfile.read_bytes`.
        foreign: Says that `local` came with the project, if it did: then nothing in it is used.
        read_only: Write nothing at all.

    Attributes:
        files: For every path that the commit changes, the staged file, or None if it goes.
    """

    def __init__(
        self,
        root: str,
        local: str,
        read_file: Callable[[str], tuple[bytes, Stamp]],
        foreign: Callable[[], str],
        *,
        read_only: bool,
    ) -> None:
        self._root = root
        self._local = local
        self._read_file = read_file
        self._foreign = foreign
        self._read_only = read_only
        self.files = self._looked()

    def let_finish(self) -> None:
        """Give a writer a moment to come to the end of its commit."""
        until = time.monotonic() + _MOMENT_SECONDS
        while self.files and not self._read_only and time.monotonic() < until:
            time.sleep(_POLL_SECONDS)
            self.files = self._looked()

    def finish(self) -> None:
        """Roll the commit forward, if there is one. Hold the writers' lock."""
        if durable.pending(self._local):
            durable.finish(self._root, self._local)
        self.files = {}

    def read_around(self) -> None:
        """Show all of a commit that was cut short."""
        self.files = durable.staged_files(self._root, self._local)

    def names(self, folder: str, listed: Iterable[str]) -> set[str]:
        """Return the names of a folder's files once the commit is finished.

        Args:
            folder: The folder's path.
            listed: What is in it now.
        """
        names = set(listed)
        for path, file in self.files.items():
            if os.path.dirname(path) == folder:
                name = {os.path.basename(path)}
                names = names | name if file else names - name
        return names

    def read(self, path: str) -> tuple[bytes, Stamp]:
        """Return what a record's file holds, or will hold once the commit is finished.

        Raises:
            FileNotFoundError: There is no such file, or the commit removes it.
            Damaged, StorageRefused: See `recordfile.read_bytes`.
        """
        if path not in self.files:
            return self._read_file(path)
        staged = self.files[path]
        if staged is None:
            raise FileNotFoundError(path)
        try:
            return self._read_file(staged)
        except FileNotFoundError:  # it has taken its place meanwhile
            return self._read_file(path)

    def _looked(self) -> dict[str, str | None]:
        if os.path.islink(self._local) or not durable.pending(self._local) or self._foreign():
            return {}
        if not self._read_only:
            try:
                with writer_lock(os.path.join(self._local, LOCK), 0.0):
                    durable.finish(self._root, self._local)
                return {}
            except (StorageRefused, Locked):
                pass
        return durable.staged_files(self._root, self._local)
