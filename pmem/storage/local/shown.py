"""What each thread has been shown: memories by their id and what they said then.

A memory that says something else by now is shown again. Losing these costs nothing but a
repetition, so they are kept for a month only.
"""

from collections.abc import Collection, Iterable
from datetime import datetime, timedelta
from typing import Final

from pmem.storage.local.shown_keys import KNOWN, MADE, START, key_of, stop_key_of, touch_key_of
from pmem.storage.local.state import LocalState
from pmem.values.times import iso

KEPT: Final = timedelta(days=30)
AT_ONCE: Final = timedelta(seconds=3)
"""Within so short a time one start or prompt is answered by one hook, however many are set up."""
_TABLE: Final = (
    "create table if not exists shown (thread text, item text, at text, primary key (thread, item))"
)
__all__ = ["ShownItems", "key_of", "stop_key_of", "touch_key_of"]


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
            if connection is None or not connection.execute(MADE).fetchone():
                return frozenset()
            found = connection.execute(KNOWN, (thread,))
            return frozenset(item for (item,) in found)

    def begin(self, thread: str, source: str, at: datetime) -> bool:
        """Note that a start or prompt is answered; False if another hook has just done so.

        Args:
            thread: The session's id.
            source: Why it starts, or what stands for the prompt.
            at: The present.
        """
        item = START + source
        with self._state.writing() as connection:
            connection.execute(_TABLE)
            query = "select 1 from shown where thread = ? and item = ? and at >= ?"
            if connection.execute(query, (thread, item, iso(at - AT_ONCE))).fetchone():
                return False
            connection.execute(
                "insert or replace into shown values (?, ?, ?)", (thread, item, iso(at))
            )
            return True

    def claim(self, thread: str, keys: Iterable[str], at: datetime) -> set[str]:
        """Note what a thread is shown now, and return what it was not shown before.

        Of two hooks that run at one call, one shows it.

        Args:
            thread: The thread's name.
            keys: What it is to be shown.
            at: The present.
        """
        query = "insert or ignore into shown values (?, ?, ?)"
        with self._state.writing() as connection:
            connection.execute(_TABLE)
            return {
                key for key in keys if connection.execute(query, (thread, key, iso(at))).rowcount
            }

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
                query = "delete from shown where thread = ? and item not like ? and item not like ?"
                connection.execute(query, (thread, f"{START}%", f"{stop_key_of('')}%"))
            rows = [(thread, key, iso(at)) for key in keys]
            connection.executemany("insert or replace into shown values (?, ?, ?)", rows)
