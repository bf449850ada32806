"""Which memories apply to a file, asked of the index in no time: for hooks, at every call.

Nothing is brought up to date and no record is loaded. Where the index is not surely as the files
are, there is no answer, and whoever asks takes the longer way (see decision 49).
"""

import os
import sqlite3
import time
from collections.abc import Callable, Sequence
from contextlib import closing
from typing import Final

from pmem.core.lines import composed
from pmem.core.places import fits
from pmem.storage.files import listing
from pmem.storage.files.addresses import open_at_once
from pmem.storage.index.schema import VERSION

FILE: Final = "index.sqlite3"
_UNFINISHED: Final = ("local", "commit")
_STORE: Final = "long-term-memory"
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


def _of_current(folder: str, question: Callable[[sqlite3.Connection], set[int]]) -> Found | None:
    """Ask the index if it is surely as the files are."""
    if os.path.lexists(os.path.join(folder, *_UNFINISHED)):
        return None
    try:
        with closing(open_at_once(folder, FILE)) as connection:
            connection.execute("begin")
            if not _is_current(connection, folder):
                return None
            rows = ((number, _STORE) for number in question(connection))
            found = [connection.execute(_ACTIVE, row).fetchone() for row in rows]
            return {row[0]: row[1] for row in found if row is not None}
    except (sqlite3.Error, OSError, TypeError, ValueError):
        return None


def _is_current(connection: sqlite3.Connection, folder: str) -> bool:
    """Tell whether this version made the index, and every memory's file is as it was then."""
    if connection.execute("pragma user_version").fetchone() != (VERSION,):
        return False
    now = listing.look(os.path.join(folder, _STORE))
    return listing.changes(now, *listing.last_look(connection, _STORE)) == ([], [])


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
