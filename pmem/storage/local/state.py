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
from contextlib import closing, contextmanager, suppress
from datetime import datetime
from itertools import compress
from typing import Final, NamedTuple

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
VERSION: Final = 1
BUSY_SECONDS: Final = 5.0
_FOLDER: Final = "local"
_PRIVATE: Final = 0o600
_SCHEMA: Final = (
    "create table checkpoint (thread text, user text, created_at text, updated_at text, data blob,"
    " primary key (thread, user))",
    "create table thread (name text primary key, revision integer, seen blob)",
    "create table fingerprint (number integer primary key, known blob)",
    f"pragma user_version = {VERSION}",
)
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

    Args:
        root: The memory folder.
        read_only: Write nothing at all.
        busy_seconds: How long to wait for other processes.
        is_own: Whether what is there was written by this clone; else it counts for nothing.
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
        self._path = os.path.join(self._local, FILE)
        self._read_only = read_only
        self._busy_seconds = busy_seconds
        self._is_own = is_own

    @property
    def path(self) -> str:
        """Where the database is."""
        return self._path

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
            if connection is not None:
                (found,) = connection.execute("pragma quick_check(1)").fetchone()
                if found != "ok":
                    raise self._damaged(found)

    @contextmanager
    def reading(self) -> Iterator[sqlite3.Connection | None]:
        """Open the database as of one moment; None stands for one that was never written.

        Raises:
            Damaged: It is no such database, or a newer one.
            Locked: Another process kept it past the time-out.
            StorageRefused: It may not be read.
        """
        with self._sentences():
            if not self._is_own or not self._exists():
                yield None
                return
            with closing(self._connect("ro" if self._read_only else "rw")) as connection:
                connection.execute("begin")
                yield connection if self._is_made(connection) else None

    @contextmanager
    def writing(self, *, private: bool = False) -> Iterator[sqlite3.Connection]:
        """Open the database, made if it is missing, for one transaction that excludes others.

        Nothing is written when the body raises. What is removed leaves no trace in the file.

        Args:
            private: Whether only the file's owner may read it from now on.

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
                connection.execute("pragma synchronous = extra")
                connection.execute("pragma secure_delete = on")
                connection.execute("begin immediate")
                if not self._is_made(connection):
                    for statement in _SCHEMA:
                        connection.execute(statement)
                with closing(self._connect("ro")) as witness:
                    before = _version(witness)
                    yield connection
                    self._commit(connection, lambda: _version(witness) != before)

    def _commit(self, connection: sqlite3.Connection, seen: Callable[[], bool]) -> None:
        """End a transaction; one that was made although its end was refused is told as made.

        Args:
            connection: In the transaction.
            seen: Tells whether another connection sees it.
        """
        try:
            connection.execute("commit")
        except sqlite3.Error as error:
            undone = os.path.exists(self._path + "-journal")  # whoever comes next rolls it back
            if undone or not seen():
                raise
            raise Unfinished(self._sentence(error).message) from error

    def _make_private(self) -> None:
        """Take the file from everyone but its owner; SQLite's journal is as private as it is."""
        descriptor = os.open(self._path, os.O_RDWR | os.O_CREAT | _NO_FOLLOW, _PRIVATE)
        try:
            if stat.S_IMODE(os.fstat(descriptor).st_mode) & ~_PRIVATE and os.name != "nt":
                os.fchmod(descriptor, _PRIVATE)
        finally:
            os.close(descriptor)

    def beside(self, name: str) -> str:
        """Return the path of a file beside the database, where older versions kept something."""
        return os.path.join(self._local, name)

    def remove_left(self, name: str) -> None:
        """Remove what an older version left, now that the database has it.

        It counts no more in any case; where it cannot be removed, the next write tries again.
        """
        with suppress(OSError):
            os.unlink(self.beside(name))

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
        while os.path.lexists(aside := f"{self._path}.damaged-{number}"):
            number += 1
        with durable.refusals(self._root):
            os.rename(self._path, aside)
        return aside

    def _exists(self) -> bool:
        """Tell whether there is a file, and see that it is one that may be opened."""
        if os.path.islink(self._local):
            raise Damaged(f"{self._local} is a link, not a folder", "remove the link")
        try:
            found = os.lstat(self._path)
        except FileNotFoundError:
            found = None
        except OSError as error:
            raise FileNotRead(f"{self._path} cannot be read: {error.strerror}") from None
        if found is not None and not stat.S_ISREG(found.st_mode):
            raise Damaged(f"{self._path} is a link or a folder, not a file", _START_AFRESH)
        strange = safe_files.foreign(self._path)
        if strange:
            raise Damaged(f"{strange[0]} belongs to something else, too", "remove it")
        if found is not None and self._is_cut_off(found.st_size):
            raise self._damaged("file is not a database")
        return found is not None

    def _is_cut_off(self, size: int) -> bool:
        """Tell whether a file is too short for a page: SQLite would take it for an empty one."""
        return 0 < size < _LEAST_PAGE and not os.path.lexists(f"{self._path}-journal")

    def _connect(self, mode: str) -> sqlite3.Connection:
        connection = sqlite3.connect(
            address(self._path, mode),
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
            raise NewerSchema(f"{self._path} has version {version}, and this pmem knows {VERSION}")
        if version == VERSION:
            return True
        (tables,) = connection.execute("select count(*) from sqlite_master").fetchone()
        if version != 0 or tables:
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
            return StorageRefused(f"{self._path} holds half a write of a process that died", _UNDO)
        if code in _BUSY:
            return Locked(f"another process has held {self._path} for {self._busy_seconds:g} s")
        if code in _REFUSED:
            return StorageRefused(f"{self._path} cannot be used: {error}")
        return self._damaged(str(error))

    def _damaged(self, why: str) -> Damaged:
        return Damaged(f"{self._path} is not a usable database: {why}", _START_AFRESH)


class Checkpoints:
    """The saved states of threads, one for each thread of each user.

    Args:
        state: Where they are kept. Every method raises what its transactions raise.
    """

    def __init__(self, state: LocalState) -> None:
        self._state = state

    def save(self, thread: str, user: str, data: bytes, at: datetime) -> Saved:
        """Save a thread's state in place of the one that is there.

        Args:
            thread: Whose state it is.
            user: The user's name; empty where there is one user only.
            data: The state.
            at: The present.
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
            if connection is None:
                return None
            where = "thread = ? and user = ?"
            query = f"select data from checkpoint where {where}"
            found = connection.execute(query, (thread, user)).fetchone()
            if found is None:
                return None
            (saved,) = _rows(connection, where, thread, user)
            return saved, _blob(found[0])

    def all(self, user: str | None = None) -> list[Saved]:
        """Return the checkpoints, the last saved first.

        Args:
            user: Only this user's; everyone's when None.
        """
        with self._state.reading() as connection:
            if connection is None:
                return []
            found = _rows(connection, "? is null or user = ?", user, user)
        return sorted(found, key=lambda saved: (-saved.updated_at.timestamp(), saved[:2]))

    def remove(self, thread: str, user: str) -> bool:
        """Remove a checkpoint, and tell whether there was one."""
        with self._state.writing() as connection:
            query = "delete from checkpoint where thread = ? and user = ?"
            return connection.execute(query, (thread, user)).rowcount > 0


class Threads:
    """What each thread has seen.

    Fingerprints are kept once for all threads, in the order in which this clone met them; a
    thread has a mark for each that it has seen. A thread costs next to nothing that way, and
    sessions come and go.

    Args:
        state: Where it is kept. Every method raises what its transactions raise.
    """

    def __init__(self, state: LocalState) -> None:
        self._state = state

    def seen(self, thread: str) -> Seen:
        """Return a thread's revision and the events that it has seen."""
        with self._state.reading() as connection:
            if connection is None:
                return Seen(0, frozenset())
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

        Nothing changes when `choose` raises.

        Args:
            thread: Who has seen them.
            choose: Told what the thread has seen so far, returns the events that it sees now.

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


def _rows(connection: sqlite3.Connection, where: str, *values: str | None) -> list[Saved]:
    query = (
        f"select thread, user, length(data), created_at, updated_at from checkpoint where {where}"
    )
    return [
        Saved(thread, user, size, _moment(created), _moment(updated))
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


def _moment(text: str) -> datetime:
    return in_utc(datetime.fromisoformat(text))


def _blob(value: object) -> bytes:
    if not isinstance(value, bytes):
        raise TypeError(f"{type(value).__name__} where bytes should be")
    return value
