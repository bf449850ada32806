"""The indexes that a process keeps open, each lent to one reader at a time."""

import os
import time
from collections import deque
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

import msgspec

if TYPE_CHECKING:
    from pmem.storage.index.index import Index

TRUST_SECONDS: Final = 0.25
"""How long a process goes without looking at every file again."""
MOST_IDLE: Final = 4
"""So many indexes stay open between searches, however many searched at once."""


class LastLook(msgspec.Struct, frozen=True):
    """What could be told without a look at the files when they were looked at last.

    Attributes:
        written: stands for this process's last write.
        folders: when a name in each store's folder changed last, in nanoseconds.
        until: until when that counts, on the monotonic clock.
    """

    written: object
    folders: tuple[int, ...]
    until: float = 0.0


class OpenIndexes:
    """Keeps indexes open from one request to the next; any number of threads may ask at once.

    A search that follows another within a moment does not look at every file again, unless
    this process has written or a store folder's own time has changed since.
    """

    def __init__(self) -> None:
        self._idle: deque[Any] = deque()  # its ends are changed by one thread at a time
        self._written = object()
        self._trust: LastLook | None = None

    def __del__(self) -> None:
        self.close()

    def lend(self, local: str) -> "Index | None":
        """Return an index as somebody left it, to be given back; None where none can be kept.

        Args:
            local: The untracked folder that holds it.
        """
        index = self._next()
        if index is not None and not index.is_in_place:  # others have thrown it away
            index.close()
            index = None
        return index or _open_index(local)

    def take_back(self, index: "Index") -> None:
        """Keep an index that was lent for whoever asks next, or close it.

        Args:
            index: The index.
        """
        if index.is_open and len(self._idle) < MOST_IDLE:
            self._idle.append(index)
        else:
            index.close()

    def now(self, folders: Sequence[str]) -> LastLook:
        """Return what can be told of the stores' folders without a look at every file.

        Args:
            folders: The stores' folders.
        """
        return LastLook(self._written, tuple(map(_folder_changed_at, folders)))

    def is_current(self, now: LastLook) -> bool:
        """Tell whether the index still is as up to date as searches need it.

        Args:
            now: What can be told at present.
        """
        kept = self._trust
        if kept is None or time.monotonic() > kept.until:
            return False
        return kept.written is now.written and kept.folders == now.folders

    def trust(self, now: LastLook) -> None:
        """Note that every file was looked at.

        Args:
            now: What could be told before that.
        """
        until = time.monotonic() + TRUST_SECONDS
        self._trust = msgspec.structs.replace(now, until=until)

    def expire(self) -> None:
        """Look at every file at the next search: this process has written."""
        self._written = object()

    def close(self) -> None:
        """Let go of the files; the next request opens one again."""
        while (found := self._next()) is not None:
            found.close()

    def _next(self) -> "Index | None":
        try:
            found: Index = self._idle.pop()
        except IndexError:  # another thread was quicker
            return None
        return found


def _open_index(local: str) -> "Index | None":
    from pmem.storage.index.index import open_index

    return open_index(local)


def _folder_changed_at(folder: str) -> int:
    """Return when a name in a folder last changed, in nanoseconds; zero without a folder."""
    try:
        return os.stat(folder).st_mtime_ns
    except OSError:
        return 0
