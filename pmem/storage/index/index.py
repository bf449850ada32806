"""The disposable index beside the files: delete it, and the next command makes it again.

It keeps each store's listing as of the last look and is brought up to date by the next command
that asks it, whoever has changed the files (see `storage.listing`).
"""

import os
import sqlite3
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Final

import msgspec

from pmem.storage.files import safe_files
from pmem.storage.files.listing import NOTHING, FolderListing, changes, last_look
from pmem.storage.files.recordfile import Stamp
from pmem.values.ids import is_id

FILE: Final = "index.sqlite3"
_VERSION: Final = 8
_BUSY_SECONDS: Final = 2.0
_BATCH: Final = 20_000
"""Records that are taken in together: more at once would take more memory, not less time."""
_BROKEN: Final = (sqlite3.Error, ValueError)  # ValueError: what was packed cannot be unpacked
_SCHEMA: Final = """
create table looked (store text primary key, at integer, names blob, stamps blob);
create table twin (store text, key text, id text, primary key (store, key, id)) without rowid;
create index twin_by_id on twin (store, id);
create table word (word text, id text, primary key (word, id)) without rowid;
create table held (store text, id text, words text, primary key (store, id)) without rowid;
"""


class IndexRow(msgspec.Struct, frozen=True):
    """What the index keeps of one record: its twin keys, and its words; only memories have them."""

    keys: tuple[str, ...]
    words: Sequence[str] = ()


