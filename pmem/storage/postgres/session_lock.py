"""Locks that a session holds until it gives them back, or ends."""

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

from pmem.storage.postgres.address import driver

if TYPE_CHECKING:
    from psycopg import Connection


@contextmanager
def unlocking(connection: "Connection[Any]", *key: int) -> Iterator[None]:
    """Give a lock back at the end; with a connection that is lost it went already.

    Args:
        connection: It holds the lock.
        key: One number or two.
    """
    try:
        yield
    finally:
        with suppress(driver().Error):
            signs = ", ".join(["%s"] * len(key))
            connection.execute(f"select pg_advisory_unlock({signs})".encode(), key)
