"""What every keeper of a project's own state on a server has in common."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from pmem.errors import ReadOnly
from pmem.storage.postgres.server import Server

if TYPE_CHECKING:
    from psycopg import Connection


class ServerKeeper:
    """Keeps something of a project on a server, beside its records.

    Args:
        server: Where it is kept.
        read_only: Write nothing.
    """

    def __init__(self, server: Server, *, read_only: bool = False) -> None:
        self._server = server
        self._read_only = read_only

    @property
    def path(self) -> str:
        """Where it is, for people."""
        return self._server.name

    @contextmanager
    def _writing(self, lock: int | None = None) -> "Iterator[Connection[Any]]":
        """Begin a transaction.

        Args:
            lock: What others of this kind wait for until it ends; nothing when None.

        Raises:
            ReadOnly: This run is read-only.
        """
        self._check_writes()
        with self._server.connection() as connection, connection.transaction():
            if lock is not None:
                query = "select pg_advisory_xact_lock(%s, %s)"
                connection.execute(query, (lock, self._server.number))
            yield connection

    def _write(self, query: str, *values: Any) -> int:
        """Write with one statement, whose first value is the project; return how many rows.

        Raises:
            ReadOnly: This run is read-only.
        """
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
