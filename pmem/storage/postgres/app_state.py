"""What apps of a project on a server may spend, what waits for them, and which are gone."""

from datetime import datetime
from typing import TYPE_CHECKING, Any, Final

from pmem.core.apps.energy import FLOOR, may_spend
from pmem.storage.local.appstate import DeferredWork, Level, refilled_level
from pmem.storage.postgres.keeper import ServerKeeper
from pmem.values.rules import AppRules

if TYPE_CHECKING:
    from psycopg import Connection

_ENERGY: Final = "select level, at, spent, unpolled from pmem.app_energy where project = %s"
_SAVE: Final = (
    "insert into pmem.app_energy values (%s, %s, %s, %s, %s) on conflict (project) do update set"
    " level = excluded.level, at = excluded.at, spent = excluded.spent,"
    " unpolled = excluded.unpolled"
)
_PUT_OFF: Final = (
    "insert into pmem.app_work (project, app, work, conversation, at, why, importance, tags)"
    " values (%s, %s, %s, %s, %s, %s, %s, %s) on conflict do nothing"
)
_WAITING: Final = (
    "select app, work, conversation, at, why, importance, tags from pmem.app_work"
    " where project = %s and (%s::text is null or app = %s) order by at, number"
)
_APPS: Final = 0x7061


class ServerAppState(ServerKeeper):
    """What is kept of a project's apps."""

    def level(self, now: datetime, rules: AppRules) -> Level:
        """Return the energy there is, and what was spent."""
        return self._server.ask(lambda connection: self._level(connection, now, rules))

    def spend(self, cost: float, now: datetime, rules: AppRules) -> bool:
        """Take units for one piece of work, unless no more than the floor is left.

        Args:
            cost: Units; no more are taken than there are.
            now: The present.
            rules: How much there may be.

        Returns:
            Whether the work may run.
        """
        with self._writing(_APPS) as connection:
            units, spent, unpolled = self._level(connection, now, rules)
            if not may_spend(units, rules.energy, FLOOR):
                return False
            level = (max(0.0, units - cost), now, spent + cost, unpolled + cost)
            connection.execute(_SAVE, (self._server.number, *level))
        return True

    def poll(self, now: datetime, rules: AppRules) -> float:
        """Return the units spent since this was last asked."""
        with self._writing(_APPS) as connection:
            units, spent, unpolled = self._level(connection, now, rules)
            connection.execute(_SAVE, (self._server.number, units, now, spent, 0.0))
        return unpolled

    def put_off(self, work: DeferredWork) -> None:
        """Note work that is to be done later; the same work only once."""
        self._write(_PUT_OFF, *work[:6], list(work.tags))

    def waiting(self, app: str | None = None) -> list[DeferredWork]:
        """Return what waits, for one app or for all, the earliest first."""
        rows = self._rows(_WAITING, app, app)
        return [DeferredWork._make((*row[:6], tuple(row[6]))) for row in rows]

    def settle(self, work: DeferredWork) -> None:
        """Forget work that is done, or that there is no more reason for."""
        query = (
            "delete from pmem.app_work"
            " where project = %s and app = %s and work = %s and conversation = %s"
        )
        self._write(query, *work[:3])

    def give_up(self, app: str) -> None:
        """Forget the work that waits for an app."""
        self._write("delete from pmem.app_work where project = %s and app = %s", app)

    def note_context(self, conversation: str, app: str) -> None:
        """Note that a conversation's context had memories of its app."""
        query = "insert into pmem.app_context values (%s, %s, %s) on conflict do nothing"
        self._write(query, conversation, app)

    def with_context(self) -> set[str]:
        """Return the conversations whose contexts had memories of their apps."""
        query = "select conversation from pmem.app_context where project = %s"
        return {found for (found,) in self._rows(query)}

    def uninstall(self, app: str, at: datetime) -> None:
        """Note that an app is gone, and forget the work that waits for it."""
        query = "insert into pmem.app_gone values (%s, %s, %s) on conflict do nothing"
        self._write(query, app, at)
        self.give_up(app)

    def install(self, app: str) -> None:
        """Note that an app is there again."""
        self._write("delete from pmem.app_gone where project = %s and app = %s", app)

    def gone(self) -> set[str]:
        """Return the apps that were uninstalled."""
        rows = self._rows("select app from pmem.app_gone where project = %s")
        return {found for (found,) in rows}

    def _level(self, connection: "Connection[Any]", now: datetime, rules: AppRules) -> Level:
        row = connection.execute(_ENERGY, (self._server.number,)).fetchone()
        return refilled_level(row, now, rules)
