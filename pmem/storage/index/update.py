"""Bringing the search index up to date: what has changed, and what that changes in the tables.

A document that several records hold (copied by hand, or by a merge in git) is kept as the last of
them says; when any of them changes, all of them are read again.
"""

import sqlite3
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import islice
from typing import Final

import msgspec

from pmem.core.retrieval.documents import IndexedDocument, entries
from pmem.core.retrieval.pool import label_of
from pmem.core.text.terms import terms
from pmem.errors import StorageRefused
from pmem.storage.backend import Problem
from pmem.storage.files.listing import FolderListing, changes, last_look
from pmem.storage.index.postings import TABLE, Postings
from pmem.values.ids import is_id
from pmem.values.records import STORES, Record, RecordType

VERSION: Final = 13
_SCHEMA: Final = """
create table looked (store text primary key, at integer, names blob, stamps blob);
create table document (number integer primary key, label text, store text, record text, id text,
                       length real, peak real, traits integer, session integer, place integer,
                       speaker text, at real, importance real, accesses integer, about text,
                       bounded integer, category text, procedural integer, app text, facts blob,
                       terms blob);
create index document_by_record on document (store, record);
create index document_by_session on document (session, place) where session is not null;
create index document_by_category on document (category, procedural);
create index document_by_app on document (app) where app is not null;
create index document_bounded on document (number) where bounded;
create table link (source integer, target text, type text, strength real);
create index link_by_source on link (source);
create index link_by_target on link (target);
create table speaker (label text, name text, said integer, terms text,
                      primary key (label, name)) without rowid;
create table problem (store text, record blob, code text, message blob,
                      primary key (store, record)) without rowid;
create table shared (id text, store text, record text,
                     primary key (id, store, record)) without rowid;
create index shared_by_record on shared (store, record);
create table total (label text primary key, documents integer, length real, sessions integer,
                    said integer, said_length real);
"""
TYPES: Final[dict[str, RecordType]] = {folder: type_ for type_, folder in STORES.items()}
_BATCH: Final = 10_000
"""Documents that are taken in together: more at once would take more memory, not less time."""
_ORDER: Final = {folder: place for place, folder in enumerate(TYPES)}

Source = tuple[str, str]
"""A record: its store's folder and its name."""

Learnt = dict[int, tuple[Source, IndexedDocument]]
"""Documents by number, and the records that hold them."""

Reader = Callable[[RecordType, str], Record | Problem | None]
"""Reads a record, or says why it cannot be used; None when it is gone."""

Look = Callable[[], Mapping[str, FolderListing]]
"""Says what each store's folder looks like."""


def rebuild(connection: sqlite3.Connection) -> None:
    """Make the tables anew, whatever was there."""
    connection.execute("begin immediate")
    tables = connection.execute("select name from sqlite_master where type = 'table'").fetchall()
    for (name,) in tables:
        connection.execute(f'drop table "{name}"')
    for statement in (TABLE, *_SCHEMA.split(";\n")):
        connection.execute(statement)
    connection.execute(f"pragma user_version = {VERSION}")
    connection.execute("commit")


def update(connection: sqlite3.Connection, look: Look, read: Reader) -> None:
    """Follow every change since the last look, in one transaction.

    A look that is older than another one's would take back what that one has learnt. So it is
    made after the index was asked for its last, and again where others were quicker.

    Args:
        connection: The open database.
        look: Says what each store's folder looks like.
        read: Reads a record.
    """
    looked = _looked(connection)
    now, at = look(), time.time_ns()
    gone, stale = _differences(connection, now)
    if not gone and not stale:
        return
    connection.execute("begin immediate")
    if _looked(connection) != looked:
        now, at = look(), time.time_ns()
        gone, stale = _differences(connection, now)
    _write(connection, now, at, gone, stale, read)
    connection.execute("commit")


def _write(
    connection: sqlite3.Connection,
    now: Mapping[str, FolderListing],
    at: int,
    gone: set[Source],
    stale: set[Source],
    read: Reader,
) -> None:
    """Learn what has changed, within a transaction."""
    changed = _with_rivals(connection, gone | stale)
    postings = Postings(connection)
    touched = _forget_all(connection, postings, sorted(changed) if _looked(connection) else ())
    found = _entries(connection, sorted(changed - gone, key=_rank), now, read)
    while batch := list(islice(found, _BATCH)):
        touched |= _learn(connection, postings, batch)
        postings.write()
    postings.write()
    for store, listing in now.items():
        connection.execute(
            "insert or replace into looked values (?, ?, ?, ?)", (store, at, *listing.pack())
        )
    _count(connection, touched)


def _differences(
    connection: sqlite3.Connection, now: Mapping[str, FolderListing]
) -> tuple[set[Source], set[Source]]:
    """Return what is gone since the last look, and what is to be read."""
    gone: set[Source] = set()
    stale: set[Source] = set()
    for store, listing in now.items():
        names, fresh = changes(listing, *last_look(connection, store))
        gone.update((store, name) for name in names)
        stale.update((store, name) for name in fresh)
    return gone, stale


def _looked(connection: sqlite3.Connection) -> list[int]:
    return [at for (at,) in connection.execute("select at from looked order by store")]


