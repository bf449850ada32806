"""The schema of a server, made and brought up to date by numbered files of SQL.

Each is one transaction, and all of them run under one lock, whoever else tries the same.
"""

from importlib.resources import files
from typing import TYPE_CHECKING, Any, Final

from pmem.storage.postgres.session_lock import unlocking

if TYPE_CHECKING:
    from psycopg import Connection

VERSION: Final = 5
"""The number of the last migration."""
_LOCK: Final = 0x706D656D
_VERSION: Final = (
    "create schema if not exists pmem;"
    "create table if not exists pmem.schema_version"
    " (version integer primary key, at timestamptz not null default now())"
)


def migrations() -> list[tuple[int, str]]:
    """Return the migrations in order: number, and what it does."""
    folder = files(__package__) / "migrations"
    found = sorted(each.name for each in folder.iterdir() if each.name.endswith(".sql"))
    return [(int(name[:4]), (folder / name).read_text("utf-8")) for name in found]


def version_of(connection: "Connection[Any]") -> int:
    """Return the version of a server's schema; 0 where there is none.

    Args:
        connection: To the server.
    """
    query = "select to_regclass('pmem.schema_version') is not null"
    (is_there,) = connection.execute(query).fetchone() or (False,)
    if not is_there:
        return 0
    query = "select coalesce(max(version), 0) from pmem.schema_version"
    (version,) = connection.execute(query).fetchone() or (0,)
    return int(version)


def migrate(connection: "Connection[Any]") -> list[int]:
    """Bring a server's schema up to date, and return the migrations that ran.

    Args:
        connection: To the server, outside of any transaction.
    """
    connection.execute("select pg_advisory_lock(%s)", (_LOCK,))
    with unlocking(connection, _LOCK):
        before = version_of(connection)
        if before == 0:
            connection.execute(_VERSION)
        ran = [(number, text) for number, text in migrations() if number > before]
        for number, text in ran:
            with connection.transaction():
                connection.execute(text.encode())
                query = "insert into pmem.schema_version (version) values (%s)"
                connection.execute(query, (number,))
    return [number for number, _ in ran]
