"""The disposable search index: postings of every document, beside the files they come from.

It is brought up to date by the next search after any change by anyone (see `storage.listing`),
inside one transaction; a search that finds it locked, broken or unwritable does without. Only
single documents are kept: windows and sessions are derived when a question is asked.
"""

import os
import sqlite3
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from copy import copy
from datetime import datetime
from typing import Any, Final, NamedTuple

import msgspec

from pmem.core.policy import EVERYTHING, Reach
from pmem.core.retrieval.collection import CollectionStatistics, Document, SessionDocuments, Totals
from pmem.core.retrieval.documents import Facts
from pmem.core.retrieval.evidence import Scorer, bm25_scores
from pmem.core.retrieval.pool import ACTIVE_MEMORIES, DocumentKey, holds_at
from pmem.core.retrieval.relations import SeenLink
from pmem.core.text.terms import sequence
from pmem.errors import Damaged, NotFound, StorageRefused
from pmem.storage.files import safe_files
from pmem.storage.files.listing import FolderListing
from pmem.storage.index import postings
from pmem.storage.index.errors import BrokenIndex
from pmem.storage.index.update import TYPES, VERSION, Reader, rebuild, text_of, update
from pmem.values.bounds import SEARCHED_CHARACTERS
from pmem.values.records import STORES, Memory, RecordType

FILE: Final = "search.sqlite3"
_BUSY_SECONDS: Final = 5.0
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
_FACTS = msgspec.json.Decoder(Facts)


class RecordSource(NamedTuple):
    """How an index gets at the records.

    Attributes:
        look: Lists a store's folder.
        read: Reads a record.
        text: Returns a document's text, for phrases.
    """

    look: Callable[[RecordType], FolderListing]
    read: Reader
    text: Callable[[DocumentKey], str]


_NO_DATABASE: Final = (sqlite3.Error, msgspec.MsgspecError)
"""What reading an index raises that holds nonsense."""
_DOUBTFUL: Final = (ArithmeticError, AttributeError, LookupError, TypeError, ValueError)
"""What a search raises on an index that holds nonsense, or where pmem itself is wrong."""


