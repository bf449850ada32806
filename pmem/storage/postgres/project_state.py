"""What is kept of a project on a server beside its records, by one class for each kind of thing.

Whoever recalls adds one row and waits for nobody. One at a time folds recalls, with no transaction
open meanwhile, since the records have their own.
"""

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from datetime import datetime
from functools import cache
from typing import TYPE_CHECKING, Any, Final

import msgspec

from pmem.errors import PmemError, ReadOnly
from pmem.storage.local.access import MOST_COUNT, UnfoldedRecalls
from pmem.storage.local.proposals import (
    MOST_DECISIONS,
    Proposal,
    ProposalOutcome,
    Queue,
    Settled,
    without_expired,
    without_settled,
)
from pmem.storage.local.state import Saved, Seen
from pmem.storage.postgres.server import Server, unlocking
from pmem.values.records import Access, dump_line

if TYPE_CHECKING:
    from psycopg import Connection


class ServerKeeper:
    """Keeps something of a project on a server, beside its records."""

    def __init__(self, server: Server, *, read_only: bool = False) -> None:
        self._server = server
        self._read_only = read_only

    @property
    def path(self) -> str:
        """Where it is, for people."""
        return self._server.name

    @contextmanager
    def _writing(self, lock: int | None = None) -> "Iterator[Connection[Any]]":
        """Begin a transaction; a lock is what others of this kind wait for until it ends."""
        self._check_writes()
        with self._server.connection() as connection, connection.transaction():
            if lock is not None:
                query = "select pg_advisory_xact_lock(%s, %s)"
                connection.execute(query, (lock, self._server.number))
            yield connection

    def _write(self, query: str, *values: Any) -> int:
        """Write with one statement, whose first value is the project; return how many rows."""
        self._check_writes()
        with self._server.connection() as connection:
            return connection.execute(query.encode(), (self._server.number, *values)).rowcount

    def _rows(self, query: str, *values: Any) -> list[Any]:
        """Return the rows of a query, whose first value is the project."""
        asked = (self._server.number, *values)
        return self._server.ask(
            lambda connection: connection.execute(query.encode(), asked).fetchall()
        )

    def _check_writes(self) -> None:
        if self._read_only:
            raise ReadOnly()


_TABLES: Final = 0x7061
_STATEMENTS: Final = (
    (re.compile(r"^insert into (\w+) \((.*?)\) values \("),
     r"insert into pmem.\1 (project, \2) values ({project}, "),
    (re.compile(r"^delete from (\w+)$"), r"delete from pmem.\1 where project = {project}"),
    (re.compile(r"^delete from (\w+) where"), r"delete from pmem.\1 where project = {project} and"),
    (re.compile(r"^(select .* from) (\w+)"),
     r"\1 (select * from pmem.\2 where project = {project}) as \2"),
    (re.compile(r"on conflict \("), "on conflict (project, "),
    (re.compile(r"\browid\b"), "number"),
    (re.compile(r"\?"), "%s"),
)  # fmt: skip


@cache
def _statement(query: str, project: int) -> bytes:
    for words, others in _STATEMENTS:
        query = words.sub(others, query)
    return query.replace("{project}", str(project)).encode()


class _OfProject:
    """A connection on which one project's rows are asked for as a clone's are."""

    def __init__(self, connection: "Connection[Any]", project: int) -> None:
        self._connection = connection
        self._project = project

    def execute(self, query: str, values: Sequence[object] = ()) -> Any:
        return self._connection.execute(_statement(query, self._project), _lists(values))

    def executemany(self, query: str, rows: Iterable[Sequence[object]]) -> None:
        with self._connection.cursor() as cursor:
            cursor.executemany(_statement(query, self._project), map(_lists, rows))


def _lists(values: Sequence[object]) -> list[object]:
    """Return values with lists for those that are JSON in a clone's database."""
    return [msgspec.json.decode(one) if isinstance(one, bytes) else one for one in values]


class ServerTables(ServerKeeper):
    """Tables of a project that a clone has, too: asked by the same statements as a `LocalState`."""

    def rows(self, query: str, *values: object) -> list[Any]:
        """Return the rows of a query."""

        def ask(connection: "Connection[Any]") -> list[Any]:
            found: list[Any] = self._own(connection).execute(query, values).fetchall()
            return found

        return self._server.ask(ask)

    def write(self, statement: str, *values: object) -> int:
        """Run one statement in a transaction of its own, and return how many rows it changed."""
        with self.writing() as connection:
            return int(connection.execute(statement, values).rowcount)

    @contextmanager
    def writing(self) -> Iterator[_OfProject]:
        """Begin a transaction."""
        with self._writing(_TABLES) as connection:
            yield self._own(connection)

    def _own(self, connection: "Connection[Any]") -> _OfProject:
        return _OfProject(connection, self._server.number)


_PUT: Final = (
    "insert into pmem.proposal (project, id, body) values (%s, %s, %s)"
    " on conflict (project, id) do update set body = excluded.body"
)
_DECIDE: Final = "insert into pmem.decision (project, body) values (%s, %s)"
_OLDEST: Final = (
    "delete from pmem.decision where project = %s and number <= (select number from pmem.decision"
    " where project = %s order by number desc limit 1 offset %s)"
)
_CONSENT: Final = 0x7063


