"""The disposable index beside the files: delete it, and the next command makes it again.

It keeps every record as its file held it at the last look, what selecting and comparing needs,
and what searches need. It is brought up to date by the next command that asks it, whoever has
changed the files. A command that finds it locked, broken or unwritable does without.
"""

import os
import sqlite3
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final, NamedTuple

from pmem.storage.files import safe_files
from pmem.storage.files.recordfile import Stamp
from pmem.storage.index import records
from pmem.storage.index.database import FILE, connect, is_at_fault, rolled_back, snapshot, trusted
from pmem.storage.index.errors import BrokenIndex
from pmem.storage.index.indexed_records import IndexedRecords
from pmem.storage.index.records import Look, Reader, ReadRecord

if TYPE_CHECKING:
    from pmem.storage.index.search import SearchIndex


_FORMER: Final = "search.sqlite3"
"""What older versions kept beside it; it only takes room now."""


class UnusableFile(NamedTuple):
    """Why a file cannot be used: the machine code, and one sentence."""

    code: str
    message: str


class Index:
    """An open index; it is one thread's at a time.

    Every method but `close` raises `BrokenIndex` where the index holds nonsense, or cannot be
    used now.

    Args:
        path: The database's file.
        connection: The open database.

    Attributes:
        records: What can be asked about records.
    """

    def __init__(self, path: str, connection: sqlite3.Connection) -> None:
        self.is_open = True
        self._path = path
        self._connection = connection
        self._inode = _inode_of(path)
        self.records = IndexedRecords(connection)

    @property
    def is_in_place(self) -> bool:
        """Whether the database that is open is still the one that others find."""
        return _inode_of(self._path) == self._inode

    def close(self) -> None:
        """Let go of the file."""
        self.is_open = False
        self._connection.close()

    def give_up(self, error: BrokenIndex) -> bool:
        """Let go of the file, and throw it away if it is at fault: the next look makes it again.

        Returns:
            Whether it was thrown away.
        """
        self.close()
        at_fault = is_at_fault(error)
        if at_fault:
            safe_files.discard(self._path)
        return at_fault

    def update(self, stores: Collection[str], look: Look, read: Reader, *, post: bool) -> None:
        """Learn what has changed since the last look, in one transaction.

        Args:
            stores: The stores' folders.
            look: Says what a store's folder looks like.
            read: Reads a record.
            post: Whether searches are to find it, too.
        """
        with trusted(self._connection), rolled_back(self._connection):
            has_begun = records.follow(self._connection, stores, look, read)
            if post:
                self._post(has_begun=has_begun)
            if self._connection.in_transaction:
                self._connection.execute("commit")

    def learn(self, store: str, written: Mapping[str, tuple[Stamp, ReadRecord] | None]) -> None:
        """Take over what has just been written to a store that was up to date before.

        Args:
            store: The store's folder.
            written: By id, the new file's stamp and what it holds; None for one that was removed.
        """
        with trusted(self._connection), rolled_back(self._connection):
            self._connection.execute("begin immediate")
            records.learn(self._connection, store, written)
            self._connection.execute("commit")

    def unusable(self, store: str) -> dict[str, UnusableFile]:
        """Return the files of a store that cannot be used, by name.

        Args:
            store: The store's folder.
        """
        query = "select record, code, message from problem where store = ? order by record"
        with trusted(self._connection):
            rows = self._connection.execute(query, (store,)).fetchall()
            return {
                records.text_of(record): UnusableFile(code, records.text_of(message))
                for record, code, message in rows
            }

    @contextmanager
    def searching(self) -> Iterator["SearchIndex"]:
        """Let everything that a search asks be as of one moment, whoever updates the index."""
        from pmem.storage.index.search import SearchIndex

        with trusted(self._connection), snapshot(self._connection):
            yield SearchIndex(self._connection)

    def _post(self, *, has_begun: bool) -> None:
        query = "select 1 from unposted limit 1"
        if self._connection.execute(query).fetchone() is None:
            return
        from pmem.storage.index.documents import post

        if not has_begun:
            self._connection.execute("begin immediate")
        post(self._connection)


def _inode_of(path: str) -> tuple[int, int] | None:
    try:
        status = os.stat(path, follow_symlinks=False)
    except OSError:
        return None
    return status.st_dev, status.st_ino


def open_index(local: str) -> Index | None:
    """Open the index of a clone, made anew where it is broken; None where none can be kept.

    Args:
        local: The untracked folder that holds it.
    """
    path = os.path.join(local, FILE)
    if not os.path.exists(path):
        safe_files.discard(os.path.join(local, _FORMER))
    for _ in range(2):
        try:
            return Index(path, connect(path))
        except (OSError, sqlite3.Error) as error:
            if not is_at_fault(error):
                return None
            safe_files.discard(path)
    return None


def passing_index() -> Index:
    """Make an empty index in memory, for searches of one process."""
    return Index(":memory:", connect(":memory:"))
