"""The vectors of texts: a database of this clone that can be deleted at any time.

A vector has a key made of its text and its model (`meaning.vector_key`). So a text that changed
has none until it is embedded again, and what another model made is never found. Of what is also
found by its vector alone, the database knows which document has which key.
"""

import os
import sqlite3
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import closing, contextmanager
from typing import Final

from pmem.errors import StorageRefused
from pmem.storage.files import safe_files

FILE: Final = "vectors.sqlite3"
_VERSION: Final = 2
_BUSY_SECONDS: Final = 5.0
_ASKED_TOGETHER: Final = 500
_VECTORS: Final = "create table vector (key blob primary key, numbers blob) without rowid"
_PLACES: Final = "create table place (document text primary key, key blob) without rowid"


class Vectors:
    """The open database of one clone, one thread's at a time."""

    def __init__(self, connection: sqlite3.Connection | None) -> None:
        self._connection = connection

    def find(self, keys: Collection[bytes]) -> dict[bytes, bytes]:
        """Return the vectors of those keys that have one."""
        if self._connection is None:
            return {}
        found: dict[bytes, bytes] = {}
        asked = list(keys)
        for start in range(0, len(asked), _ASKED_TOGETHER):
            some = asked[start : start + _ASKED_TOGETHER]
            query = f"select key, numbers from vector where key in ({', '.join('?' * len(some))})"
            found.update(self._connection.execute(query, some))
        return found

    def keys(self) -> set[bytes]:
        """Return the keys of all vectors."""
        if self._connection is None:
            return set()
        return {key for (key,) in self._connection.execute("select key from vector")}

    def placed(self) -> Iterator[tuple[str, bytes, bytes]]:
        """Yield the documents that their vectors find: id, key and vector, by ascending id."""
        if self._connection is not None:
            yield from self._connection.execute(
                "select document, key, numbers from place join vector using (key) order by document"
            )

    def place(self, keys: Mapping[str, bytes]) -> None:
        """Keep which documents their vectors find, by their ids, and forget all others."""
        assert self._connection is not None
        known = dict(self._connection.execute("select document, key from place"))
        if known != keys:
            with self._connection:
                self._connection.execute("begin immediate")
                self._connection.execute("delete from place")
                self._connection.executemany("insert into place values (?, ?)", keys.items())

    def place_also(self, keys: Mapping[str, bytes]) -> None:
        """Keep that these documents are found by their vectors, too."""
        self._change("insert or replace into place values (?, ?)", keys.items())

    def keep(self, vectors: Mapping[bytes, bytes]) -> None:
        """Keep vectors by their keys, all or none."""
        self._change("insert or replace into vector values (?, ?)", vectors.items())

    def forget(self, keys: Iterable[bytes]) -> None:
        """Drop the vectors of texts that are no longer there."""
        self._change("delete from vector where key = ?", ((key,) for key in keys))

    def _change(self, statement: str, rows: Iterable[tuple[str | bytes, ...]]) -> None:
        assert self._connection is not None
        with self._connection:
            self._connection.execute("begin immediate")
            self._connection.executemany(statement, rows)


@contextmanager
def open_vectors(local: str, *, writes: bool) -> Iterator[Vectors]:
    """Open the vectors of a clone; whoever `writes` makes them where there are none.

    Raises:
        StorageRefused: It cannot be written, or what is there cannot be used.
    """
    path = os.path.join(local, FILE)
    if not writes and not os.path.lexists(path):
        yield Vectors(None)
        return
    try:
        with closing(_connect(path, writes=writes)) as connection:
            yield Vectors(connection)
    except (sqlite3.Error, OSError) as error:
        raise StorageRefused(f"{path} cannot be used: {error}") from None


def _connect(path: str, *, writes: bool) -> sqlite3.Connection:
    if safe_files.foreign(path):
        if not writes:
            raise OSError("it is no file of this clone's own")
        safe_files.discard(path)
    try:
        return _opened(path, writes=writes)
    except sqlite3.DatabaseError as error:
        broken = (sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_CORRUPT)
        code = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_CORRUPT)
        if not writes or code & safe_files.PRIMARY not in broken:
            raise
        safe_files.discard(path)
        return _opened(path, writes=writes)


def _opened(path: str, *, writes: bool) -> sqlite3.Connection:
    connection = sqlite3.connect(path, timeout=_BUSY_SECONDS, isolation_level=None)
    try:
        safe_files.check_plain(connection)
        connection.execute("pragma synchronous = normal")
        (version,) = connection.execute("pragma user_version").fetchone()
        if version != _VERSION:
            if not writes:
                raise sqlite3.DatabaseError("another version of pmem made it")
            _make_tables(connection)
    except BaseException:
        connection.close()
        raise
    return connection


def _make_tables(connection: sqlite3.Connection) -> None:
    connection.execute("begin immediate")
    for table, made in (("vector", _VECTORS), ("place", _PLACES)):
        connection.execute(f"drop table if exists {table}")
        connection.execute(made)
    connection.execute(f"pragma user_version = {_VERSION}")
    connection.execute("commit")
