"""Searching a server: what ranking asks of documents, answered by SQL.

Postings come as two packed columns, put together by the server: a common word has many.
"""

import sys
from array import array
from collections.abc import Collection, Iterable, Mapping, Sequence
from copy import copy
from datetime import datetime
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final

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
from pmem.storage.index.search import (
    DOCUMENT_COLUMNS,
    FACTS,
    documents_of,
    sessions_of,
    texts_of,
    totals_of,
)
from pmem.storage.postgres.selecting import clean
from pmem.values.records import RECORD_TYPES, STORES, Memory

if TYPE_CHECKING:
    from psycopg import Connection

POSTINGS: Final = (
    "select string_agg(int8send(document), ''), string_agg(float8send(count), '')"
    " from (select document, count from pmem.posting where project = %s and label {}"
    " and term = %s order by document) as held"
)
_BEGINNING: Final = """
with recursive found (label, stop, term) as (
  select label, stop, (select term from pmem.posting where project = %(project)s
    and posting.label = asked.label and term >= start and term < stop
    order by term limit 1) from unnest(%(labels)s::text[]) as asked (label),
    unnest(%(starts)s::text[], %(stops)s::text[]) as begun (start, stop)
  union all
  select label, stop, (select term from pmem.posting where project = %(project)s
    and posting.label = found.label and posting.term > found.term and term < found.stop
    order by term limit 1) from found where found.term is not null
) select distinct term from found where term is not null
"""
"""From one term to the next: a common one has many postings, which need not be looked at."""
_DATA: Final = """
select one.number, one.store, one.record, one.id, record.data
    from pmem.document as one join pmem.record as record
        on record.project = one.project and record.store = one.store and record.id = one.record
    where one.project = %s and one.number = any(%s)
"""
_LINKS: Final = """
with asked as (select number, id from pmem.document
               where project = %(project)s and number = any(%(asked)s) and label = %(label)s)
select asked.number, far.number, link.type, link.strength, true from asked
    join pmem.link on link.project = %(project)s and link.source = asked.number
    join pmem.document as far on far.project = %(project)s and far.store = %(store)s
        and far.record = link.target
    where far.label = %(label)s and far.number != asked.number
union all
select asked.number, far.number, link.type, link.strength, false from asked
    join pmem.link on link.project = %(project)s and link.target = asked.id
    join pmem.document as far on far.project = %(project)s and far.number = link.source
    where far.label = %(label)s and far.number != asked.number
"""


class ServerPool:
    """The documents of a project on a server, as of one moment; a pool to search."""

    def __init__(self, connection: "Connection[Any]", project: int) -> None:
        self._connection = connection
        self._project = project
        self._reach = EVERYTHING
        self._known: dict[str, list[Any]] = {}

    @property
    def scorer(self) -> Scorer:
        return bm25_scores

    def within(self, reach: Reach) -> "ServerPool":
        limited = copy(self)
        limited._reach = reach
        return limited

    def hidden(self) -> Collection[int]:
        if self._reach == EVERYTHING:
            return ()
        named, apps = self._reach.categories, self._reach.apps
        beyond = ["procedural"] * (not self._reach.procedures)
        beyond += ["category != all(%(named)s)"] * (named is not None)
        beyond += ["(app is not null and app != all(%(apps)s))"] * (apps is not None)
        asked = {
            "project": self._project,
            "named": sorted(map(clean, named or ())),
            "apps": sorted(map(clean, apps or ())),
        }
        if not beyond:
            return ()
        query = "select number from pmem.document where project = %(project)s"
        rows = self._known_rows(f"{query} and ({' or '.join(beyond)})", asked)
        return {number for (number,) in rows}

    def statistics(self, labels: Collection[str]) -> CollectionStatistics:
        return _ServerStatistics(self, sorted(labels))

    def facts(self, numbers: Collection[int]) -> Mapping[int, Facts]:
        return {
            number: FACTS.decode(facts) for number, facts in self.chosen("number, facts", numbers)
        }

    def invalid(self, at: datetime) -> Collection[int]:
        query = "select number, facts from pmem.document where project = %s and bounded"
        rows = self._known_rows(query, (self._project,))
        return {number for number, facts in rows if not holds_at(FACTS.decode(facts), at)}

    def places(self, numbers: Collection[int]) -> Mapping[int, DocumentKey]:
        return {
            number: DocumentKey(RECORD_TYPES[store], record, id_)
            for number, store, record, id_ in self.chosen("number, store, record, id", numbers)
        }

    def newest(self, labels: Collection[str], names: Collection[str]) -> Sequence[int]:
        query = "select number from pmem.document where project = %(project)s"
        query += " and label = any(%(labels)s)"
        query += " and speaker = any(%(names)s)" if names else ""
        asked = {
            "project": self._project, "labels": sorted(labels), "names": sorted(map(clean, names))
        }  # fmt: skip
        rows = self._rows(f"{query} order by at desc, number", asked)
        return [number for (number,) in rows]

    def links(self, numbers: Collection[int]) -> Iterable[SeenLink]:
        asked = {
            "project": self._project,
            "asked": list(numbers),
            "label": ACTIVE_MEMORIES,
            "store": STORES[Memory],
        }
        return [SeenLink(*row) for row in self._rows(_LINKS, asked)] if numbers else []

    def chosen(self, columns: str, numbers: Iterable[int]) -> list[Any]:
        """Return columns of documents, by ascending number."""
        asked = list(numbers)
        query = (
            f"select {columns} from pmem.document where project = %s and number = any(%s)"
            " order by number"
        )
        return self._rows(query, (self._project, asked)) if asked else []

    def texts(self, numbers: Iterable[int]) -> Mapping[int, str]:
        """Return what documents say, by number."""
        asked = list(numbers)
        return texts_of(self._rows(_DATA, (self._project, asked)) if asked else [])

    def postings(self, labels: Sequence[str], term: str) -> Mapping[int, float]:
        """Return how often a term occurs in the documents that hold it, by ascending number."""
        among, asked = ("= any(%s)", labels) if len(labels) > 1 else ("= %s", labels[0])
        query = POSTINGS.format(among)  # of one label, the index has them in order
        ((packed, counts),) = self._rows(query, (self._project, asked, clean(term)))
        if packed is None:
            return {}
        return dict(zip(_unpacked("q", packed), _unpacked("d", counts), strict=True))

    def beginning(self, labels: Sequence[str], starts: Sequence[str]) -> Sequence[str]:
        """Return the terms that begin with one of some starts, in any order."""
        begun = list(map(clean, starts))
        asked = {
            "project": self._project, "labels": labels, "starts": begun,
            "stops": [start + LAST for start in begun],
        }  # fmt: skip
        return [term for (term,) in self._known_rows(_BEGINNING, asked)]

    def asked(self, query: str, *values: object) -> list[Any]:
        """Return the rows of a query, whose first value is the project."""
        return self._rows(query, (self._project, *values))

    def _known_rows(self, query: str, values: Any) -> list[Any]:
        """Return the rows of a query that each of several searches of one moment asks."""
        key = f"{query} {values}"
        if key not in self._known:
            self._known[key] = self._rows(query, values)
        return self._known[key]

    def _rows(self, query: str, values: Any) -> list[Any]:
        return self._connection.execute(query.encode(), values, binary=True).fetchall()


