"""The database of the index: where it is, how it is opened, and when it is worth nothing."""

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

import msgspec

from pmem.storage.files import safe_files
from pmem.storage.index.schema import VERSION, rebuild

FILE: Final = "index.sqlite3"
BUSY_SECONDS: Final = 2.0
_CACHE: Final = -65536
NONSENSE: Final = (
    sqlite3.Error,
    msgspec.MsgspecError,
    ArithmeticError,
    AttributeError,
    LookupError,
    TypeError,
    ValueError,
)
"""What reading an index raises that holds nonsense; where pmem is wrong, a new one raises it."""
_NOT_OURS: Final = (
    sqlite3.SQLITE_BUSY,
    sqlite3.SQLITE_CANTOPEN,
    sqlite3.SQLITE_READONLY,
    sqlite3.SQLITE_FULL,
    sqlite3.SQLITE_IOERR,
)
"""Errors that say nothing against the index itself."""


def connect(path: str) -> sqlite3.Connection:
    """Open the database, with its tables made anew where they are of another version.

    Raises:
        OSError, sqlite3.Error: It cannot be opened, or is no index.
    """
    if safe_files.foreign(path):
        safe_files.discard(path)
    connection = sqlite3.connect(
        path, timeout=BUSY_SECONDS, isolation_level=None, check_same_thread=False
    )
    try:
        safe_files.check_plain(connection)
        connection.execute("pragma secure_delete = fast")  # what is purged leaves no trace
        connection.execute("pragma synchronous = normal")  # less, and a power cut could make it lie
        connection.execute(f"pragma cache_size = {_CACHE}")
        (version,) = connection.execute("pragma user_version").fetchone()
        connection.create_function("applies", 2, _applies, deterministic=True)
        if version != VERSION:
            rebuild(connection)
    except BaseException:
        connection.close()
        raise
    return connection


def _applies(patterns: str, path: str) -> bool:
    from pmem.core.places import applies_within

    return applies_within(patterns.split("\n"), path)


@contextmanager
def snapshot(connection: sqlite3.Connection) -> Iterator[None]:
    """Let everything that is asked meanwhile be as of one moment, whoever updates the index."""
    connection.execute("begin")
    try:
        yield
    finally:
        connection.rollback()


@contextmanager
def rolled_back(connection: sqlite3.Connection) -> Iterator[None]:
    """Take back what an error has cut short."""
    try:
        yield
    except BaseException:
        if connection.in_transaction:
            connection.rollback()
        raise


def is_at_fault(error: BaseException) -> bool:
    """Tell whether an error speaks against the index, and not only against using it now."""
    if isinstance(error, OSError):
        return False
    return getattr(error, "sqlite_errorcode", 0) & safe_files.PRIMARY not in _NOT_OURS
