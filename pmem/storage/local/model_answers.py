"""What models and a person were asked in this clone, so that nothing is asked twice."""

from collections.abc import Collection, Iterable
from contextlib import suppress
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Final, Literal, NamedTuple

from pmem.errors import PmemError
from pmem.storage.local.state import LocalState, moment
from pmem.values.times import iso

if TYPE_CHECKING:
    from pmem.storage.postgres.project_state import ServerTables

WorkState = Literal["applied", "nothing", "refused"]
"""What became of a piece of work: its answer was applied, it led to nothing, or it was refused."""
KEPT: Final = timedelta(days=14)
"""How long is known that a person was told of a pair."""


class KeptAnswer(NamedTuple):
    """An answer as JSON, whose it is, and the tokens that it took, where that is known."""

    model: str
    answer: bytes
    tokens: int | None


class SettledWork(NamedTuple):
    """What became of a piece of work, why, and how often it did."""

    state: WorkState
    reason: str
    times: int


class ModelAnswers:
    """Answers and work, by the digest of what was asked."""

    def __init__(self, state: LocalState) -> None:
        self._state = state

    def find(self, key: str) -> KeptAnswer | None:
        """Return the answer to a question, if there is one."""
        query = "select model, answer, tokens from model_answer where key = ?"
        rows = self._state.rows(query, key)
        return KeptAnswer(*rows[0]) if rows else None

    def keep(self, key: str, kind: str, kept: KeptAnswer, at: datetime) -> None:
        """Keep the answer to a question; its kind is its task."""
        row = (key, kind, kept.model, kept.answer, kept.tokens, iso(at))
        self._state.write("insert or replace into model_answer values (?, ?, ?, ?, ?, ?)", *row)

    def calls(self, at: datetime) -> int:
        """Return how often a model was asked on a day."""
        day = at.date().isoformat()
        rows = self._state.rows("select calls from model_call where day = ?", day)
        return int(rows[0][0]) if rows else 0

    def count_call(self, at: datetime) -> None:
        """Note that a model is asked."""
        self._state.write(
            "insert into model_call values (?, 1)"
            " on conflict (day) do update set calls = calls + 1",
            at.date().isoformat(),
        )

    def settled(self, key: str) -> SettledWork | None:
        """Return what became of a piece of work; None where it waits."""
        query = "select state, reason, times from model_work where key = ?"
        rows = self._state.rows(query, key)
        return SettledWork(*rows[0]) if rows else None

    def settle(self, key: str, state: WorkState, reason: str, at: datetime) -> None:
        """Note what became of a piece of work, and why."""
        query = (
            "insert into model_work values (?, ?, ?, 1, ?) on conflict (key) do update set"
            " state = excluded.state, reason = excluded.reason, times = times + 1,"
            " at = excluded.at"
        )
        self._state.write(query, key, state, reason, iso(at))


class JudgedPairs:
    """Fingerprints of pairs of look-alikes that were put before a person lately.

    Losing them costs nothing but a repetition: what cannot be read or written is not.
    """

    def __init__(self, state: "LocalState | ServerTables", now: datetime) -> None:
        self._state = state
        self._now = now

    def known(self) -> Collection[str]:
        """Return the fingerprints that are still kept."""
        return self._times().keys()

    def note(self, fingerprints: Iterable[str]) -> None:
        """Keep fingerprints from now on."""
        rows = [(pair, iso(self._now)) for pair in fingerprints]
        oldest, latest = iso(self._now - KEPT), iso(self._now + KEPT)
        with suppress(PmemError), self._state.writing() as connection:
            connection.execute("delete from judged where (at <= ? or at >= ?)", (oldest, latest))
            query = (
                "insert into judged (pair, at) values (?, ?)"
                " on conflict (pair) do update set at = excluded.at"
            )
            connection.executemany(query, rows)

    def noted_today(self, beginning: str) -> int:
        """Return how many pairs were noted today whose fingerprints begin so."""
        today = self._now.date()
        found = self._times().items()
        return sum(pair.startswith(beginning) and at.date() == today for pair, at in found)

    def _times(self) -> dict[str, datetime]:
        with suppress(PmemError):
            rows = self._state.rows("select pair, at from judged")
            found = {pair: moment(at) for pair, at in rows}
            return {pair: at for pair, at in found.items() if abs(self._now - at) < KEPT}
        return {}