class Index:
    """The index of one clone. Whatever goes wrong with it, it is thrown away.

    Args:
        local: The untracked folder that holds it.
    """

    def __init__(self, local: str) -> None:
        self._path = os.path.join(local, FILE)
        self._connection: sqlite3.Connection | None = None

    def close(self) -> None:
        """Let go of the file."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def update(
        self, store: str, look: Callable[[], FolderListing], row: Callable[[str], IndexRow]
    ) -> None:
        """Learn what has changed in a store since the last look.

        Args:
            store: The store's folder.
            look: Says what the folder looks like.
            row: Reads what the index keeps of a record.
        """
        try:
            _update(self._connected(), store, look, row)
        except _BROKEN as error:
            self._give_up(error)

    def learn(self, store: str, written: Mapping[str, tuple[Stamp, IndexRow] | None]) -> None:
        """Take over what has just been written to a store that was up to date before.

        The time of the last look stays: what others did to a file since, within the tick of its
        stamp, is noticed by reading it again.

        Args:
            store: The store's folder.
            written: By id, the new file's stamp and row, or None for one that was removed.
        """
        try:
            connection = self._connected()
            connection.execute("begin immediate")
            packed, looked = last_look(connection, store)
            known = FolderListing.unpack(*packed)
            for id_, learnt in written.items():
                known.put(id_, learnt[0] if learnt else None)
            _forget(connection, store, written)
            _learn(connection, store, {id_: new[1] for id_, new in written.items() if new})
            _remember(connection, store, looked, known)
            connection.execute("commit")
        except _BROKEN as error:
            self._give_up(error)

    def twins(self, store: str, key: str) -> list[str] | None:
        """Return the ids of a store's records that have a key, as of the last update.

        Args:
            store: The store's folder.
            key: One of `twin_keys`.

        Returns:
            Ids in ascending order, or None when no index can be kept here.
        """
        if self._connection is None:
            return None
        try:
            query = "select id from twin where store = ? and key = ? order by id"
            return [found for (found,) in self._connection.execute(query, (store, key))]
        except _BROKEN as error:
            self._give_up(error)
            return None

    def holders(self, keys: Iterable[str], most: int) -> dict[str, list[str]] | None:
        """Return the ids of the memories that hold words, as of the last update.

        Args:
            keys: Words (see `backend.word_keys_of`).
            most: A word that more of them hold is left out.

        Returns:
            For each word the ids in ascending order, or None when no index can be kept here.
        """
        if self._connection is None:
            return None
        try:
            ask = self._connection.execute
            many = "select 1 from word where word = ? limit 1 offset ?"
            rare = [key for key in keys if ask(many, (key, most)).fetchone() is None]
            query = "select id from word where word = ? order by id"
            return {key: [found for (found,) in ask(query, (key,))] for key in rare}
        except _BROKEN as error:
            self._give_up(error)
            return None

    def _connected(self) -> sqlite3.Connection:
        return self._connection or self._open()

    def _open(self) -> sqlite3.Connection:
        if safe_files.foreign(self._path):
            self._discard()
        connection = sqlite3.connect(self._path, timeout=_BUSY_SECONDS, isolation_level=None)
        self._connection = connection
        safe_files.check_plain(connection)
        connection.execute("pragma synchronous = normal")  # less, and a power cut could make it lie
        connection.execute("pragma cache_size = -32768")
        (version,) = connection.execute("pragma user_version").fetchone()
        if version != _VERSION:
            _rebuild(connection)
        return connection

    def _give_up(self, error: Exception) -> None:
        """Do without an index; one that others are using may stay, any other goes."""
        self.close()
        if getattr(error, "sqlite_errorcode", 0) & safe_files.PRIMARY != sqlite3.SQLITE_BUSY:
            self._discard()

    def _discard(self) -> None:
        safe_files.discard(self._path)


def _update(
    connection: sqlite3.Connection,
    store: str,
    look: Callable[[], FolderListing],
    row: Callable[[str], IndexRow],
) -> None:
    packed, looked = last_look(connection, store)
    now, at = look(), time.time_ns()
    gone, stale = changes(now, packed, looked)
    if not gone and not stale:
        return
    connection.execute("begin immediate")
    if _looked(connection, store) != looked:  # others were quicker: never go back behind them
        now, at = look(), time.time_ns()
        gone, stale = changes(now, *last_look(connection, store))
    if last_look(connection, store)[0] != NOTHING:
        _forget(connection, store, (*gone, *stale))
    for start in range(0, len(stale), _BATCH):
        batch = stale[start : start + _BATCH]
        _learn(connection, store, {id_: row(id_) for id_ in batch})
    _remember(connection, store, at, now)
    connection.execute("commit")


def _looked(connection: sqlite3.Connection, store: str) -> int:
    found = connection.execute("select at from looked where store = ?", (store,)).fetchone()
    return found[0] if found else 0


def _remember(connection: sqlite3.Connection, store: str, at: int, listing: FolderListing) -> None:
    connection.execute(
        "insert or replace into looked values (?, ?, ?, ?)", (store, at, *listing.pack())
    )


def _learn(connection: sqlite3.Connection, store: str, rows: Mapping[str, IndexRow]) -> None:
    connection.executemany(
        "insert or ignore into twin values (?, ?, ?)",
        [(store, key, id_) for id_, row in rows.items() for key in row.keys],
    )
    connection.executemany(
        "insert or ignore into word values (?, ?)",
        sorted((word, id_) for id_, row in rows.items() for word in row.words),
    )
    connection.executemany(
        "insert or replace into held values (?, ?, ?)",
        [(store, id_, "\n".join(row.words)) for id_, row in rows.items() if row.words],
    )


def _forget(connection: sqlite3.Connection, store: str, ids: Iterable[str]) -> None:
    known = [(store, id_) for id_ in ids if is_id(id_)]
    query = "select words from held where store = ? and id = ?"
    for place in known:
        for (words,) in connection.execute(query, place).fetchall():
            connection.executemany(
                "delete from word where word = ? and id = ?",
                [(word, place[1]) for word in words.split("\n")],
            )
    connection.executemany("delete from held where store = ? and id = ?", known)
    connection.executemany("delete from twin where store = ? and id = ?", known)


def _rebuild(connection: sqlite3.Connection) -> None:
    connection.execute("begin immediate")
    for table in ("file", "twin", "looked", "word", "held"):
        connection.execute(f"drop table if exists {table}")
    for statement in _SCHEMA.split(";\n"):
        connection.execute(statement)
    connection.execute(f"pragma user_version = {_VERSION}")
    connection.execute("commit")
