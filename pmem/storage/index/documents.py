"""What searches need of the records: their documents, postings and links, made when one searches.

A document that several records hold (copied by hand, or by a merge in git) is kept as the last of
them says; when any of them changes, all of them are read again.
"""

import sqlite3
from array import array
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from functools import partial
from itertools import islice
from typing import Final

import msgspec

from pmem.core.retrieval.documents import IndexedDocument, entries
from pmem.core.retrieval.pool import label_of
from pmem.core.text.terms import terms
from pmem.storage.files.recordfile import decode
from pmem.storage.index.records import MANY, ReadRecord
from pmem.storage.index.schema import filling, insert
from pmem.values.records import RECORD_TYPES

Key = tuple[str, str]
"""A list's label and its term."""


PostingList = tuple["array[int]", "array[float]"]
"""The numbers of the documents that hold a term, ascending, and how often each does."""
_FEW: Final = 100
"""So many changes are made within a list; one with more is sorted anew."""
_ENOUGH: Final = 700_000
"""So many changes wait for each other: more would take more memory, fewer write lists again."""


_NOTHING: Final[PostingList] = (array("Q"), array("d"))


def _lists() -> defaultdict[str, dict[int, float]]:
    return defaultdict(dict)


class Postings:
    """Changes to the posting lists of an index, written together at the end.

    What is put in may come in any order, and what is taken out was there before that.
    """

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self._gone: defaultdict[Key, list[int]] = defaultdict(list)
        self._new: defaultdict[str, defaultdict[str, dict[int, float]]] = defaultdict(_lists)
        self._waiting = 0

    def drop(self, label: str, terms: Iterable[str], number: int) -> None:
        """Take a document out of the lists of its terms."""
        for term in terms:
            self._gone[label, term].append(number)
            self._waiting += 1

    def add(self, label: str, frequencies: Mapping[str, float], number: int) -> None:
        """Put a document into the lists of its terms."""
        new = self._new[label]
        for term, count in frequencies.items():
            new[term][number] = count
        self._waiting += len(frequencies)

    def write(self, least: int = 0) -> None:
        """Write every list that has changed, if there are so many changes, and start afresh."""
        if self._waiting < least:
            return
        emptied: list[Key] = []
        self._connection.executemany(
            "insert or replace into posting values (?, ?, ?, ?)", self._lists(emptied)
        )
        self._connection.executemany("delete from posting where label = ? and term = ?", emptied)
        self._gone.clear()
        self._new.clear()
        self._waiting = 0

    def _lists(self, emptied: list[Key]) -> Iterator[tuple[str, str, bytes, bytes]]:
        """Yield the changed lists one by one, for all of them together take much memory."""
        query = "select 1 from posting limit 1"
        is_first = self._connection.execute(query).fetchone() is None
        keys = [(label, term) for label in sorted(self._new) for term in sorted(self._new[label])]
        for key in sorted({*keys, *self._gone}) if self._gone else keys:
            known = _NOTHING if is_first else stored_list(self._connection, key)
            new = self._new[key[0]].get(key[1], {})
            numbers, counts = _updated_list(known, self._gone.get(key, ()), new)
            if numbers:
                yield *key, numbers.tobytes(), counts.tobytes()
            else:
                emptied.append(key)


def _updated_list(known: PostingList, gone: Sequence[int], new: Mapping[int, float]) -> PostingList:
    """Return a list without what is gone, and with what is new."""
    numbers, counts = known
    if numbers and len(gone) + len(new) <= _FEW:
        for number in gone:
            _put(known, number, None)
        for number, count in new.items():
            _put(known, number, count)
        return known
    held = new
    if numbers:
        held = dict(zip(numbers, counts, strict=True))
        for number in gone:
            held.pop(number, None)
        held |= new
    ascending = sorted(held)
    return array("Q", ascending), array("d", map(held.__getitem__, ascending))


def _put(known: PostingList, number: int, count: float | None) -> None:
    """Put a number into a list, or with None take it out."""
    numbers, counts = known
    place = bisect_left(numbers, number)
    if place < len(numbers) and numbers[place] == number:
        del numbers[place], counts[place]
    if count is not None:
        numbers.insert(place, number)
        counts.insert(place, count)


