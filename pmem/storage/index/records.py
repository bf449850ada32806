"""What the index keeps of every record, brought up to date by whoever asks it next.

Each store's listing tells what has changed since the last look, whoever has changed it (see
`storage.files.listing`). Of what has changed the record is read again, with everything that
selecting and comparing records needs. What searches need is made of it when somebody searches:
until then the record is among the `unposted`.
"""

import sqlite3
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import nullcontext
from itertools import count
from typing import Final, NamedTuple

from pmem.core.filters import cited_files
from pmem.core.record_keys import near_ends, twin_keys, word_keys_of
from pmem.core.selection import column_values
from pmem.errors import StorageRefused, TooLarge
from pmem.storage.backend import Problem
from pmem.storage.files.listing import NOTHING, FolderListing, changes, last_look
from pmem.storage.files.recordfile import Stamp
from pmem.storage.index.schema import COUNTED, filling, insert
from pmem.storage.index.selecting import AMONG, expression
from pmem.values.ids import is_id
from pmem.values.records import STORES, Memory, Record

_PASSING: Final = (StorageRefused.code, TooLarge.code)
"""What may be otherwise the next time though the file stays as it is."""
MEMORIES: Final = STORES[Memory]
_FILLED: Final = ("record", "twin", "tie", "place", "cited", "document")
_BATCH: Final = 2000
"""Records that are taken in together: more at once would take more memory, not less time."""
MANY: Final = 500
"""So many records, and an empty index is filled before its tables have their own indexes."""


class ReadRecord(NamedTuple):
    """A record and the bytes that it was read from."""

    record: Record
    data: bytes


_VERY_MANY: Final = 5000
"""So many records take a moment to read."""

Reader = Callable[[str, Iterable[str]], Iterator[tuple[str, ReadRecord | Problem | None]]]
"""Reads records of a store, or says why one cannot be used; None when it is gone."""

Take = Callable[[str, Mapping[str, ReadRecord]], None]
"""Is told of records of a store that the index did not know."""


class Files(NamedTuple):
    """The files of the stores: what a store's folder looks like, what reads its records, and what
    is told how many of very many have been read.
    """

    look: Callable[[str], FolderListing]
    read: Reader
    tell: Callable[[int, int], None]


class _Changes(NamedTuple):
    """What has changed in a store: its listing, when that was made, what is gone, what to read."""

    listing: FolderListing
    at: int
    gone: list[str]
    stale: list[str]


def follow(
    connection: sqlite3.Connection,
    stores: Collection[str],
    files: Files,
    take: Take | None = None,
) -> bool:
    """Learn what has changed since the last look, within a transaction that is left open.

    A look that is older than another one's would take back what that one has learnt. So it is
    made after the index was asked for its last, and again where others were quicker.

    With `take`, what an empty index learns is given to that, and is not among the `unposted`.

    Returns:
        Whether anything has changed, and a transaction was begun.
    """
    before = _looked(connection, stores)
    found = _look_at(connection, stores, files)
    if not any(each.gone or each.stale for each in found.values()):
        return False
    connection.execute("begin immediate")
    if _looked(connection, stores) != before:
        found = _look_at(connection, stores, files)
    query = "select 1 from record union all select 1 from document limit 1"
    is_empty = connection.execute(query).fetchone() is None
    names = [name for each in found.values() for name in each.stale]
    if len(names) > _VERY_MANY:
        files = files._replace(read=_counting(files, len(names)))
    with filling(connection, *_FILLED) if is_empty and len(names) > MANY else nullcontext():
        for store, changed in found.items():
            _write(connection, store, changed, files.read, take if is_empty else None)
    return True


def _counting(files: Files, total: int) -> Reader:
    """Return what reads records, and tells how many it has read after each of them."""
    done = count(1)

    def read(store: str, names: Iterable[str]) -> Iterator[tuple[str, ReadRecord | Problem | None]]:
        for found in files.read(store, names):
            yield found
            files.tell(next(done), total)

    return read


def learn(
    connection: sqlite3.Connection,
    store: str,
    written: Mapping[str, tuple[Stamp, ReadRecord] | None],
) -> None:
    """Take over what has just been written to a store that was up to date; None for what is gone.

    The time of the last look stays: what others did to a file since, within the tick of its
    stamp, is noticed by reading it again.
    """
    packed, looked = last_look(connection, store)
    listing = FolderListing.unpack(*packed)
    for id_, learnt in written.items():
        listing.put(id_, learnt[0] if learnt else None)
    known = _numbers(connection, store, written)
    _forget(connection, known.values())
    _unmark(connection, is_gone=None in written.values())
    _learn(connection, store, known, {id_: new[1] for id_, new in written.items() if new})
    _note_unposted(connection, store, written)
    _remember(connection, store, looked, listing, has_changed=True)


