"""The disposable index beside the files: delete it, and the next command makes it again.

It keeps every record as its file held it at the last look, what selecting and comparing needs,
and what searches need. It is brought up to date by the next command that asks it, whoever has
changed the files. A command that finds it locked, broken or unwritable does without.
"""

import os
import sqlite3
import sys
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple

from pmem.core.selection import Order, Portion, Selection
from pmem.storage.files import safe_files
from pmem.storage.files.recordfile import Stamp
from pmem.storage.index import records
from pmem.storage.index.database import FILE, connect, is_at_fault, rolled_back, snapshot
from pmem.storage.index.records import MEMORIES, Files, ReadRecord
from pmem.storage.index.selecting import AMONG, expression, ordered, table_of_counts, where

if TYPE_CHECKING:
    from pmem.storage.index.documents import Poster
    from pmem.storage.index.search import SearchIndex


class UnusableFile(NamedTuple):
    """Why a file cannot be used: the machine code, and one sentence."""

    code: str
    message: str


class Index:
    """An open index; it is one thread's at a time.

    Every method but `close` raises some of `NONSENSE` where the index holds that, or cannot be used
    now. A `cross join` makes SQLite begin with the table on its left, the one that names few rows.
    """

    def __init__(self, path: str, connection: sqlite3.Connection) -> None:
        self.is_open = True
        self._path = path
        self._connection = connection
        self._inode = _inode_of(path)
        self._poster: Poster | None = None

    @property
    def is_in_place(self) -> bool:
        """Whether the database that is open is still the one that others find."""
        return _inode_of(self._path) == self._inode

    def close(self) -> None:
        """Let go of the file."""
        self.is_open = False
        self._connection.close()

    def give_up(self, error: Exception) -> bool:
        """Let go of the file; throw it away if it is at fault, and tell whether that was done."""
        self.close()
        at_fault = is_at_fault(error)
        if at_fault:
            safe_files.discard(self._path)
        return at_fault

    def update(self, stores: Collection[str], files: Files, *, post: bool) -> None:
        """Learn what has changed since the last look, in one transaction.

        With `post`, searches are to find it, too.
        """
        self._poster = None
        take = self._take if post else None
        with rolled_back(self._connection):
            has_begun = records.follow(self._connection, stores, files, take)
            if post:
                self._post(has_begun=has_begun)
            if self._connection.in_transaction:
                self._connection.execute("commit")

    def learn(self, store: str, written: Mapping[str, tuple[Stamp, ReadRecord] | None]) -> None:
        """Take over what was just written to a store that was up to date; None for what is gone."""
        with rolled_back(self._connection):
            self._connection.execute("begin immediate")
            records.learn(self._connection, store, written)
            self._connection.execute("commit")

    def unusable(self, store: str) -> dict[str, UnusableFile]:
        """Return the files of a store that cannot be used, by name."""
        query = "select record, code, message from problem where store = ? order by record"
        rows = self._connection.execute(query, (store,)).fetchall()
        return {
            records.text_of(record): UnusableFile(code, records.text_of(message))
            for record, code, message in rows
        }

    @contextmanager
    def searching(self) -> Iterator["SearchIndex"]:
        """Let everything that a search asks be as of one moment, whoever updates the index."""
        from pmem.storage.index.search import SearchIndex

        with snapshot(self._connection):
            yield SearchIndex(self._connection)

    def page(self, store: str, after: str, most: int, without: str) -> list[tuple[str, bytes]]:
        """Return ids and bytes of a store's records behind an id, those without a mark, by id."""
        query = "select id, data from record join body using (number) where store = ? and id > ?"
        query += " and number not in (select number from mark where name = ?)" * bool(without)
        asked = (store, after, *[without] * bool(without), most)
        return self._connection.execute(f"{query} order by id limit ?", asked).fetchall()

    def marked(self, store: str, mark: str) -> list[bytes]:
        """Return the bytes of a store's records that have a mark, by id."""
        query = (
            "select data from mark cross join record using (number) join body using (number)"
            " where name = ? and store = ? order by id"
        )
        return [data for (data,) in self._connection.execute(query, (mark, store))]

    def mark(self, store: str, mark: str, ids: Iterable[str]) -> None:
        """Mark records, until they change or any record goes."""
        query = "insert or ignore into mark select ?, number from record where store = ? and id = ?"
        with rolled_back(self._connection):
            self._connection.execute("begin immediate")
            self._connection.executemany(query, ((mark, store, id_) for id_ in ids))
            self._connection.execute("commit")

    def tokens(self, vocabulary: str, keys: Iterable[int]) -> dict[int, int]:
        """Return the counts that are kept, by what stands for the texts that were counted."""
        query = f"select key, tokens from counted where vocabulary = ? and key {AMONG}"
        asked = (vocabulary, f"[{','.join(map(str, keys))}]")
        return dict(self._connection.execute(query, asked).fetchall())

    def keep_tokens(self, rows: Iterable[tuple[str, int, int]]) -> None:
        """Keep counts, until any record goes."""
        with rolled_back(self._connection):
            self._connection.execute("begin immediate")
            self._connection.executemany("insert or ignore into counted values (?, ?, ?)", rows)
            self._connection.execute("commit")

    def select(
        self, store: str, selection: Selection, order: Order, limit: int | None
    ) -> list[bytes]:
        """Return the bytes of the records that can be selected, in order.

        What no column answers is not looked at; then there is no limit either.
        """
        with snapshot(self._connection):
            found = self._numbers(store, Portion(selection, order, limit))
            query = "select data from body where number = ?"
            return [self._connection.execute(query, row).fetchone()[0] for row in found]

    def some_of(self, store: str, parts: Sequence[Portion]) -> list[bytes]:
        """Return the bytes of the records of any part, by id.

        What no column answers is not looked at.
        """
        with snapshot(self._connection):
            numbers = {number for part in parts for (number,) in self._numbers(store, part)}
            query = f"select data from record join body using (number) where number {AMONG}"
            asked = (f"[{','.join(map(str, sorted(numbers)))}]",)
            return [data for (data,) in self._connection.execute(f"{query} order by id", asked)]

    def tally(
        self, store: str, selection: Selection, columns: Sequence[str], least: int
    ) -> list[tuple[Any, ...]] | None:
        """Return the values of columns and how many of the records that are selected have each.

        None where no column answers a filter.
        """
        found = where(store, selection)
        if not found.is_exact:
            return None
        table = table_of_counts(store, selection, columns)
        many = "sum(many)" if table else "count(*)"
        by = ", ".join(f'"{name}"' if table else expression(name) for name in columns)
        query = f"select {by}{', ' * bool(by)}{many} from {table or 'record'} where {found.text}"
        query += f" group by {by}" * bool(by)
        query += f" having {many} >= ?"
        return self._connection.execute(query, (*found.values, least)).fetchall()

    def figure(self, store: str, name: str) -> tuple[int, str | None]:
        """Return a store's revision, and a figure that was kept of it, if it still holds."""
        query = (
            "select looked.revision, value from looked left join figure on"
            " figure.store = looked.store and figure.revision = looked.revision and name = ?"
            " where looked.store = ?"
        )
        found = self._connection.execute(query, (name, store)).fetchone()
        return (0, None) if found is None else found

    def keep_figure(self, store: str, name: str, revision: int, value: str) -> None:
        """Keep a figure that depends on a store's records alone, and on all of them."""
        query = "insert or replace into figure values (?, ?, ?, ?)"
        self._connection.execute(query, (store, name, revision, value))

    def judge_pairs(self, rules: str, judge: Callable[[bytes, bytes], bool], most: int) -> bool:
        """Judge so many pairs of near memories that no such rules have judged as they are; tell
        whether there were any. Others wait meanwhile, so that none of it changes.
        """
        either = (
            "select tie.number, target, one.data, other.data from tie"
            f" cross join record as end on end.store = '{MEMORIES}' and end.id = target"
            " cross join body as one on one.number = tie.number"
            " cross join body as other on other.number = end.number where rules"
        )
        query = f"{either} < ? union all {either} > ? limit ?"
        if self._connection.execute(query, (rules, rules, 1)).fetchone() is None:
            return False
        with rolled_back(self._connection):
            self._connection.execute("begin immediate")
            found = self._connection.execute(query, (rules, rules, most)).fetchall()
            judged = [(rules, judge(one, other), *key) for *key, one, other in found]
            query = "update tie set rules = ?, holds = ? where number = ? and target = ?"
            self._connection.executemany(query, judged)
            self._connection.execute("commit")
        return True

    def near_pairs(self, rules: str) -> list[tuple[str, str]]:
        """Return the ids of the pairs that were found to hold by some rules, in order."""
        query = "select id, target from tie cross join record using (number)"
        query += " where rules = ? and holds order by id, target"
        return self._connection.execute(query, (rules,)).fetchall()

    def holders(self, keys: Iterable[str], most: int) -> dict[str, list[str]]:
        """Return the ids of the memories that hold words; see `Backend.holders`."""
        many = "select 1 from word where word = ? limit 1 offset ?"
        query = "select id from word cross join record using (number) where word = ? order by id"
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

    def _take(self, store: str, found: Mapping[str, ReadRecord]) -> None:
        from pmem.storage.index.documents import Poster

        if self._poster is None:
            self._poster = Poster(self._connection)
        self._poster.take(store, found)

    def _post(self, *, has_begun: bool) -> None:
        if self._poster is not None:
            self._poster.finish()
        query = "select 1 from unposted limit 1"
        if self._connection.execute(query).fetchone() is None:
            return
        from pmem.storage.index.documents import post

        if not has_begun:
            self._connection.execute("begin immediate")
        post(self._connection)


def _inode_of(path: str) -> tuple[int, int] | None:
    try:
        status = os.stat(path, follow_symlinks=False)
    except OSError:
        return None
    return status.st_dev, status.st_ino


def open_index(local: str) -> Index | None:
    """Open the index of a clone, made anew where it is broken; None where none can be kept."""
    path = os.path.join(local, FILE)
    for _ in range(2):
        try:
            return Index(path, connect(path))
        except (OSError, sqlite3.Error) as error:
            if not is_at_fault(error):
                return None
            safe_files.discard(path)
    return None
