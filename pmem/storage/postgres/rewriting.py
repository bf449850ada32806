"""Writing anew what records are found by, where an older pmem has read them otherwise."""

from typing import TYPE_CHECKING, Any, Final

from pmem.errors import Damaged
from pmem.storage.files.recordfile import parse
from pmem.storage.index.schema import VERSION as READING
from pmem.storage.postgres.session_lock import unlocking
from pmem.storage.postgres.turn import WRITER
from pmem.storage.postgres.writing import WrittenRecord, write_records
from pmem.values.records import RECORD_TYPES

if TYPE_CHECKING:
    from psycopg import Connection

    from pmem.storage.postgres.posting import Source

_PAGE: Final = 500
_STALE: Final = "select number from pmem.project where reading < %s order by number"
_RECORDS: Final = (
    "select store, id, data from pmem.record where project = %s and (store, id) > (%s, %s)"
    " order by store, id limit %s"
)
_DONE: Final = "update pmem.project set reading = %s where number = %s"


def rewrite_stale(connection: "Connection[Any]") -> int:
    """Write anew what the records of projects are found by that an older pmem wrote.

    Cut short, it begins again with the project that it was at.

    Args:
        connection: To a server whose schema is up to date, outside of any transaction.

    Returns:
        How many projects there were.
    """
    stale = [number for (number,) in connection.execute(_STALE, (READING,))]
    for project in stale:
        connection.execute("select pg_advisory_lock(%s, %s)", (WRITER, project))
        with unlocking(connection, WRITER, project):
            _rewrite(connection, project)
    return len(stale)


def is_stale(reading: int) -> bool:
    """Tell whether an older pmem wrote what a project's records are found by.

    Args:
        reading: The version that it read texts by.
    """
    return reading < READING


def _rewrite(connection: "Connection[Any]", project: int) -> None:
    after: Source = ("", "")
    while True:
        with connection.transaction():
            rows = connection.execute(_RECORDS, (project, *after, _PAGE), binary=True).fetchall()
            write_records(connection, project, _readable(rows), ())
        if len(rows) < _PAGE:
            break
        after = rows[-1][:2]
    connection.execute(_DONE, (READING, project))


def _readable(rows: list[Any]) -> "dict[Source, WrittenRecord]":
    """Return the records that can be read; the others stay, and are reported when met."""
    found: dict[Source, WrittenRecord] = {}
    for store, identifier, data in rows:
        try:
            record = parse(data, RECORD_TYPES[store], identifier)
        except Damaged:
            continue
        found[store, identifier] = WrittenRecord(record, data, was_there=True)
    return found
