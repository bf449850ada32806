"""Pairs of records that were put before a person lately, so that none is put twice."""

import sqlite3
from collections.abc import Collection, Iterable
from contextlib import suppress
from datetime import datetime, timedelta
from typing import Final

import msgspec

from pmem.errors import PmemError
from pmem.storage.files import safe_files
from pmem.storage.local.state import LocalState
from pmem.values.records import Time
from pmem.values.times import in_utc, iso

LEFT: Final = "judged.json"
"""Where older versions kept them; what is there counts until the first write takes it over."""
KEPT: Final = timedelta(days=14)
_TABLE: Final = "create table if not exists judged (pair text primary key, at text)"
_MADE: Final = "select 1 from sqlite_master where name = 'judged'"


class JudgedPairs:
    """Fingerprints of pairs, kept for 14 days; losing them costs nothing but a repetition.

    Args:
        state: Where they are kept.
        now: The present.
    """

    def __init__(self, state: LocalState, now: datetime) -> None:
        self._state = state
        self._now = now

    def known(self) -> Collection[str]:
        """Return the fingerprints that are still kept; none where nothing can be read."""
        with suppress(PmemError), self._state.reading() as connection:
            return self._times(connection).keys()
        return ()

    def note(self, fingerprints: Iterable[str]) -> None:
        """Keep fingerprints from now on; where nothing can be written, nothing is."""
        with suppress(PmemError):
            with self._state.writing() as connection:
                times = {**self._times(connection), **dict.fromkeys(fingerprints, self._now)}
                connection.execute(_TABLE)
                connection.execute("delete from judged")
                rows = [(pair, iso(at)) for pair, at in times.items()]
                connection.executemany("insert into judged values (?, ?)", rows)
            self._state.remove_left(LEFT)

    def noted_today(self, beginning: str) -> int:
        """Return how many pairs were noted today; none where nothing can be read.

        Args:
            beginning: Of those whose fingerprints begin so.
        """
        with suppress(PmemError), self._state.reading() as connection:
            times = self._times(connection)
            today = self._now.date()
            return sum(pair.startswith(beginning) and at.date() == today
                       for pair, at in times.items())  # fmt: skip
        return 0

    def _times(self, connection: sqlite3.Connection | None) -> dict[str, datetime]:
        if connection is None or not connection.execute(_MADE).fetchone():
            found = self._left()
        else:
            rows = connection.execute("select pair, at from judged").fetchall()
            found = {pair: in_utc(datetime.fromisoformat(at)) for pair, at in rows}
        return {pair: at for pair, at in found.items() if abs(self._now - at) < KEPT}

    def _left(self) -> dict[str, datetime]:
        try:
            data = safe_files.read(self._state.beside(LEFT))
            return msgspec.json.decode(data, type=dict[str, Time])
        except (ArithmeticError, OSError, PmemError, RecursionError, ValueError):
            return {}