def _look_at(
    connection: sqlite3.Connection, stores: Collection[str], files: Files
) -> dict[str, _Changes]:
    found = {}
    for store in stores:
        listing, at = files.look(store), time.time_ns()
        found[store] = _Changes(listing, at, *changes(listing, *last_look(connection, store)))
    return found


def _looked(connection: sqlite3.Connection, stores: Collection[str]) -> list[tuple[str, int]]:
    rows = connection.execute("select store, at from looked order by store").fetchall()
    return [row for row in rows if row[0] in stores]


def _write(
    connection: sqlite3.Connection, store: str, changed: _Changes, read: Reader, take: Take | None
) -> None:
    """Learn what has changed in a store.

    What could not even be read is struck from the listing, so that the next look tries again.
    """
    is_new = last_look(connection, store)[0] == NOTHING
    has_changed = bool(changed.gone)
    if not is_new:
        _solve(connection, store, [*changed.gone, *changed.stale])
        gone = _numbers(connection, store, changed.gone)
        _forget(connection, gone.values())
        _unmark(connection, is_gone=bool(gone))
        _note_unposted(connection, store, gone)
    for start in range(0, len(changed.stale), _BATCH):
        names = changed.stale[start : start + _BATCH]
        read_now = read(store, names)
        has_changed |= _take_in(connection, store, read_now, changed.listing, take, is_new=is_new)
    if changed.gone or changed.stale:
        _remember(connection, store, changed.at, changed.listing, has_changed=has_changed)


def _take_in(
    connection: sqlite3.Connection,
    store: str,
    read: Iterable[tuple[str, ReadRecord | Problem | None]],
    listing: FolderListing,
    take: Take | None,
    *,
    is_new: bool,
) -> bool:
    """Read records, and take in those that say something else than they did, if any does."""
    found: dict[str, ReadRecord] = {}
    unusable = []
    for name, answer in read:
        if isinstance(answer, ReadRecord):
            found[name] = answer
            continue
        unusable.append(name)
        if answer is not None:
            problem = (store, _bytes(name), answer.code, _bytes(answer.message))
            connection.execute("insert or replace into problem values (?, ?, ?, ?)", problem)
        if answer is None or answer.code in _PASSING:
            listing.put(name, None)
    known: dict[str, int] = {}
    if not is_new:
        known = _numbers(connection, store, [*found, *unusable])
        found = _really_changed(connection, known, found)
        touched = [*found, *unusable]
        _forget(connection, [known[id_] for id_ in touched if id_ in known])
    _unmark(connection, is_gone=any(id_ in known for id_ in unusable))
    _learn(connection, store, known, found)
    if take is None:
        _note_unposted(connection, store, [*found, *(id_ for id_ in unusable if id_ in known)])
    else:
        take(store, found)
    return bool(found or unusable)


def _really_changed(
    connection: sqlite3.Connection, known: Mapping[str, int], found: Mapping[str, ReadRecord]
) -> dict[str, ReadRecord]:
    """Return the records whose files say something else than they did."""
    query = "select data from body where number = ?"
    changed = {}
    for id_, read in found.items():
        held = connection.execute(query, (known.get(id_),)).fetchone()
        if held is None or held[0] != read.data:
            changed[id_] = read
    return changed


def _numbers(connection: sqlite3.Connection, store: str, names: Iterable[str]) -> dict[str, int]:
    """Return the numbers of the records among `names` that the index knows."""
    query = "select number from record where store = ? and id = ?"
    rows = ((id_, connection.execute(query, (store, id_)).fetchone()) for id_ in _ids(names))
    return {id_: row[0] for id_, row in rows if row is not None}


