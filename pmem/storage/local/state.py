"""What a clone keeps for itself and could not make again: threads, checkpoints, what waits.

Unlike the indexes, this database is never thrown away: one that is damaged, or newer than this
pmem, is reported and left as it is. It keeps a rollback journal rather than a write-ahead log,
so that it can be read where nothing can be written, and it is opened anew for every request.
"""

import os
import sqlite3
import stat
import sys
import zlib
from array import array
from collections.abc import Callable, Collection, Iterator
from contextlib import closing, contextmanager
from datetime import datetime
from itertools import compress
from typing import Any, Final, NamedTuple

from pmem.errors import (
    Damaged,
    FileNotRead,
    Locked,
    NewerSchema,
    PmemError,
    ReadOnly,
    StorageRefused,
    Unfinished,
)
from pmem.storage.files import durable, safe_files
from pmem.storage.files.addresses import address
from pmem.values.times import in_utc, iso

FILE: Final = "state.sqlite3"
_LEAST_PAGE: Final = 512
"""Bytes of the smallest page of a database."""
_PAGE: Final = 1024
"""Bytes of a new database's pages: there are many tables, and most hold little."""
VERSION: Final = 1
BUSY_SECONDS: Final = 5.0
_FOLDER: Final = "local"
_PRIVATE: Final = 0o600
_TABLES: Final = {
    "checkpoint": "thread text, user text, created_at text, updated_at text, data blob,"
    " primary key (thread, user)",
    "thread": "name text primary key, revision integer, seen blob",
    "fingerprint": "number integer primary key, known blob",
    "consent": "number integer primary key, queue blob",
    "app_energy": "id integer primary key, level real, at text, spent real, unpolled real",
    "app_work": "app text, work text, conversation text, at text, why text, importance real,"
    " tags text, primary key (app, work, conversation)",
    "app_context": "conversation text primary key, app text",
    "app_gone": "app text primary key, at text",
    "shown": "thread text, item text, at text, primary key (thread, item)",
    "use": "thread text, item text, used integer, at text, primary key (thread, item)",
    "used_before": "item text primary key, shown integer, used integer, at text",
    "read_session": "thread text primary key, path text, offset integer, at text",
    "prompt": "name text primary key, thread text, text text, at text",
    "inbox": "harness text, path text, offset integer, session text, noted_at text,"
    " primary key (harness, path)",
    "asked": "path text primary key, offset integer, at text",
    "taken": "path text primary key, offset integer, at text",
    "model_answer": "key text primary key, kind text, model text, answer blob, tokens integer,"
    " at text",
    "model_call": "day text primary key, calls integer",
    "model_work": "key text primary key, state text, reason text, times integer, at text",
    "judged": "pair text primary key, at text",
    "synced": "project text, store text, id text, digest blob, data blob,"
    " primary key (project, store, id)",
    "unfinished_sync": "project text, batch text, store text, id text, ours blob, result blob,"
    " primary key (project, batch, store, id)",
}
"""The columns of each table; one that an older version did not know is made by the next write."""
_FIRST: Final = ("checkpoint", "thread", "fingerprint")
"""Tables that have been there since the first version."""
_NO_FOLLOW: Final = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
_BUSY: Final = (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_PROTOCOL)
_REFUSED: Final = (
    sqlite3.SQLITE_CANTOPEN,
    sqlite3.SQLITE_FULL,
    sqlite3.SQLITE_IOERR,
    sqlite3.SQLITE_PERM,
    sqlite3.SQLITE_READONLY,
)
_UNDO: Final = "run the command once where it may write; that undoes the half"
_START_AFRESH: Final = (
    "`pmem check --fix` moves it away to start afresh; checkpoints, threads and what waits for"
    " apps or for consent go with it"
)


class Saved(NamedTuple):
    """A checkpoint without its data; `size` is in bytes."""

    thread: str
    user: str
    size: int
    created_at: datetime
    updated_at: datetime


class Seen(NamedTuple):
    """What a thread has seen: its revision, zero before its first, and fingerprints of events."""

    revision: int
    fingerprints: frozenset[int]


