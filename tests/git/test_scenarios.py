"""People work on branches, and bring them together in every way: nothing is lost or comes back."""

from collections.abc import Iterator

import pytest

from tests.core.threeway.sides import Json
from tests.git import world
from tests.git.oracle import contradicts, judge
from tests.git.scenarios import WAYS, run
from tests.git.test_merging import BASE, edited


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


@pytest.mark.parametrize(
    ("one", "two", "result", "wanted"),
    [
        (BASE, edited(BASE, 2, importance=0.9), edited(BASE, 2, importance=0.9), set()),
        (BASE, edited(BASE, 2, importance=0.9), BASE, {"value"}),
        (
            edited(BASE, 2, pinned=True),
            edited(BASE, 3, tags=[]),
            edited(BASE, 3, tags=[]),
            {"value", "lost"},
        ),
        (edited(BASE, 2, pinned=True), None, None, {"lost"}),
        (BASE, None, BASE, {"resurrected"}),
        (BASE, BASE, None, {"lost"}),
    ],
)
def test_the_oracle_sees_what_is_wrong(
    one: Json | None, two: Json | None, result: Json | None, wanted: set[str]
) -> None:
    base, *sides, left = ({"x/y.json": it} if it else {} for it in (BASE, one, two, result))
    found = judge(base, sides, left)
    assert {fault.what for fault in found} == wanted


def test_the_oracle_knows_a_contradiction_from_a_text_that_grew() -> None:
    one = edited(BASE, 2, content="one")
    two, grown = edited(BASE, 3, content="two"), edited(one, 3, content="two")
    assert contradicts(BASE, [one, two])
    assert not contradicts(BASE, [one, grown])
    assert contradicts(BASE, [None, one])
    assert not contradicts(BASE, [None, BASE])
