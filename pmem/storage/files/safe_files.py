"""Files of a memory folder that are no records: read and opened only where they are its own.

A folder that came with a project may hold anything under the names that pmem opens: links that
lead out of it, pipes that nobody writes to, files beyond all reason.
"""

import os
import stat
from typing import TYPE_CHECKING, Final

from pmem.errors import Damaged, not_utf8
from pmem.storage.files.recordfile import read_bytes
from pmem.values.bounds import RECORD_BYTES

if TYPE_CHECKING:
    import sqlite3

MOST_SETTINGS_BYTES: Final = 128 * 1024
PRIMARY: Final = 0xFF
"""The part of SQLite's extended error codes that says what kind of error it is."""
_KEY: Final = "primary key ("
_STRANGE: Final = (
    "select count(*) from sqlite_master where type not in ('table', 'index')"
    " or sql like 'create virtual%'"
    " or length(sql) - length(replace(sql, '(', '')) > 1 + (instr(sql, ?) > 0)"
)
_BESIDE: Final = ("-journal", "-wal", "-shm", "")
"""What SQLite keeps beside a database, and the database: to be removed in this order."""


def read(path: str, most: int = RECORD_BYTES) -> bytes:
    """Read a file of the memory folder.

    Raises:
        FileNotFoundError: There is no such file.
        Damaged: It is a link, no regular file, or too large.
        StorageRefused: It may not be read.
    """
    return read_bytes(path, most, "a file of the memory")[0]


def text(path: str) -> str:
    """Read a text of the memory folder; a missing file is empty.

    Raises:
        Damaged, StorageRefused: See `read`; or it is not UTF-8.
    """
    try:
        return read(path, MOST_SETTINGS_BYTES).decode("utf-8-sig")
    except FileNotFoundError:
        return ""
    except UnicodeDecodeError as error:
        raise Damaged(not_utf8(path, error.object, error.start), "save it as UTF-8") from None


def is_own(path: str) -> bool:
    """Tell whether a file may be written in place: a regular one with one name, or none yet.

    One without a name is just being removed, as SQLite does with a journal.
    """
    try:
        status = os.lstat(path)
    except FileNotFoundError:
        return True
    except OSError:
        return False
    return stat.S_ISREG(status.st_mode) and status.st_nlink <= 1


def foreign(database: str) -> list[str]:
    """Return what stands where a database, or what SQLite keeps beside it, would be written."""
    return [database + end for end in _BESIDE if not is_own(database + end)]


def check_plain(connection: "sqlite3.Connection") -> None:
    """See that a database has nothing but tables and indexes, and computes nothing by itself.

    What would compute (a column, a default, a check, an index) needs brackets, and pmem's own
    tables have none but those around their columns and their primary key.

    Raises:
        sqlite3.DatabaseError: It has a view (which may be endless), a trigger, or the like.
    """
    connection.execute("pragma trusted_schema = off")
    (strange,) = connection.execute(_STRANGE, (_KEY,)).fetchone()
    if strange:
        import sqlite3

        raise sqlite3.DatabaseError("it has what pmem never makes")


def discard(database: str) -> None:
    """Remove a database, first what SQLite keeps beside it and would play back into the next."""
    for end in _BESIDE:
        try:
            os.unlink(database + end)
        except OSError:
            continue


def play_back(local: str, disposable: tuple[str, ...], kept: tuple[str, ...]) -> None:
    """Undo the half writes of dead processes, whose journals go with that.

    A database that a living process writes to is left to it. The `disposable` ones are thrown away
    where they cannot be read; those to be `kept` stay whatever is wrong with them.
    """
    for name in (*disposable, *kept):
        path = os.path.join(local, name)
        if os.path.lexists(path + "-journal") and not _is_played_back(path) and name in disposable:
            discard(path)


def _is_played_back(path: str) -> bool:
    """Play a database's journal back; false where it cannot be used at all.

    What is left of the journal then was never needed, and nobody else can have made it.
    """
    if foreign(path) or not os.path.exists(path):
        return False
    import sqlite3
    from contextlib import closing

    try:
        with closing(sqlite3.connect(path, timeout=0.0, isolation_level=None)) as connection:
            connection.execute("pragma trusted_schema = off")
            connection.execute("begin exclusive")
            if os.path.lexists(path + "-journal"):
                os.unlink(path + "-journal")
    except sqlite3.Error as error:
        code = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_CORRUPT) & PRIMARY
        return code not in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)
    return True
