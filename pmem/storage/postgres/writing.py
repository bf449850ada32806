"""Writing records of a project, and what they are found by, within a transaction."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from hashlib import sha256
from itertools import islice
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeVar

import msgspec

from pmem.core.filters import cited_files
from pmem.core.record_keys import twin_keys, word_keys_of
from pmem.core.retrieval.documents import IndexedDocument, entries
from pmem.core.retrieval.pool import label_of
from pmem.core.selection import STORED, column_values
from pmem.storage.files.recordfile import decode
from pmem.storage.index.documents import Seats, Source, document_row, rank, with_rivals
from pmem.storage.postgres.selecting import (
    clean,
    clean_value,
    digest_of_key,
    folders_of,
    twin_digest,
)
from pmem.values.records import RECORD_TYPES, Memory, Record

if TYPE_CHECKING:
    from psycopg import Connection

_Item = TypeVar("_Item")
_RIVALS: Final = (
    "select distinct other.store, other.record from pmem.shared as own"
    " join pmem.shared as other on other.project = own.project and other.id = own.id"
    " where own.project = %s and (own.store, own.record) in"
    " (select * from unnest(%s::text[], %s::text[]))"
)
_GONE: Final = (
    "delete from pmem.{} where project = %s and (store, record) in"
    " (select * from unnest(%s::text[], %s::text[]))"
)
_HELD: Final = "select data from pmem.record where project = %s and store = %s and id = %s"
_SEATED: Final = (
    "select number, id, store, record from pmem.document where project = %s and number = any(%s)"
)
_REPLACED: Final = "delete from pmem.document where project = %s and number = any(%s)"
_DOCUMENT: Final = (
    "insert into pmem.document (project, number, label, store, record, id, length, peak, traits,"
    " session, place, speaker, at, importance, accesses, about, bounded, category, procedural, app,"
    " facts, terms) values {}"
)
_POSTINGS: Final = (
    "insert into pmem.posting select %s, * from"
    " unnest(%s::text[], %s::text[], %s::bigint[], %s::double precision[])"
)
_LINK: Final = "insert into pmem.link values (%s, %s, %s, %s, %s)"
_SHARE: Final = "insert into pmem.shared values (%s, %s, %s, %s) on conflict do nothing"
_MOST: Final = 20_000
"""Postings that are sent together."""
_MOST_ROWS: Final = 100
"""Rows that are inserted together: the server counts after each statement what is new."""


def insertions(query: str, rows: Iterable[Sequence[Any]]) -> Iterator[tuple[bytes, list[Any]]]:
    """Yield the statements that insert rows of one length, and their values."""
    for together in _batches(rows, _MOST_ROWS):
        row = f"({', '.join(['%s'] * len(together[0]))})"
        values = [value for one in together for value in one]
        yield query.format(", ".join([row] * len(together))).encode(), values


class DocumentWriter:
    """Posts records of one project, within a transaction."""

    def __init__(self, connection: "Connection[Any]", project: int) -> None:
        self._connection = connection
        self._project = project

    def post(self, changed: Mapping[Source, Record | None], known: Iterable[Source]) -> None:
        """Make what searches need of records that have changed."""
        touched = with_rivals({*known}, self._rivals)
        self._forget(touched)
        found = sorted({*touched, *changed}, key=rank)
        documents = list(self._entries(found, changed))
        taken = self._holders([entry.document.number for _, entry in documents])

        def holder(number: int) -> tuple[str, Source] | None:
            if number not in taken:
                taken.update(self._holders([number]))
            return taken[number]

        seats = Seats(holder, clean)
        for source, entry in documents:
            seats.give(source, entry)
        self._write(seats)

    def _rivals(self, sources: set[Source]) -> set[Source]:
        return set(self._connection.execute(_RIVALS, self._named(sources)).fetchall())

    def _forget(self, sources: Iterable[Source]) -> None:
        asked = self._named(sources)
        if asked[1]:
            for table in ("shared", "document"):
                self._connection.execute(_GONE.format(table).encode(), asked)

    def _named(self, sources: Iterable[Source]) -> tuple[int, list[str], list[str]]:
        pairs = sorted(sources)
        return self._project, [store for store, _ in pairs], [record for _, record in pairs]

    def _entries(
        self, sources: Iterable[Source], changed: Mapping[Source, Record | None]
    ) -> Iterator[tuple[Source, IndexedDocument]]:
        """Yield the documents of the records that are still there."""
        for source in sources:
            record = changed[source] if source in changed else self._read(source)
            if record is not None:
                yield from ((source, entry) for entry in entries(record))

    def _read(self, source: Source) -> Record | None:
        row = self._connection.execute(_HELD, (self._project, *source)).fetchone()
        return None if row is None else decode(row[0], RECORD_TYPES[source[0]])

    def _holders(self, numbers: list[int]) -> dict[int, tuple[str, Source] | None]:
        """Return whose documents have some numbers on the server."""
        rows = self._connection.execute(_SEATED, (self._project, numbers))
        taken = {number: (id_, (store, record)) for number, id_, store, record in rows}
        return dict.fromkeys(numbers) | taken

    def _write(self, seats: Seats) -> None:
        learnt = [(number, *held) for number, held in sorted(seats.learnt.items())]
        links = ((self._project, *map(clean_value, link)) for link in seats.links())
        shared = [(self._project, digest_of_key(id_), *source) for id_, source in seats.shared]
        with self._connection.cursor() as cursor:
            if seats.replaced:
                cursor.execute(_REPLACED, (self._project, seats.replaced))
            for query, values in insertions(_DOCUMENT, (self._row(*one) for one in learnt)):
                cursor.execute(query, values)
            for batch in _batches(self._postings(learnt), _MOST):
                columns = map(list, zip(*batch, strict=True))
                cursor.execute(_POSTINGS, (self._project, *columns))
            cursor.executemany(_LINK, list(links))
            cursor.executemany(_SHARE, shared)

    def _row(self, number: int, source: Source, entry: IndexedDocument) -> Sequence[Any]:
        *values, _, _ = document_row(number, label_of(entry), source, entry)
        facts = msgspec.json.encode(entry.facts).decode()
        terms = list(map(clean, entry.frequencies))
        return (self._project, *map(clean_value, values), facts, terms)

    def _postings(
        self, learnt: Iterable[tuple[int, Source, IndexedDocument]]
    ) -> Iterator[Sequence[Any]]:
        for number, _, entry in learnt:
            label = label_of(entry)
            for term, count in entry.frequencies.items():
                yield label, clean(term), number, count


def _batches(items: Iterable[_Item], most: int) -> Iterator[list[_Item]]:
    iterator = iter(items)
    while batch := list(islice(iterator, most)):
        yield batch


_GENERATED: Final = frozenset(
    "id state kind procedural app pinned user agent run actor role".split()
)
"""Columns that the server makes of the record itself."""
_GIVEN: Final = [name for name in STORED if name not in _GENERATED]
_NAMES: Final = ", ".join(f'"{name}"' for name in _GIVEN)
_PUT: Final = (
    f"insert into pmem.record (project, store, id, data, given, body, {_NAMES}) values {{}}"
    " on conflict (project, store, id) do update set data = excluded.data,"
    " given = case when record.data = excluded.data then record.given else excluded.given end, "
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
    """Write and remove records."""
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


def _row(project: int, source: Source, one: WrittenRecord) -> Sequence[Any]:
    values = dict(zip(STORED, column_values(one.record), strict=True))
    given = (clean_value(values[name]) for name in _GIVEN)
    return (project, *source, one.data, sha256(one.data).digest(), "null", *given)


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
