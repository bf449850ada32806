"""What stands for a memory that a thread was shown, and a look at it that loads next to nothing.

A hook runs at every call of a tool, and mostly all there is to say was said.
"""

import os
import sqlite3
import zlib
from collections.abc import Collection
from typing import Final

from pmem.storage.files.addresses import address

KNOWN: Final = "select item from shown where thread = ?"
MADE: Final = "select 1 from sqlite_master where name = 'shown'"
MOST_TOUCHED: Final = 30
"""So many memories a thread is shown where files are touched: about as much as at its start."""
START: Final = "start "
"""Begins what stands for a start, or a prompt, that was answered."""
STARTED: Final = tuple(f"{START}{source}" for source in ("startup", "resume", "clear", "compact"))
"""How what stands for a session's start begins."""
_TOUCHED: Final = "touched "
_STOPPED: Final = "stopped "
_FILE: Final = ("local", "state.sqlite3")
_SECONDS: Final = 0.1
"""How long others who write are waited for."""


def key_of(identifier: str, text: str) -> str:
    """Return what stands for a memory as it was shown.

    Args:
        identifier: Its id.
        text: What it said.
    """
    return f"{identifier}:{zlib.crc32(text.encode()):08x}"


def touch_key_of(identifier: str, text: str) -> str:
    """Return what stands for a memory as it was shown where its file was touched, or it recurred.

    What a session was told at its start is told there again, once: that is where it helps.

    Args:
        identifier: Its id.
        text: What it said.
    """
    return _TOUCHED + key_of(identifier, text)


def stop_key_of(identifier: str) -> str:
    """Return what stands for a memory that has stopped an edit.

    Args:
        identifier: Its id.
    """
    return _STOPPED + identifier


def touched_count(known: Collection[str]) -> int:
    """Return how many memories a thread was shown where files were touched.

    Args:
        known: The keys of what it was shown.
    """
    return sum(key.startswith(_TOUCHED) for key in known)


def known_at_once(folder: str, thread: str) -> frozenset[str]:
    """Return the keys of what a thread has been shown; nothing where that cannot be told at once.

    Args:
        folder: The memory folder whose clone's state it is.
        thread: The thread's name.
    """
    path = os.path.join(folder, *_FILE)
    if os.path.islink(path) or not os.path.isfile(path):
        return frozenset()
    try:
        connection = sqlite3.connect(
            address(path, "ro"), uri=True, timeout=_SECONDS, isolation_level=None
        )
        try:
            connection.execute("pragma trusted_schema = off")
            return frozenset(item for (item,) in connection.execute(KNOWN, (thread,)))
        finally:
            connection.close()
    except (sqlite3.Error, OSError, TypeError, ValueError):
        return frozenset()