class LocalState:
    """The state of one clone; nothing is made before something is written.

    What is there counts for nothing unless it `is_own`: written by this clone.
    """

    def __init__(
        self,
        root: str,
        *,
        read_only: bool = False,
        busy_seconds: float = BUSY_SECONDS,
        is_own: bool = True,
    ) -> None:
        self._root = root
        self._local = os.path.join(root, _FOLDER)
        self.path = os.path.join(self._local, FILE)
        """Where the database is."""
        self._read_only = read_only
        self._busy_seconds = busy_seconds
        self._is_own = is_own

    @property
    def checkpoints(self) -> "Checkpoints":
        """The saved states of threads."""
        return Checkpoints(self)

    @property
    def threads(self) -> "Threads":
        """What each thread has seen."""
        return Threads(self)

    def check(self) -> None:
        """See that everything in the database can be read, if there is one.

        Raises:
            Damaged, Locked, StorageRefused: See `reading`.
        """
        with self.reading() as connection:
            (found,) = connection.execute("pragma quick_check(1)").fetchone()
            if found != "ok":
                raise self._damaged(found)

    @contextmanager
    def reading(self) -> Iterator[sqlite3.Connection]:
        """Open the database as of one moment; what was never written is empty.

        Raises:
            Damaged: It is no such database, or a newer one.
            Locked: Another process kept it past the time-out.
            StorageRefused: It may not be read.
        """
        with self._sentences():
            there = self._is_own and self._exists()
            mode = "ro" if self._read_only else "rw"
            with closing(self._connect(mode) if there else sqlite3.connect(":memory:")) as found:
                found.execute("pragma temp_store = memory")
                found.execute("begin")
                self._is_made(found)
                _make_missing(found, "temp table")
                yield found

    def rows(self, query: str, *values: object) -> list[Any]:
        """Return the rows of a query; see `reading`."""
        with self.reading() as connection:
            return connection.execute(query, values).fetchall()

    def write(self, statement: str, *values: object) -> int:
        """Run one statement in a transaction of its own, and return how many rows it changed.

        Raises:
            Damaged, Locked, ReadOnly, StorageRefused: See `writing`.
        """
        with self.writing() as connection:
            return connection.execute(statement, values).rowcount

    @contextmanager
    def writing(self, *, private: bool = False) -> Iterator[sqlite3.Connection]:
        """Open the database, made if it is missing, for one transaction that excludes others.

        Nothing is written when the body raises. What is removed leaves no trace in the file. One
        that is `private` only the file's owner may read from now on.

        Raises:
            Damaged: It is no such database, or a newer one.
            Locked: Another process kept it past the time-out.
            ReadOnly: This run is read-only.
            StorageRefused: The disk or the file refused.
        """
        if self._read_only:
            raise ReadOnly()
        with self._sentences():
            self._exists()
            with durable.refusals(self._root):
                durable.make_folder(self._local)
                if private:
                    self._make_private()
            with closing(self._connect("rwc")) as connection:
                connection.execute(f"pragma page_size = {_PAGE}")
                connection.execute("pragma synchronous = extra")
                connection.execute("pragma secure_delete = on")
                connection.execute("begin immediate")
                if not self._is_made(connection):
                    connection.execute(f"pragma user_version = {VERSION}")
                _make_missing(connection, "table")
                with closing(self._connect("ro")) as witness:
                    before = _version(witness)
                    yield connection
                    self._commit(connection, lambda: _version(witness) != before)

    def _commit(self, connection: sqlite3.Connection, seen: Callable[[], bool]) -> None:
        """End a transaction; one that was made although its end was refused is told as made.

        `seen` tells whether another connection sees it.
        """
        try:
            connection.execute("commit")
        except sqlite3.Error as error:
            undone = os.path.exists(self.path + "-journal")  # whoever comes next rolls it back
            if undone or not seen():
                raise
            raise Unfinished(self._sentence(error).message) from error

    def _make_private(self) -> None:
        """Take the file from everyone but its owner; SQLite's journal is as private as it is."""
        descriptor = os.open(self.path, os.O_RDWR | os.O_CREAT | _NO_FOLLOW, _PRIVATE)
        try:
            if stat.S_IMODE(os.fstat(descriptor).st_mode) & ~_PRIVATE and os.name != "nt":
                os.fchmod(descriptor, _PRIVATE)
        finally:
            os.close(descriptor)

    def wrong(self) -> PmemError | None:
        """Return what is wrong with the database; None where it can be used."""
        try:
            self.check()
        except PmemError as error:
            return error
        return None

    def move_away(self) -> str:
        """Move a database that cannot be used aside, and return its new path.

        Raises:
            StorageRefused: It cannot be moved.
        """
        number = 1
        while os.path.lexists(aside := f"{self.path}.damaged-{number}"):
            number += 1
        with durable.refusals(self._root):
            os.rename(self.path, aside)
        return aside

    def _exists(self) -> bool:
        """Tell whether there is a file, and see that it is one that may be opened."""
        if os.path.islink(self._local):
            raise Damaged(f"{self._local} is a link, not a folder", "remove the link")
        try:
            found = os.lstat(self.path)
        except FileNotFoundError:
            found = None
        except OSError as error:
            raise FileNotRead(f"{self.path} cannot be read: {error.strerror}") from None
        if found is not None and not stat.S_ISREG(found.st_mode):
            raise Damaged(f"{self.path} is a link or a folder, not a file", _START_AFRESH)
        strange = safe_files.foreign(self.path)
        if strange:
            raise Damaged(f"{strange[0]} belongs to something else, too", "remove it")
        if found is None:
            return False
        is_cut_off = 0 < found.st_size < _LEAST_PAGE  # SQLite would take it for an empty one
        if is_cut_off and not os.path.lexists(f"{self.path}-journal"):
            raise self._damaged("file is not a database")
        return True

    def _connect(self, mode: str) -> sqlite3.Connection:
        connection = sqlite3.connect(
            address(self.path, mode),
            uri=True,
            timeout=self._busy_seconds,
            isolation_level=None,
        )
        safe_files.check_plain(connection)
        return connection

    def _is_made(self, connection: sqlite3.Connection) -> bool:
        """Tell a database that can be used from one whose maker died before the first commit."""
        (version,) = connection.execute("pragma user_version").fetchone()
        if version > VERSION:
            raise NewerSchema(f"{self.path} has version {version}, and this pmem knows {VERSION}")
        found = {name for (name,) in connection.execute("select name from sqlite_master")}
        if version == VERSION and found.issuperset(_FIRST):
            return True
        if version != 0 or found:
            raise self._damaged("it is not pmem's")
        return False

    @contextmanager
    def _sentences(self) -> Iterator[None]:
        """Turn what SQLite, or nonsense in the database, raises into a sentence."""
        try:
            yield
        except (sqlite3.ProgrammingError, sqlite3.InterfaceError):
            raise  # a mistake of ours
        except sqlite3.Error as error:
            raise self._sentence(error) from error
        except (ArithmeticError, TypeError, ValueError, zlib.error) as error:
            raise self._damaged("a value in it makes no sense") from error

    def _sentence(self, error: sqlite3.Error) -> PmemError:
        whole = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_CORRUPT)
        code = whole & safe_files.PRIMARY
        if whole == sqlite3.SQLITE_READONLY_ROLLBACK:
            return StorageRefused(f"{self.path} holds half a write of a process that died", _UNDO)
        if code in _BUSY:
            return Locked(f"another process has held {self.path} for {self._busy_seconds:g} s")
        if code in _REFUSED:
            return StorageRefused(f"{self.path} cannot be used: {error}")
        return self._damaged(str(error))

    def _damaged(self, why: str) -> Damaged:
        return Damaged(f"{self.path} is not a usable database: {why}", _START_AFRESH)