class ServerProposals(ServerKeeper):
    """The proposals of a project; agents see those that they made themselves."""

    def read(self) -> Queue:
        """Return what waits, and what was decided."""
        return self._server.ask(self._queue)

    def update(self, change: Callable[[Queue], Queue], now: datetime) -> Queue:
        """Change what waits; what has waited too long goes."""
        with self._writing(_CONSENT) as connection:
            before = self._queue(connection)
            after = change(without_expired(before, now))
            self._write_difference(connection, before, after)
        return after

    def settle(self, settled: Sequence[Settled], now: datetime) -> None:
        """Take proposals out of the queue, and keep what was decided."""
        self.update(lambda queue: without_settled(queue, settled), now)

    def _queue(self, connection: "Connection[Any]") -> Queue:
        project = (self._server.number,)
        query = "select key from pmem.consent_key where project = %s"
        (key,) = connection.execute(query, project).fetchone() or ("",)
        query = "select body from pmem.{} where project = %s order by number"
        proposals, decisions = (
            [body for (body,) in connection.execute(query.format(table).encode(), project)]
            for table in ("proposal", "decision")
        )
        return Queue(
            key=key,
            proposals=tuple(msgspec.json.decode(body, type=Proposal) for body in proposals),
            decisions=tuple(msgspec.json.decode(body, type=ProposalOutcome) for body in decisions),
        )

    def _write_difference(self, connection: "Connection[Any]", before: Queue, after: Queue) -> None:
        """Write how a queue differs from what it was."""
        project = self._server.number
        was = {item.id: item for item in before.proposals}
        left = {item.id for item in after.proposals}
        gone = [id_ for id_ in was if id_ not in left]
        query = "delete from pmem.proposal where project = %s and id = any(%s)"
        if gone:
            connection.execute(query, (project, gone))
        for item in after.proposals:
            if was.get(item.id) != item:
                connection.execute(_PUT, (project, item.id, dump_line(item).decode()))
        known = {dump_line(item) for item in before.decisions}
        for line in map(dump_line, after.decisions):
            if line not in known:
                connection.execute(_DECIDE, (project, line.decode()))
        if len(after.decisions) > MOST_DECISIONS:
            connection.execute(_OLDEST, (project, project, MOST_DECISIONS))


_SIGN: Final = 1 << 63
"""Fingerprints have no sign, and the server's numbers do."""
_SEEN: Final = "select fingerprint from pmem.thread_seen where project = %s and thread_id = %s"
_REVISION: Final = (
    "select revision from pmem.thread_revision where project = %s and thread_id = %s{}"
)
_MET: Final = (
    "insert into pmem.thread_seen select %s, %s, unnest(%s::bigint[]) on conflict do nothing"
)
_SAVE_CHECKPOINT: Final = (
    "insert into pmem.supervisor_checkpoints"
    " (project, user_id, thread_id, checkpoint_data, created_at, updated_at)"
    " values (%(project)s, %(user)s, %(thread)s, %(data)s, %(at)s, %(at)s)"
    " on conflict (project, user_id, thread_id) do update set"
    " checkpoint_data = excluded.checkpoint_data, updated_at = excluded.updated_at"
    " returning thread_id, user_id, length(checkpoint_data), created_at, updated_at"
)
_FIELDS: Final = "thread_id, user_id, length(checkpoint_data), created_at, updated_at"


class ServerCheckpoints(ServerKeeper):
    """The saved states of threads, one for each thread of each user."""

    def save(self, thread: str, user: str, data: bytes, at: datetime) -> Saved:
        """Save a thread's state in place of the one that is there."""
        self._check_writes()
        with self._server.connection() as connection:
            values = {
                "project": self._server.number,
                "user": user, "thread": thread, "data": data, "at": at,
            }  # fmt: skip
            row = connection.execute(_SAVE_CHECKPOINT, values).fetchone()
            assert row is not None
            return Saved(*row)

    def load(self, thread: str, user: str) -> tuple[Saved, bytes] | None:
        """Return a thread's state as it was saved last, or None."""
        query = (
            f"select {_FIELDS}, checkpoint_data from pmem.supervisor_checkpoints"
            " where project = %s and user_id = %s and thread_id = %s"
        )
        rows = self._rows(query, user, thread)
        return (Saved(*rows[0][:5]), rows[0][5]) if rows else None

    def all(self, user: str | None = None) -> list[Saved]:
        """Return the checkpoints, the last saved first."""
        query = (
            f"select {_FIELDS} from pmem.supervisor_checkpoints where project = %s"
            " and (%s::text is null or user_id = %s) order by updated_at desc, thread_id, user_id"
        )
        return [Saved(*row) for row in self._rows(query, user, user)]

    def remove(self, thread: str, user: str) -> bool:
        """Remove a checkpoint, and tell whether there was one."""
        query = (
            "delete from pmem.supervisor_checkpoints"
            " where project = %s and user_id = %s and thread_id = %s"
        )
        return self._write(query, user, thread) > 0


