"""What SQLite leaves beside a database when a process dies in the midst of a write."""

import os
from typing import Final

from pmem.storage.files import safe_files

_JOURNAL: Final = "-journal"


def play_back(local: str, disposable: tuple[str, ...], kept: tuple[str, ...]) -> None:
    """Undo the half writes of dead processes, whose journals go with that.

    A database that a living process writes to is left to it.

    Args:
        local: The folder of the databases.
        disposable: Names of those that are thrown away where they cannot be read.
        kept: Names of those that stay whatever is wrong with them.
    """
    for name in (*disposable, *kept):
        path = os.path.join(local, name)
        if os.path.lexists(path + _JOURNAL) and not _is_played_back(path) and name in disposable:
            safe_files.discard(path)


def _is_played_back(path: str) -> bool:
    """Play a database's journal back; false where it cannot be used at all.

    What is left of the journal then was never needed, and nobody else can have made it.
    """
    if safe_files.foreign(path) or not os.path.exists(path):
        return False
    import sqlite3
    from contextlib import closing

    from pmem.storage.files.safe_files import PRIMARY

    try:
        with closing(sqlite3.connect(path, timeout=0.0, isolation_level=None)) as connection:
            connection.execute("pragma trusted_schema = off")
            connection.execute("begin exclusive")
            if os.path.lexists(path + _JOURNAL):
                os.unlink(path + _JOURNAL)
    except sqlite3.Error as error:
        code = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_CORRUPT) & PRIMARY
        return code not in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)
    return True
