"""What can be asked of a project's records on a server; each takes a connection."""

from collections.abc import Collection, Iterable, Sequence
from typing import TYPE_CHECKING, Any

from pmem.core.places import applies_within
from pmem.core.selection import Portion, Selection
from pmem.storage.postgres.selecting import clean, column, condition, ordering
from pmem.storage.postgres.writing import twin_digest
from pmem.values.ids import is_id

if TYPE_CHECKING:
    from psycopg import Connection

    Asked = Connection[Any]

Found = list[tuple[str, bytes]]
"""The ids of records and their bytes."""


def ids(connection: "Asked", project: int, *, store: str, reference: str) -> list[str]:
    """Return the ids of a store that a reference fits, in ascending order."""
    query = "select id from pmem.record where project = %s and store = %s"
    values: list[Any] = [project, store]
    if reference:
        query += " and (starts_with(id, %s) or starts_with(substr(id, strpos(id, '-') + 1), %s))"
        values += [clean(reference)] * 2
    if is_id(reference):
        query, values = f"{query} and id = %s", [*values, reference]
    return [id_ for (id_,) in connection.execute(f"{query} order by id".encode(), values)]


def data(connection: "Asked", project: int, *, store: str, id_: str) -> bytes | None:
    """Return a record's bytes; None where there is none."""
    query = "select data from pmem.record where project = %s and store = %s and id = %s"
    row = connection.execute(query, (project, store, id_), binary=True).fetchone()
    return None if row is None else bytes(row[0])


def page(
    connection: "Asked", project: int, *, store: str, after: str, most: int, without: str
) -> Found:
    """Return records behind an id, those without a mark."""
    query = "select id, data from pmem.record where project = %s and store = %s and id > %s"
    query += (
        " and not exists (select from pmem.mark where mark.record = number and name = %s)"
        * bool(without)
    )
    values = (project, store, after, *[without] * bool(without), most)
    return _fetched(connection, f"{query} order by id limit %s", values)


def held_for_update(
    connection: "Asked",
    project: int,
    keys: Iterable[tuple[str, str]],
    locking: str = " for update",
) -> dict[tuple[str, str], bytes]:
    """Lock the rows of records, and return what they hold."""
    pairs = sorted(keys)
    query = (
        "select store, id, data from pmem.record where project = %s and (store, id) in"
        " (select * from unnest(%s::text[], %s::text[])) order by store, id"
    )
    values = (project, [store for store, _ in pairs], [id_ for _, id_ in pairs])
    rows = connection.execute(f"{query}{locking}".encode(), values, binary=True)
    return {(store, id_): held for store, id_, held in rows}


def select(connection: "Asked", project: int, *, store: str, part: Portion) -> Found:
    """Return the records of a part that columns can tell, in order."""
    query, values = _select("id, data", connection, project, store, part)
    return _fetched(connection, query, values)


def some_of(
    connection: "Asked", project: int, *, store: str, parts: Sequence[Portion],
    keys: Collection[str],
) -> Found:  # fmt: skip
    """Return the records of any part, or with one of some twin keys, by ascending id."""
    digests = [twin_digest(project, key) for key in keys]
    queries = ["select record from pmem.twin where key = any(%s)"]
    values: list[Any] = [digests]
    for part in parts:
        query, more = _select("number", connection, project, store, part)
        queries.append(f"({query})")
        values += more
    query = (
        f"select id, data from pmem.record where number in ({' union '.join(queries)})"
        " and project = %s and store = %s order by id"
    )
    return _fetched(connection, query, (*values, project, store))


def tally(
    connection: "Asked", project: int, *, store: str, selection: Selection,
    columns: Sequence[str], least: int,
) -> list[tuple[Any, ...]] | None:  # fmt: skip
    """Count records by the values of columns; None where no column answers a filter."""
    found = _condition(connection, project, store, selection)
    if not found.is_exact:
        return None
    by = ", ".join(column(name) for name in columns)
    query = f"select {by}{', ' * bool(by)}count(*) from pmem.record where {found.text}"
    query += f" group by {by}" * bool(by)
    query += " having count(*) >= %s"
    rows = connection.execute(query.encode(), (*found.values, least), binary=True)
    return rows.fetchall()


