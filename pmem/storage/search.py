"""The disposable search index: postings of every document, beside the files they come from.

It is brought up to date by the next search after any change by anyone (see `storage.listing`),
inside one transaction; a search that finds it locked, broken or unwritable does without. Only
single documents are kept: windows and sessions are derived when a question is asked.
"""

import os
import sqlite3
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any, Final

import msgspec

from pmem.core.retrieval.collection import Document, Posting, Session, Statistics, Totals
from pmem.core.retrieval.documents import Entry, Facts, entries
from pmem.core.retrieval.evidence import Scorer, bm25_scores
from pmem.core.retrieval.pool import Place, holds_at, label_of
from pmem.core.text import terms
from pmem.records import STORES, Record, RecordType
from pmem.storage.backend import Problem
from pmem.storage.listing import Listing, changes

FILE: Final = "search.sqlite3"
_VERSION: Final = 1
_BUSY_SECONDS: Final = 5.0
_SCHEMA: Final = """
create table looked (store text primary key, at integer, names blob, stamps blob);
create table document (number integer primary key, label text, store text, record text, id text,
                       length real, peak real, traits integer, session integer, place integer,
                       speaker text, at real, importance real, accesses integer,
                       relations integer, bounded integer, facts blob, terms blob);
create index document_by_record on document (store, record);
create index document_by_session on document (session, place) where session is not null;
create index document_bounded on document (number) where bounded;
create table posting (label text, term text, number integer, frequency real,
                      primary key (label, term, number)) without rowid;
create table speaker (label text, name text, said integer, terms text,
                      primary key (label, name)) without rowid;
create table problem (store text, record text, code text, message text,
                      primary key (store, record)) without rowid;
create table total (label text primary key, documents integer, length real, sessions integer,
                    said integer, said_length real);
"""
_TYPES: Final[dict[str, RecordType]] = {folder: type_ for type_, folder in STORES.items()}
_FACTS = msgspec.json.Decoder(Facts)

Reader = Callable[[RecordType, str], Record | Problem | None]
"""Reads a record, or says why it cannot be used; None when it is gone."""


class SearchIndex:
    """An open index, up to date as of the moment it was opened; a pool to search.

    Args:
        path: The database's file.
        connection: The open database.
        text: Returns a document's text, for phrases.
    """

    def __init__(
        self, path: str, connection: sqlite3.Connection, text: Callable[[Place], str]
    ) -> None:
        self._path = path
        self._connection = connection
        self._text = text

    broken = sqlite3.Error
    """What any method raises when the database turns out to be unusable."""

    @property
    def scorer(self) -> Scorer:
        return bm25_scores

    def discard(self) -> None:
        """Throw the index away; the next search makes it again."""
        self.close()
        _discard(self._path)

    def close(self) -> None:
        """Let go of the file."""
        self._connection.close()

    def problems(self) -> list[tuple[RecordType, str, str, str]]:
        """Return the records that cannot be used: type, name, machine code and sentence."""
        query = "select store, record, code, message from problem order by store, record"
        rows = self._connection.execute(query).fetchall()
        return [(_TYPES[store], record, code, message) for store, record, code, message in rows]

    def statistics(self, labels: Collection[str]) -> Statistics:
        return _Statistics(self._connection, tuple(sorted(labels)), self._sequence)

    def facts(self, numbers: Collection[int]) -> Mapping[int, Facts]:
        rows = _select(self._connection, "number, facts", numbers)
        return {number: _FACTS.decode(facts) for number, facts in rows}

    def invalid(self, at: datetime) -> Collection[int]:
        rows = self._connection.execute("select number, facts from document where bounded")
        return {number for number, facts in rows if not holds_at(_FACTS.decode(facts), at)}

    def places(self, numbers: Collection[int]) -> Mapping[int, Place]:
        rows = _select(self._connection, "number, store, record, id", numbers)
        return {number: Place(_TYPES[store], record, id_) for number, store, record, id_ in rows}

    def _sequence(self, number: int) -> Sequence[str]:
        return terms(self._text(self.places([number])[number]))


def open_index(
    local: str, look: Callable[[RecordType], Listing], read: Reader, text: Callable[[Place], str]
) -> SearchIndex | None:
    """Open the index of a clone and bring it up to date.

    Args:
        local: The untracked folder that holds it.
        look: Lists a store's folder.
        read: Reads a record.
        text: Returns a document's text, for phrases.

    Returns:
        The index, or None where none can be kept.
    """
    path = os.path.join(local, FILE)
    for _ in range(2):  # a broken index is made again, once
        connection: sqlite3.Connection | None = None
        try:
            connection = _connect(path)
            _update(connection, {folder: look(type_) for folder, type_ in _TYPES.items()}, read)
            return SearchIndex(path, connection, text)
        except sqlite3.Error as error:
            if connection is not None:
                connection.close()
            if error.sqlite_errorcode in _NOT_OURS:
                return None
            _discard(path)
    return None


