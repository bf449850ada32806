"""The search indexes that a process keeps open, each lent to one search at a time."""

import os
import time
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final

import msgspec

if TYPE_CHECKING:
    from pmem.storage.index.search import RecordSource, SearchIndex

TRUST_SECONDS: Final = 0.25
"""How long a process goes without looking at every file again."""
MOST_IDLE: Final = 4
"""So many indexes stay open between searches, however many searched at once."""

_Look = tuple[object, list[int]]
"""What can be told without a look at the files: our last write, and the folders' times."""


class _Open(msgspec.Struct, frozen=True):
    """An open index, what was so before it was brought up to date, and until when that counts."""

    pool: Any
    look: _Look
    until: float


class Searchers:
    """Keeps indexes open from one search to the next; any number of threads may search at once.

    A search that follows another within a moment does not look at every file again, unless
    this process has written or a store folder's own time has changed since.
    """

    def __init__(self) -> None:
        self._idle: deque[_Open] = deque()  # its ends are changed by one thread at a time
        self._written = object()

    def __del__(self) -> None:
        self.close()

    @contextmanager
    def lent(
        self, local: str, folders: Sequence[str], records: "RecordSource"
    ) -> Iterator["SearchIndex | None"]:
        """Lend an index that is up to date, or None where none can be kept.

        Args:
            local: The untracked folder that holds it.
            folders: The stores' folders.
            records: Whose index it is.
        """
        look = (self._written, [_folder_changed_at(folder) for folder in folders])
        found = self._trusted(look) or _open_index(local, look, records)
        if found is None:
            yield None
            return
        found.pool.records = records
        try:
            yield found.pool
        finally:
            self._take_back(found)

    def expire(self) -> None:
        """Look at every file at the next search: this process has written."""
        self._written = object()

    def close(self) -> None:
        """Let go of the files; the next search opens one again."""
        while self._idle:
            found = self._next()
            if found is not None:
                found.pool.close()

    def _trusted(self, look: _Look) -> _Open | None:
        """Return an index that needs no look; those that need one are closed."""
        while (found := self._next()) is not None:
            if found.look == look and time.monotonic() <= found.until:
                return found
            found.pool.close()
        return None

    def _next(self) -> _Open | None:
        try:
            return self._idle.pop()
        except IndexError:  # another thread was quicker
            return None

    def _take_back(self, found: _Open) -> None:
        found.pool.records = None
        if found.pool.is_open and len(self._idle) < MOST_IDLE:
            self._idle.append(found)
        else:
            found.pool.close()


def _open_index(local: str, look: _Look, records: "RecordSource") -> _Open | None:
    from pmem.storage.index.search import open_index

    index = open_index(local, records)
    return None if index is None else _Open(index, look, time.monotonic() + TRUST_SECONDS)


def _folder_changed_at(folder: str) -> int:
    """Return when a name in a folder last changed, in nanoseconds; zero without a folder."""
    try:
        return os.stat(folder).st_mtime_ns
    except OSError:
        return 0