def _learn(
    connection: sqlite3.Connection,
    store: str,
    known: Mapping[str, int],
    found: Mapping[str, ReadRecord],
) -> None:
    """Write records; those that the index knew keep their numbers."""
    (last,) = connection.execute("select coalesce(max(number), 0) from record").fetchone()
    numbers = {}
    for id_ in found:
        if id_ not in known:
            last += 1
        numbers[id_] = known.get(id_, last)
    rows = ([numbers[id_], store, *column_values(read.record)] for id_, read in found.items())
    insert(connection, "record", rows)
    connection.executemany(
        "insert into body values (?, ?)",
        [(numbers[id_], read.data) for id_, read in found.items()],
    )
    connection.executemany(
        "insert or ignore into twin values (?, ?)",
        [(key, numbers[id_]) for id_, read in found.items() for key in twin_keys(read.record)],
    )
    connection.executemany(
        "insert into place values (?, ?)",
        [
            ("\n".join(read.record.places), numbers[id_])
            for id_, read in found.items()
            if isinstance(read.record, Memory) and read.record.places
        ],
    )
    connection.executemany(
        "insert into cited values (?, ?)",
        [(file, numbers[id_]) for id_, read in found.items() for file in cited_files(read.record)],
    )
    connection.executemany(
        "insert into tie values (?, ?, '', 0)",
        [(numbers[id_], end) for id_, read in found.items() for end in near_ends(read.record)],
    )
    _count(connection, numbers.values(), 1)
    words = {numbers[id_]: word_keys_of(read.record) for id_, read in found.items()}
    connection.executemany(
        "insert or ignore into word values (?, ?)",
        sorted((word, number) for number, held in words.items() for word in held),
    )
    connection.executemany(
        "insert into held values (?, ?)",
        [(number, "\n".join(held)) for number, held in words.items() if held],
    )


def _forget(connection: sqlite3.Connection, numbers: Iterable[int]) -> None:
    gone = [(number,) for number in numbers]
    _count(connection, (number for (number,) in gone), -1)
    query = "select words from held where number = ?"
    for (number,) in gone:
        for (words,) in connection.execute(query, (number,)).fetchall():
            connection.executemany(
                "delete from word where word = ? and number = ?",
                [(word, number) for word in words.split("\n")],
            )
    judged = "update tie set rules = '' where target in (select id from record where number = ?)"
    connection.executemany(judged, gone)
    for table in ("held", "twin", "tie", "mark", "place", "cited", "body", "record"):
        connection.executemany(f"delete from {table} where number = ?", gone)


def _count(connection: sqlite3.Connection, numbers: Iterable[int], each: int) -> None:
    """Count memories that came, or with minus one those that go, by what is tallied of them."""
    given = (each, f"[{','.join(map(str, numbers))}]")
    for table, names in COUNTED.items():
        columns = ", ".join(map(expression, names))
        connection.execute(
            f"insert into {table} select store, {columns}, ? * count(*) from record"
            f" where number {AMONG} and +store = '{MEMORIES}' group by {columns}"
            " on conflict do update set many = many + excluded.many",
            given,
        )


def _unmark(connection: sqlite3.Connection, *, is_gone: bool) -> None:
    """Take all marks away where a record is gone, as others may have led to it, and all counts of
    words, as it may have had them.
    """
    if is_gone:
        connection.execute("delete from counted")
        connection.execute("delete from mark")


def _solve(connection: sqlite3.Connection, store: str, names: Iterable[str]) -> None:
    """Forget what was wrong with files that have changed."""
    connection.executemany(
        "delete from problem where store = ? and record = ?",
        [(store, _bytes(name)) for name in names],
    )


def _note_unposted(connection: sqlite3.Connection, store: str, names: Iterable[str]) -> None:
    connection.executemany(
        "insert or ignore into unposted values (?, ?)", [(store, id_) for id_ in _ids(names)]
    )


def _remember(
    connection: sqlite3.Connection,
    store: str,
    at: int,
    listing: FolderListing,
    *,
    has_changed: bool,
) -> None:
    row = connection.execute("select revision from looked where store = ?", (store,)).fetchone()
    revision = (row[0] if row else 1) + has_changed
    query = "insert or replace into looked values (?, ?, ?, ?, ?)"
    connection.execute(query, (store, at, *listing.pack(), revision))


def _ids(names: Iterable[str]) -> list[str]:
    """Return those of some names that records can have."""
    return [name for name in names if is_id(name)]


def _bytes(text: str) -> bytes:
    """Write a text that may hold bytes of a file's name that are no text."""
    return text.encode("utf-8", "surrogateescape")


def text_of(data: bytes) -> str:
    """Read what `_bytes` wrote."""
    return data.decode("utf-8", "surrogateescape")
