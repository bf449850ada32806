"""Searching the index. Only single documents are kept: windows and sessions are derived when a
question is asked.
"""

import sqlite3
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from copy import copy
from datetime import datetime
from typing import Any, Final

import msgspec

from pmem.core.policy import EVERYTHING, Reach
from pmem.core.retrieval.collection import (
    CollectionStatistics,
    Document,
    SeenLink,
    SessionDocuments,
    Totals,
)
from pmem.core.retrieval.documents import Facts
from pmem.core.retrieval.evidence import Scorer, bm25_scores
from pmem.core.retrieval.pool import ACTIVE_MEMORIES, DocumentKey, holds_at
from pmem.storage.files.recordfile import decode
from pmem.storage.index.documents import read_postings, terms_beginning
from pmem.values.records import RECORD_TYPES, STORES, Memory

_BODIES: Final = """
select document.number, document.store, document.record, document.id, data from document
    join record on record.store = document.store and record.id = document.record
    join body on body.number = record.number
    where document.number in (select value from json_each(?))
"""
_LINKS: Final = """
with asked as (select number, id from document
               where number in (select value from json_each(:asked)) and label = :label)
select asked.number, far.number, link.type, link.strength, 1 from asked
    cross join link on link.source = asked.number
    cross join document as far on far.store = :store and far.record = link.target
    where far.label = :label and far.number != asked.number
union all
select asked.number, far.number, link.type, link.strength, 0 from asked
    cross join link on link.target = asked.id
    cross join document as far on far.number = link.source
    where far.label = :label and far.number != asked.number
"""
"""Links of memories, first those that start at them, then those that lead to them."""
DOCUMENT_COLUMNS: Final = (
    "number, label, length, peak, traits, session, speaker, at, importance, accesses, about"
)
"""What `Document` is made of, in its order."""
FACTS: Final = msgspec.json.Decoder(Facts)


