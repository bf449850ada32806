"""What each thread has been shown: memories by their id and what they said then.

A memory that says something else by now is shown again. Losing these costs nothing but a
repetition, so they are kept for a month only.
"""

import zlib
from collections.abc import Collection, Iterable
from datetime import datetime, timedelta
from typing import Final

from pmem.storage.local.state import LocalState
from pmem.values.times import iso

KEPT: Final = timedelta(days=30)
_TABLE: Final = (
    "create table if not exists shown (thread text, item text, at text, primary key (thread, item))"
)
_MADE: Final = "select 1 from sqlite_master where name = 'shown'"


class ShownItems:
    """What threads have been shown.

    Args:
        state: Where it is kept. Every method raises what its transactions raise.
    """

    def __init__(self, state: LocalState) -> None:
        self._state = state

    def known(self, thread: str) -> Collection[str]:
        """Return the keys of what a thread has been shown; see `key_of`.

        Args:
            thread: The thread's name.
        """
        with self._state.reading() as connection:
            if connection is None or not connection.execute(_MADE).fetchone():
                return frozenset()
            found = connection.execute("select item from shown where thread = ?", (thread,))
            return frozenset(item for (item,) in found)

    def note(self, thread: str, keys: Iterable[str], at: datetime, *, afresh: bool = False) -> None:
        """Note what a thread has been shown.

        Args:
            thread: The thread's name.
            keys: What it was shown.
            at: The present.
            afresh: Whether it knows nothing of what it was shown before.
        """
        with self._state.writing() as connection:
            connection.execute(_TABLE)
            connection.execute("delete from shown where at < ?", (iso(at - KEPT),))
            if afresh:
                connection.execute("delete from shown where thread = ?", (thread,))
            rows = [(thread, key, iso(at)) for key in keys]
            connection.executemany("insert or replace into shown values (?, ?, ?)", rows)


def key_of(identifier: str, text: str) -> str:
    """Return what stands for a memory as it was shown.

    Args:
        identifier: Its id.
        text: What it said.
    """
    return f"{identifier}:{zlib.crc32(text.encode()):08x}"
