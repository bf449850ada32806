"""Records of a project on a server as bytes, for keeping a folder and a server equal."""

import time
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, suppress
from typing import Final, NamedTuple

from pmem.errors import NotFound, Unreachable
from pmem.storage.files.recordfile import parse
from pmem.storage.index.documents import Source
from pmem.storage.postgres.records import ServerRecords
from pmem.storage.postgres.selecting import held_for_update
from pmem.storage.postgres.server import Server
from pmem.storage.postgres.writing import WrittenRecord, write_records
from pmem.values.records import RECORD_TYPES

_DIGESTS: Final = (
    "select store, id, sha256(data) from pmem.record where project = %s and store = any(%s)"
)
_GONE: Final = (
    "select distinct on (store, id) store, id, digest from pmem.change where project = %s"
    " and is_gone and (store, id) in (select * from unnest(%s::text[], %s::text[]))"
    " order by store, id, revision desc"
)
_BEGUN: Final = "select 1 from pmem.sync_batch where project = %s and batch = %s"
_BEGIN: Final = "insert into pmem.sync_batch (project, batch) values (%s, %s)"
_FORGET: Final = (
    "delete from pmem.sync_batch where project = %s"
    " and (batch = %s or at < now() - '90 days'::interval)"
)


class ServerSide:
    """One project of a server, as it is kept equal to a folder."""

    def __init__(self, records: ServerRecords) -> None:
        self._records = records
        self._server = records.server

    @property
    def name(self) -> str:
        """The server as people may see it."""
        return self._server.name

    def digests(self, stores: Collection[str]) -> dict[Source, bytes]:
        """Return a digest of each record of some stores."""
        rows = self._records.rows(_DIGESTS, self._server.number, list(stores))
        return {(store, id_): digest for store, id_, digest in rows}

    def gone(self, keys: Sequence[Source]) -> dict[Source, bytes]:
        """Return digests of what records held that were deleted for good lately."""
        stores, ids = [store for store, _ in keys], [id_ for _, id_ in keys]
        rows = self._records.rows(_GONE, self._server.number, stores, ids)
        return {(store, id_): digest for store, id_, digest in rows}

    def lock(self) -> AbstractContextManager[None]:
        """Hold off other writers."""
        return self._records.lock()

    def peek(self, keys: Sequence[Source]) -> dict[Source, bytes]:
        """Return what records hold, without a lock; those that are not there are left out."""
        number = self._server.number
        return self._server.ask(lambda connection: held_for_update(connection, number, keys, ""))

    def read(self, keys: Sequence[Source]) -> dict[Source, bytes]:
        """Return what records hold; those that are not there are left out."""
        with self._records.writing() as connection:
            return held_for_update(connection, self._server.number, keys)

    def write(self, batch: str, results: Mapping[Source, bytes | None]) -> None:
        """Write records as bytes, all or none, and that the batch was written. Hold the lock.

        Raises:
            Damaged: Some bytes are no record.
        """
        with self._records.writing() as connection:
            number = self._server.number
            known = held_for_update(connection, number, list(results))
            written = {
                key: WrittenRecord(
                    parse(data, RECORD_TYPES[key[0]], f"{self.name}: {'/'.join(key)}"),
                    data,
                    key in known,
                )
                for key, data in results.items()
                if data is not None
            }
            gone = [key for key, data in results.items() if data is None and key in known]
            write_records(connection, number, written, gone)
            connection.execute(_BEGIN, (number, batch))

    def has_written(self, batch: str) -> bool:
        """Tell whether a batch was written."""
        return bool(self._records.rows(_BEGUN, self._server.number, batch))

    def forget(self, batch: str) -> None:
        """Forget a batch that both sides have."""
        with self._server.connection() as connection:
            connection.execute(_FORGET, (self._server.number, batch))


def server_side(records: object) -> ServerSide:
    """Return a server's side.

    Raises:
        NotFound: That is no server.
    """
    if not isinstance(records, ServerRecords):
        raise NotFound("this project is on no server", "run `pmem db init` first")
    return ServerSide(records)


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
