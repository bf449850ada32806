"""Posting lists as the search index keeps them: one packed list a term, read in one piece."""

import sqlite3
from array import array
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence

from pmem.core.retrieval.collection import LAST

Key = tuple[str, str]
"""A list's label and its term."""


def read(connection: sqlite3.Connection, labels: Iterable[str], term: str) -> Mapping[int, float]:
    """Return how often a term occurs in the documents that hold it, by ascending number.

    Args:
        connection: The open database.
        labels: Which documents count.
        term: The term.
    """
    lists = [_stored(connection, (label, term)) for label in labels]
    if len(lists) == 1:
        return lists[0]
    return dict(sorted(item for found in lists for item in found.items()))


def beginning(
    connection: sqlite3.Connection, labels: Iterable[str], starts: Sequence[str]
) -> list[str]:
    """Return the terms that begin with one of some starts; the lists are not read.

    Args:
        connection: The open database.
        labels: Which documents count.
        starts: The letters.
    """
    query = "select term from posting where label = ? and term >= ? and term < ?"
    asked = ((label, start, start + LAST) for label in labels for start in starts)
    return list({term for values in asked for (term,) in connection.execute(query, values)})


class Postings:
    """Changes to the posting lists of an index, written together at the end.

    Args:
        connection: The open database, within a transaction.
    """

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self._gone: defaultdict[Key, list[int]] = defaultdict(list)
        self._new: defaultdict[Key, dict[int, float]] = defaultdict(dict)

    def drop(self, label: str, terms: Iterable[str], number: int) -> None:
        """Take a document out of the lists of its terms."""
        for term in terms:
            self._gone[label, term].append(number)

    def add(self, label: str, frequencies: Mapping[str, float], number: int) -> None:
        """Put a document into the lists of its terms."""
        for term, count in frequencies.items():
            self._new[label, term][number] = count

    def write(self) -> None:
        """Write every list that has changed, and start afresh."""
        emptied: list[Key] = []
        self._connection.executemany(
            "insert or replace into posting values (?, ?, ?, ?)", self._lists(emptied)
        )
        self._connection.executemany("delete from posting where label = ? and term = ?", emptied)
        self._gone.clear()
        self._new.clear()

    def _lists(self, emptied: list[Key]) -> Iterator[tuple[str, str, bytes, bytes]]:
        """Yield the changed lists one by one, for all of them together take much memory.

        Args:
            emptied: Those that have become empty are noted here instead.
        """
        for key in sorted(self._gone.keys() | self._new.keys()):
            held = self._changed(key)
            if held:
                yield *key, *_packed(held)
            else:
                emptied.append(key)

    def _changed(self, key: Key) -> dict[int, float]:
        held = _stored(self._connection, key)
        for number in self._gone.get(key, ()):
            held.pop(number, None)
        return held | self._new.get(key, {})


def _stored(connection: sqlite3.Connection, key: Key) -> dict[int, float]:
    query = "select numbers, counts from posting where label = ? and term = ?"
    row = connection.execute(query, key).fetchone()
    if row is None:
        return {}
    return dict(zip(array("Q", row[0]), array("d", row[1]), strict=True))


def _packed(held: Mapping[int, float]) -> tuple[bytes, bytes]:
    numbers = sorted(held)
    return array("Q", numbers).tobytes(), array("d", map(held.__getitem__, numbers)).tobytes()
