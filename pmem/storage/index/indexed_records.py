"""Asking the index about records: which there are, in which order, and how many."""

import sqlite3
import sys
from collections.abc import Collection, Iterable, Sequence
from typing import Any

from pmem.core.selection import Order, Portion, Selection
from pmem.storage.index.database import rolled_back, snapshot, trusted
from pmem.storage.index.selecting import AMONG, expression, json_array, ordered, where


class IndexedRecords:
    """The records as an index has them; every method raises `BrokenIndex` where it holds nonsense.

    A `cross join` makes SQLite begin with the table on its left, the one that names few rows.

    Args:
        connection: The open database.
    """

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    def page(self, store: str, after: str, most: int, without: str) -> list[tuple[str, bytes]]:
        """Return the ids and the bytes of a store's records in ascending order of their ids.

        Args:
            store: The store's folder.
            after: Only those behind this id.
            most: So many at the most.
            without: Only those that do not have this mark; all where it is empty.
        """
        query = "select id, data from record join body using (number) where store = ? and id > ?"
        query += " and number not in (select number from mark where name = ?)" * bool(without)
        asked = (store, after, *[without] * bool(without), most)
        with trusted(self._connection):
            return self._connection.execute(f"{query} order by id limit ?", asked).fetchall()

    def marked(self, store: str, mark: str) -> list[bytes]:
        """Return the bytes of a store's records that have a mark, by id.

        Args:
            store: The store's folder.
            mark: Its name.
        """
        query = (
            "select data from mark cross join record using (number) join body using (number)"
            " where name = ? and store = ? order by id"
        )
        with trusted(self._connection):
            return [data for (data,) in self._connection.execute(query, (mark, store))]

    def mark(self, store: str, mark: str, ids: Iterable[str]) -> None:
        """Mark records, until they change or any record goes.

        Args:
            store: The store's folder.
            mark: The mark's name.
            ids: The records' ids.
        """
        query = "insert or ignore into mark select ?, number from record where store = ? and id = ?"
        with trusted(self._connection), rolled_back(self._connection):
            self._connection.execute("begin immediate")
            self._connection.executemany(query, ((mark, store, id_) for id_ in ids))
            self._connection.execute("commit")

    def select(
        self, store: str, selection: Selection, order: Order, limit: int | None
    ) -> list[bytes]:
        """Return the bytes of the records that can be selected, in order.

        Args:
            store: The store's folder.
            selection: What they must be. What no column answers is not looked at; then there is
                no limit either.
            order: What they are sorted by.
            limit: So many at the most.
        """
        with trusted(self._connection), snapshot(self._connection):
            found = self._numbers(store, Portion(selection, order, limit))
            return [self._data(number) for (number,) in found]

    def some_of(self, store: str, parts: Sequence[Portion], keys: Collection[str]) -> list[bytes]:
        """Return the bytes of the records of any part, or with one of some twin keys, by id.

        Args:
            store: The store's folder.
            parts: Which records; what no column answers is not looked at.
            keys: Twin keys.
        """
        with trusted(self._connection), snapshot(self._connection):
            numbers = {number for part in parts for (number,) in self._numbers(store, part)}
            query = f"select number from twin where key {AMONG}"
            found = self._connection.execute(query, (json_array(keys),))
            numbers.update(number for (number,) in found)
            query = f"select data from record join body using (number) where number {AMONG}"
            asked = (f"[{','.join(map(str, sorted(numbers)))}]",)
            return [data for (data,) in self._connection.execute(f"{query} order by id", asked)]

    def tally(
        self, store: str, selection: Selection, columns: Sequence[str], least: int
    ) -> list[tuple[Any, ...]] | None:
        """Count the records that are selected, by the values of columns.

        Args:
            store: The store's folder.
            selection: What they must be.
            columns: What they are counted by.
            least: Only values that at least so many have.

        Returns:
            The values of the columns and the number of each; None where no column answers a
            filter.
        """
        found = where(store, selection)
        if not found.is_exact:
            return None
        by = ", ".join(expression(name) for name in columns)
        query = f"select {by}{', ' * bool(by)}count(*) from record where {found.text}"
        query += f" group by {by}" * bool(by)
        query += " having count(*) >= ?"
        with trusted(self._connection):
            return self._connection.execute(query, (*found.values, least)).fetchall()

    def figure(self, store: str, name: str) -> tuple[int, str | None]:
        """Return a store's revision, and a figure that was kept of it, if it still holds.

        Args:
            store: The store's folder.
            name: The figure's name.
        """
        query = (
            "select looked.revision, value from looked left join figure on"
            " figure.store = looked.store and figure.revision = looked.revision and name = ?"
            " where looked.store = ?"
        )
        with trusted(self._connection):
            found = self._connection.execute(query, (name, store)).fetchone()
            return (0, None) if found is None else found

    def keep_figure(self, store: str, name: str, revision: int, value: str) -> None:
        """Keep a figure that depends on a store's records alone, and on all of them.

        Args:
            store: The store's folder.
            name: The figure's name.
            revision: The store's revision when the figure was made.
            value: The figure, as JSON.
        """
        with trusted(self._connection):
            query = "insert or replace into figure values (?, ?, ?, ?)"
            self._connection.execute(query, (store, name, revision, value))

    def twins(self, store: str, key: str) -> list[str]:
        """Return the ids of a store's records that have a key, in ascending order.

        Args:
            store: The store's folder.
            key: One of `twin_keys`.
        """
        query = (
            "select id from twin cross join record using (number)"
            " where key = ? and store = ? order by id"
        )
        with trusted(self._connection):
            return [found for (found,) in self._connection.execute(query, (key, store))]

    def holders(self, keys: Iterable[str], most: int) -> dict[str, list[str]]:
        """Return the ids of the memories that hold words, in ascending order.

        Args:
            keys: Words (see `backend.word_keys_of`).
            most: A word that more of them hold is left out.
        """
        many = "select 1 from word where word = ? limit 1 offset ?"
        query = "select id from word cross join record using (number) where word = ? order by id"
        with trusted(self._connection):
            ask = self._connection.execute
            rare = [key for key in keys if ask(many, (key, most)).fetchone() is None]
            return {key: [found for (found,) in ask(query, (key,))] for key in rare}

    def _numbers(self, store: str, part: Portion) -> list[tuple[int]]:
        """Return the numbers of a part's records, in order."""
        found = where(store, part.selection)
        most = min(part.limit, sys.maxsize) if part.limit is not None and found.is_exact else -1
        query = f"select number from record where {found.text}"
        query += f" order by {ordered(part.order)} limit ?"
        return self._connection.execute(query, (*found.values, most)).fetchall()

    def _data(self, number: int) -> bytes:
        query = "select data from body where number = ?"
        found: tuple[bytes] = self._connection.execute(query, (number,)).fetchone()
        return found[0]
