"""What a clone knows of sessions: transcripts that wait, what was shown, of use, and asked.

A session is a thread. Records know nothing of it, and losing it costs repetitions and figures only.
"""

import sqlite3
from collections.abc import Collection, Iterable
from datetime import UTC, datetime, timedelta
from typing import Final, NamedTuple, TypeVar

import msgspec

from pmem.storage.local.shown_keys import KNOWN, START, stop_key_of
from pmem.storage.local.state import LocalState, moment
from pmem.values.ids import derived_id, is_id, short
from pmem.values.records import Time
from pmem.values.times import iso

T = TypeVar("T")
KEPT: Final = timedelta(days=30)
"""How long it is known what a thread was shown or asked."""
AT_ONCE: Final = timedelta(seconds=3)
"""Within so short a time one start or prompt is answered by one hook, however many are set up."""
MOST_ROWS: Final = 20_000
"""So many counts of sessions stand one by one, at the most."""
MOST_RECORDS: Final = 10_000
"""Of so many records the sums are kept; those that were shown longest ago go first."""
MOST_PROMPTS: Final = 200
"""Prompts that are kept, the newest."""
LONGEST: Final = 500
"""Characters of a prompt; a longer one is no question but material."""
_A_DAY: Final = timedelta(days=1)
_ASKED: Final = timedelta(days=90)
"""How long is known how far a transcript was asked about."""
_IN_ORDER: Final = "order by noted_at, harness, path"
_NOT_TAKEN: Final = (
    "where offset > coalesce((select offset from taken where taken.path = inbox.path), -1)"
)
_ZERO: Final = datetime(1970, 1, 1, tzinfo=UTC)
_FOLD: Final = (
    "insert into used_before select item, count(*), sum(used), max(at) from use where at < ?"
    " group by item on conflict (item) do update set shown = shown + excluded.shown,"
    " used = used + excluded.used, at = max(at, excluded.at)"
)
_OLDEST_SUMS: Final = (
    "delete from used_before where item in"
    " (select item from used_before order by at desc, item limit -1 offset ?)"
)
_SUMS: Final = (
    "select item, sum(shown), sum(used), max(at) from (select item, 1 as shown, used, at from use"
    " union all select item, shown, used, at from used_before)"
    " where ?1 is null or item = ?1 group by item"
)
_OLDEST_PROMPTS: Final = (
    "delete from prompt where at < ? or name in"
    " (select name from prompt order by at desc, name limit -1 offset ?)"
)


