"""Pairs of look-alikes that a person was told of, kept by a server."""

from collections.abc import Callable
from datetime import timedelta

from pmem.storage.postgres.project_state import ServerPairs
from pmem.storage.postgres.server import Server
from tests.conftest import NOW


def test_a_server_counts_the_pairs_of_today_by_how_they_begin(
    new_project: Callable[[], Server],
) -> None:
    server = new_project()
    pairs = ServerPairs(server, NOW)
    pairs.note(["same:a b", "same:c d", "a b 0.90"])
    assert (pairs.noted_today("same:"), set(pairs.known()) >= {"same:a b"}) == (2, True)
    tomorrow = ServerPairs(server, NOW + timedelta(days=1))
    assert tomorrow.noted_today("same:") == 0
    tomorrow.note(["same:e f"])
    assert tomorrow.noted_today("same:") == 1
