"""A project on a server for a login that may not connect as often as it likes."""

import os
from collections.abc import Callable, Iterator

import psycopg
import pytest
from psycopg.conninfo import make_conninfo

from pmem.storage.postgres.server import Server
from tests.postgres import TestDatabase


@pytest.fixture
def limited(
    test_database: TestDatabase, new_project: Callable[[], Server]
) -> Iterator[Callable[[int], Server]]:
    """Return what makes a project for a login that may connect so many times at once."""
    made: list[tuple[str, Server]] = []
    with psycopg.connect(test_database.address, autocommit=True) as admin:

        def make(connections: int) -> Server:
            login, whole = f"limited_{os.urandom(4).hex()}", new_project()
            admin.execute(
                f"create role {login} login in role pmem_member connection limit {connections}"
            )
            server = Server(make_conninfo(whole.address, user=login), whole.project, lambda: 0.1)
            made.append((login, server))
            return server

        yield make
        for login, server in made:
            server.close()
            admin.execute(f"drop role {login}")


@pytest.fixture
def narrow(limited: Callable[[int], Server]) -> Server:
    """Return a project for a login that may connect but once at a time."""
    return limited(1)