class Checkpoints:
    """The saved states of threads, one for each thread of each user.

    As in all that is kept in the state, every method raises what its transactions raise.
    """

    def __init__(self, state: LocalState) -> None:
        self._state = state

    def save(self, thread: str, user: str, data: bytes, at: datetime) -> Saved:
        """Save a thread's state in place of the one that is there.

        The user's name is empty where there is one user only.
        """
        with self._state.writing() as connection:
            connection.execute(
                "insert into checkpoint values (:thread, :user, :at, :at, :data) on conflict"
                " (thread, user) do update set updated_at = excluded.updated_at,"
                " data = excluded.data",
                {"thread": thread, "user": user, "at": iso(at), "data": data},
            )
            (saved,) = _rows(connection, "thread = ? and user = ?", thread, user)
        return saved

    def load(self, thread: str, user: str) -> tuple[Saved, bytes] | None:
        """Return a thread's state as it was saved last, or None."""
        with self._state.reading() as connection:
            where = "thread = ? and user = ?"
            query = f"select data from checkpoint where {where}"
            found = connection.execute(query, (thread, user)).fetchone()
            if found is None:
                return None
            (saved,) = _rows(connection, where, thread, user)
            return saved, _blob(found[0])

    def all(self, user: str | None = None) -> list[Saved]:
        """Return the checkpoints of a user, or of everyone, the last saved first."""
        with self._state.reading() as connection:
            found = _rows(connection, "? is null or user = ?", user, user)
        return sorted(found, key=lambda saved: (-saved.updated_at.timestamp(), saved[:2]))

    def remove(self, thread: str, user: str) -> bool:
        """Remove a checkpoint, and tell whether there was one."""
        query = "delete from checkpoint where thread = ? and user = ?"
        return self._state.write(query, thread, user) > 0


