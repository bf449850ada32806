"""What a clone keeps of apps: the models' energy, work that waits, whose contexts had memories.

Its tables stand in `local/state.sqlite3` beside those of `pmem.storage.local.state`, made by
the first write that needs them.
"""

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from typing import Any, Final, NamedTuple

import msgspec

from pmem.core.apps.energy import FLOOR, PER_HOUR, may_spend, refilled
from pmem.storage.local.state import LocalState
from pmem.values.records import dump_line
from pmem.values.rules import AppRules
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
_ENERGY: Final = "select level, at, spent, unpolled from app_energy"


class Level(NamedTuple):
    """Units there are, units spent in all, and units spent since somebody last asked."""

    units: float
    spent: float
    unpolled: float


class DeferredWork(NamedTuple):
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

    def _rows(self, query: str, *values: object) -> list[Any]:
        with self._state.reading() as connection:
            if connection is None or not connection.execute(_MADE).fetchone():
                return []
            return connection.execute(query, values).fetchall()

    @contextmanager
    def _writing(self) -> Iterator[sqlite3.Connection]:
        with self._state.writing() as connection:
            for statement in _TABLES:
                connection.execute(statement)
            yield connection

    def _write(self, query: str, *values: object) -> None:
        with self._writing() as connection:
            connection.execute(query, values)

    def level(self, now: datetime, rules: AppRules) -> Level:
        """Return the energy there is, and what was spent."""
        return _level(self._rows(_ENERGY), now, rules)

    def spend(self, cost: float, now: datetime, rules: AppRules) -> bool:
        """Take units for one piece of work, unless no more than the floor is left.

        Args:
            cost: Units; no more are taken than there are.
            now: The present.
            rules: How much there may be.

        Returns:
            Whether the work may run.
        """
        with self._writing() as connection:
            units, spent, unpolled = _level(connection.execute(_ENERGY).fetchall(), now, rules)
            if not may_spend(units, rules.energy, FLOOR):
                return False
            _save_level(
                connection, Level(max(0.0, units - cost), spent + cost, unpolled + cost), now
            )
        return True

    def poll(self, now: datetime, rules: AppRules) -> float:
        """Return the units spent since this was last asked."""
        with self._writing() as connection:
            level = _level(connection.execute(_ENERGY).fetchall(), now, rules)
            _save_level(connection, level._replace(unpolled=0.0), now)
        return level.unpolled

    def put_off(self, work: DeferredWork) -> None:
        """Note work that is to be done later; the same work only once."""
        row = (*work[:3], iso(work.at), work.why, work.importance, dump_line(work.tags))
        self._write("insert or ignore into app_work values (?, ?, ?, ?, ?, ?, ?)", *row)

    def waiting(self, app: str | None = None) -> list[DeferredWork]:
        """Return what waits, for one app or for all, the earliest first."""
        query = (
            "select app, work, conversation, at, why, importance, tags from app_work"
            " where ? is null or app = ? order by at, rowid"
        )
        return [
            DeferredWork(name, work, talk, _moment(at), why, importance, _tags(tags))
            for name, work, talk, at, why, importance, tags in self._rows(query, app, app)
        ]

    def settle(self, work: DeferredWork) -> None:
        """Forget work that is done, or that there is no more reason for."""
        self._write(
            "delete from app_work where app = ? and work = ? and conversation = ?", *work[:3]
        )

    def give_up(self, app: str) -> None:
        """Forget the work that waits for an app."""
        if self.waiting(app):
            self._write("delete from app_work where app = ?", app)

    def note_context(self, conversation: str, app: str) -> None:
        """Note that a conversation's context had memories of its app."""
        self._write("insert or ignore into app_context values (?, ?)", conversation, app)

    def with_context(self) -> set[str]:
        """Return the conversations whose contexts had memories of their apps."""
        return {found for (found,) in self._rows("select conversation from app_context")}

    def uninstall(self, app: str, at: datetime) -> None:
        """Note that an app is gone, and forget the work that waits for it."""
        with self._writing() as connection:
            connection.execute("insert or ignore into app_gone values (?, ?)", (app, iso(at)))
            connection.execute("delete from app_work where app = ?", (app,))

    def install(self, app: str) -> None:
        """Note that an app is there again."""
        if app in self.gone():
            self._write("delete from app_gone where app = ?", app)

    def gone(self) -> set[str]:
        """Return the apps that were uninstalled."""
        return {found for (found,) in self._rows("select app from app_gone")}


def refilled_level(
    kept: tuple[float, datetime, float, float] | None, now: datetime, rules: AppRules
) -> Level:
    """Return the energy there is by now.

    Args:
        kept: The units that there were and when, those spent in all, and since somebody asked.
        now: The present.
        rules: How much there may be.
    """
    if kept is None:
        return Level(rules.energy, 0.0, 0.0)
    level, at, spent, unpolled = kept
    units = refilled(level, at, now, rules.energy, PER_HOUR)
    return Level(units, spent, unpolled)


def _level(rows: list[Any], now: datetime, rules: AppRules) -> Level:
    kept = (rows[0][0], _moment(rows[0][1]), *rows[0][2:]) if rows else None
    return refilled_level(kept, now, rules)


def _save_level(connection: sqlite3.Connection, level: Level, now: datetime) -> None:
    row = (level.units, iso(now), level.spent, level.unpolled)
    connection.execute("insert or replace into app_energy values (1, ?, ?, ?, ?)", row)


def _moment(written: str) -> datetime:
    return in_utc(datetime.fromisoformat(written))


def _tags(written: bytes) -> tuple[str, ...]:
    return msgspec.json.decode(written, type=tuple[str, ...])