class _ServerStatistics:
    """The documents with some labels, as ranking sees them."""

    def __init__(self, pool: ServerPool, labels: Sequence[str]) -> None:
        self._pool = pool
        self._labels = list(labels)
        self._held: dict[str, Mapping[int, float]] = {}

    def totals(self) -> Totals:
        return self._totals

    @cached_property
    def _totals(self) -> Totals:
        query = (
            "select label, documents, length, sessions, said, said_length from pmem.total"
            " where project = %s and label = any(%s) order by label"
        )
        rows = self._pool.asked(query, self._labels)
        return totals_of(rows)

    def postings(self, term: str) -> Mapping[int, float]:
        """Return what the server has of a term, which is asked but once: a common one has much."""
        if term not in self._held:
            has_any = self._totals.documents
            self._held[term] = self._pool.postings(self._labels, term) if has_any else {}
        return self._held[term]

    def beginning(self, starts: Sequence[str]) -> Sequence[str]:
        return self._pool.beginning(self._labels, starts) if self._totals.documents else ()

    def documents(self, numbers: Iterable[int]) -> Mapping[int, Document]:
        return documents_of(self._pool.chosen(DOCUMENT_COLUMNS, numbers))

    def sessions(
        self, keys: Iterable[int], most: int | None = None
    ) -> Mapping[int, SessionDocuments]:
        given = list(keys)
        small = self._small(given, most) if given and most is not None else given
        query = (
            "select session, number, length, speaker from pmem.document where project = %s"
            " and session = any(%s) and label = any(%s) order by session, place, number"
        )
        return sessions_of(self._pool.asked(query, small, self._labels) if small else [])

    def _small(self, keys: list[int], most: int) -> list[int]:
        """Those of these sessions that hold no more than so many documents."""
        query = (
            "with mine as (select %s::integer as project) select key from mine,"
            " unnest(%s::bigint[]) as key where not exists (select from pmem.document as one"
            " where one.project = mine.project and one.session = key and one.label = any(%s)"
            " limit 1 offset %s)"
        )
        return [key for (key,) in self._pool.asked(query, keys, self._labels, most)]

    def speakers(self) -> Mapping[str, Sequence[str]]:
        query = (
            "select distinct name from pmem.speaker where project = %s and label = any(%s)"
            " order by name"
        )
        found: dict[str, list[str]] = {}
        for (name,) in self._pool.asked(query, self._labels):
            for term in terms(name):
                found.setdefault(term, []).append(name)
        return found

    def texts(self, numbers: Iterable[int]) -> Mapping[int, str]:
        return self._pool.texts(numbers)


def _unpacked(kind: str, packed: bytes) -> "array[Any]":
    numbers = array(kind, packed)
    if sys.byteorder == "little":
        numbers.byteswap()
    return numbers
