"""Threads and checkpoints of a project on a server."""

from collections.abc import Callable, Collection, Iterable
from datetime import datetime
from typing import TYPE_CHECKING, Any, Final

from pmem.storage.local.state import Saved, Seen
from pmem.storage.postgres.keeper import ServerKeeper

if TYPE_CHECKING:
    from psycopg import Connection

_SIGN: Final = 1 << 63
"""Fingerprints have no sign, and the server's numbers do."""
_SEEN: Final = "select fingerprint from pmem.thread_seen where project = %s and thread_id = %s"
_REVISION: Final = (
    "select revision from pmem.thread_revision where project = %s and thread_id = %s{}"
)
_MET: Final = (
    "insert into pmem.thread_seen select %s, %s, unnest(%s::bigint[]) on conflict do nothing"
)
_SAVE: Final = (
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
        """Save a thread's state in place of the one that is there.

        Args:
            thread: Whose state it is.
            user: The user's name; empty where there is one user only.
            data: The state.
            at: The present.
        """
        self._check_writes()
        with self._server.connection() as connection:
            values = {
                "project": self._server.number,
                "user": user, "thread": thread, "data": data, "at": at,
            }  # fmt: skip
            row = connection.execute(_SAVE, values).fetchone()
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
        """Return the checkpoints, the last saved first.

        Args:
            user: Only this user's; everyone's when None.
        """
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
        """Mark events as seen; see `kept.ThreadKeeper`."""
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