class Threads:
    """What each thread has seen.

    Fingerprints are kept once for all threads, in the order in which this clone met them; a
    thread has a mark for each that it has seen. A thread costs next to nothing that way, and
    sessions come and go.
    """

    def __init__(self, state: LocalState) -> None:
        self._state = state

    def seen(self, thread: str) -> Seen:
        """Return a thread's revision and the events that it has seen."""
        with self._state.reading() as connection:
            known = _known_fingerprints(connection)
            revision, marks = _marks(connection, thread, len(known))
        return Seen(revision, frozenset(compress(known, marks)))

    def advance(self, thread: str, fingerprints: Collection[int]) -> tuple[Seen, int]:
        """Mark events as seen; see `advance_by`."""
        return self.advance_by(thread, lambda seen: fingerprints)

    def advance_by(
        self, thread: str, choose: Callable[[Seen], Collection[int]]
    ) -> tuple[Seen, int]:
        """Mark events as seen, and give the read that saw them the thread's next revision.

        `choose` is told what the thread has seen so far, and returns the events that it sees now;
        nothing changes when it raises.

        Returns:
            What the thread had seen before, and its revision now, which no other read has.
        """
        with self._state.writing() as connection:
            known = _known_fingerprints(connection)
            revision, marks = _marks(connection, thread, len(known))
            before = Seen(revision, frozenset(compress(known, marks)))
            present = set(choose(before))
            if revision and present <= before.fingerprints:
                query = "update thread set revision = revision + 1 where name = ?"
                connection.execute(query, (thread,))
                return before, revision + 1
            first_met = sorted(present.difference(known))
            if first_met:
                known += first_met
                _write_known(connection, known)
            marks += bytes(len(first_met))
            seen = bytes(mark or event in present for event, mark in zip(known, marks, strict=True))
            connection.execute(
                "insert or replace into thread values (?, ?, ?)",
                (thread, revision + 1, zlib.compress(seen)),
            )
        return before, revision + 1


def _make_missing(connection: sqlite3.Connection, kind: str) -> None:
    known = {name for (name,) in connection.execute("select name from sqlite_master")}
    for name, columns in _TABLES.items():
        if name not in known:
            connection.execute(f"create {kind} {name} ({columns})")


def _rows(connection: sqlite3.Connection, where: str, *values: str | None) -> list[Saved]:
    query = (
        f"select thread, user, length(data), created_at, updated_at from checkpoint where {where}"
    )
    return [
        Saved(thread, user, size, moment(created), moment(updated))
        for thread, user, size, created, updated in connection.execute(query, values)
    ]


def _version(connection: sqlite3.Connection) -> int:
    """Return a number that changes with every commit of another connection."""
    (version,) = connection.execute("pragma data_version").fetchone()
    return int(version)


def _known_fingerprints(connection: sqlite3.Connection) -> list[int]:
    """Return every fingerprint that this clone has met, in the order in which it did."""
    numbers = array("Q")
    for (packed,) in connection.execute("select known from fingerprint"):
        numbers.frombytes(_blob(packed))
    if sys.byteorder == "big":
        numbers.byteswap()
    return numbers.tolist()


def _write_known(connection: sqlite3.Connection, known: Collection[int]) -> None:
    numbers = array("Q", known)
    if sys.byteorder == "big":
        numbers.byteswap()
    query = "insert or replace into fingerprint values (1, ?)"
    connection.execute(query, (numbers.tobytes(),))


def _marks(connection: sqlite3.Connection, thread: str, length: int) -> tuple[int, bytes]:
    """Return a thread's revision and, for every known fingerprint, whether it has seen it."""
    query = "select revision, seen from thread where name = ?"
    found = connection.execute(query, (thread,)).fetchone()
    if found is None:
        return 0, bytes(length)
    revision, packed = found
    if not isinstance(revision, int) or revision < 1:
        raise ValueError(f"thread {thread!r} has revision {revision!r}")
    unpacking = zlib.decompressobj()
    marks = unpacking.decompress(_blob(packed), length + 1)
    if not unpacking.eof or len(marks) > length:
        raise ValueError(f"thread {thread!r} has seen other things than there are")
    return revision, marks.ljust(length, b"\0")


def moment(written: str | datetime) -> datetime:
    """Read a time: a server's database knows times, a clone's has texts."""
    return written if isinstance(written, datetime) else in_utc(datetime.fromisoformat(written))


def _blob(value: object) -> bytes:
    if not isinstance(value, bytes):
        raise TypeError(f"{type(value).__name__} where bytes should be")
    return value
