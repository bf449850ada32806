"""What this clone keeps that a person may be typing: threads, and what waits for consent.

It is read as it is, at once, without the classes of its records.
"""

import json
import os
import sqlite3

from pmem.storage.files.addresses import address

TYPE_CHECKING = False  # as checkers know it, without the time that importing typing takes

if TYPE_CHECKING:
    from typing import Any

_FILE = "state.sqlite3"
_SECONDS = 0.1
"""How long others who write are waited for."""
_MOST = 100
"""Words that are suggested at once."""
_PLAIN = "select count(*) from sqlite_master where type not in ('table', 'index')"


def checkpoint_threads(folder: str) -> dict[str, str]:
    """Return the threads that have a checkpoint, and when it was saved.

    Args:
        folder: The memory folder.

    Raises:
        OSError, sqlite3.Error: There is nothing, or it cannot be read.
    """
    query = "select thread, max(updated_at) from checkpoint group by thread order by 2 desc"
    return {str(name): str(at)[:10] for name, at in _rows(folder, query)}


def known_threads(folder: str) -> dict[str, str]:
    """Return the threads that were told anything.

    Args:
        folder: The memory folder.

    Raises:
        OSError, sqlite3.Error: There is nothing, or it cannot be read.
    """
    return {str(name): "" for (name,) in _rows(folder, "select name from thread order by name")}


def proposals(folder: str) -> dict[str, str]:
    """Return the short ids of what waits for consent, and what it says.

    Args:
        folder: The memory folder.

    Raises:
        OSError, sqlite3.Error, ValueError: There is nothing, or it cannot be read.
    """
    found: dict[str, str] = {}
    for (queue,) in _rows(folder, "select queue from consent"):
        for item in json.loads(queue).get("proposals", ())[:_MOST]:
            said = (item.get("memory") or item.get("changes") or {}).get("content", "")
            found[str(item["id"]).partition("-")[2]] = str(said)
    return found


def _rows(folder: str, query: str) -> "list[Any]":
    path = os.path.join(folder, "local", _FILE)
    if any(map(os.path.islink, (folder, os.path.dirname(path), path))):
        raise OSError(f"{path} is a link")
    connection = sqlite3.connect(address(path, "ro"), uri=True, timeout=_SECONDS)
    try:
        connection.execute("pragma trusted_schema = off")
        if connection.execute(_PLAIN).fetchall() != [(0,)]:
            raise sqlite3.DatabaseError(f"{path} is no state of pmem's")
        return connection.execute(f"{query} limit {_MOST}").fetchall()
    finally:
        connection.close()
