"""A small storm on a server; `python -m tests.faults.server_storm` makes a large one."""

import pytest

from tests.faults.server_storm import storm
from tests.postgres import TestDatabase


@pytest.mark.long
def test_cut_connections_and_killed_writers_lose_nothing_and_leave_nothing_half(
    test_database: TestDatabase,
) -> None:
    found = storm(test_database, terminations=10, kills=3, writers=3)
    assert found.faults == []
    assert (found.terminations, found.kills) == (10, 3)