class NotedTranscript(msgspec.Struct, frozen=True, kw_only=True):
    """A transcript that waits to be taken in: where it is, no word of it.

    Attributes:
        harness: which assistant wrote it.
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
    """The transcripts that wait, each file once: hooks note them as a session goes on."""

    def __init__(self, state: LocalState) -> None:
        self._state = state

    def note(self, entry: NotedTranscript) -> None:
        """Note a transcript, in place of what was noted of the same file before."""
        row = (entry.harness, entry.path, entry.offset, entry.session, iso(entry.noted_at))
        self._state.write("insert or replace into inbox values (?, ?, ?, ?, ?)", *row)

    def all(self) -> list[NotedTranscript]:
        """Return what is noted, for a day also what was taken in, the first noted first."""
        return _structs_of(self._state, NotedTranscript, f"inbox {_IN_ORDER}")

    def waiting(self) -> list[NotedTranscript]:
        """Return what has grown since it was taken in, the first noted first."""
        return _structs_of(self._state, NotedTranscript, f"inbox {_NOT_TAKEN} {_IN_ORDER}")

    def note_taken(self, entries: Iterable[NotedTranscript], at: datetime) -> None:
        """Note up to which bytes transcripts were taken in; what grows meanwhile waits again.

        For a day it is known where they are: something may be asked of them.
        """
        rows = [(one.path, one.offset, iso(at)) for one in entries]
        with self._state.writing() as connection:
            connection.executemany("insert or replace into taken values (?, ?, ?)", rows)
            query = f"delete from inbox where noted_at < ? and not ({_NOT_TAKEN[6:]})"
            connection.execute(query, (iso(at - _A_DAY),))
            connection.execute("delete from taken where at < ?", (iso(at - _ASKED),))

    def asked(self, path: str) -> int:
        """Return up to which byte an assistant was asked what of a transcript to keep."""
        rows = self._state.rows("select offset from asked where path = ?", path)
        return int(rows[0][0]) if rows else 0

    def note_asked(self, path: str, offset: int, at: datetime) -> bool:
        """Note up to which byte an assistant is asked; False if another just was."""
        query = (
            "insert into asked values (?, ?, ?) on conflict (path) do update set"
            " offset = excluded.offset, at = excluded.at where excluded.offset > asked.offset"
        )
        with self._state.writing() as connection:
            connection.execute("delete from asked where at < ?", (iso(at - _ASKED),))
            return connection.execute(query, (path, offset, iso(at))).rowcount > 0


class ShownItems:
    """What threads have been shown: memories by their id and what they said then.

    A memory that says something else by now is shown again.
    """

    def __init__(self, state: LocalState) -> None:
        self._state = state

    def known(self, thread: str) -> Collection[str]:
        """Return the keys of what a thread has been shown; see `shown_keys.key_of`."""
        return frozenset(item for (item,) in self._state.rows(KNOWN, thread))

    def begin(self, thread: str, source: str, at: datetime) -> bool:
        """Note that a start or prompt is answered; False if another hook has just done so.

        The source is why it starts, or what stands for the prompt.
        """
        item = START + source
        with self._state.writing() as connection:
            query = "select 1 from shown where thread = ? and item = ? and at >= ?"
            if connection.execute(query, (thread, item, iso(at - AT_ONCE))).fetchone():
                return False
            query = "insert or replace into shown values (?, ?, ?)"
            connection.execute(query, (thread, item, iso(at)))
            return True

    def claim(self, thread: str, keys: Iterable[str], at: datetime) -> set[str]:
        """Note what a thread is shown now, and return what it was not shown before.

        Of two hooks that run at one call, one shows it.
        """
        query = "insert or ignore into shown values (?, ?, ?)"
        with self._state.writing() as connection:
            return {
                key for key in keys if connection.execute(query, (thread, key, iso(at))).rowcount
            }

    def note(self, thread: str, keys: Iterable[str], at: datetime, *, afresh: bool = False) -> None:
        """Note what a thread has been shown; afresh if it knows nothing of what was before."""
        with self._state.writing() as connection:
            connection.execute("delete from shown where at < ?", (iso(at - KEPT),))
            if afresh:
                query = "delete from shown where thread = ? and item not like ? and item not like ?"
                connection.execute(query, (thread, f"{START}%", f"{stop_key_of('')}%"))
            rows = [(thread, key, iso(at)) for key in keys]
            connection.executemany("insert or replace into shown values (?, ?, ?)", rows)


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
    """How often what sessions were shown was of use to them, counted once for each session.

    Counts stand one by one until they are a month old, and are then added up.
    """

    def __init__(self, state: LocalState) -> None:
        self._state = state

    def session(self, thread: str, path: str, now: datetime) -> ReadSoFar:
        """Return how far a session's transcript was looked at, and what it has not used yet."""
        with self._state.reading() as connection:
            query = "select item from shown where thread = ? and at >= ?"
            items = connection.execute(query, (thread, iso(now - KEPT)))
            shown = {_id_in(item) for (item,) in items} - {""}
            query = "select offset from read_session where thread = ? and path = ?"
            (offset,) = connection.execute(query, (thread, path)).fetchone() or (0,)
            query = "select item, used from use where thread = ?"
            counted = dict(connection.execute(query, (thread,)))
        unused = {item for item in shown | counted.keys() if not counted.get(item)}
        return ReadSoFar(int(offset), frozenset(unused), frozenset(shown - counted.keys()))

    def note(
        self, thread: str, path: str, offset: int, shown: Iterable[str], used: Collection[str],
        now: datetime,
    ) -> None:  # fmt: skip
        """Note what a session was shown and has used, by ids, and how far its transcript was read.

        What it was shown and was noted before may be left out.
        """
        at = iso(now)
        rows = [(thread, item, item in used, at) for item in {*shown, *used}]
        with self._state.writing() as connection:
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

    def of(self, identifier: str) -> UseCount | None:
        """Return what was counted of a record; None where it was never shown."""
        return self._sums(identifier).get(identifier)

    def shown(self, thread: str) -> frozenset[str]:
        """Return the ids of what a session was shown, as far as that was counted."""
        rows = self._state.rows("select item from use where thread = ?", thread)
        return frozenset(item for (item,) in rows)

    def _sums(self, item: str | None) -> dict[str, UseCount]:
        with self._state.reading() as connection:
            return {
                item: UseCount(shown, used, moment(at))
                for item, shown, used, at in connection.execute(_SUMS, (item,))
            }


