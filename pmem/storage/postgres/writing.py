"""Writing records of a project, and what they are found by, within a transaction."""

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from pmem.core.filters import cited_files
from pmem.core.selection import STORED, column_values
from pmem.storage.backend import twin_keys, word_keys_of
from pmem.storage.postgres.posting import DocumentWriter, Source, insertions
from pmem.storage.postgres.selecting import clean, digest_of_key, folders_of
from pmem.values.records import Memory, Record

if TYPE_CHECKING:
    from psycopg import Connection

_GENERATED: Final = frozenset(
    "id state kind procedural app pinned user agent run actor role".split()
)
"""Columns that the server makes of the record itself."""
_GIVEN: Final = [name for name in STORED if name not in _GENERATED]
_NAMES: Final = ", ".join(f'"{name}"' for name in _GIVEN)
_PUT: Final = (
    f"insert into pmem.record (project, store, id, data, body, {_NAMES}) values {{}}"
    " on conflict (project, store, id) do update set data = excluded.data, "
    + ", ".join(f'"{name}" = excluded."{name}"' for name in _GIVEN)
    + " returning store, id, number"
)
_REMOVE: Final = "delete from pmem.record where project = %s and store = %s and id = %s"
_FORGET: Final = "delete from pmem.{} where record = any(%s)"
_BESIDE: Final = {
    "twin": "insert into pmem.twin (key, record)"
    " select * from unnest(%s::bytea[], %s::bigint[]) on conflict do nothing",
    "word": "insert into pmem.word (project, word, record)"
    " select {project}, * from unnest(%s::text[], %s::bigint[]) on conflict do nothing",
    "cited": "insert into pmem.cited (project, path, record)"
    " select {project}, * from unnest(%s::bytea[], %s::bigint[]) on conflict do nothing",
    "place": "insert into pmem.place (project, patterns, record)"
    " select {project}, * from unnest(%s::text[], %s::bigint[])",
}


class WrittenRecord(NamedTuple):
    """A record and its bytes; `was_there` is whether it replaces one."""

    record: Record
    data: bytes
    was_there: bool


def write_records(
    connection: "Connection[Any]",
    project: int,
    written: Mapping[Source, WrittenRecord],
    gone: Iterable[Source],
) -> None:
    """Write and remove records.

    Args:
        connection: In a transaction.
        project: The project's number.
        written: The new records.
        gone: Those that are to go.
    """
    removed = list(gone)
    known = [*removed, *(source for source, one in written.items() if one.was_there)]
    changed: dict[Source, Record | None] = {key: one.record for key, one in written.items()}
    changed |= dict.fromkeys(removed)
    with connection.pipeline(), connection.cursor() as cursor:  # other writers wait for each answer
        numbers: dict[Source, int] = {}
        for query, values in insertions(_PUT, (_row(project, *item) for item in written.items())):
            cursor.execute(query, values)
            numbers |= {(store, id_): number for store, id_, number in cursor.fetchall()}
        if written:
            _write_beside(cursor, project, {numbers[key]: one for key, one in written.items()})
        DocumentWriter(connection, project).post(changed, known)
        for source in removed:
            connection.execute(_REMOVE, (project, *source))


def twin_digest(project: int, key: str) -> bytes:
    """Return what a twin key of a project is kept as."""
    return digest_of_key(f"{project}:{key}")


def _row(project: int, source: Source, one: WrittenRecord) -> Sequence[Any]:
    values = dict(zip(STORED, column_values(one.record), strict=True))
    return (project, *source, one.data, "null", *(_plain(values[name]) for name in _GIVEN))


def _plain(value: Any) -> Any:
    return clean(str(value)) if isinstance(value, str) else value


def _write_beside(cursor: Any, project: int, written: Mapping[int, WrittenRecord]) -> None:
    """Write what records are found by."""
    replaced = [number for number, one in written.items() if one.was_there]
    rows: dict[str, list[tuple[str | bytes, int]]] = {table: [] for table in _BESIDE}
    for number, (record, _, _) in written.items():
        rows["twin"] += [(twin_digest(project, key), number) for key in twin_keys(record)]
        rows["word"] += [(clean(word), number) for word in word_keys_of(record)]
        paths = {path for file in cited_files(record) for path in folders_of(file)}
        rows["cited"] += [(digest_of_key(path), number) for path in sorted(paths)]
        if isinstance(record, Memory) and record.places:
            rows["place"].append((clean("\n".join(record.places)), number))
    for table, query in _BESIDE.items():
        if replaced:
            cursor.execute(_FORGET.format(table).encode(), (replaced,))
        if rows[table]:
            keys, holders = map(list, zip(*rows[table], strict=True))
            cursor.execute(query.format(project=project).encode(), (keys, holders))
