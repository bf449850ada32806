"""A history that was written on several branches, told back event by event."""

from datetime import UTC, datetime, timedelta
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pmem.core.journal import steps
from pmem.core.retention import Unwinding, as_of
from pmem.core.threeway.record import merged
from pmem.core.threeway.shapes import SHAPES
from pmem.values.records import Event, EventKind, Memory

SHAPE = SHAPES["long-term-memory"]
FIELDS = ("content", "importance", "subject")
Json = dict[str, Any]
Moves = list[tuple[int, str]]
moves = st.lists(
    st.tuples(st.integers(0, 2), st.sampled_from([*FIELDS, "fork", "merge"])), max_size=30
)


def at(minute: int) -> str:
    time = datetime(2026, 1, 1, tzinfo=UTC) + timedelta(minutes=minute)
    return time.isoformat().replace("+00:00", "Z")


def begun() -> Json:
    return {
        "id": "a-00000001",
        "content": "said 0",
        "category": "knowledge",
        "subject": "about 0",
        "importance": 0.5,
        "valid_from": at(0),
        "created_at": at(0),
        "updated_at": at(0),
        "history": [{"event": "ADD", "at": at(0)}],
    }


def edited(record: Json, field: str, minute: int) -> Json:
    values = {"content": f"said {minute}", "subject": f"about {minute}", "importance": minute / 99}
    event = {"event": "UPDATE", "at": at(minute), "before": {field: record[field]}}
    history = [*record["history"], event]
    return {**record, field: values[field], "updated_at": at(minute), "history": history}


def story(moves: Moves) -> tuple[Json, dict[str, Json]]:
    """Return what one branch ends as, and by time what every branch's edits led to.

    A branch merges its neighbour with the state in which the two last were the same.
    """
    branches = [begun()] * 3
    bases = {(one, other): begun() for one in range(3) for other in range(3)}
    led_to = {}
    for minute, (number, move) in enumerate(moves, start=1):
        other = (number + 1) % 3
        pair = (min(number, other), max(number, other))
        if move in FIELDS:
            branches[number] = edited(branches[number], move, minute)
            led_to[at(minute)] = {move: branches[number][move]}
        elif move == "fork":
            branches[other] = branches[number]
            bases = {key: _base(bases, key, number, other) for key in bases}
            bases[pair] = branches[number]
        else:
            result = merged(bases[pair], branches[number], branches[other], SHAPE).result
            assert result is not None
            branches[number] = branches[other] = result
            bases = {key: _nearer(bases, key, number, other, result) for key in bases}
    return branches[0], led_to


def _base(bases: dict[Any, Json], key: tuple[int, int], number: int, other: int) -> Json:
    """Return what a pair has in common once one branch starts anew from another."""
    third = 3 - number - other
    if other in key and third in key:
        return bases[(min(number, third), max(number, third))]
    return bases[key]


def _nearer(bases: dict[Any, Json], key: Any, number: int, other: int, result: Json) -> Json:
    """Return what a pair has in common once two branches are one."""
    third = 3 - number - other
    if third not in key:
        return result
    both = (bases[min(one, third), max(one, third)] for one in (number, other))
    return max(both, key=lambda base: len(base["history"]))


@given(moves=moves)
def test_every_edit_is_told_with_what_it_led_to_on_its_own_branch(moves: Moves) -> None:
    record, led_to = story(moves)
    for step in steps(msgspec.convert(record, Memory)):
        if step.event.event is EventKind.UPDATE:
            assert step.after == led_to[at_text(step.event)]


@given(moves=moves, minute=st.integers(0, 31))
def test_a_record_was_never_what_it_was_on_no_branch(moves: Moves, minute: int) -> None:
    record, led_to = story(moves)
    earlier = as_of(msgspec.convert(record, Memory), datetime.fromisoformat(at(minute)))
    assert earlier is not None
    for field in FIELDS:
        known = [begun()[field], *(told[field] for told in led_to.values() if field in told)]
        assert getattr(earlier, field) in known


def at_text(event: Event) -> str:
    return event.at.isoformat().replace("+00:00", "Z")


@pytest.mark.parametrize("branch", [7, {"content": 7}, {"content": ["soon"]}, {"content": None}])
def test_what_other_programs_write_into_an_event_is_no_branch(branch: Any) -> None:
    event = Event(
        event=EventKind.MERGE,
        at=datetime(2026, 1, 2, tzinfo=UTC),
        source="git",
        before={"content": "was"},
        detail={"branch": branch},
    )
    unwinding = Unwinding({"content": "is"})
    assert unwinding.undo(event) == {"content": "is"}
    assert unwinding.state == {"content": "was"}
