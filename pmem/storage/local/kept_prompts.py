"""Prompts of a clone's sessions, to see later which of them found nothing that was there.

Few and short ones, without secrets, for a month, and nowhere but here.
"""

from collections.abc import Collection, Iterable
from datetime import UTC, datetime
from typing import Final

import msgspec

from pmem.storage.local.shown import KEPT
from pmem.storage.local.state import LocalState
from pmem.values.ids import derived_id, short
from pmem.values.records import Time
from pmem.values.times import iso

MOST_KEPT: Final = 200
"""Prompts that are kept, the newest."""
LONGEST: Final = 500
"""Characters of a prompt; a longer one is no question but material."""
_TABLE: Final = (
    "create table if not exists prompt (name text primary key, thread text, text text, at text)"
)
_MADE: Final = "select 1 from sqlite_master where name = 'prompt'"
_OLDEST: Final = (
    "delete from prompt where at < ? or name in"
    " (select name from prompt order by at desc, name limit -1 offset ?)"
)
_FIELDS: Final = ("name", "thread", "text", "at")
_ZERO: Final = datetime(1970, 1, 1, tzinfo=UTC)


class KeptPrompt(msgspec.Struct, frozen=True, kw_only=True):
    """A prompt that is kept.

    Attributes:
        name: what it is called: the same for the same text.
        thread: the session's id.
        text: what was asked.
        at: when it was asked.
    """

    name: str
    thread: str
    text: str
    at: Time


class KeptPrompts:
    """The prompts of a clone's sessions, each text once.

    Args:
        state: Where they are kept. Every method raises what its transactions raise.
    """

    def __init__(self, state: LocalState) -> None:
        self._state = state

    def keep(self, thread: str, asked: Iterable[tuple[str, datetime]], now: datetime) -> None:
        """Keep prompts; one that is kept already stays as it is.

        Args:
            thread: The session's id.
            asked: What was asked, without secrets, and when.
            now: The present.
        """
        rows = [(name_of(text), thread, text, iso(at)) for text, at in asked]
        with self._state.writing() as connection:
            connection.execute(_TABLE)
            connection.executemany("insert or ignore into prompt values (?, ?, ?, ?)", rows)
            connection.execute(_OLDEST, (iso(now - KEPT), MOST_KEPT))

    def all(self) -> list[KeptPrompt]:
        """Return what is kept, the newest first."""
        with self._state.reading() as connection:
            if connection is None or not connection.execute(_MADE).fetchone():
                return []
            query = f"select {', '.join(_FIELDS)} from prompt order by at desc, name"
            rows = connection.execute(query).fetchall()
        found = [dict(zip(_FIELDS, row, strict=True)) for row in rows]
        return msgspec.convert(found, list[KeptPrompt])

    def forget(self, names: Collection[str]) -> None:
        """Forget prompts by what they are called."""
        with self._state.writing() as connection:
            connection.execute(_TABLE)
            connection.executemany("delete from prompt where name = ?", [(it,) for it in names])


def name_of(text: str) -> str:
    """Return what a prompt is called: eight letters and digits.

    Args:
        text: What was asked.
    """
    return short(derived_id(_ZERO, "prompt", text))
