"""Steps: their names, and which of them must be done together."""

import random
from datetime import datetime

from hypothesis import given
from hypothesis import strategies as st

from pmem.core.lifecycle.plan import Action, Touched, UpkeepStep, groups, plan_name
from pmem.core.retention import changed, linked
from pmem.values.records import Access, EventKind, Memory, Relationship
from tests.conftest import NOW
from tests.core.lifecycle.makers import DAY, event, identifier, memory
from tests.work import WITHIN, calls


def step(*numbers: int) -> UpkeepStep:
    touched = tuple(Touched(old=memory(n), new=memory(n, pinned=True)) for n in numbers)
    return UpkeepStep(action=Action.LINK, why=f"{numbers}", touched=touched)


@given(st.lists(st.lists(st.integers(0, 12), min_size=1, max_size=3, unique=True), max_size=12))
def test_steps_that_share_a_record_are_together_and_all_keep_their_order(
    numbers: list[list[int]],
) -> None:
    steps = [step(*each) for each in numbers]
    found = list(groups(steps))
    place = {id(each): number for number, each in enumerate(steps)}
    assert sorted(place[id(each)] for group in found for each in group) == list(range(len(steps)))
    for group in found:
        assert [place[id(each)] for each in group] == sorted(place[id(each)] for each in group)
        left = {n for each in group[1:] for n in numbers[place[id(each)]]}
        assert len(group) == 1 or left & set(numbers[place[id(group[0])]]) or len(group) > 2
    held = [{n for each in group for n in numbers[place[id(each)]]} for group in found]
    assert sum(map(len, held)) == len(set().union(*held)), "two groups share a record"
    assert [place[id(group[0])] for group in found] == sorted(
        place[id(group[0])] for group in found
    )


def test_ten_thousand_steps_are_grouped_at_once() -> None:
    chance = random.Random(3)
    chain = [step(n, n + 1) for n in range(5000)]
    chance.shuffle(chain)
    many = [*chain, *(step(10_000 + n) for n in range(5000))]
    assert len(list(groups(many))) == 5001
    assert calls(lambda: list(groups(many))) < WITHIN * 300


def archived(known: Memory, at: datetime = NOW) -> UpkeepStep:
    new = changed(known, event(EventKind.ARCHIVE, at), valid_until=at, pinned=False)
    return UpkeepStep(action=Action.ARCHIVE, why=f"{at}", touched=(Touched(old=known, new=new),))


def linking(known: Memory, target: int, at: datetime = NOW) -> UpkeepStep:
    link = Relationship(target=identifier(target), type="updates", created_at=at)
    new = linked(known, link, "ada", at)
    return UpkeepStep(action=Action.LINK, why="", touched=(Touched(old=known, new=new),))


@given(st.integers(0, 100), st.integers(0, 100), st.integers(0, 5))
def test_a_name_stays_while_the_step_would_do_the_same(one: int, other: int, count: int) -> None:
    known = memory(pinned=True)
    recalled = memory(pinned=True, access=Access(count=count))
    assert archived(known, NOW + one * DAY).name == archived(recalled, NOW + other * DAY).name
    assert linking(known, 2, NOW + one * DAY).name == linking(recalled, 2, NOW).name


def test_a_name_tells_of_everything_else() -> None:
    known = memory(pinned=True)
    steps = [
        archived(known),
        archived(memory(pinned=False)),
        archived(memory(pinned=True, content="We use SQLite")),
        archived(memory(2, pinned=True)),
        linking(known, 2),
        linking(known, 3),
        UpkeepStep(action=Action.EXPIRE, why="", touched=archived(known).touched),
        UpkeepStep(action=Action.PURGE, why="", touched=(Touched(old=known, new=None),)),
        UpkeepStep(action=Action.INSIGHT, why="", touched=(Touched(old=None, new=known),)),
    ]
    names = {each.name for each in steps}
    assert len(names) == len(steps)
    assert all(len(name) == 10 for name in names)
    assert plan_name([*names]) != plan_name([*names][1:])


def test_differences_leave_out_what_every_change_changes() -> None:
    before, after = archived(memory(pinned=True)).touched[0].differences()
    assert before == {"pinned": True, "valid_until": None}
    assert after == {"pinned": False, "valid_until": "2026-11-21T14:30:00.250Z"}
    assert Touched(old=None, new=memory()).differences() == ({}, {"state": "active"})
    assert Touched(old=memory(), new=None).differences() == ({"state": "active"}, {})
