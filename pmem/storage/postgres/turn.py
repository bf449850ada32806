"""A writer's turn: other writers wait, and what it commits is made whole, or not at all."""

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from hashlib import blake2b
from typing import TYPE_CHECKING, Any, Final

from pmem.errors import Damaged, Locked, PmemError, Unfinished, Unreachable
from pmem.storage.backend import Change
from pmem.storage.files.recordfile import serialise
from pmem.storage.postgres.selecting import held_for_update
from pmem.storage.postgres.server import STATEMENT_SECONDS, VERSIONS, Server, driver, unlocking
from pmem.storage.postgres.writing import WrittenRecord, write_records
from pmem.storage.record_files import check_readable
from pmem.values.ids import is_id
from pmem.values.records import KINDS, STORES

if TYPE_CHECKING:
    from psycopg import Connection

    from pmem.storage.index.documents import Source

WRITER: Final = 0x706D
"""What our advisory locks begin with."""
_BUSY: Final = "another writer has held the project on {} for {:g} s"
_ENDING_SECONDS: Final = 5.0
"""How long a server may take to notice that a client is gone."""
_PAUSE_SECONDS: Final = 0.02
_LONGEST_SECONDS: Final = 86_400.0
"""A day, as long as `lock_timeout` may be: the server counts no further than 24 of them."""
_QUEUE: Final = (
    "select pid = pg_backend_pid(), pid, revision from pmem.project left join (select pid"
    " from pg_locks join pg_database on pg_database.oid = database"
    " where datname = current_database() and locktype = 'advisory' and granted"
    " and (classid, objid, objsubid) = (%s, %s, 2)) as holder on true where number = %s"
)
_BEGUN: Final = f"select pg_current_xact_id()::text, it.* from ({VERSIONS}) as it"
_GOING_ON: Final = "in progress"
_STATUS: Final = "select pg_xact_status(%s::xid8)"


class WriterTurn:
    """What one writer reads and commits while it holds the lock of a project.

    Attributes:
        connection: The same.
    """

    def __init__(self, server: Server, connection: "Connection[Any]") -> None:
        self.connection = connection
        self._server = server
        self._seen: dict[Source, bytes] = {}

    def note_read(self, key: "Source", data: bytes) -> None:
        """Note what a record held when it was read: a commit sees what has changed since."""
        self._seen.setdefault(key, _digest(data))

    def commit(self, changes: Sequence[Change]) -> None:
        """Make all changes durable, or none; see `Backend.commit`."""
        if not changes:
            return
        with self.writing() as connection:
            written, gone = self._prepared(connection, changes)
            write_records(connection, self._server.number, written, gone)
        for change in changes:
            self._seen.pop((STORES[change.type], change.id), None)

    @contextmanager
    def writing(self) -> "Iterator[Connection[Any]]":
        """Begin a transaction, and make it durable at the end.

        Raises:
            Unreachable: The connection was lost before that; nothing changed.
            Unfinished: It was lost meanwhile, and nobody can tell what became of it.
            NewerSchema: See `Server.check`.
        """
        xid = ""
        try:
            with self._server.sentences(), self.connection.transaction():
                row = self.connection.execute(_BEGUN, (self._server.project,)).fetchone()
                assert row is not None
                xid, *found = row
                self._server.check(*found)  # others may have migrated it meanwhile
                yield self.connection
        except Unreachable as error:
            self._see_what_became(xid, error)

    def _prepared(
        self, connection: "Connection[Any]", changes: Sequence[Change]
    ) -> "tuple[dict[Source, WrittenRecord], list[Source]]":
        """Lock the rows that change, and return what to write, and what is to go."""
        keys = [(STORES[change.type], change.id) for change in changes]
        before = held_for_update(connection, self._server.number, keys)
        written, gone = {}, []
        for key, change in zip(keys, changes, strict=True):
            where, previous = place_of(self._server, *key), before.get(key)
            if not is_id(change.id):
                raise Damaged(f"{change.id!r} is no id of a {KINDS[change.type]}")
            self._compare(key, previous, is_new=change.record is not None)
            if change.record is None:
                gone += [key] * (previous is not None)
                continue
            data = serialise(change.record, previous, where)
            check_readable(data, change, where)
            written[key] = WrittenRecord(change.record, data, previous is not None)
        return written, gone

    def _compare(self, key: "Source", previous: bytes | None, *, is_new: bool) -> None:
        """See that nobody has changed a record since it was read under the lock.

        Raises:
            Locked: Somebody has, past our lock.
        """
        seen, where = self._seen.get(key), place_of(self._server, *key)
        if previous is None and seen is not None:
            raise Locked(f"{where} was removed by another program meanwhile")
        if previous is not None and seen not in (None, _digest(previous)):
            raise Locked(f"{where} was changed by another program meanwhile")
        if previous is not None and seen is None and is_new:
            raise Locked(f"{where} was made by another program meanwhile")

    def _see_what_became(self, xid: str, error: Unreachable) -> None:
        """Find out whether a transaction was made whose end was not heard.

        Raises:
            Unreachable: It was not, or never got so far.
            Unfinished: Nobody can tell now.
        """
        status = self._status_of(xid) if xid else "aborted"
        if status == "committed":
            return
        if status == "aborted":
            raise error
        raise Unfinished(
            f"{error.message}; whether the change was made cannot be told now",
            "look before you run it again",
        ) from error

    def _status_of(self, xid: str) -> str | None:
        """Return what became of a transaction; None where that cannot be told."""
        until = time.monotonic() + _ENDING_SECONDS
        status: str | None = _GOING_ON
        with suppress(PmemError, driver().Error), self._server.connection() as connection:
            while status == _GOING_ON and time.monotonic() < until:
                time.sleep(_PAUSE_SECONDS)
                (status,) = connection.execute(_STATUS, (xid,)).fetchone() or (None,)
            return status
        return None


@contextmanager
def writers_turn(server: Server, connection: "Connection[Any]") -> Iterator[WriterTurn]:
    """Hold off other writers of a project.

    Raises:
        Locked: Another writer kept the lock past the time-out.
    """
    patience = server.patience()
    key = (WRITER, server.number)
    before = _queue(connection, key)
    while not _takes_turn(connection, key, patience):
        reached = _queue(connection, key)
        if reached[0]:
            break  # the lock came in the moment of the time-out, and the session has it
        if reached == before:
            raise Locked(_BUSY.format(server.name, min(patience, STATEMENT_SECONDS)))
        before = reached
        patience = min(2 * patience, _LONGEST_SECONDS)  # it waits behind all others again
    with unlocking(connection, *key):
        yield WriterTurn(server, connection)


def _takes_turn(connection: "Connection[Any]", key: tuple[int, int], patience: float) -> bool:
    """Wait for the lock, and tell whether it came within so many seconds."""
    milliseconds = max(1, int(patience * 1000))
    connection.execute("select set_config('lock_timeout', %s, false)", (f"{milliseconds}ms",))
    errors = driver().errors
    try:
        connection.execute("select pg_advisory_lock(%s, %s)", key)
    except (errors.LockNotAvailable, errors.QueryCanceled):  # one statement takes no longer
        return False
    return True


def _queue(connection: "Connection[Any]", key: tuple[int, int]) -> Any:
    """Return whether we write, and what is another where the queue of writers has moved on."""
    return connection.execute(_QUEUE, (*key, key[1])).fetchone() or (None, None, None)


def place_of(server: Server, store: str, identifier: str) -> str:
    """Return where a record is, for people."""
    return f"{server.name}: {store}/{identifier}"


def _digest(data: bytes) -> bytes:
    return blake2b(data, digest_size=16).digest()
