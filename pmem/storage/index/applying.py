"""Which memories apply to a file, and whether any has a word, asked of the index in no time.

Nothing is brought up to date and no record is loaded. Where the index is not surely as the files
are, there is no answer, and whoever asks takes the longer way (see decision 49).
"""

import os
import sqlite3
import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import closing
from typing import Final, TypeVar

from pmem.core.lines import composed
from pmem.core.places import fits
from pmem.storage.files import listing
from pmem.storage.files.addresses import open_at_once
from pmem.storage.index.schema import VERSION

FILE: Final = "index.sqlite3"
_UNFINISHED: Final = ("local", "commit")
_STORE: Final = "long-term-memory"
_REMEMBERED: Final = (_STORE, "episodic-memory")
_LABELS: Final = ("memory", "memory!", "episode", "episode!")
"""The lists of documents of these two stores (see `retrieval.pool.labels`)."""
_LAST: Final = "\U0010ffff"
PATIENCE: Final = 0.5
"""Seconds after which no further place is compared: a project can hold any number of them."""
PROVEN: Final = "proven:"
"""What `record_keys.proven_key` puts before evidence."""
_CITED: Final = "select number from cited where file = ?"
_PLACED: Final = "select number from place where patterns = ?"
_PROVEN: Final = "select number from twin where key = ?"
_ACTIVE: Final = (
    "select id, data from record join body using (number)"
    " where number = ? and store = ? and state = 'active'"
)

_HELD: Final = "select 1 from posting where label = ? and term >= ? and term <= ? limit 1"

T = TypeVar("T")
Found = dict[str, bytes]
"""What memories' files hold, by id."""


def applying(folder: str, files: Sequence[str]) -> Found | None:
    """Return the active memories whose place or citation covers one of some files.

    Files are named as seen from the project's top, with slashes.

    Returns:
        None where the index cannot tell. Where there are more places than can be compared in time,
        those that were.
    """
    return _of_current(folder, lambda connection: _numbers_applying(connection, files))


def proven(folder: str, evidence: Sequence[str]) -> Found | None:
    """Return the active memories that name one of some things, `error:` and a fingerprint say, as
    their evidence.

    Returns:
        None where the index cannot tell.
    """

    def numbers(connection: sqlite3.Connection) -> set[int]:
        return {
            number for each in evidence for number in _numbers(connection, _PROVEN, PROVEN + each)
        }

    return _of_current(folder, numbers)


def mentions(folder: str, terms: Iterable[str], starts: Iterable[str]) -> bool | None:
    """Tell whether a memory or an episode has one of some terms, or one that begins so.

    Returns:
        None where the index cannot tell.
    """
    ranges = [*((term, term) for term in terms), *((start, start + _LAST) for start in starts)]

    def ask(connection: sqlite3.Connection) -> bool | None:
        rows = ((label, *each) for each in ranges for label in _LABELS)
        if any(connection.execute(_HELD, row).fetchone() is not None for row in rows):
            return True  # however old that is
        if connection.execute("select 1 from unposted limit 1").fetchone() is not None:
            return None
        return False if _is_current(connection, folder, _REMEMBERED) else None

    return _ask_index(folder, ask)


def _of_current(folder: str, question: Callable[[sqlite3.Connection], set[int]]) -> Found | None:
    """Ask for memories by their numbers if the index is surely as their files are."""

    def ask(connection: sqlite3.Connection) -> Found | None:
        if not _is_current(connection, folder, (_STORE,)):
            return None
        rows = ((number, _STORE) for number in question(connection))
        found = [connection.execute(_ACTIVE, row).fetchone() for row in rows]
        return {row[0]: row[1] for row in found if row is not None}

    return _ask_index(folder, ask)


def _ask_index(folder: str, question: Callable[[sqlite3.Connection], T | None]) -> T | None:
    """Ask the index, if this version made it."""
    if os.path.lexists(os.path.join(folder, *_UNFINISHED)):
        return None
    try:
        with closing(open_at_once(folder, FILE)) as connection:
            connection.execute("begin")
            if connection.execute("pragma user_version").fetchone() != (VERSION,):
                return None
            return question(connection)
    except (sqlite3.Error, OSError, TypeError, ValueError):
        return None


def _is_current(connection: sqlite3.Connection, folder: str, stores: Iterable[str]) -> bool:
    """Tell whether every file of some stores is as it was at the last look."""
    looks = ((listing.look(os.path.join(folder, store)), store) for store in stores)
    return all(
        listing.changes(now, *listing.last_look(connection, store)) == ([], [])
        for now, store in looks
    )


def _numbers_applying(connection: sqlite3.Connection, files: Sequence[str]) -> set[int]:
    found: set[int] = set()
    for file in files:
        found |= _numbers(connection, _CITED, file)
    until = deadline()
    for (patterns,) in connection.execute("select distinct patterns from place").fetchall():
        if any(applies_in_time(patterns.split("\n"), file, until) for file in files):
            found |= _numbers(connection, _PLACED, patterns)
    return found


def deadline() -> float:
    """Return when no further place is to be compared, on the clock that only goes on."""
    return time.monotonic() + PATIENCE


def applies_in_time(patterns: Sequence[str], file: str, until: float) -> bool:
    """Tell whether a memory with these places applies to a file, as `places.applies` does."""
    parts = composed(file).split("/")
    for pattern in reversed(patterns):
        if time.monotonic() > until:
            return False
        if fits(pattern.removeprefix("!"), parts):
            return not pattern.startswith("!")
    return False


def _numbers(connection: sqlite3.Connection, query: str, key: str) -> set[int]:
    return {number for (number,) in connection.execute(query, (key,))}
