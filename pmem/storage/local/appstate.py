"""What is kept of apps: the models' energy, work that waits, whose contexts had memories."""

from datetime import datetime
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from msgspec.json import decode as loads

from pmem.storage.local.state import LocalState, moment
from pmem.values.records import dump_line
from pmem.values.rules import AppRules
from pmem.values.times import iso

if TYPE_CHECKING:
    from pmem.storage.postgres.project_state import ServerTables

_ENERGY: Final = "select level, at, spent, unpolled from app_energy"
SECONDS_AN_HOUR: Final = 3600
PER_HOUR: Final = 20.0
"""Units that come back each hour."""
FLOOR: Final = 0.2
"""Share of the units below which work that needs a model waits."""
CREATION: Final = 12.0
"""Units that a model costs to sum up a conversation."""
COMPACTION: Final = 25.0
"""Units that a model costs to compact."""


def refilled(
    level: float, since: datetime, now: datetime, capacity: float, per_hour: float
) -> float:
    """Return the units there are now; a clock that ran backwards counts as no time passed."""
    hours = max(0.0, (now - since).total_seconds() / SECONDS_AN_HOUR)
    return min(capacity, level + hours * per_hour)


def may_spend(level: float, capacity: float, floor: float) -> bool:
    """Tell whether work that costs units may run: only above the floor, a share of the capacity."""
    return level > capacity * floor


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
    """What one clone keeps of apps, or a server of a project's."""

    def __init__(self, state: "LocalState | ServerTables") -> None:
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
            level = Level(max(0.0, units - cost), spent + cost, unpolled + cost)
            _save_level(connection, level, now)
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
        query = (
            "insert into app_work (app, work, conversation, at, why, importance, tags)"
            " values (?, ?, ?, ?, ?, ?, ?) on conflict do nothing"
        )
        self._state.write(query, *row)

    def waiting(self, app: str | None = None) -> list[DeferredWork]:
        """Return what waits, for one app or for all, the earliest first."""
        query = "select app, work, conversation, at, why, importance, tags from app_work"
        query += " where app = ?" * (app is not None) + " order by at, rowid"
        return [
            DeferredWork._make((*row[:3], moment(row[3]), *row[4:6], _texts(row[6])))
            for row in self._state.rows(query, *[app] * (app is not None))
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
        query = "insert into app_context (conversation, app) values (?, ?) on conflict do nothing"
        self._state.write(query, conversation, app)

    def with_context(self) -> set[str]:
        """Return the conversations whose contexts had memories of their apps."""
        return {found for (found,) in self._state.rows("select conversation from app_context")}

    def uninstall(self, app: str, at: datetime) -> None:
        """Note that an app is gone, and forget the work that waits for it."""
        with self._state.writing() as connection:
            query = "insert into app_gone (app, at) values (?, ?) on conflict do nothing"
            connection.execute(query, (app, iso(at)))
            connection.execute("delete from app_work where app = ?", (app,))

    def install(self, app: str) -> None:
        """Note that an app is there again."""
        if app in self.gone():
            self._state.write("delete from app_gone where app = ?", app)

    def gone(self) -> set[str]:
        """Return the apps that were uninstalled."""
        return {found for (found,) in self._state.rows("select app from app_gone")}


def _level(rows: list[Any], now: datetime, rules: AppRules) -> Level:
    """Return the energy there is by now."""
    if not rows:
        return Level(rules.energy, 0.0, 0.0)
    ((level, at, spent, unpolled),) = rows
    return Level(refilled(level, moment(at), now, rules.energy, PER_HOUR), spent, unpolled)


def _save_level(connection: Any, level: Level, now: datetime) -> None:
    connection.execute("delete from app_energy")
    query = "insert into app_energy (level, at, spent, unpolled) values (?, ?, ?, ?)"
    connection.execute(query, (level.units, iso(now), level.spent, level.unpolled))


def _texts(written: Any) -> tuple[str, ...]:
    return tuple(written if isinstance(written, list) else loads(written))
