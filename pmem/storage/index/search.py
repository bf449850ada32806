"""Searching the index. Only single documents are kept: windows and sessions are derived when a
question is asked.
"""

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from copy import copy
from datetime import datetime
from functools import cache, cached_property
from typing import Any, Final, Self

import msgspec

from pmem.core.policy import EVERYTHING, Reach
from pmem.core.retrieval.collection import (
    LAST,
    CollectionStatistics,
    Document,
    SeenLink,
    SessionDocuments,
    Totals,
)
from pmem.core.retrieval.documents import Facts
from pmem.core.retrieval.evidence import Scorer, bm25_scores
from pmem.core.retrieval.pool import ACTIVE_MEMORIES, DocumentKey, holds_at
from pmem.core.text.terms import terms
from pmem.storage.files.recordfile import decode
from pmem.storage.index.documents import stored_list
from pmem.values.records import RECORD_TYPES, STORES, Memory

_BODIES: Final = """
select document.number, document.store, document.record, document.id, data from document
    join record on record.store = document.store and record.id = document.record
    join body on body.number = record.number
    where document.number among :numbers
"""
_LINKS: Final = """
with asked as (select number, id from @document
               where number among :asked and label = :label)
select asked.number, far.number, link.type, link.strength, 1 from asked
    cross join @link on link.source = asked.number
    cross join @document as far on far.store = :store and far.record = link.target
    where far.label = :label and far.number != asked.number
union all
select asked.number, far.number, link.type, link.strength, 0 from asked
    cross join @link on link.target = asked.id
    cross join @document as far on far.number = link.source
    where far.label = :label and far.number != asked.number
"""
"""Links of memories, first those that start at them, then those that lead to them."""
_DOCUMENT: Final = (
    "number, label, length, peak, traits, session, speaker, at, importance, accesses, about"
)
"""What `Document` is made of, in its order."""
_SMALL: Final = (
    "select value from each of :keys where not exists (select 1 from @document"
    " where session = value and label among :labels limit 1 offset :most)"
)
_FACTS: Final = msgspec.json.Decoder(Facts)


class SearchIndex:
    """What a database holds of all documents, as of one moment; a pool to search.

    What is asked is written once for SQLite and for a server (`postgres.search`): `@document` is
    the table of one project, `among :numbers` compares with any of several values, and `each of`
    has them as rows. Of `cross join` SQLite begins with the left side.
    """

    bodies = _BODIES
    """What asks for a document's number, store, record and id, and the bytes of its record."""

    def __init__(self, connection: Any) -> None:
        self._connection = connection
        self._reach = EVERYTHING

    @property
    def scorer(self) -> Scorer:
        return bm25_scores

    def within(self, reach: Reach) -> Self:
        limited = copy(self)
        limited._reach = reach
        return limited

    def hidden(self) -> Collection[int]:
        if self._reach == EVERYTHING:
            return ()
        named, apps = self._reach.categories, self._reach.apps
        either = ["category not among :named"] * (named is not None)
        either += ["procedural"] * (not self._reach.procedures)
        beyond = [" or ".join(either)] * bool(either)
        beyond += ["app is not null and app not among :apps"] * (apps is not None)
        asked = {"named": sorted(named or ()), "apps": sorted(apps or ())}
        return {
            number
            for condition in beyond
            for (number,) in self.rows(f"select number from @document where {condition}", **asked)
        }

    def statistics(self, labels: Collection[str]) -> CollectionStatistics:
        return _Statistics(self, sorted(labels))

    def facts(self, numbers: Collection[int]) -> Mapping[int, Facts]:
        rows = self.documents("number, facts", numbers)
        return {number: _FACTS.decode(facts) for number, facts in rows}

    def invalid(self, at: datetime) -> Collection[int]:
        rows = self.rows("select number, facts from @document where bounded")
        return {number for number, facts in rows if not holds_at(_FACTS.decode(facts), at)}

    def places(self, numbers: Collection[int]) -> Mapping[int, DocumentKey]:
        rows = self.documents("number, store, record, id", numbers)
        return {
            number: DocumentKey(RECORD_TYPES[store], record, id_)
            for number, store, record, id_ in rows
        }

    def newest(self, labels: Collection[str], names: Collection[str]) -> Sequence[int]:
        query = "select number from @document where label among :labels"
        query += " and speaker among :names" if names else ""
        asked = {"labels": sorted(labels), "names": sorted(names)}
        rows = self.rows(f"{query} order by at desc, number", **asked)
        return [number for (number,) in rows]

    def links(self, numbers: Collection[int]) -> Iterable[SeenLink]:
        if not numbers or not self.has_links():
            return []
        asked = {"asked": list(numbers), "label": ACTIVE_MEMORIES, "store": STORES[Memory]}
        rows = self.rows(_LINKS, **asked)
        return [
            SeenLink(near, far, type_, strength, bool(forward))
            for near, far, type_, strength, forward in rows
        ]

    def rows(self, query: str, **asked: Any) -> list[Any]:
        """Return the rows of a query, written as the class says; what is asked has names."""
        values = {
            name: msgspec.json.encode(value).decode() if isinstance(value, list) else value
            for name, value in asked.items()
        }
        found: list[Any] = self._connection.execute(_of_sqlite(query), values).fetchall()
        return found

    def has_links(self) -> bool:
        """Tell whether there may be links: where there are none, asking for each takes long."""
        return bool(self.rows("select 1 from link limit 1"))

    def documents(self, columns: str, numbers: Iterable[int]) -> list[Any]:
        """Return columns of documents, by ascending number."""
        asked = list(numbers)
        query = f"select {columns} from @document where number among :numbers order by number"
        return self.rows(query, numbers=asked) if asked else []

    def postings(self, labels: Sequence[str], term: str) -> Mapping[int, float]:
        """Return how often a term occurs in the documents that hold it, by ascending number."""
        lists = [stored_list(self._connection, (label, term)) for label in labels]
        if len(lists) == 1:
            return dict(zip(*lists[0], strict=True))
        return dict(sorted(item for found in lists for item in zip(*found, strict=True)))

    def beginning(self, labels: Sequence[str], starts: Sequence[str]) -> Sequence[str]:
        """Return the terms that begin with one of some starts, in any order; no list is read."""
        query = "select term from posting where label = ? and term >= ? and term < ?"
        asked = ((label, start, start + LAST) for label in labels for start in starts)
        ask = self._connection.execute
        return list({term for values in asked for (term,) in ask(query, values)})