def stored_list(connection: sqlite3.Connection, key: Key) -> PostingList:
    """Return the list of a term as it is kept."""
    query = "select numbers, counts from posting where label = ? and term = ?"
    numbers, counts = connection.execute(query, key).fetchone() or (b"", b"")
    return array("Q", numbers), array("d", counts)


_BATCH: Final = 2000
"""Documents that are taken in together: more at once would take more memory, not less time."""
_ORDER: Final = {folder: place for place, folder in enumerate(RECORD_TYPES)}

Source = tuple[str, str]
"""A record: its store's folder and its name."""


class Poster:
    """Makes what searches need of records, batch by batch, within a transaction."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self._postings = Postings(connection)
        self._touched: set[str] = set()

    def take(self, store: str, found: Mapping[str, ReadRecord]) -> None:
        """Take in records of a store that the index did not know."""
        self.learn(
            ((store, id_), each) for id_, read in found.items() for each in entries(read.record)
        )

    def learn(self, found: Iterator[tuple[Source, IndexedDocument]]) -> None:
        """Put documents in."""
        while batch := list(islice(found, _BATCH)):
            self._touched |= _learn(self._connection, self._postings, batch)
            self._postings.write(least=_ENOUGH)

    def forget(self, sources: Iterable[Source]) -> None:
        """Take out records."""
        for source in sources:
            self._touched |= _forget(self._connection, self._postings, *source)
            self._postings.write(least=_ENOUGH)
        self._postings.write()

    def finish(self) -> None:
        """Write the rest, and count anew what has changed."""
        self._postings.write()
        _count(self._connection, self._touched)


def post(connection: sqlite3.Connection) -> None:
    """Make what searches need of every record that is not posted yet, within a transaction."""
    unposted = set(connection.execute("select store, id from unposted"))
    is_new = connection.execute("select 1 from document limit 1").fetchone() is None
    changed = unposted if is_new else with_rivals(unposted, partial(_rivals, connection))
    poster = Poster(connection)
    with filling(connection, "document") if is_new and len(changed) > MANY else nullcontext():
        poster.forget(() if is_new else sorted(changed))
        poster.learn(_entries(connection, sorted(changed, key=rank)))
    poster.finish()
    connection.execute("delete from unposted")


def _rivals(connection: sqlite3.Connection, sources: set[Source]) -> set[Source]:
    if connection.execute("select 1 from shared limit 1").fetchone() is None:
        return set()
    query = (
        "select other.store, other.record from shared join shared as other using (id)"
        " where shared.store = ? and shared.record = ?"
    )
    return {rival for source in sources for rival in connection.execute(query, source)}


def with_rivals(
    changed: set[Source], rivals_of: Callable[[set[Source]], set[Source]]
) -> set[Source]:
    """Add the records that hold a document which a changed record holds as well."""
    found, fresh = set(changed), changed
    while fresh:
        fresh = rivals_of(fresh) - found
        found |= fresh
    return found


def rank(source: Source) -> tuple[int, str]:
    """Order records as a search without an index reads them."""
    return _ORDER[source[0]], source[1]


def _entries(
    connection: sqlite3.Connection, sources: Iterable[Source]
) -> Iterator[tuple[Source, IndexedDocument]]:
    """Yield the documents of the records that are still there."""
    query = "select data from record join body using (number) where store = ? and id = ?"
    for source in sources:
        for (data,) in connection.execute(query, source).fetchall():
            record = decode(data, RECORD_TYPES[source[0]])
            yield from ((source, entry) for entry in entries(record))


class Seats:
    """Gives documents their numbers; of those that several records hold, the last record tells.

    `holder_of` returns whose a number is already: a document's id, and its record. The ids are
    compared as they are `written` there.

    Attributes:
        learnt: the new documents by number, and their records.
        shared: ids of documents that several records hold, each with one of them.
        replaced: the numbers of what is to be taken out for new documents.
    """

    def __init__(
        self,
        holder_of: Callable[[int], tuple[str, Source] | None],
        written: Callable[[str], str] = str,
    ) -> None:
        self.learnt: dict[int, tuple[Source, IndexedDocument]] = {}
        self.shared: set[tuple[str, Source]] = set()
        self.replaced: list[int] = []
        self._holder_of = holder_of
        self._written = written

    def give(self, source: Source, entry: IndexedDocument) -> None:
        """Give a document a number, unless a later record says what it is."""
        number = entry.document.number
        while (holder := self._holder(number)) is not None:
            id_, other = holder
            if self._written(id_) == self._written(entry.id):
                if other != source:
                    self.shared |= {(entry.id, source), (entry.id, other)}
                if rank(other) > rank(source):
                    return
                if number not in self.learnt:
                    self.replaced.append(number)
                break
            number += 1
        self.learnt[number] = (source, entry)

    def _holder(self, number: int) -> tuple[str, Source] | None:
        if number in self.learnt:
            source, entry = self.learnt[number]
            return entry.id, source
        return self._holder_of(number)

    def links(self) -> Iterator[tuple[int, str, str, float]]:
        """Yield links with the document that they start at; what they lead to may not be there."""
        for number, (_, entry) in self.learnt.items():
            for link in entry.links:
                yield number, link.target, link.type, link.strength


def _learn(
    connection: sqlite3.Connection,
    postings: Postings,
    found: Iterable[tuple[Source, IndexedDocument]],
) -> set[str]:
    """Put documents in; return the lists that have changed."""
    query = "select id, store, record from document where number = ?"

    def holder(number: int) -> tuple[str, Source] | None:
        row = connection.execute(query, (number,)).fetchone()
        return None if row is None else (row[0], row[1:])

    seats = Seats(holder)
    for source, entry in found:
        seats.give(source, entry)
    touched = set[str]()
    if seats.replaced:
        postings.write()
    for number in seats.replaced:
        touched |= _drop(connection, postings, "number = ?", number)
    documents: list[list[object]] = []
    for number, (source, entry) in sorted(seats.learnt.items()):
        label = label_of(entry)
        documents.append(document_row(number, label, source, entry))
        postings.add(label, entry.frequencies, number)
        touched.add(label)
    insert(connection, "document", documents)
    connection.executemany("insert into link values (?, ?, ?, ?)", seats.links())
    rows = [(id_, *source) for id_, source in seats.shared]
    connection.executemany("insert or ignore into shared values (?, ?, ?)", rows)
    return touched


def document_row(number: int, label: str, source: Source, entry: IndexedDocument) -> list[object]:
    """Return the values of a document's columns."""
    document, facts = entry.document, entry.facts
    bounded = facts.valid_until is not None or (
        facts.valid_from is not None and facts.valid_from > facts.created_at
    )
    return [
        number,
        label,
        *source,
        entry.id,
        document.length,
        document.peak,
        document.traits,
        document.session,
        entry.place,
        document.speaker,
        document.timestamp,
        document.importance,
        document.accesses,
        document.about,
        bounded,
        entry.category,
        entry.is_procedural,
        facts.app,
        msgspec.json.encode(facts),
        "\n".join(entry.frequencies),
    ]


