"""What fades, how fast, and what never does; how many stay; why something went."""

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pmem.core.lifecycle.plan import Action
from pmem.core.lifecycle.presence import half_life_of
from pmem.values.records import EventKind, Memory, MemoryType, Scope, State
from tests.conftest import NOW
from tests.core.lifecycle.makers import BY_TYPE, DAY, S2, after, memory, planned

FADING = {MemoryType.FACT: 180, MemoryType.ENTITY: 365, MemoryType.INSIGHT: 90}


@pytest.mark.parametrize("type_", MemoryType)
def test_only_what_is_bound_to_its_time_fades(type_: MemoryType) -> None:
    assert half_life_of(memory(type=type_), BY_TYPE) == FADING.get(type_)
    assert half_life_of(memory(type=type_), S2) == 30


def test_the_pinned_never_fades_and_what_an_app_remembers_only_in_the_manner_of_s2() -> None:
    of_app = memory(scope=Scope(app="mail"))
    assert (half_life_of(of_app, BY_TYPE), half_life_of(of_app, S2)) == (None, 30)
    for rules in (BY_TYPE, S2):
        assert half_life_of(memory(pinned=True), rules) is None


@given(st.lists(st.integers(31, 900), max_size=9), st.integers(0, 12))
def test_the_most_faded_go_first_and_so_many_stay(ages: list[int], least: int) -> None:
    crowd = [
        memory(n, f"text {n}", created_at=NOW - age * DAY, pinned=age % 5 == 0)
        for n, age in enumerate(ages)
    ]
    rules = msgspec.structs.replace(BY_TYPE, least=least)
    left = after(planned(*crowd, fading=rules), *crowd)
    gone = {id_ for id_, known in left.items() if known.state is State.ARCHIVED}
    due = {known.id for known in crowd if not known.pinned and NOW - known.created_at >= 133 * DAY}
    assert gone <= due
    assert len(gone) == min(len(due), max(0, len(crowd) - least))
    for known in crowd:
        if known.id in due - gone:
            assert all(left_.created_at <= known.created_at for left_ in crowd if left_.id in gone)


@pytest.mark.row("S1.4.7")
def test_an_event_says_why_something_went() -> None:
    old = memory(1, "Old", created_at=NOW - 90 * DAY)
    pair = [memory(n, text) for n, text in ((2, "The port is 80."), (3, "the port is 80"))]
    plan = planned(old, *pair)
    left = after(plan, old, *pair)
    why = {step.action: step.why for step in plan.steps}
    assert left[old.id].history[-1].detail["reason"] == why[Action.ARCHIVE]
    merged = [known.history[-1] for known in left.values() if known.id != old.id]
    assert {event.event for event in merged} == {EventKind.MERGE}
    assert {event.detail["reason"] for event in merged} == {why[Action.MERGE]}


def test_those_that_noted_the_same_apart_are_left_alone_and_named() -> None:
    same = [
        memory(n, "The port is 80", scope=Scope(agent=agent)) for n, agent in ((1, "a"), (2, "b"))
    ]
    plan = planned(*same)
    assert [notice.why for notice in plan.notices] == ["others noted them: their scopes differ"]
    assert [step.action for step in plan.steps] == [Action.LINK]
    update = [memory(1, "The port is 80"), memory(2, "The port is 81", scope=Scope(agent="a"))]
    (step,) = planned(*update).steps
    assert isinstance(step.touched[0].new, Memory)
    assert step.touched[0].new.relationships[0].type == "updates"