def figure(
    connection: "Asked", project: int, *, store: str, name: str
) -> tuple[int, str | None]:  # fmt: skip
    """Return a store's revision, and a figure that was kept of it, if it still holds."""
    query = (
        "select store.revision, value from pmem.store left join pmem.figure"
        " on figure.project = store.project and figure.store = store.name"
        " and figure.revision = store.revision and figure.name = %s"
        " where store.project = %s and store.name = %s"
    )
    return connection.execute(query, (name, project, store)).fetchone() or (0, None)


def keep_figure(
    connection: "Asked", project: int, *, store: str, name: str, revision: int, value: str
) -> None:
    """Keep a figure that depends on a store's records alone."""
    query = (
        "insert into pmem.figure values (%s, %s, %s, %s, %s) on conflict (project, store, name)"
        " do update set revision = excluded.revision, value = excluded.value"
    )
    connection.execute(query, (project, store, name, revision, value))


def marked(connection: "Asked", project: int, *, store: str, mark: str) -> Found:
    """Return the records that have a mark, by id."""
    query = (
        "select id, data from pmem.mark join pmem.record on record.number = mark.record"
        " where mark.name = %s and project = %s and store = %s order by id"
    )
    return _fetched(connection, query, (mark, project, store))


def mark(
    connection: "Asked", project: int, *, store: str, mark: str, ids: Iterable[str]
) -> None:  # fmt: skip
    """Mark records."""
    query = (
        "insert into pmem.mark select %s, number from pmem.record where project = %s"
        " and store = %s and id = any(%s) on conflict do nothing"
    )
    connection.execute(query, (mark, project, store, list(ids)))


def twins(connection: "Asked", project: int, *, store: str, key: str) -> Found:
    """Return the records that have a twin key, by id."""
    query = (
        "select id, data from pmem.twin join pmem.record on record.number = twin.record"
        " where key = %s and project = %s and store = %s order by id"
    )
    return _fetched(connection, query, (twin_digest(project, key), project, store))


def holders(
    connection: "Asked", project: int, *, store: str, keys: Collection[str], most: int
) -> dict[str, list[str]]:
    """Return the ids of the records that hold words, in ascending order."""
    given = {clean(key): key for key in keys}
    query = (
        "select asked, array(select id from pmem.word join pmem.record on number = word.record"
        " where word.project = %s and word = asked and store = %s order by id)"
        " from unnest(%s::text[]) as asked where not exists (select from pmem.word"
        " where project = %s and word = asked offset %s)"
    )
    values = (project, store, list(given), project, most)
    return {given[word]: ids for word, ids in connection.execute(query, values)}


def _select(
    what: str, connection: "Asked", project: int, store: str, part: Portion
) -> tuple[str, list[Any]]:
    found = _condition(connection, project, store, part.selection)
    query = f"select {what} from pmem.record where {found.text} order by {ordering(part.order)}"
    if part.limit is None or not found.is_exact:
        return query, found.values
    return f"{query} limit %s", [*found.values, part.limit]


def _condition(connection: "Asked", project: int, store: str, selection: Selection) -> Any:
    """Return the condition of a selection; which patterns fit a path is found out here."""
    path, placed = selection.wanted.path, []
    if path is not None:
        query = "select distinct patterns from pmem.place where project = %s"
        found = [patterns for (patterns,) in connection.execute(query, (project,))]
        placed = [each for each in found if applies_within(each.split("\n"), path)]
    return condition(project, store, selection, placed)


def _fetched(connection: "Asked", query: str, values: Sequence[Any]) -> Found:
    return connection.execute(query.encode(), values, binary=True).fetchall()