def _forget(
    connection: sqlite3.Connection, postings: Postings, store: str, record: str
) -> set[str]:
    """Take out a record; return the lists that its documents were in."""
    connection.execute("delete from shared where store = ? and record = ?", (store, record))
    return _drop(connection, postings, "store = ? and record = ?", store, record)


def _drop(
    connection: sqlite3.Connection, postings: Postings, which: str, *values: object
) -> set[str]:
    """Take out documents; return the lists that they were in."""
    query = f"select number, label, terms from document where {which}"
    rows = connection.execute(query, values).fetchall()
    for number, label, words in rows:
        connection.execute("delete from document where number = ?", (number,))
        connection.execute("delete from link where source = ?", (number,))
        postings.drop(label, words.split("\n"), number)
    return {label for _, label, _ in rows}


def _count(connection: sqlite3.Connection, labels: Iterable[str]) -> None:
    """Make the aggregates of the lists that have changed anew.

    No length is below zero: asking for that lets SQLite use the index that has what is counted.
    """
    for label in sorted(labels):
        connection.execute("delete from total where label = ?", (label,))
        connection.execute(
            "insert into total select label, count(*), sum(length), count(distinct session),"
            " count(session), coalesce(sum(case when session is not null then length end), 0.0)"
            " from document where label = ? and length >= 0 group by label",
            (label,),
        )
        connection.execute("delete from speaker where label = ?", (label,))
        names = connection.execute(
            "select speaker, count(*) from document where label = ? and length >= 0"
            " and speaker != '' group by speaker",
            (label,),
        ).fetchall()
        connection.executemany(
            "insert into speaker values (?, ?, ?, ?)",
            [(label, name, said, " ".join(terms(name))) for name, said in names],
        )
