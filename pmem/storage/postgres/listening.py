"""Following what is written to a project on a server, by whoever writes it."""

import time
from collections.abc import Iterator
from contextlib import suppress
from typing import Final, NamedTuple

from pmem.errors import Unreachable
from pmem.storage.postgres.server import Server

_CHANGES: Final = (
    "select revision, store, id, is_gone from pmem.change"
    " where project = %s and revision > %s order by revision, store, id"
)
_REVISION: Final = "select revision from pmem.project where number = %s"
_PAUSE_SECONDS: Final = 1.0


class ChangedRecord(NamedTuple):
    """A record that was written, or is gone, and the project's revision at which that was."""

    revision: int
    store: str
    id: str
    is_gone: bool


def follow_changes(
    server: Server, since: int | None = None, *, wait: float = 15.0
) -> Iterator[list[ChangedRecord]]:
    """Yield what is written to a project, as soon as it is; it never ends by itself.

    Where the connection is lost it is made again, and nothing written meanwhile is left out.

    Args:
        server: The project.
        since: The revision behind which to begin; what is written from now on when None.
        wait: Seconds after which nothing is yielded where nothing was written, so that whoever
            follows can look whether somebody still listens.
    """
    reached = since
    while True:
        with suppress(Unreachable), server.connection() as connection:
            number = server.number
            connection.execute(f"listen pmem_{number}".encode())
            try:
                if reached is None:
                    (reached,) = connection.execute(_REVISION, (number,)).fetchone() or (0,)
                while True:
                    rows = connection.execute(_CHANGES, (number, reached)).fetchall()
                    found = [ChangedRecord(*row) for row in rows]
                    reached = found[-1].revision if found else reached
                    yield found
                    list(connection.notifies(timeout=wait, stop_after=1))
            finally:
                if not connection.closed:
                    connection.execute("unlisten *")
        time.sleep(_PAUSE_SECONDS)
