"""Recalls of a project on a server that no record holds yet, and look-alikes that were told of.

Whoever recalls adds one row and waits for nobody. One at a time folds them, and removes them once
they are in the records; no transaction is open meanwhile, since the records have their own.
"""

from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager, suppress
from datetime import datetime, timedelta
from typing import Any, Final

from pmem.errors import PmemError
from pmem.storage.local.access import MOST_COUNT, UnfoldedRecalls
from pmem.storage.local.seen_pairs import KEPT
from pmem.storage.postgres.keeper import ServerKeeper
from pmem.storage.postgres.server import Server
from pmem.storage.postgres.session_lock import unlocking
from pmem.values.records import Access

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
        """Note that records were recalled, each once; where that fails, nothing happens.

        Args:
            ids: The records' ids.
            at: When, in UTC.
            count: How many recalls it is; 0 for a use that is none.
        """
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
        """Put recalls that were taken by `folding` back; where that fails, nothing happens.

        Args:
            recalls: By id, each with the time of its last.
        """
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


class ServerPairs(ServerKeeper):
    """Fingerprints of look-alikes; losing them costs nothing but a repetition.

    Args:
        server: Where they are kept.
        now: The present.
        read_only: Write nothing.
    """

    def __init__(self, server: Server, now: datetime, *, read_only: bool = False) -> None:
        super().__init__(server, read_only=read_only)
        self._now = now

    def known(self) -> Collection[str]:
        """Return the fingerprints that are still kept; none where nothing can be read."""
        query = "select pair from pmem.judged where project = %s and at between %s and %s"
        with suppress(PmemError):
            rows = self._rows(query, self._now - KEPT, self._now + KEPT)
            return [pair for (pair,) in rows]
        return ()

    def noted_today(self, beginning: str) -> int:
        """Return how many pairs were noted today; none where nothing can be read.

        Args:
            beginning: Of those whose fingerprints begin so.
        """
        query = (
            "select count(*) from pmem.judged"
            " where project = %s and at >= %s and at < %s and starts_with(pair, %s)"
        )
        today = self._now.replace(hour=0, minute=0, second=0, microsecond=0)
        with suppress(PmemError):
            rows = self._rows(query, today, today + timedelta(days=1), beginning)
            return int(rows[0][0])
        return 0

    def note(self, fingerprints: Iterable[str]) -> None:
        """Keep fingerprints from now on; where nothing can be written, nothing is."""
        if self._read_only:
            return
        query = (
            "insert into pmem.judged select %s, unnest(%s::text[]), %s"
            " on conflict (project, pair) do update set at = excluded.at"
        )
        project = self._server.number
        with suppress(PmemError), self._server.connection() as connection:
            connection.execute(query, (project, sorted(set(fingerprints)), self._now))
            old = "delete from pmem.judged where project = %s and at < %s"
            connection.execute(old, (project, self._now - KEPT))


def _added_up(rows: Iterable[Any]) -> dict[str, Access]:
    found: dict[str, Access] = {}
    for _, at, ids, counts in rows:
        for id_, count in zip(ids, counts, strict=True):
            known = found.get(id_, Access(count=0, last_at=at))
            last = max(known.last_at or at, at)
            found[id_] = Access(count=min(known.count + count, MOST_COUNT), last_at=last)
    return found
