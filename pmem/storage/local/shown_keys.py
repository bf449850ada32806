"""What stands for a memory that a thread was shown, and a look at it that loads next to nothing.

A hook runs at every call of a tool, and mostly all there is to say was said.
"""

import sqlite3
import zlib
from collections.abc import Collection
from contextlib import closing
from typing import Final

from pmem.storage.files.addresses import open_at_once

KNOWN: Final = "select item from shown where thread = ?"
MOST_TOUCHED: Final = 30
"""So many memories a thread is shown where files are touched: about as much as at its start."""
START: Final = "start "
"""Begins what stands for a start, or a prompt, that was answered."""
STARTED: Final = tuple(f"{START}{source}" for source in ("startup", "resume", "clear", "compact"))
"""How what stands for a session's start begins."""
AGAIN: Final = "again "
"""Begins what stands for a memory that a prompt was pointed to, as it was shown before."""
_TOUCHED: Final = "touched "
_STOPPED: Final = "stopped "
_FILE: Final = "state.sqlite3"


def key_of(identifier: str, text: str) -> str:
    """Return what stands for a memory as it was shown."""
    return f"{identifier}:{zlib.crc32(text.encode()):08x}"


def touch_key_of(identifier: str, text: str) -> str:
    """Return what stands for a memory as it was shown where its file was touched, or it recurred.

    What a session was told at its start is told there again, once: that is where it helps.
    """
    return _TOUCHED + key_of(identifier, text)


def stop_key_of(identifier: str) -> str:
    """Return what stands for a memory that has stopped an edit."""
    return _STOPPED + identifier


def touched_count(known: Collection[str]) -> int:
    """Return how many memories a thread was shown where files were touched."""
    return sum(key.startswith(_TOUCHED) for key in known)


def known_at_once(folder: str, thread: str) -> frozenset[str]:
    """Return the keys of what a thread was shown; nothing where that cannot be told at once."""
    try:
        with closing(open_at_once(folder, _FILE)) as connection:
            return frozenset(item for (item,) in connection.execute(KNOWN, (thread,)))
    except (sqlite3.Error, OSError, TypeError, ValueError):
        return frozenset()
