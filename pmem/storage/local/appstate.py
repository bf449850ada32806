"""What a clone keeps of apps: the models' energy, work that waits, whose contexts had memories."""

import sqlite3
from datetime import datetime
from typing import Any, Final, NamedTuple

from msgspec.json import decode as loads

from pmem.core.apps.energy import FLOOR, PER_HOUR, may_spend, refilled
from pmem.storage.local.state import LocalState
from pmem.values.records import dump_line
from pmem.values.rules import AppRules
from pmem.values.times import in_utc, iso

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
    """What one clone keeps of apps."""

    def __init__(self, state: LocalState) -> None:
        self._state = state

    def level(self, now: datetime, rules: AppRules) -> Level:
        """Return the energy there is, and what was spent."""
        return _level(self._state.rows(_ENERGY), now, rules)

    def spend(self, cost: float, now: datetime, rules: AppRules) -> bool:
        """Take units for one piece of work, and tell whether it may run.

        No more are taken than there are, and none where no more than the floor is left.
        """
        with self._state.writing() as connection:
            units, spent, unpolled = _level(connection.execute(_ENERGY).fetchall(), now, rules)
            if not may_spend(units, rules.energy, FLOOR):
                return False
            _save_level(
                connection, Level(max(0.0, units - cost), spent + cost, unpolled + cost), now
            )
        return True

    def poll(self, now: datetime, rules: AppRules) -> float:
        """Return the units spent since this was last asked."""
        with self._state.writing() as connection:
            level = _level(connection.execute(_ENERGY).fetchall(), now, rules)
            _save_level(connection, level._replace(unpolled=0.0), now)
        return level.unpolled

    def put_off(self, work: DeferredWork) -> None:
        """Note work that is to be done later; the same work only once."""
        row = (*work[:3], iso(work.at), work.why, work.importance, dump_line(work.tags))
        self._state.write("insert or ignore into app_work values (?, ?, ?, ?, ?, ?, ?)", *row)

    def waiting(self, app: str | None = None) -> list[DeferredWork]:
        """Return what waits, for one app or for all, the earliest first."""
        query = (
            "select app, work, conversation, at, why, importance, tags from app_work"
            " where ? is null or app = ? order by at, rowid"
        )
        return [
            DeferredWork._make((*row[:3], _moment(row[3]), *row[4:6], tuple(loads(row[6]))))
            for row in self._state.rows(query, app, app)
        ]

    def settle(self, work: DeferredWork) -> None:
        """Forget work that is done, or that there is no more reason for."""
        self._state.write(
            "delete from app_work where app = ? and work = ? and conversation = ?", *work[:3]
        )

    def give_up(self, app: str) -> None:
        """Forget the work that waits for an app."""
        if self.waiting(app):
            self._state.write("delete from app_work where app = ?", app)

    def note_context(self, conversation: str, app: str) -> None:
        """Note that a conversation's context had memories of its app."""
        self._state.write("insert or ignore into app_context values (?, ?)", conversation, app)

    def with_context(self) -> set[str]:
        """Return the conversations whose contexts had memories of their apps."""
        return {found for (found,) in self._state.rows("select conversation from app_context")}

    def uninstall(self, app: str, at: datetime) -> None:
        """Note that an app is gone, and forget the work that waits for it."""
        with self._state.writing() as connection:
            connection.execute("insert or ignore into app_gone values (?, ?)", (app, iso(at)))
            connection.execute("delete from app_work where app = ?", (app,))

    def install(self, app: str) -> None:
        """Note that an app is there again."""
        if app in self.gone():
            self._state.write("delete from app_gone where app = ?", app)

    def gone(self) -> set[str]:
        """Return the apps that were uninstalled."""
        return {found for (found,) in self._state.rows("select app from app_gone")}


def refilled_level(
    kept: tuple[float, datetime, float, float] | None, now: datetime, rules: AppRules
) -> Level:
    """Return the energy there is by now.

    What is `kept` are the units that there were and when, those spent in all, and since somebody
    asked.
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