class ServerThreads(ServerKeeper):
    """What each thread has seen."""

    def seen(self, thread: str) -> Seen:
        """Return a thread's revision and the events that it has seen."""
        return self._server.ask(lambda connection: self._seen(connection, thread, ""))

    def advance(self, thread: str, fingerprints: Collection[int]) -> tuple[Seen, int]:
        """Mark events as seen; see `advance_by`."""
        return self.advance_by(thread, lambda seen: fingerprints)

    def advance_by(
        self, thread: str, choose: Callable[[Seen], Collection[int]]
    ) -> tuple[Seen, int]:
        """Mark events as seen; see `local.state.Threads`."""
        key = (self._server.number, thread)
        with self._writing() as connection:
            query = "insert into pmem.thread_revision values (%s, %s, 0) on conflict do nothing"
            connection.execute(query, key)
            before = self._seen(connection, thread, " for update")
            fresh = set(choose(before)) - before.fingerprints
            query = (
                "update pmem.thread_revision set revision = revision + 1"
                " where project = %s and thread_id = %s"
            )
            connection.execute(query, key)
            if fresh:
                connection.execute(_MET, (*key, _signed(fresh)))
        return before, before.revision + 1

    def _seen(self, connection: "Connection[Any]", thread: str, locking: str) -> Seen:
        key = (self._server.number, thread)
        row = connection.execute(_REVISION.format(locking).encode(), key).fetchone()
        if row is None:
            return Seen(0, frozenset())
        rows = connection.execute(_SEEN, key, binary=True)
        return Seen(row[0], frozenset(number % (_SIGN * 2) for (number,) in rows))


def _signed(fingerprints: Iterable[int]) -> list[int]:
    return [each - _SIGN * 2 * (each >= _SIGN) for each in sorted(fingerprints)]


_ADD: Final = "insert into pmem.recall (project, at, ids, counts) values (%s, %s, %s, %s)"
_SUMS: Final = (
    "select id, least(sum(count), %s)::bigint, max(at) from pmem.recall,"
    " unnest(ids, counts) as each (id, count) where project = %s group by id"
)
_TAKE: Final = "select number, at, ids, counts from pmem.recall where project = %s order by number"
_FOLDING: Final = 0x7066


class ServerRecalls(ServerKeeper):
    """The recalls that are not yet in a project's records."""

    def note(self, ids: Collection[str], at: datetime, *, count: int = 1) -> None:
        """Note that records were recalled, each once; where that fails, nothing happens."""
        if self._read_only or not ids:
            return
        with suppress(PmemError), self._server.connection() as connection:
            connection.execute("set synchronous_commit = off")
            try:
                row = (self._server.number, at, sorted(ids), [count] * len(ids))
                connection.execute(_ADD, row)
            finally:
                connection.execute("reset synchronous_commit")

    def known(self) -> dict[str, Access]:
        """Return how often and when last each record was recalled, by id."""
        values = (MOST_COUNT, self._server.number)
        rows = self._server.ask(lambda connection: connection.execute(_SUMS, values).fetchall())
        return {id_: Access(count=count, last_at=at) for id_, count, at in rows}

    def waiting(self) -> UnfoldedRecalls:
        """Say what waits to be folded."""
        counts = [access.count for access in self.known().values() if access.count]
        return UnfoldedRecalls(sum(counts), len(counts), damaged=0, size=0, usable=True)

    @contextmanager
    def folding(self) -> Iterator[dict[str, Access]]:
        """Take what is there; forget it if the body succeeds, and only then.

        Where another process is folding, all is left to it.
        """
        self._check_writes()
        key = (_FOLDING, self._server.number)
        with self._server.connection() as connection:
            if connection.execute("select pg_try_advisory_lock(%s, %s)", key).fetchone() != (True,):
                yield {}
                return
            with unlocking(connection, *key):
                rows = connection.execute(_TAKE, (self._server.number,)).fetchall()
                yield _added_up(rows)
                query = "delete from pmem.recall where number = any(%s)"
                connection.execute(query, ([row[0] for row in rows],))

    def keep(self, recalls: dict[str, Access]) -> None:
        """Put recalls that were taken by `folding` back; where that fails, nothing happens."""
        rows = [
            (self._server.number, access.last_at, [id_], [access.count])
            for id_, access in sorted(recalls.items())
        ]
        with (
            suppress(PmemError),
            self._server.connection() as connection,
            connection.transaction(),
            connection.cursor() as cursor,
        ):
            cursor.executemany(_ADD, rows)

    def shorten(self) -> None:
        """Add up what was noted one by one."""
        with self.folding() as known:
            self.keep(known)


def _added_up(rows: Iterable[Any]) -> dict[str, Access]:
    found: dict[str, Access] = {}
    for _, at, ids, counts in rows:
        for id_, count in zip(ids, counts, strict=True):
            known = found.get(id_, Access(count=0, last_at=at))
            last = max(known.last_at or at, at)
            found[id_] = Access(count=min(known.count + count, MOST_COUNT), last_at=last)
    return found