_NOT_OURS: Final = (
    sqlite3.SQLITE_BUSY,
    sqlite3.SQLITE_CANTOPEN,
    sqlite3.SQLITE_READONLY,
    sqlite3.SQLITE_FULL,
    sqlite3.SQLITE_IOERR,
)
"""Errors that say nothing against the index itself."""


class _Statistics:
    """The documents with some labels, as ranking sees them."""

    def __init__(
        self,
        connection: sqlite3.Connection,
        labels: tuple[str, ...],
        sequence: Callable[[int], Sequence[str]],
    ) -> None:
        self._connection = connection
        self._labels = labels
        self._marks = ", ".join("?" * len(labels))
        self._sequence = sequence

    def totals(self) -> Totals:
        query = f"select * from total where label in ({self._marks}) order by label"
        rows = self._connection.execute(query, self._labels).fetchall()
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

    def postings(self, term: str) -> Sequence[Posting]:
        query = (
            f"select number, frequency from posting where label in ({self._marks}) and term = ?"
            " order by number"
        )
        return self._connection.execute(query, (*self._labels, term)).fetchall()

    def documents(self, numbers: Iterable[int]) -> Mapping[int, Document]:
        columns = (
            "number, label, length, peak, traits, session, speaker, at, importance, accesses,"
            " relations"
        )
        return {
            row[0]: Document(row[0], row[1].rstrip("!"), *row[2:])
            for row in _select(self._connection, columns, list(numbers))
        }

    def sessions(self, keys: Iterable[int]) -> Mapping[int, Session]:
        query = (
            "select session, number, length, speaker from document where session in"
            " (select value from json_each(?)) order by session, place, number"
        )
        found: dict[int, Session] = {}
        for key, number, length, speaker in self._connection.execute(query, (_array(keys),)):
            session = found.setdefault(key, Session([], [], {}))
            session.numbers.append(number)
            session.lengths.append(length)
            session.speakers[speaker] = None
        return found

    def speakers(self) -> Mapping[str, Sequence[str]]:
        query = f"select name, terms from speaker where label in ({self._marks}) order by name"
        found: dict[str, list[str]] = {}
        for name, words in self._connection.execute(query, self._labels):
            for term in words.split():
                found.setdefault(term, []).append(name)
        return found

    def sequence(self, number: int) -> Sequence[str]:
        return self._sequence(number)


def _connect(path: str) -> sqlite3.Connection:
    if os.path.islink(path):
        os.unlink(path)
    connection = sqlite3.connect(path, timeout=_BUSY_SECONDS, isolation_level=None)
    connection.execute("pragma synchronous = off")
    connection.execute("pragma cache_size = -65536")
    (version,) = connection.execute("pragma user_version").fetchone()
    if version != _VERSION:
        _rebuild(connection)
    return connection


def _rebuild(connection: sqlite3.Connection) -> None:
    connection.execute("begin immediate")
    tables = connection.execute("select name from sqlite_master where type = 'table'").fetchall()
    for (name,) in tables:
        connection.execute(f'drop table "{name}"')
    for statement in _SCHEMA.split(";\n"):
        connection.execute(statement)
    connection.execute(f"pragma user_version = {_VERSION}")
    connection.execute("commit")


def _discard(path: str) -> None:
    """Remove the index, its journal first: SQLite would play that back into the next one."""
    for name in (f"{path}-journal", path):
        try:
            os.unlink(name)
        except OSError:
            continue


def _update(connection: sqlite3.Connection, now: Mapping[str, Listing], read: Reader) -> None:
    at = time.time_ns()
    if not any(any(changes(listing, *_known(connection, s))) for s, listing in now.items()):
        return
    connection.execute("begin immediate")
    touched: set[str] = set()
    for store, listing in now.items():
        gone, stale = changes(listing, *_known(connection, store))
        for record in (*gone, *stale):
            touched |= _forget(connection, store, record)
        touched |= _learn(connection, store, _entries(connection, store, stale, read))
        connection.execute(
            "insert or replace into looked values (?, ?, ?, ?)", (store, at, *listing.pack())
        )
    _count(connection, touched)
    connection.execute("commit")