class SearchIndex:
    """An open index, up to date as of the moment it was opened; a pool to search.

    Its connection is one thread's at a time: whoever keeps an index lends it to one search.

    Args:
        path: The database's file.
        connection: The open database.
        records: Whose index it is; nobody's while it is not lent.
    """

    def __init__(
        self, path: str, connection: sqlite3.Connection, records: RecordSource | None
    ) -> None:
        self.records = records
        self.is_open = True
        self._path = path
        self._connection = connection
        self._reach = EVERYTHING

    @property
    def scorer(self) -> Scorer:
        return bm25_scores

    def discard(self) -> None:
        """Throw the index away; the next search makes it again."""
        self.close()
        safe_files.discard(self._path)

    def close(self) -> None:
        """Let go of the file."""
        self.is_open = False
        self._connection.close()

    @contextmanager
    def moment(self) -> Iterator[None]:
        """Let everything asked meanwhile be as of one moment, whoever updates the index.

        Raises:
            BrokenIndex: The index turns out to hold nonsense.
        """
        with _trusted(self._connection):
            self._connection.execute("begin")
            try:
                yield
            finally:
                self._connection.rollback()

    def problems(self) -> list[tuple[RecordType, str, str, str]]:
        """Return the records that cannot be used: type, name, machine code and sentence."""
        query = "select store, record, code, message from problem order by store, record"
        rows = self._connection.execute(query).fetchall()
        return [
            (TYPES[store], text_of(record), code, text_of(message))
            for store, record, code, message in rows
        ]

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
        return _Statistics(self._connection, tuple(sorted(labels)), self._sequence)

    def facts(self, numbers: Collection[int]) -> Mapping[int, Facts]:
        rows = _select(self._connection, "number, facts", numbers)
        return {number: _FACTS.decode(facts) for number, facts in rows}

    def invalid(self, at: datetime) -> Collection[int]:
        rows = self._connection.execute("select number, facts from document where bounded")
        return {number for number, facts in rows if not holds_at(_FACTS.decode(facts), at)}

    def places(self, numbers: Collection[int]) -> Mapping[int, DocumentKey]:
        rows = _select(self._connection, "number, store, record, id", numbers)
        return {
            number: DocumentKey(TYPES[store], record, id_) for number, store, record, id_ in rows
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

    def _sequence(self, number: int) -> Sequence[str]:
        assert self.records is not None
        try:
            return sequence(self.records.text(self.places([number])[number])[:SEARCHED_CHARACTERS])
        except (NotFound, Damaged, StorageRefused):  # others changed it since we looked
            return ()


def open_index(local: str, records: RecordSource) -> SearchIndex | None:
    """Open the index of a clone and bring it up to date.

    Args:
        local: The untracked folder that holds it.
        records: Whose index it is.

    Returns:
        The index, or None where none can be kept.
    """
    path = os.path.join(local, FILE)
    for _ in range(2):  # a broken index is made again, once
        connection: sqlite3.Connection | None = None
        try:
            connection = _connect(path)
            with _trusted(connection):
                _follow(connection, records)
            return SearchIndex(path, connection, records)
        except (OSError, sqlite3.Error, BrokenIndex) as error:
            if connection is not None:
                connection.close()
            if isinstance(error, OSError) or _is_usable(error):
                return None
            safe_files.discard(path)
    return None


def passing_index(records: RecordSource) -> SearchIndex:
    """Make an index in memory, for searches of one process.

    Args:
        records: Whose index it is.
    """
    connection = _connect(":memory:")
    _follow(connection, records)
    return SearchIndex(":memory:", connection, records)


@contextmanager
def _trusted(connection: sqlite3.Connection) -> Iterator[None]:
    """Search an index; what is wrong with pmem and not with the index is raised as it is.

    Args:
        connection: The open index.

    Raises:
        BrokenIndex: The index holds nonsense.
    """
    try:
        yield
    except _NO_DATABASE as error:
        raise BrokenIndex from error
    except _DOUBTFUL as error:
        from pmem.storage.index.soundness import is_sound

        if is_sound(connection):
            raise
        raise BrokenIndex from error


def _follow(connection: sqlite3.Connection, records: RecordSource) -> None:
    def look() -> Mapping[str, FolderListing]:
        return {folder: records.look(type_) for folder, type_ in TYPES.items()}

    update(connection, look, records.read)


_NOT_OURS: Final = (
    sqlite3.SQLITE_BUSY,
    sqlite3.SQLITE_CANTOPEN,
    sqlite3.SQLITE_READONLY,
    sqlite3.SQLITE_FULL,
    sqlite3.SQLITE_IOERR,
)
"""Errors that say nothing against the index itself."""


def _is_usable(error: Exception) -> bool:
    cause = error.__cause__ if isinstance(error, BrokenIndex) else error
    return getattr(cause, "sqlite_errorcode", 0) & safe_files.PRIMARY in _NOT_OURS


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

    def postings(self, term: str) -> Mapping[int, float]:
        return postings.read(self._connection, self._labels, term)

    def documents(self, numbers: Iterable[int]) -> Mapping[int, Document]:
        columns = (
            "number, label, length, peak, traits, session, speaker, at, importance, accesses, about"
        )
        return {
            row[0]: Document(row[0], row[1].rstrip("!"), *row[2:])
            for row in _select(self._connection, columns, list(numbers))
        }

    def sessions(
        self, keys: Iterable[int], most: int | None = None
    ) -> Mapping[int, SessionDocuments]:
        query = (
            "select session, number, length, speaker from document where session in"
            f" (select value from json_each(?)) and label in ({self._marks})"
            " order by session, place, number"
        )
        asked = (_array(self._small(keys, most)), *self._labels)
        found: dict[int, SessionDocuments] = {}
        for key, number, length, speaker in self._connection.execute(query, asked):
            session = found.setdefault(key, SessionDocuments([], [], {}))
            session.numbers.append(number)
            session.lengths.append(length)
            session.speakers[speaker] = None
        return found

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

    def sequence(self, number: int) -> Sequence[str]:
        return self._sequence(number)


def _connect(path: str) -> sqlite3.Connection:
    if safe_files.foreign(path):
        safe_files.discard(path)
    connection = sqlite3.connect(
        path, timeout=_BUSY_SECONDS, isolation_level=None, check_same_thread=False
    )
    safe_files.check_plain(connection)
    connection.execute("pragma synchronous = normal")  # less, and a power cut could make it lie
    connection.execute("pragma cache_size = -65536")
    (version,) = connection.execute("pragma user_version").fetchone()
    if version != VERSION:
        rebuild(connection)
    return connection


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
