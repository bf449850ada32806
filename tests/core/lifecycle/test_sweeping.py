"""What a sweep removes and deletes, to the second."""

from datetime import timedelta
from typing import Any

import pytest
from hypothesis import given

from pmem.core.lifecycle import consolidation
from pmem.core.lifecycle.plan import Action, UpkeepPlan
from pmem.values.records import Access, Episode, EventKind, Memory, State
from tests.conftest import NOW
from tests.core.lifecycle.makers import (
    DAY,
    S2,
    after,
    crowds,
    episode,
    event,
    identifier,
    link,
    memory,
)

RULES = consolidation.SweepRules(ttl_days=60, purge_days=30, fading=S2)
LONG_AGO = NOW - 60 * DAY - timedelta(milliseconds=1)


def swept(*records: Memory | Episode, **rules: Any) -> UpkeepPlan:
    from msgspec.structs import replace

    return consolidation.plan_sweep(records, replace(RULES, **rules), "ada", NOW)


@pytest.mark.row("S1.7.1")
@pytest.mark.parametrize(
    ("fields", "due"),
    [
        ({}, True),
        ({"importance": 0.3}, False),
        ({"created_at": NOW - 60 * DAY}, False),
        ({"pinned": True}, False),
        ({"state": State.ARCHIVED}, True),
        ({"state": State.SOFT_DELETED, "purge_at": NOW + DAY}, False),
        ({"access": Access(count=1, last_at=NOW - 60 * DAY)}, False),
        ({"access": Access(count=9, last_at=LONG_AGO)}, True),
        ({"history": (event(EventKind.LINK),)}, True),
        ({"history": (event(EventKind.UPDATE),)}, False),
        ({"created_at": NOW + 900 * DAY}, False),
    ],
)
def test_a_memory_goes_when_it_is_unimportant_unpinned_and_long_unused(
    fields: dict[str, Any], due: bool
) -> None:
    known = memory(**{"importance": 0.29, "created_at": LONG_AGO, **fields})
    plan = swept(known)
    assert [step.action for step in plan.steps] == [Action.EXPIRE] * due
    assert plan.waiting == 0
    if due:
        (gone,) = after(swept(known), known).values()
        assert (gone.state, gone.purge_at) == (State.SOFT_DELETED, NOW + 30 * DAY)
        assert gone.history[-1].event is EventKind.TTL


@pytest.mark.parametrize(
    ("purge_at", "state", "due"),
    [
        (NOW, State.SOFT_DELETED, True),
        (NOW + timedelta(milliseconds=1), State.SOFT_DELETED, False),
        (None, State.SOFT_DELETED, False),
        (NOW, State.ARCHIVED, False),
    ],
)
def test_a_record_is_deleted_for_good_once_its_time_is_over(
    purge_at: Any, state: State, due: bool
) -> None:
    known = memory(state=state, purge_at=purge_at)
    assert [step.action for step in swept(known).steps] == [Action.PURGE] * due


def test_every_link_to_what_is_deleted_goes_with_it() -> None:
    gone = [memory(n, state=State.SOFT_DELETED, purge_at=NOW) for n in (1, 2)]
    known = memory(3, relationships=(link(1), link(1, "updates"), link(2), link(4)))
    told = episode(1, linked_memories=(identifier(2), identifier(4)))
    left = after(swept(*gone, known, told), *gone, known, told)
    assert left.keys() == {known.id, told.id}
    kept, also = left[known.id], left[told.id]
    assert isinstance(kept, Memory)
    assert isinstance(also, Episode)
    assert kept.relationships == (link(4),)
    assert also.linked_memories == (identifier(4),)


def test_what_may_be_deleted_at_once_is_removed_and_deleted_by_one_sweep() -> None:
    known = memory(importance=0.1, created_at=LONG_AGO)
    plan = swept(known, purge_days=0)
    assert [step.action for step in plan.steps] == [Action.EXPIRE, Action.PURGE]
    assert after(plan, known) == {}


@given(crowds())
def test_a_second_sweep_finds_nothing(crowd: list[Memory | Episode]) -> None:
    left = after(swept(*crowd), *crowd)
    assert swept(*left.values()).steps == ()
    pinned = {record.id for record in crowd if record.pinned}
    assert pinned <= left.keys()