def _known(connection: sqlite3.Connection, store: str) -> tuple[Listing, int]:
    query = "select names, stamps, at from looked where store = ?"
    found = connection.execute(query, (store,)).fetchone()
    if found is None:
        return Listing.of({}), 0
    names, stamps, at = found
    if not (isinstance(names, bytes) and isinstance(stamps, bytes) and isinstance(at, int)):
        raise sqlite3.DataError("the index holds what nobody wrote")
    return Listing.unpack(names, stamps), at


def _entries(
    connection: sqlite3.Connection, store: str, names: Iterable[str], read: Reader
) -> Iterator[tuple[str, Entry]]:
    """Yield the documents of records; what cannot be used is noted, and told at every search."""
    for name in names:
        record = read(_TYPES[store], name)
        if isinstance(record, Problem):
            connection.execute(
                "insert into problem values (?, ?, ?, ?)",
                (store, name, record.code, record.message),
            )
        elif record is not None:
            yield from ((name, entry) for entry in entries(record))


def _learn(
    connection: sqlite3.Connection, store: str, found: Iterator[tuple[str, Entry]]
) -> set[str]:
    documents: list[tuple[object, ...]] = []
    postings: list[tuple[str, str, int, float]] = []
    taken: dict[int, str] = {}
    labels: set[str] = set()
    for record, entry in found:
        number = _seat(connection, entry, taken)
        label = label_of(entry)
        labels.add(label)
        documents.append(_row(number, label, store, record, entry))
        postings += [(label, term, number, count) for term, count in entry.frequencies.items()]
    marks = ", ".join("?" * 18)
    connection.executemany(f"insert or replace into document values ({marks})", documents)
    postings.sort()
    connection.executemany("insert or replace into posting values (?, ?, ?, ?)", postings)
    return labels


def _seat(connection: sqlite3.Connection, entry: Entry, taken: dict[int, str]) -> int:
    """Return the number of a document; a message that moves to another file takes it along."""
    number = entry.document.number
    while True:
        holder = taken.get(number)
        if holder is None:
            query = "select id, label, terms from document where number = ?"
            row = connection.execute(query, (number,)).fetchone()
            holder = row[0] if row else None
            if row and holder == entry.id:
                _unpost(connection, number, row[1], row[2])
        if holder is None or holder == entry.id:
            taken[number] = entry.id
            return number
        number += 1


def _row(number: int, label: str, store: str, record: str, entry: Entry) -> tuple[object, ...]:
    document, facts = entry.document, entry.facts
    bounded = facts.valid_until is not None or (
        facts.valid_from is not None and facts.valid_from > facts.created_at
    )
    return (
        number,
        label,
        store,
        record,
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
        document.relations,
        bounded,
        msgspec.json.encode(facts),
        "\n".join(entry.frequencies),
    )


def _forget(connection: sqlite3.Connection, store: str, record: str) -> set[str]:
    connection.execute("delete from problem where store = ? and record = ?", (store, record))
    query = "select number, label, terms from document where store = ? and record = ?"
    rows = connection.execute(query, (store, record)).fetchall()
    for number, label, words in rows:
        _unpost(connection, number, label, words)
        connection.execute("delete from document where number = ?", (number,))
    return {label for _, label, _ in rows}


def _unpost(connection: sqlite3.Connection, number: int, label: str, words: str) -> None:
    connection.executemany(
        "delete from posting where label = ? and term = ? and number = ?",
        [(label, term, number) for term in words.split("\n")],
    )


def _count(connection: sqlite3.Connection, labels: Iterable[str]) -> None:
    """Make the aggregates of the lists that have changed anew."""
    for label in sorted(labels):
        connection.execute("delete from total where label = ?", (label,))
        connection.execute(
            "insert into total select label, count(*), sum(length), count(distinct session),"
            " count(session), coalesce(sum(case when session is not null then length end), 0.0)"
            " from document where label = ? group by label",
            (label,),
        )
        connection.execute("delete from speaker where label = ?", (label,))
        names = connection.execute(
            "select speaker, count(*) from document where label = ? and speaker != ''"
            " group by speaker",
            (label,),
        ).fetchall()
        connection.executemany(
            "insert into speaker values (?, ?, ?, ?)",
            [(label, name, said, " ".join(terms(name))) for name, said in names],
        )


def _select(
    connection: sqlite3.Connection, columns: str, numbers: Collection[int]
) -> Iterator[Any]:
    query = (
        f"select {columns} from document where number in (select value from json_each(?))"
        " order by number"
    )
    return iter(connection.execute(query, (_array(numbers),)))


def _array(numbers: Iterable[int]) -> str:
    return f"[{','.join(map(str, numbers))}]"