def _with_rivals(connection: sqlite3.Connection, changed: set[Source]) -> set[Source]:
    """Add the records that hold a document which a changed record holds as well."""
    found, fresh = set(changed), changed
    query = (
        "select other.store, other.record from shared join shared as other using (id)"
        " where shared.store = ? and shared.record = ?"
    )
    any_ = connection.execute("select 1 from shared limit 1").fetchone()
    while fresh and any_:
        known = [source for source in fresh if is_id(source[1])]
        rivals = {rival for source in known for rival in connection.execute(query, source)}
        fresh = rivals - found
        found |= fresh
    return found


def _rank(source: Source) -> tuple[int, str]:
    """Order records as a search without an index reads them."""
    return _ORDER[source[0]], source[1]


def _entries(
    connection: sqlite3.Connection,
    sources: Iterable[Source],
    now: Mapping[str, FolderListing],
    read: Reader,
) -> Iterator[tuple[Source, IndexedDocument]]:
    """Yield the documents of records; what cannot be used is noted, and told at every search.

    What could not even be read is struck from the listing, so that the next search tries again.
    """
    for store, name in sources:
        record = read(TYPES[store], name)
        if isinstance(record, Problem):
            problem = (store, _bytes(name), record.code, _bytes(record.message))
            connection.execute("insert into problem values (?, ?, ?, ?)", problem)
        if record is None or (isinstance(record, Problem) and record.code == StorageRefused.code):
            now[store].put(name, None)
        elif not isinstance(record, Problem):
            yield from (((store, name), entry) for entry in entries(record))


def _learn(
    connection: sqlite3.Connection,
    postings: Postings,
    found: Iterable[tuple[Source, IndexedDocument]],
) -> set[str]:
    learnt: Learnt = {}
    touched: set[str] = set()
    for source, entry in found:
        number = _seat(connection, postings, source, entry, learnt, touched)
        if number is not None:
            learnt[number] = (source, entry)
    documents: list[tuple[object, ...]] = []
    for number, (source, entry) in learnt.items():
        label = label_of(entry)
        documents.append(_row(number, label, source, entry))
        postings.add(label, entry.frequencies, number)
    marks = ", ".join("?" * 21)
    connection.executemany(f"insert into document values ({marks})", documents)
    connection.executemany("insert into link values (?, ?, ?, ?)", _links(learnt))
    return touched | {label_of(entry) for _, entry in learnt.values()}


def _links(learnt: Learnt) -> Iterator[tuple[object, ...]]:
    """Yield links with the document that they start at; what they lead to may not be there."""
    for number, (_, entry) in learnt.items():
        for link in entry.links:
            yield number, link.target, link.type, link.strength


def _seat(
    connection: sqlite3.Connection,
    postings: Postings,
    source: Source,
    entry: IndexedDocument,
    learnt: Learnt,
    touched: set[str],
) -> int | None:
    """Return the number of a document, or None if a later record says what it is.

    The list that an earlier record's document is taken out of joins `touched`.
    """
    number = entry.document.number
    query = "select id, store, record, label, terms from document where number = ?"
    while True:
        if number in learnt:
            holder, other = learnt[number]
            if other.id == entry.id:
                _share(connection, entry.id, holder, source)
                return number
        else:
            row = connection.execute(query, (number,)).fetchone()
            if row is None:
                return number
            if row[0] == entry.id:
                _share(connection, entry.id, row[1:3], source)
                if _rank(row[1:3]) > _rank(source):
                    return None
                _drop(connection, postings, number, *row[3:])
                touched.add(row[3])
                return number
        number += 1


def _share(connection: sqlite3.Connection, id_: str, *sources: Source) -> None:
    if len(set(sources)) > 1:
        rows = [(id_, *source) for source in sources]
        connection.executemany("insert or ignore into shared values (?, ?, ?)", rows)


def _row(number: int, label: str, source: Source, entry: IndexedDocument) -> tuple[object, ...]:
    document, facts = entry.document, entry.facts
    bounded = facts.valid_until is not None or (
        facts.valid_from is not None and facts.valid_from > facts.created_at
    )
    return (
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
    )


def _forget_all(
    connection: sqlite3.Connection, postings: Postings, changed: Iterable[Source]
) -> set[str]:
    """Take out records; return the lists that their documents were in."""
    touched: set[str] = set()
    for number, (store, name) in enumerate(changed, start=1):
        touched |= _forget(connection, postings, store, name)
        if number % _BATCH == 0:
            postings.write()
    return touched


def _forget(
    connection: sqlite3.Connection, postings: Postings, store: str, record: str
) -> set[str]:
    """Take out a record; return the lists that its documents were in."""
    source = (store, _bytes(record))
    connection.execute("delete from problem where store = ? and record = ?", source)
    if not is_id(record):
        return set()
    connection.execute("delete from shared where store = ? and record = ?", (store, record))
    query = "select number, label, terms from document where store = ? and record = ?"
    rows = connection.execute(query, (store, record)).fetchall()
    for number, label, words in rows:
        _drop(connection, postings, number, label, words)
    return {label for _, label, _ in rows}


def _drop(
    connection: sqlite3.Connection, postings: Postings, number: int, label: str, words: str
) -> None:
    connection.execute("delete from document where number = ?", (number,))
    connection.execute("delete from link where source = ?", (number,))
    postings.drop(label, words.split("\n"), number)


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


def _bytes(text: str) -> bytes:
    """Write a text that may hold bytes of a file's name that are no text."""
    return text.encode("utf-8", "surrogateescape")


def text_of(data: bytes) -> str:
    """Read what `_bytes` wrote."""
    return data.decode("utf-8", "surrogateescape")
