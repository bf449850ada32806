"""How often what sessions were shown was of use to them, counted once for each session.

A session's records stand one by one until they are a month old, and are then added up. Records
know nothing of it, and losing it costs figures only.
"""

import sqlite3
from collections.abc import Collection, Iterable
from datetime import datetime, timedelta
from typing import Final, NamedTuple

import msgspec

from pmem.storage.local.shown import KEPT
from pmem.storage.local.state import LocalState
from pmem.values.ids import is_id
from pmem.values.times import in_utc, iso

MOST_ROWS: Final = 20_000
"""So many records of sessions stand one by one, at the most."""
MOST_RECORDS: Final = 10_000
"""Of so many records the sums are kept; those that were shown longest ago go first."""
_A_DAY: Final = timedelta(days=1)
_TABLES: Final = (
    "create table if not exists use (thread text, item text, used integer, at text,"
    " primary key (thread, item))",
    "create table if not exists used_before (item text primary key, shown integer, used integer,"
    " at text)",
    "create table if not exists read_session (thread text primary key, path text, offset integer,"
    " at text)",
)
_MADE: Final = "select 1 from sqlite_master where name = 'read_session'"
_SHOWN: Final = "select 1 from sqlite_master where name = 'shown'"
_FOLD: Final = (
    "insert into used_before select item, count(*), sum(used), max(at) from use where at < ?"
    " group by item on conflict (item) do update set shown = shown + excluded.shown,"
    " used = used + excluded.used, at = max(at, excluded.at)"
)
_MIDDLE: Final = "select at from use order by at limit 1 offset ?"
_OLDEST: Final = (
    "delete from used_before where item in"
    " (select item from used_before order by at desc, item limit -1 offset ?)"
)
_SUMS: Final = (
    "select item, sum(shown), sum(used), max(at) from (select item, 1 as shown, used, at from use"
    " union all select item, shown, used, at from used_before)"
    " where :item is null or item = :item group by item"
)


class UseCount(msgspec.Struct, frozen=True):
    """In how many sessions a record was shown, in how many of them it was used, and when last."""

    shown: int
    used: int
    last_at: datetime


class ReadSoFar(NamedTuple):
    """How far a session's transcript was looked at, and what was shown and not used by then.

    Of these, `fresh` were not counted as shown yet.
    """

    offset: int = 0
    unused: frozenset[str] = frozenset()
    fresh: frozenset[str] = frozenset()


class UseCounts:
    """What was of use to the sessions of a clone.

    Args:
        state: Where it is kept. Every method raises what its transactions raise.
    """

    def __init__(self, state: LocalState) -> None:
        self._state = state

    def session(self, thread: str, path: str, now: datetime) -> ReadSoFar:
        """Return how far a session was looked at, and what it was shown and has not used yet.

        Args:
            thread: The session's id.
            path: Its transcript.
            now: The present.
        """
        with self._state.reading() as connection:
            if connection is None:
                return ReadSoFar()
            shown: set[str] = set()
            if connection.execute(_SHOWN).fetchone():
                query = "select item from shown where thread = ? and at >= ?"
                items = connection.execute(query, (thread, iso(now - KEPT)))
                shown = {_id_in(item) for (item,) in items} - {""}
            if not connection.execute(_MADE).fetchone():
                return ReadSoFar(0, frozenset(shown), frozenset(shown))
            query = "select offset from read_session where thread = ? and path = ?"
            (offset,) = connection.execute(query, (thread, path)).fetchone() or (0,)
            counted = dict(
                connection.execute("select item, used from use where thread = ?", (thread,))
            )
        unused = {item for item in shown | counted.keys() if not counted.get(item)}
        return ReadSoFar(int(offset), frozenset(unused), frozenset(shown - counted.keys()))

    def note(
        self, thread: str, path: str, offset: int, shown: Iterable[str], used: Collection[str],
        now: datetime,
    ) -> None:  # fmt: skip
        """Note what a session was shown and has used, and how far its transcript was looked at.

        Args:
            thread: The session's id.
            path: Its transcript.
            offset: The byte that was not looked at any more.
            shown: Ids of what it was shown; what was noted before may be left out.
            used: Ids of what it has used.
            now: The present.
        """
        at = iso(now)
        rows = [(thread, item, item in used, at) for item in {*shown, *used}]
        with self._state.writing() as connection:
            for table in _TABLES:
                connection.execute(table)
            connection.executemany(
                "insert into use values (?, ?, ?, ?) on conflict (thread, item)"
                " do update set used = max(used, excluded.used)",
                rows,
            )
            query = "select 1 from read_session where thread = ?"
            if not connection.execute(query, (thread,)).fetchone():
                _fold(connection, now)
            query = "insert or replace into read_session values (?, ?, ?, ?)"
            connection.execute(query, (thread, path, offset, at))

    def all(self) -> dict[str, UseCount]:
        """Return by id what was counted of each record."""
        return self._sums(None)

    def shown(self, thread: str) -> frozenset[str]:
        """Return the ids of what a session was shown, as far as that was counted.

        Args:
            thread: The session's id.
        """
        with self._state.reading() as connection:
            if connection is None or not connection.execute(_MADE).fetchone():
                return frozenset()
            rows = connection.execute("select item from use where thread = ?", (thread,))
            return frozenset(item for (item,) in rows)

    def of(self, identifier: str) -> UseCount | None:
        """Return what was counted of a record; None where it was never shown."""
        return self._sums(identifier).get(identifier)

    def _sums(self, item: str | None) -> dict[str, UseCount]:
        with self._state.reading() as connection:
            if connection is None or not connection.execute(_MADE).fetchone():
                return {}
            return {
                item: UseCount(shown, used, in_utc(datetime.fromisoformat(at)))
                for item, shown, used, at in connection.execute(_SUMS, {"item": item})
            }


def _fold(connection: sqlite3.Connection, now: datetime) -> None:
    """Add up what is old, or too much; what a session was shown is forgotten before that."""
    old = iso(now - KEPT - _A_DAY)
    connection.execute("delete from read_session where at < ?", (old,))
    many, first = connection.execute("select count(*), min(at) from use").fetchone()
    if many > MOST_ROWS:
        (middle,) = connection.execute(_MIDDLE, (many // 2,)).fetchone()
        old = max(old, middle)
    if many and first < old:
        connection.execute(_FOLD, (old,))
        connection.execute("delete from use where at < ?", (old,))
        connection.execute(_OLDEST, (MOST_RECORDS,))


def _id_in(item: str) -> str:
    """Return the id in the key of what a session was shown; empty where it is another note."""
    identifier = item.rpartition(" ")[2].partition(":")[0]
    return identifier if is_id(identifier) else ""
