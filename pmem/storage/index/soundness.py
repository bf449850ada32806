"""Whether a search index holds what this version of pmem writes, and nothing else."""

import sqlite3
from collections.abc import Collection, Iterator
from typing import Final

import msgspec

from pmem.core.retrieval.documents import Facts
from pmem.storage.index.documents import read_postings
from pmem.storage.index.schema import rebuild
from pmem.values.records import STORES

_NULLABLE: Final = frozenset(
    "session place speaker at type category app user agent run actor role trust"
    " valid_from valid_until purge_at review_at review_if last_access revision value"
    " cites disputed".split()
)
"""Columns that a record or a document may leave empty."""
_RAW: Final = frozenset(("terms", "record", "message"))
"""Columns that keep text as it is, or as bytes where it is not UTF-8."""
_FACTS: Final = msgspec.json.Decoder(Facts)


def is_sound(connection: sqlite3.Connection) -> bool:
    """Tell whether every table of an index is there, and every value is of its type.

    A search that fails on a sound index fails for another reason, which must not be hidden.
    """
    try:
        is_whole = connection.execute("pragma quick_check(1)").fetchone() == ("ok",)
        return is_whole and _tables(connection) == _expected() and not any(_wrong(connection))
    except (sqlite3.Error, msgspec.MsgspecError, ValueError, LookupError):
        return False


def _tables(connection: sqlite3.Connection) -> dict[str, list[tuple[str, str]]]:
    """Return the columns of each table with their types."""
    names = connection.execute("select name from sqlite_master where type = 'table'").fetchall()
    return {
        name: [
            (column, type_.lower())
            for _, column, type_, *_ in connection.execute(f'pragma table_info("{name}")')
        ]
        for (name,) in names
    }


def _expected() -> dict[str, list[tuple[str, str]]]:
    fresh = sqlite3.connect(":memory:")
    try:
        rebuild(fresh)
        return _tables(fresh)
    finally:
        fresh.close()


def _wrong(connection: sqlite3.Connection) -> Iterator[bool]:
    """Yield whether something is wrong with each table, and with what is packed in some."""
    for table, columns in _tables(connection).items():
        yield _has(connection, table, " or ".join(_mistyped(*column) for column in columns))
    yield _has(connection, "document", f"store not in ({_quote_names(STORES.values())})")
    known = set()
    for number, facts in connection.execute("select number, facts from document"):
        _FACTS.decode(facts)
        known.add(number)
    for label, term in connection.execute("select label, term from posting"):
        yield not read_postings(connection, (label,), term).keys() <= known


def _has(connection: sqlite3.Connection, table: str, condition: str) -> bool:
    found = connection.execute(f"select 1 from {table} where {condition} limit 1").fetchone()
    return found is not None


def _mistyped(column: str, type_: str) -> str:
    also = ["null"] * (column in _NULLABLE) + ["text"] * (column in _RAW)
    return f"typeof({column}) not in ({_quote_names([type_, *also])})"


def _quote_names(names: Collection[str]) -> str:
    return ", ".join(f"'{name}'" for name in names)
