"""People work on branches, and bring them together in every way: nothing is lost or comes back."""

from collections.abc import Iterator

import pytest

from tests.git import world
from tests.git.scenarios import WAYS, run


@pytest.fixture
def repository() -> Iterator[None]:
    with world.tamed():
        world.begin()
        world.commit("begin")
        yield


@pytest.mark.some(2)
@pytest.mark.parametrize("way", WAYS)
def test_whatever_people_do_on_branches_comes_together(way: str, repository: None) -> None:
    deeds = 0
    for seed in range(3):
        counts, faults = run(way, seed)
        deeds += counts["deeds"]
        assert faults == []
    assert deeds >= 15
