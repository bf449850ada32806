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

    Args:
        path: The file.
        most: Bytes at the most.

    Raises:
        FileNotFoundError: There is no such file.
        Damaged: It is a link, no regular file, or too large.
        StorageRefused: It may not be read.
    """
    return read_bytes(path, most, "a file of the memory")[0]


def text(path: str) -> str:
    """Read a text of the memory folder; a missing file is empty.

    Args:
        path: The file.

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

    Args:
        path: The file.
    """
    try:
        status = os.lstat(path)
    except FileNotFoundError:
        return True
    except OSError:
        return False
    return stat.S_ISREG(status.st_mode) and status.st_nlink <= 1


def foreign(database: str) -> list[str]:
    """Return what stands where a database, or what SQLite keeps beside it, would be written.

    Args:
        database: The database's path.
    """
    return [database + end for end in _BESIDE if not is_own(database + end)]


def check_plain(connection: "sqlite3.Connection") -> None:
    """See that a database has nothing but tables and indexes, and computes nothing by itself.

    What would compute (a column, a default, a check, an index) needs brackets, and pmem's own
    tables have none but those around their columns and their primary key.

    Args:
        connection: The database, just opened.

    Raises:
        sqlite3.DatabaseError: It has a view (which may be endless), a trigger, or the like.
    """
    connection.execute("pragma trusted_schema = off")
    (strange,) = connection.execute(_STRANGE, (_KEY,)).fetchone()
    if strange:
        import sqlite3

        raise sqlite3.DatabaseError("it has what pmem never makes")


def discard(database: str) -> None:
    """Remove a database, what SQLite keeps beside it first: it would be played back into the next.

    Args:
        database: The database's path.
    """
    for end in _BESIDE:
        try:
            os.unlink(database + end)
        except OSError:
            continue