@cache
def _of_sqlite(query: str) -> str:
    query = re.sub(r"among (:\w+)", r"in (select value from json_each(\1))", query)
    return re.sub(r"each of (:\w+)", r"json_each(\1)", query).replace("@", "")


class _Statistics:
    """The documents with some labels, as ranking sees them."""

    def __init__(self, pool: SearchIndex, labels: Sequence[str]) -> None:
        self._pool = pool
        self._labels = labels

    def totals(self) -> Totals:
        return self._totals

    @cached_property
    def _totals(self) -> Totals:
        query = (
            "select label, documents, length, sessions, said, said_length from @total"
            " where label among :labels order by label"
        )
        rows = self._pool.rows(query, labels=self._labels)
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

    def postings(self, term: str) -> Mapping[int, float]:
        return self._pool.postings(self._labels, term) if self._totals.documents else {}

    def beginning(self, starts: Sequence[str]) -> Sequence[str]:
        return self._pool.beginning(self._labels, starts) if self._totals.documents else ()

    def documents(self, numbers: Iterable[int]) -> Mapping[int, Document]:
        rows = self._pool.documents(_DOCUMENT, numbers)
        return {row[0]: Document(row[0], row[1].rstrip("!"), *row[2:]) for row in rows}

    def sessions(
        self, keys: Iterable[int], most: int | None = None
    ) -> Mapping[int, SessionDocuments]:
        small, labels = list(keys), self._labels
        if small and most is not None:
            few = self._pool.rows(_SMALL, keys=small, labels=labels, most=most)
            small = [key for (key,) in few]
        query = (
            "select session, number, length, speaker from @document where session among :keys"
            " and label among :labels order by session, place, number"
        )
        found: dict[int, SessionDocuments] = {}
        rows = self._pool.rows(query, keys=small, labels=labels) if small else ()
        for key, number, length, speaker in rows:
            session = found.setdefault(key, SessionDocuments([], [], {}))
            session.numbers.append(number)
            session.lengths.append(length)
            session.speakers[speaker] = None
        return found

    def speakers(self) -> Mapping[str, Sequence[str]]:
        query = "select distinct name from @speaker where label among :labels order by name"
        found: dict[str, list[str]] = {}
        for (name,) in self._pool.rows(query, labels=self._labels):
            for term in terms(name):
                found.setdefault(term, []).append(name)
        return found

    def texts(self, numbers: Iterable[int]) -> Mapping[int, str]:
        asked = list(numbers)
        found = {}
        for number, store, record, id_, data in (
            self._pool.rows(self._pool.bodies, numbers=asked) if asked else ()
        ):
            place = DocumentKey(RECORD_TYPES[store], record, id_)
            found[number] = place.text_in(decode(data, place.type))
        return found
