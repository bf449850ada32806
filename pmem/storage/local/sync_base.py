"""What a folder and a server had in common when they were last made equal, record by record.

It is what merges between them start from. Losing it loses no record: without it both sides'
changes are put together, and what only one side has counts as new.
"""

import zlib
from collections.abc import Iterable, Mapping
from hashlib import sha256
from typing import Final, NamedTuple

from pmem.storage.local.state import LocalState

_PUT: Final = "insert or replace into synced values (?, ?, ?, ?, ?)"
_DROP: Final = "delete from synced where project = ? and store = ? and id = ?"
_BEGIN: Final = "insert into unfinished_sync values (?, ?, ?, ?, ?, ?)"
_END: Final = "delete from unfinished_sync where project = ?"
_PENDING: Final = "select batch, store, id, ours, result from unfinished_sync where project = ?"
_DIGESTS: Final = "select store, id, digest from synced where project = ?"
_DATA: Final = "select data from synced where project = ? and store = ? and id = ?"

RecordKey = tuple[str, str]
"""A record: its store's folder and its id."""


class UnfinishedBatch(NamedTuple):
    """A batch that may have been written to no side, to the server alone, or to both.

    Attributes:
        records: what the folder had of each record before, and what it was to have; None for none.
    """

    name: str
    records: Mapping[RecordKey, tuple[bytes | None, bytes | None]]


class SyncBase:
    """The common state of a folder and a project on a server."""

    def __init__(self, state: LocalState, project: str) -> None:
        self._state = state
        self._project = project

    def digests(self) -> dict[RecordKey, bytes]:
        """Return a digest of each record as both sides had it."""
        rows = self._state.rows(_DIGESTS, self._project)
        return {(store, id_): digest for store, id_, digest in rows}

    def records(self, keys: Iterable[RecordKey]) -> dict[RecordKey, bytes]:
        """Return the bytes of records as both sides had them."""
        with self._state.reading() as connection:
            found = {
                key: connection.execute(_DATA, (self._project, *key)).fetchone() for key in keys
            }
        return {key: zlib.decompress(row[0]) for key, row in found.items() if row}

    def pending(self) -> UnfinishedBatch | None:
        """Return the batch that was begun last, if it was not ended."""
        rows = self._state.rows(_PENDING, self._project)
        if not rows:
            return None
        records = {
            (store, id_): (_unpack(ours), _unpack(result)) for _, store, id_, ours, result in rows
        }
        return UnfinishedBatch(rows[0][0], records)

    def begin(self, batch: UnfinishedBatch) -> None:
        """Note what is about to be written to the server, and then to the folder."""
        rows = [
            (self._project, batch.name, *key, _pack(ours), _pack(result))
            for key, (ours, result) in batch.records.items()
        ]
        with self._state.writing(private=True) as connection:
            connection.executemany(_BEGIN, rows)

    def end(self, results: Mapping[RecordKey, bytes | None]) -> None:
        """Note what both sides have now; no batch is begun any more."""
        with self._state.writing(private=True) as connection:
            for key, data in results.items():
                if data is None:
                    connection.execute(_DROP, (self._project, *key))
                else:
                    row = (self._project, *key, sha256(data).digest(), zlib.compress(data))
                    connection.execute(_PUT, row)
            connection.execute(_END, (self._project,))


def _pack(data: bytes | None) -> bytes | None:
    return None if data is None else zlib.compress(data)


def _unpack(data: bytes | None) -> bytes | None:
    return None if data is None else zlib.decompress(data)