class SearchIndex:
    """What an index holds of all documents, as of one moment; a pool to search."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self._reach = EVERYTHING

    @property
    def scorer(self) -> Scorer:
        return bm25_scores

    def within(self, reach: Reach) -> "SearchIndex":
        limited = copy(self)
        limited._reach = reach
        return limited

    def hidden(self) -> Collection[int]:
        if self._reach == EVERYTHING:
            return ()
        named, apps = self._reach.categories, self._reach.apps
        outside = "category not in (select value from json_each(:named))"
        of_others = "app is not null and app not in (select value from json_each(:apps))"
        either = [outside] * (named is not None) + ["procedural"] * (not self._reach.procedures)
        beyond = [" or ".join(either)] * bool(either) + [of_others] * (apps is not None)
        asked = {"named": _texts(named), "apps": _texts(apps)}
        query = "select number from document where "
        return {
            number
            for condition in beyond
            for (number,) in self._connection.execute(query + condition, asked)
        }

    def statistics(self, labels: Collection[str]) -> CollectionStatistics:
        return _Statistics(self._connection, tuple(sorted(labels)))

    def facts(self, numbers: Collection[int]) -> Mapping[int, Facts]:
        rows = _select(self._connection, "number, facts", numbers)
        return {number: FACTS.decode(facts) for number, facts in rows}

    def invalid(self, at: datetime) -> Collection[int]:
        rows = self._connection.execute("select number, facts from document where bounded")
        return {number for number, facts in rows if not holds_at(FACTS.decode(facts), at)}

    def places(self, numbers: Collection[int]) -> Mapping[int, DocumentKey]:
        rows = _select(self._connection, "number, store, record, id", numbers)
        return {
            number: DocumentKey(RECORD_TYPES[store], record, id_)
            for number, store, record, id_ in rows
        }

    def newest(self, labels: Collection[str], names: Collection[str]) -> Sequence[int]:
        query = "select number from document where label in (select value from json_each(:labels))"
        query += " and speaker in (select value from json_each(:names))" if names else ""
        asked = {"labels": _texts(labels), "names": _texts(names)}
        rows = self._connection.execute(query + " order by at desc, number", asked)
        return [number for (number,) in rows]

    def links(self, numbers: Collection[int]) -> Iterable[SeenLink]:
        if self._connection.execute("select 1 from link limit 1").fetchone() is None:
            return []
        asked = {"asked": _array(numbers), "label": ACTIVE_MEMORIES, "store": STORES[Memory]}
        rows = self._connection.execute(_LINKS, asked)
        return [
            SeenLink(near, far, type_, strength, bool(forward))
            for near, far, type_, strength, forward in rows
        ]


class _Statistics:
    """The documents with some labels, as ranking sees them."""

    def __init__(self, connection: sqlite3.Connection, labels: tuple[str, ...]) -> None:
        self._connection = connection
        self._labels = labels
        self._marks = ", ".join("?" * len(labels))

    def totals(self) -> Totals:
        query = f"select * from total where label in ({self._marks}) order by label"
        rows = self._connection.execute(query, self._labels).fetchall()
        return totals_of(rows)

    def postings(self, term: str) -> Mapping[int, float]:
        return read_postings(self._connection, self._labels, term)

    def beginning(self, starts: Sequence[str]) -> Sequence[str]:
        return terms_beginning(self._connection, self._labels, starts)

    def documents(self, numbers: Iterable[int]) -> Mapping[int, Document]:
        return documents_of(_select(self._connection, DOCUMENT_COLUMNS, list(numbers)))

    def sessions(
        self, keys: Iterable[int], most: int | None = None
    ) -> Mapping[int, SessionDocuments]:
        query = (
            "select session, number, length, speaker from document where session in"
            f" (select value from json_each(?)) and label in ({self._marks})"
            " order by session, place, number"
        )
        asked = (_array(self._small(keys, most)), *self._labels)
        return sessions_of(self._connection.execute(query, asked))

    def _small(self, keys: Iterable[int], most: int | None) -> Iterable[int]:
        """Those of these sessions that hold no more than so many documents."""
        if most is None:
            return keys
        query = (
            "select value from json_each(?) where not exists (select 1 from document"
            f" where session = value and label in ({self._marks}) limit 1 offset ?)"
        )
        asked = (_array(keys), *self._labels, most)
        return [key for (key,) in self._connection.execute(query, asked)]

    def speakers(self) -> Mapping[str, Sequence[str]]:
        query = f"select name, terms from speaker where label in ({self._marks}) order by name"
        found: dict[str, list[str]] = {}
        for name, words in self._connection.execute(query, self._labels):
            for term in words.split():
                found.setdefault(term, []).append(name)
        return found

    def texts(self, numbers: Iterable[int]) -> Mapping[int, str]:
        return texts_of(self._connection.execute(_BODIES, (_array(numbers),)))


def texts_of(rows: Iterable[Any]) -> dict[int, str]:
    """Return what documents say, as far as searches look at it, by number.

    Args:
        rows: For each its number, the type and the id of its record, its own id, and the record.
    """
    found = {}
    for number, store, record, id_, data in rows:
        place = DocumentKey(RECORD_TYPES[store], record, id_)
        found[number] = place.text_in(decode(data, place.type))
    return found


def totals_of(rows: Sequence[Any]) -> Totals:
    """Add up aggregates.

    Args:
        rows: For each label it, how many documents it has, how long these are, how many sessions
            it has, how many documents of sessions, and how long those are; by ascending label.
    """
    lengths: dict[str, tuple[int, float]] = {}
    for label, count, length, *_ in rows:
        known, whole = lengths.get(label.rstrip("!"), (0, 0.0))
        lengths[label.rstrip("!")] = (known + count, whole + length)
    return Totals(
        documents=sum(row[1] for row in rows),
        lengths=lengths,
        sessions=sum(row[3] for row in rows),
        said=sum(row[4] for row in rows),
        said_length=sum((row[5] for row in rows), 0.0),
    )


def documents_of(rows: Iterable[Any]) -> dict[int, Document]:
    """Return documents by number."""
    return {row[0]: Document(row[0], row[1].rstrip("!"), *row[2:]) for row in rows}


def sessions_of(rows: Iterable[Any]) -> dict[int, SessionDocuments]:
    """Return sessions by number.

    Args:
        rows: Of each document its session, number, length and speaker, in their order.
    """
    found: dict[int, SessionDocuments] = {}
    for key, number, length, speaker in rows:
        session = found.setdefault(key, SessionDocuments([], [], {}))
        session.numbers.append(number)
        session.lengths.append(length)
        session.speakers[speaker] = None
    return found


def _select(
    connection: sqlite3.Connection, columns: str, numbers: Collection[int]
) -> Iterator[Any]:
    query = (
        f"select {columns} from document where number in (select value from json_each(?))"
        " order by number"
    )
    return iter(connection.execute(query, (_array(numbers),)))


def _texts(names: Iterable[str] | None) -> str:
    return msgspec.json.encode(sorted(names or ())).decode()


def _array(numbers: Iterable[int]) -> str:
    return f"[{','.join(map(str, numbers))}]"
