"""What a clone keeps of apps: the models' energy, work that waits, whose contexts had memories.

Its tables stand in `local/state.sqlite3` beside those of `pmem.storage.local.state`, made by
the first write that needs them.
"""

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from typing import Final, NamedTuple

import msgspec

from pmem.core.apps.energy import may_spend, refilled
from pmem.storage.local.state import LocalState
from pmem.values.records import dump_line
from pmem.values.times import in_utc, iso

_TABLES: Final = (
    "create table if not exists app_energy"
    " (id integer primary key, level real, at text, spent real, unpolled real)",
    "create table if not exists app_work"
    " (app text, work text, conversation text, at text, why text, importance real, tags text,"
    " primary key (app, work, conversation))",
    "create table if not exists app_context (conversation text primary key, app text)",
    "create table if not exists app_gone (app text primary key, at text)",
)
_MADE: Final = "select 1 from sqlite_master where name = 'app_work'"


class Budget(NamedTuple):
    """How much energy there may be: units at the most, units an hour, and the share kept back."""

    capacity: float
    per_hour: float
    floor: float


class Level(NamedTuple):
    """Units there are, units spent in all, and units spent since somebody last asked."""

    units: float
    spent: float
    unpolled: float


class Waiting(NamedTuple):
    """Work for an app that was put off: `create` for a conversation, or `compact`.

    `importance`, from 0 to 10, and `tags` are what the memory was to have.
    """

    app: str
    work: str
    conversation: str
    at: datetime
    why: str
    importance: float | None = None
    tags: tuple[str, ...] = ()


class AppState:
    """What one clone keeps of apps.

    Args:
        state: Where it is kept. Every method raises what its transactions raise.
    """

    def __init__(self, state: LocalState) -> None:
        self._state = state

    @contextmanager
    def _reading(self) -> Iterator[sqlite3.Connection | None]:
        with self._state.reading() as connection:
            made = connection is not None and connection.execute(_MADE).fetchone()
            yield connection if made else None

    @contextmanager
    def _writing(self) -> Iterator[sqlite3.Connection]:
        with self._state.writing() as connection:
            for statement in _TABLES:
                connection.execute(statement)
            yield connection

    def level(self, now: datetime, budget: Budget) -> Level:
        """Return the energy there is.

        Args:
            now: The present.
            budget: How much there may be.
        """
        with self._reading() as connection:
            return _level(connection, now, budget)

    def spend(self, cost: float, now: datetime, budget: Budget) -> bool:
        """Take units for one piece of work, unless no more than the floor is left.

        Args:
            cost: Units; no more are taken than there are.
            now: The present.
            budget: How much there may be.

        Returns:
            Whether the work may run.
        """
        with self._writing() as connection:
            level = _level(connection, now, budget)
            if not may_spend(level.units, budget.capacity, budget.floor):
                return False
            left = Level(max(0.0, level.units - cost), level.spent + cost, level.unpolled + cost)
            _note(connection, left, now)
        return True

    def poll(self, now: datetime, budget: Budget) -> float:
        """Return the units spent since this was last asked."""
        with self._writing() as connection:
            level = _level(connection, now, budget)
            _note(connection, level._replace(unpolled=0.0), now)
        return level.unpolled

    def put_off(self, work: Waiting) -> None:
        """Note work that is to be done later; the same work only once."""
        with self._writing() as connection:
            row = (*work[:3], iso(work.at), work.why, work.importance, dump_line(work.tags))
            connection.execute("insert or ignore into app_work values (?, ?, ?, ?, ?, ?, ?)", row)

    def waiting(self, app: str | None = None) -> list[Waiting]:
        """Return what waits, the earliest first.

        Args:
            app: Only for this app; for all when None.
        """
        with self._reading() as connection:
            if connection is None:
                return []
            query = (
                "select app, work, conversation, at, why, importance, tags from app_work"
                " where ? is null or app = ? order by at, rowid"
            )
            rows = connection.execute(query, (app, app)).fetchall()
        return [
            Waiting(a, w, c, in_utc(datetime.fromisoformat(at)), why, importance, _tags(tags))
            for a, w, c, at, why, importance, tags in rows
        ]

    def settle(self, work: Waiting) -> None:
        """Forget work that is done, or that there is no more reason for."""
        with self._writing() as connection:
            query = "delete from app_work where app = ? and work = ? and conversation = ?"
            connection.execute(query, work[:3])

    def note_context(self, conversation: str, app: str) -> None:
        """Note that a conversation's context had memories of its app."""
        with self._writing() as connection:
            query = "insert or ignore into app_context values (?, ?)"
            connection.execute(query, (conversation, app))

    def with_context(self) -> set[str]:
        """Return the conversations whose contexts had memories of their apps."""
        with self._reading() as connection:
            if connection is None:
                return set()
            return {
                found for (found,) in connection.execute("select conversation from app_context")
            }

    def uninstall(self, app: str, at: datetime) -> None:
        """Note that an app is gone, and forget the work that waits for it."""
        with self._writing() as connection:
            connection.execute("insert or ignore into app_gone values (?, ?)", (app, iso(at)))
            connection.execute("delete from app_work where app = ?", (app,))

    def give_up(self, app: str) -> None:
        """Forget the work that waits for an app."""
        if self.waiting(app):
            with self._writing() as connection:
                connection.execute("delete from app_work where app = ?", (app,))

    def install(self, app: str) -> None:
        """Note that an app is there again."""
        if app in self.gone():
            with self._writing() as connection:
                connection.execute("delete from app_gone where app = ?", (app,))

    def gone(self) -> set[str]:
        """Return the apps that were uninstalled."""
        with self._reading() as connection:
            if connection is None:
                return set()
            return {found for (found,) in connection.execute("select app from app_gone")}


def _tags(written: bytes) -> tuple[str, ...]:
    return msgspec.json.decode(written, type=tuple[str, ...])


def _level(connection: sqlite3.Connection | None, now: datetime, budget: Budget) -> Level:
    query = "select level, at, spent, unpolled from app_energy"
    found = None if connection is None else connection.execute(query).fetchone()
    if found is None:
        return Level(budget.capacity, 0.0, 0.0)
    level, at, spent, unpolled = found
    since = in_utc(datetime.fromisoformat(at))
    return Level(refilled(level, since, now, budget.capacity, budget.per_hour), spent, unpolled)


def _note(connection: sqlite3.Connection, level: Level, now: datetime) -> None:
    row = (level.units, iso(now), level.spent, level.unpolled)
    connection.execute("insert or replace into app_energy values (1, ?, ?, ?, ?)", row)
