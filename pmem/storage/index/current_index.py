"""The index of a memory folder, brought up to date whenever it is asked."""

import os
import sqlite3
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final, TypeVar

import msgspec

from pmem.storage.files import durable, listing
from pmem.storage.files.recordfile import Stamp
from pmem.storage.index.database import NONSENSE
from pmem.values.fields import Progress, ignore_progress
from pmem.values.records import STORES, Record

if TYPE_CHECKING:
    from pmem.storage.index.index import Index
    from pmem.storage.index.records import ReadRecord
    from pmem.storage.record_files import RecordFiles

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

    Attributes:
        tell: is told how many of very many records have been read.
    """

    def __init__(self) -> None:
        self.tell: Progress = ignore_progress
        self._idle: deque[Any] = deque()  # its ends are changed by one thread at a time
        self._written = object()
        self._trust: LastLook | None = None

    def __del__(self) -> None:
        self.close()

    def lend(self, local: str) -> "Index | None":
        """Return an index as somebody left it, to be given back; None where none can be kept."""
        index = self._next()
        if index is not None and not index.is_in_place:  # others have thrown it away
            index.close()
            index = None
        if index is not None:
            return index
        from pmem.storage.index.index import open_index

        return open_index(local)

    def take_back(self, index: "Index") -> None:
        """Keep an index that was lent for whoever asks next, or close it."""
        if index.is_open and len(self._idle) < MOST_IDLE:
            self._idle.append(index)
        else:
            index.close()

    def now(self, folders: Sequence[str]) -> LastLook:
        """Return what can be told of the stores' folders without a look at every file."""
        return LastLook(self._written, tuple(map(_folder_changed_at, folders)))

    def is_current(self, now: LastLook) -> bool:
        """Tell whether the index still is as up to date as searches need it."""
        kept = self._trust
        if kept is None or time.monotonic() > kept.until:
            return False
        return kept.written is now.written and kept.folders == now.folders

    def trust(self, now: LastLook) -> None:
        """Note that every file was looked at."""
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


def _folder_changed_at(folder: str) -> int:
    """Return when a name in a folder last changed, in nanoseconds; zero without a folder."""
    try:
        return os.stat(folder).st_mtime_ns
    except OSError:
        return 0


T = TypeVar("T")


class CurrentIndex:
    """The index as the files are now. It is one thread's at a time."""

    def __init__(self, local: str, indexes: OpenIndexes, files: "RecordFiles") -> None:
        self._local = local
        self._indexes = indexes
        self._files = files
        self._looked: set[type[Record]] = set()
        self._moments = 0
        self._held: Index | None = None
        self._is_refused = False  # others hold it, say: nobody waits for it twice in a moment

    @contextmanager
    def moment(self) -> Iterator[None]:
        """Let one look at the files do for everything that is asked meanwhile."""
        self._moments += 1
        try:
            yield
        finally:
            self._moments -= 1
            if not self._moments:
                self._is_refused = False
                self.forget()
                self.let_go()

    def forget(self) -> set[type[Record]]:
        """Look at all files again, even within a moment; return those that were looked at."""
        looked, self._looked = self._looked, set()
        return looked

    def let_go(self) -> None:
        """Give back the index of this moment: it may be that none can be believed any more."""
        index, self._held = self._held, None
        if index is not None:
            self._indexes.take_back(index)

    def ask(
        self, types: Sequence[type[Record]], question: "Callable[[Index], T]"
    ) -> tuple[T] | None:
        """Ask the index; None where no index can be kept."""
        return self._asked(question, lambda index: self._look(index, types))

    def search(self, question: "Callable[[Index], T]") -> tuple[T] | None:
        """Search the index; it need not be as of this very moment."""
        return self._asked(question, self._look_to_search)

    def teach(
        self, written: "Mapping[type[Record], Mapping[str, tuple[Stamp, ReadRecord] | None]]"
    ) -> None:
        """Tell the index what has just been written to stores that were looked at before."""

        def learn(index: "Index") -> None:
            for type_, learnt in written.items():
                index.learn(STORES[type_], learnt)

        if written:
            self._asked(learn, lambda index: ())

    def _asked(
        self,
        question: "Callable[[Index], T]",
        prepare: "Callable[[Index], object]",
    ) -> tuple[T] | None:
        for is_new in (False, True):  # a broken index is made again, once
            index = self._taken()
            if index is None:
                return None
            try:
                prepare(index)
                return (question(index),)
            except NONSENSE as error:
                if is_new and not isinstance(error, sqlite3.Error):
                    raise  # pmem is wrong, not what it has just written
                self._looked.clear()
                self._indexes.expire()
                if not index.give_up(error):
                    self._is_refused = bool(self._moments)
                    return None
            except FileNotFoundError:  # others removed a record while we looked
                return None
            finally:
                self._put_back(index)
        return None

    def _taken(self) -> "Index | None":
        """Take the index of this moment, or another one while that is asked something."""
        index, self._held = self._held, None
        if index is not None:
            return index
        if self._is_refused or not self._files.has_index or not _make_folder(self._local):
            return None
        index = self._indexes.lend(self._local)
        self._is_refused = index is None and bool(self._moments)
        return index

    def _put_back(self, index: "Index") -> None:
        if self._moments and self._held is None and index.is_open:
            self._held = index
            return
        self._indexes.take_back(index)
        if not self._moments:
            self._looked.clear()

    def _look_to_search(self, index: "Index") -> None:
        """Look at every file, unless that was done a moment ago and nothing tells of a change."""
        missing = [type_ for type_ in STORES if type_ not in self._looked]
        now = self._indexes.now([self._files.folder(type_) for type_ in STORES])
        if missing and self._indexes.is_current(now):
            missing = []
        self._update(index, missing, post=True)
        if len(missing) == len(STORES):
            self._indexes.trust(now)
        self._looked.update(STORES)
        self._tell(index, tuple(STORES))

    def _look(self, index: "Index", types: Sequence[type[Record]]) -> None:
        missing = [type_ for type_ in types if type_ not in self._looked]
        if missing:
            self._update(index, missing, post=False)
            self._tell(index, missing)
            self._looked.update(missing)

    def _update(self, index: "Index", types: Sequence[type[Record]], *, post: bool) -> None:
        folders = {STORES[type_]: type_ for type_ in types}
        from pmem.storage.index.records import Files

        files = Files(
            lambda store: listing.look(self._files.folder(folders[store])),
            lambda store, names: self._files.read_files(folders[store], names),
            self._indexes.tell,
        )
        index.update(list(folders), files, post=post)

    def _tell(self, index: "Index", types: Sequence[type[Record]]) -> None:
        for type_ in types:
            self._files.note_problems(type_, index.unusable(STORES[type_]))


def _make_folder(folder: str) -> bool:
    """Make a folder where there is none; tell whether there is one now."""
    try:
        durable.make_folder(folder)
    except OSError:
        return False
    return True
