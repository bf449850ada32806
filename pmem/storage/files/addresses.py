"""How a database's file is opened in a certain way, and one of a clone to be read at once."""

import os
import sqlite3

_SECONDS = 0.1
"""How long others who write are waited for."""
_PLAIN = "select count(*) from sqlite_master where type not in ('table', 'index')"


def address(path: str, mode: str) -> str:
    """Return the address of a database; the mode is SQLite's word: `ro`, `rw` or `rwc`."""
    path = os.path.abspath(path)
    for letter in "%?#":
        path = path.replace(letter, f"%{ord(letter):02x}")
    return f"file://{path if os.name != 'nt' else '/' + path.replace(os.sep, '/')}?mode={mode}"


def open_at_once(folder: str, name: str) -> sqlite3.Connection:
    """Open a database of a memory folder's clone to read it as it is.

    For those who have no time: without the modules that know what is in it.

    Raises:
        OSError: There is none, or it lies behind a link.
        sqlite3.Error: Others hold it, or it has what pmem never makes.
    """
    path = os.path.join(folder, "local", name)
    if any(map(os.path.islink, (folder, os.path.dirname(path), path))):
        raise OSError(f"{path} is a link")
    if not os.path.isfile(path):  # nor a pipe, whose other end would be waited for
        raise FileNotFoundError(path)
    connection = sqlite3.connect(
        address(path, "ro"), uri=True, timeout=_SECONDS, isolation_level=None
    )
    try:
        connection.execute("pragma trusted_schema = off")
        if connection.execute(_PLAIN).fetchone() != (0,):
            raise sqlite3.DatabaseError(f"{path} has what pmem never makes")
    except BaseException:
        connection.close()
        raise
    return connection
