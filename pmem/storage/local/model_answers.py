"""What models answered in this clone, so that nothing is asked twice, and which work is done."""

import sqlite3
from datetime import datetime
from typing import Any, Final, Literal, NamedTuple

from pmem.storage.local.state import LocalState
from pmem.values.times import iso

WorkState = Literal["applied", "nothing", "refused"]
"""What became of a piece of work: its answer was applied, it led to nothing, or it was refused."""

_TABLES: Final = (
    "create table if not exists model_answer"
    " (key text primary key, kind text, model text, answer blob, tokens integer, at text)",
    "create table if not exists model_call (day text primary key, calls integer)",
    "create table if not exists model_work"
    " (key text primary key, state text, reason text, times integer, at text)",
)
_HAS: Final = "select 1 from sqlite_master where name = 'model_work'"


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
    """Answers and work, by the digest of what was asked.

    Args:
        state: Where they are kept. Every method raises what its transactions raise.
    """

    def __init__(self, state: LocalState) -> None:
        self._state = state

    def find(self, key: str) -> KeptAnswer | None:
        """Return the answer to a question, if there is one."""
        rows = self._rows("select model, answer, tokens from model_answer where key = ?", key)
        return KeptAnswer(*rows[0]) if rows else None

    def keep(self, key: str, kind: str, kept: KeptAnswer, at: datetime) -> None:
        """Keep the answer to a question.

        Args:
            key: The question's.
            kind: Its task.
            kept: The answer.
            at: The present.
        """
        row = (key, kind, kept.model, kept.answer, kept.tokens, iso(at))
        self._write("insert or replace into model_answer values (?, ?, ?, ?, ?, ?)", *row)

    def calls(self, at: datetime) -> int:
        """Return how often a model was asked on a day.

        Args:
            at: The day.
        """
        rows = self._rows("select calls from model_call where day = ?", at.date().isoformat())
        return int(rows[0][0]) if rows else 0

    def count_call(self, at: datetime) -> None:
        """Note that a model is asked.

        Args:
            at: The present.
        """
        self._write(
            "insert into model_call values (?, 1)"
            " on conflict (day) do update set calls = calls + 1",
            at.date().isoformat(),
        )

    def settled(self, key: str) -> SettledWork | None:
        """Return what became of a piece of work; None where it waits."""
        rows = self._rows("select state, reason, times from model_work where key = ?", key)
        return SettledWork(*rows[0]) if rows else None

    def settle(self, key: str, state: WorkState, reason: str, at: datetime) -> None:
        """Note what became of a piece of work.

        Args:
            key: The question's.
            state: What became of it.
            reason: Why, in words.
            at: The present.
        """
        self._write(
            "insert into model_work values (?, ?, ?, 1, ?) on conflict (key) do update set"
            " state = excluded.state, reason = excluded.reason, times = times + 1,"
            " at = excluded.at",
            key,
            state,
            reason,
            iso(at),
        )

    def _rows(self, query: str, *values: str) -> list[Any]:
        with self._state.reading() as connection:
            if connection is None or not connection.execute(_HAS).fetchone():
                return []
            return connection.execute(query, values).fetchall()

    def _write(self, statement: str, *values: str | bytes | int | None) -> None:
        with self._state.writing() as connection:
            _make_tables(connection)
            connection.execute(statement, values)


def _make_tables(connection: sqlite3.Connection) -> None:
    for statement in _TABLES:
        connection.execute(statement)
