"""Transcripts of assistants' sessions that wait to be taken in: where they are, no word of them.

Hooks note them as a session goes on, and whatever imports transcripts takes them from here.
"""

from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import Final

import msgspec

from pmem.storage.local.state import LocalState
from pmem.values.records import Time
from pmem.values.times import iso

_TABLE: Final = (  # clones have it by this name
    "create table if not exists inbox (harness text, path text, offset integer, session text,"
    " noted_at text, primary key (harness, path))"
)
_ASKED: Final = "create table if not exists asked (path text primary key, offset integer, at text)"
_IS_ASKED: Final = "select 1 from sqlite_master where name = 'asked'"
_KEPT: Final = timedelta(days=90)
"""How long is known how far a transcript was asked about."""
_MADE: Final = "select 1 from sqlite_master where name = 'inbox'"
_FIELDS: Final = "harness, path, offset, session, noted_at"


class NotedTranscript(msgspec.Struct, frozen=True, kw_only=True):
    """A transcript that waits.

    Attributes:
        harness: which assistant wrote it.
        path: its file.
        offset: how many bytes it had when it was noted.
        session: the session's id.
        noted_at: when it was noted last.
    """

    harness: str
    path: str
    offset: int
    session: str
    noted_at: Time


class NotedTranscripts:
    """The transcripts that wait, each file once.

    Args:
        state: Where they are kept. Every method raises what its transactions raise.
    """

    def __init__(self, state: LocalState) -> None:
        self._state = state

    def note(self, entry: NotedTranscript) -> None:
        """Note a transcript, in place of what was noted of the same file before."""
        row = (entry.harness, entry.path, entry.offset, entry.session, iso(entry.noted_at))
        with self._state.writing() as connection:
            connection.execute(_TABLE)
            connection.execute("insert or replace into inbox values (?, ?, ?, ?, ?)", row)

    def all(self) -> list[NotedTranscript]:
        """Return what waits, the first noted first."""
        with self._state.reading() as connection:
            if connection is None or not connection.execute(_MADE).fetchone():
                return []
            query = f"select {_FIELDS} from inbox order by noted_at, harness, path"
            names = _FIELDS.split(", ")
            rows = connection.execute(query).fetchall()
        return msgspec.convert(
            [dict(zip(names, row, strict=True)) for row in rows], list[NotedTranscript]
        )

    def remove(self, entries: Iterable[NotedTranscript]) -> None:
        """Remove what was taken in; what has grown and was noted again meanwhile stays."""
        rows = [(one.harness, one.path, iso(one.noted_at)) for one in entries]
        with self._state.writing() as connection:
            connection.execute(_TABLE)
            query = "delete from inbox where harness = ? and path = ? and noted_at = ?"
            connection.executemany(query, rows)

    def asked(self, path: str) -> int:
        """Return the byte up to which an assistant was asked what of a transcript is worth keeping.

        Args:
            path: The transcript's file.
        """
        with self._state.reading() as connection:
            if connection is None or not connection.execute(_IS_ASKED).fetchone():
                return 0
            query = "select offset from asked where path = ?"
            (offset,) = connection.execute(query, (path,)).fetchone() or (0,)
        return int(offset)

    def note_asked(self, path: str, offset: int, at: datetime) -> bool:
        """Note how far an assistant is asked about a transcript; False if another just was.

        Args:
            path: The transcript's file.
            offset: The byte up to which it is asked.
            at: The present.
        """
        query = (
            "insert into asked values (?, ?, ?) on conflict (path) do update set"
            " offset = excluded.offset, at = excluded.at where excluded.offset > asked.offset"
        )
        with self._state.writing() as connection:
            connection.execute(_ASKED)
            connection.execute("delete from asked where at < ?", (iso(at - _KEPT),))
            return connection.execute(query, (path, offset, iso(at))).rowcount > 0
