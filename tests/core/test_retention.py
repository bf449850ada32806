"""How records change over time, against a brute-force memory of every state."""

import math
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pmem.core.retention import (
    as_of,
    changed,
    decay,
    json_value,
    linked,
    purge_time,
    unlinked,
    valid_at,
)
from pmem.values.records import Event, EventKind, Memory, Relationship, Scope, State, dump_line
from tests import strategies
from tests.conftest import NOW

TARGETS = ["a-00000001", "a-00000002", "a-00000003"]
TYPES = ["supports", "contradicts"]
Step = Callable[[Memory, datetime], Memory]

FIELDS: dict[str, st.SearchStrategy[Any]] = {
    "content": strategies.texts,
    "subject": st.none() | strategies.words,
    "tags": st.lists(strategies.words, max_size=2).map(tuple),
    "importance": strategies.shares,
    "pinned": st.booleans(),
    "state": st.sampled_from(State),
    "valid_until": st.none() | strategies.moments,
    "purge_at": st.none() | strategies.moments,
    "scope": strategies.scopes | st.just(Scope()),
}


@st.composite
def changes(draw: st.DrawFn) -> Step:
    names = draw(st.lists(st.sampled_from(sorted(FIELDS)), min_size=1, max_size=3, unique=True))
    fields = {name: draw(FIELDS[name]) for name in names}
    return lambda memory, at: changed(memory, Event(event=EventKind.UPDATE, at=at), **fields)


@st.composite
def links(draw: st.DrawFn) -> Step:
    target, type_ = draw(st.sampled_from(TARGETS)), draw(st.sampled_from(TYPES))
    strength = draw(st.sampled_from([0.1, 0.5, 1.0]))
    return lambda memory, at: linked(
        memory,
        Relationship(target=target, type=type_, strength=strength, created_at=at),
        "me",
        at,
    )


@st.composite
def cuts(draw: st.DrawFn) -> Step:
    target, type_ = draw(st.sampled_from(TARGETS)), draw(st.none() | st.sampled_from(TYPES))
    return lambda memory, at: unlinked(memory, (target,), type_, "me", at)


def _memory() -> Memory:
    return Memory(
        id="mjwaid1q-00000001",
        content="at first",
        category="knowledge",
        valid_from=NOW,
        created_at=NOW,
        updated_at=NOW,
        history=(Event(event=EventKind.ADD, at=NOW),),
    )


@given(
    st.lists(
        st.tuples(st.one_of(changes(), links(), cuts()), st.integers(0, 3)), min_size=1, max_size=12
    )
)
def test_as_of_tells_what_a_memory_was_at_every_moment(steps: list[tuple[Step, int]]) -> None:
    """Every state that a memory ever had is rebuilt from its last one; times may coincide."""
    memory, at = _memory(), NOW
    snapshots = {at: memory}
    for step, wait in steps:
        at += timedelta(seconds=wait)
        memory = step(memory, at)
        snapshots[at] = memory
    kept = msgspec.json.decode(dump_line(memory), type=Memory)
    for moment, snapshot in snapshots.items():
        for within in (timedelta(0), timedelta(milliseconds=500)):
            rebuilt = as_of(kept, moment + within)
            assert rebuilt is not None
            assert json_value(snapshot) == json_value(rebuilt)


def test_a_clock_that_ran_backwards_leaves_a_state_that_the_lists_order_settles() -> None:
    event = Event(event=EventKind.UPDATE, at=NOW + timedelta(seconds=9), actor="me")
    memory = changed(_memory(), event, content="late", tags=("late",))
    early = msgspec.structs.replace(event, at=NOW + timedelta(seconds=3))
    memory = changed(memory, early, content="early", importance=0.9)
    then = as_of(memory, NOW + timedelta(seconds=5))
    assert then is not None
    assert [kept.at for kept in then.history] == [NOW, early.at]
    assert (then.importance, then.tags, then.updated_at) == (0.9, (), early.at)


def test_a_change_notes_what_it_replaced_and_nothing_else() -> None:
    event = Event(event=EventKind.UPDATE, at=NOW, actor="me")
    new = changed(_memory(), event, content="then", pinned=False, tokens=7)
    assert new.history[-1].before == {"content": "at first"}
    assert (new.tokens, new.updated_at) == (7, NOW)


@pytest.mark.row("S2.4.4")
def test_a_link_to_the_same_place_is_replaced_not_doubled() -> None:
    memory = linked(_memory(), Relationship(target="a-00000001", type="x"), "me", NOW)
    memory = linked(memory, Relationship(target="a-00000001", type="x", strength=0.9), "me", NOW)
    memory = linked(memory, Relationship(target="a-00000001", type="y"), "me", NOW)
    assert [(link.type, link.strength) for link in memory.relationships] == [("x", 0.9), ("y", 0.5)]


@pytest.mark.row("S2.11.5")
@given(strategies.moments, st.none() | strategies.moments, strategies.moments)
def test_validity_includes_its_start_and_not_its_end(
    start: datetime, end: datetime | None, at: datetime
) -> None:
    memory = msgspec.structs.replace(_memory(), valid_from=start, valid_until=end)
    assert (start <= at < (end or datetime.max.replace(tzinfo=UTC))) == valid_at(memory, at)
    assert valid_at(memory, start) == (end is None or end > start)
    assert end is None or not valid_at(memory, end)


@given(strategies.times, st.integers(0, 9), st.tuples(strategies.times, strategies.times))
def test_without_access_a_memory_only_fades(
    last: datetime, accesses: int, when: tuple[datetime, datetime]
) -> None:
    earlier, later = sorted(when)
    assert decay(last, accesses, earlier, 30) >= decay(last, accesses, later, 30)
    assert decay(last, accesses, later, 30) <= decay(last, accesses + 1, later, 30)


@pytest.mark.row("S2.4.10")
@pytest.mark.parametrize(
    ("days", "accesses", "expected"),
    [(0, 0, 1.0), (30, 0, 0.5), (60, 0, 0.25), (30, 2, 0.7), (30, 9, 1.0), (-5, 0, 1.0)],
)
def test_decay_follows_its_formula(days: int, accesses: int, expected: float) -> None:
    value = decay(NOW, accesses, NOW + timedelta(days=days), 30)
    assert math.isclose(expected, value)


@given(strategies.times, st.integers(0, 10**9))
def test_purging_is_never_due_beyond_the_calendar(at: datetime, days: int) -> None:
    due = purge_time(at, days)
    end = datetime.max.replace(tzinfo=UTC)
    assert at <= due <= end
    assert due == end or timedelta(days=days) == due - at
