"""A pooler before the server: one that keeps sessions apart is fine, any other is refused."""

import os
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import psycopg
import pytest
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from pmem.errors import Locked, StorageRefused
from pmem.memory.reading import ListRequest
from pmem.memory.requests import AddRequest
from pmem.operations import table
from pmem.storage.postgres.server import Server
from tests.asking import ask
from tests.postgres import VARIABLE, TestDatabase, other_user, served

PGBOUNCER: Final = shutil.which("pgbouncer", path=f"{os.environ['PATH']}:/usr/sbin")
_SETTINGS: Final = """[databases]
{name} = host={host} dbname={name}
[pgbouncer]
listen_addr =
unix_socket_dir = {folder}
listen_port = 6432
auth_type = trust
auth_file = {folder}/users
pool_mode = {mode}
default_pool_size = 2
max_client_conn = {clients}
query_wait_timeout = 1
server_reset_query_always = {cleans}
"""


pytestmark = pytest.mark.outside


@contextmanager
def pooler(
    database: TestDatabase, folder: Path, mode: str, *, cleans: int = 0, clients: int = 100
) -> Iterator[str]:
    """Start PgBouncer before a database, and yield the address to connect to."""
    if PGBOUNCER is None:
        pytest.skip("there is no PgBouncer here")
    if VARIABLE in os.environ:
        pytest.skip("PgBouncer is tried before a server that the tests start themselves")
    parts = conninfo_to_dict(database.address)
    given = {"name": parts["dbname"], "host": parts["host"], "folder": folder}
    given |= {"mode": mode, "cleans": cleans, "clients": clients}
    (folder / "users").write_text(f'"{parts["user"]}" ""\n')
    (folder / "settings.ini").write_text(_SETTINGS.format_map(given))
    folder.chmod(0o777)
    started = subprocess.Popen(
        [PGBOUNCER, "settings.ini"], cwd=folder, stderr=subprocess.DEVNULL, **other_user()
    )
    try:
        until = time.monotonic() + 10
        while not (folder / ".s.PGSQL.6432").exists() and time.monotonic() < until:
            time.sleep(0.02)
        yield make_conninfo(database.address, host=str(folder), port=6432)
    finally:
        started.terminate()
        started.wait()


@pytest.fixture
def folder() -> Iterator[Path]:
    """Return a folder whose path is short enough for a socket, and open to other users."""
    with tempfile.TemporaryDirectory(prefix="pmem-pool-") as made:
        yield Path(made)


def test_more_writers_than_sessions_get_theirs_from_a_pooler_that_keeps_them(
    root: str, folder: Path, test_database: TestDatabase
) -> None:
    with pooler(test_database, folder, "session") as address:
        key = test_database.new_project()

        def add(number: int) -> None:
            unit = served(root, Server(address, key, lambda: 5.0))
            ask(unit, table.ADD, AddRequest(content=f"Number {number}.", force=True))
            unit.shared.close()

        with ThreadPoolExecutor(6) as pool:
            list(pool.map(add, range(12)))
        unit = served(root, Server(address, key, lambda: 5.0))
        assert len(ask(unit, table.LIST, ListRequest()).items) == 12
        unit.shared.close()


@pytest.mark.parametrize(
    ("clients", "said"), [(2, "had no connection to spare"), (100, "query_wait_timeout")]
)
def test_a_pooler_that_stays_full_is_told_of_in_a_sentence(
    root: str, folder: Path, test_database: TestDatabase, clients: int, said: str
) -> None:
    """It has taken as many clients as it may, or has no session for one more."""
    with pooler(test_database, folder, "session", clients=clients) as address:
        key = test_database.new_project()
        others = [Server(address, key, lambda: 5.0) for _ in range(2)]
        unit = served(root, Server(address, key, lambda: 0.1), lock_timeout=0.1)
        with (
            others[0].connection(),
            others[1].connection(),
            pytest.raises(Locked, match=said),
        ):
            ask(unit, table.LIST, ListRequest())
        for one in others:
            one.close()
        assert ask(unit, table.LIST, ListRequest()).items == ()
        unit.shared.close()


def test_a_pooler_that_hands_a_session_on_is_refused_before_anything_is_written(
    root: str, folder: Path, test_database: TestDatabase
) -> None:
    with pooler(test_database, folder, "transaction") as address:
        key = test_database.new_project()
        first = Server(address, key, lambda: 5.0)
        unit = served(root, Server(address, key, lambda: 5.0))
        with first.connection(), pytest.raises(StorageRefused, match="behind a pooler") as no:
            ask(unit, table.ADD, AddRequest(content="No."))
        assert "pool_mode = session" in no.value.hint
        first.close()


def test_a_pooler_that_forgets_what_a_session_was_told_is_refused(
    root: str, folder: Path, test_database: TestDatabase
) -> None:
    with pooler(test_database, folder, "transaction", cleans=1) as address:
        unit = served(root, Server(address, test_database.new_project(), lambda: 5.0))
        with pytest.raises(StorageRefused, match="behind a pooler"):
            ask(unit, table.ADD, AddRequest(content="No."))


def test_a_session_that_somebody_else_has_begun_is_refused(
    root: str, new_project: Callable[[], Server]
) -> None:
    whole = new_project()
    used = Server(f"{whole.address}&options=-c%20pmem.session%3Dbegun", whole.project, lambda: 1.0)
    with pytest.raises(StorageRefused, match="behind a pooler"):
        ask(served(root, used), table.LIST, ListRequest())


def test_what_was_prepared_in_another_session_is_no_bug(
    new_project: Callable[[], Server],
) -> None:
    with new_project().connection() as connection:
        for _ in range(9):
            connection.execute("select %s", (1,))
        connection.pgconn.exec_(b"deallocate all")  # behind the driver's back
        with pytest.raises(psycopg.Error) as no:
            connection.execute("select %s", (1,))
    said = new_project().sentence_of(no.value)
    assert isinstance(said, StorageRefused)
    assert "behind a pooler" in said.message