class KeptPrompt(msgspec.Struct, frozen=True, kw_only=True):
    """A prompt that is kept, called by a name that is the same for the same text."""

    name: str
    thread: str
    text: str
    at: Time


class KeptPrompts:
    """Prompts of a clone's sessions, to see later which of them found nothing that was there.

    Few and short ones, each text once, without secrets, for a month, and nowhere but here.
    """

    def __init__(self, state: LocalState) -> None:
        self._state = state

    def keep(self, thread: str, asked: Iterable[tuple[str, datetime]], now: datetime) -> None:
        """Keep what was asked, and when; what is kept already stays as it is."""
        rows = [(name_of(text), thread, text, iso(at)) for text, at in asked]
        with self._state.writing() as connection:
            connection.executemany("insert or ignore into prompt values (?, ?, ?, ?)", rows)
            connection.execute(_OLDEST_PROMPTS, (iso(now - KEPT), MOST_PROMPTS))

    def all(self) -> list[KeptPrompt]:
        """Return what is kept, the newest first."""
        return _structs_of(self._state, KeptPrompt, "prompt order by at desc, name")

    def forget(self, names: Collection[str]) -> None:
        """Forget prompts by what they are called."""
        with self._state.writing() as connection:
            connection.executemany("delete from prompt where name = ?", [(it,) for it in names])


def name_of(text: str) -> str:
    """Return what a prompt is called: eight letters and digits."""
    return short(derived_id(_ZERO, "prompt", text))


def _structs_of(state: LocalState, type_: type[T], source: str) -> list[T]:
    """Return the rows of a table whose columns are called like a struct's fields."""
    names = getattr(type_, "__struct_fields__", ())
    rows = state.rows(f"select {', '.join(names)} from {source}")
    return [msgspec.convert(dict(zip(names, row, strict=True)), type_) for row in rows]


def _fold(connection: sqlite3.Connection, now: datetime) -> None:
    """Add up what is old, or too much; what a session was shown is forgotten before that."""
    old = iso(now - KEPT - _A_DAY)
    connection.execute("delete from read_session where at < ?", (old,))
    many, first = connection.execute("select count(*), min(at) from use").fetchone()
    if many > MOST_ROWS:
        query = "select at from use order by at limit 1 offset ?"
        (middle,) = connection.execute(query, (many // 2,)).fetchone()
        old = max(old, middle)
    if many and first < old:
        connection.execute(_FOLD, (old,))
        connection.execute("delete from use where at < ?", (old,))
        connection.execute(_OLDEST_SUMS, (MOST_RECORDS,))


def _id_in(item: str) -> str:
    """Return the id in the key of what a session was shown; empty where it is another note."""
    identifier = item.rpartition(" ")[2].partition(":")[0]
    return identifier if is_id(identifier) else ""
