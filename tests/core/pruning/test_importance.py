"""How important messages are, row by row of the scoring table."""

from datetime import timedelta
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pmem.core.pruning.plan import score
from pmem.values.records import Message, Role
from pmem.values.rules import Scoring
from tests.conftest import NOW
from tests.strategies import moments

PLAIN = "The parser reads one line"
LONG_AGO = 99


def message(content: str = PLAIN, **fields: Any) -> Message:
    known: dict[str, Any] = {"role": Role.USER, "created_at": NOW}
    return Message(id="m-00000001", content=content, **known | fields)


@pytest.mark.row("S3.4.2", "S3.4.3", "S3.14.1", "S3.14.2", "S3.14.3", "S3.14.4")
@pytest.mark.parametrize(
    ("fields", "age", "expected"),
    [
        ({}, LONG_AGO, 0.5),
        ({"tool_call": {"name": "ls"}, "role": Role.ASSISTANT}, LONG_AGO, 0.8),
        ({"tool_call": {}, "role": Role.ASSISTANT}, LONG_AGO, 0.8),
        ({"tool_result": "two files", "role": Role.TOOL}, LONG_AGO, 0.7),
        ({"content": "You must keep it short"}, LONG_AGO, 0.7),
        ({"content": "You must keep it short", "role": Role.ASSISTANT}, LONG_AGO, 0.5),
        ({"content": "The build failed"}, LONG_AGO, 0.8),
        ({"content": "No errors at all"}, LONG_AGO, 0.5),
        ({"content": "Actually, it is the other one"}, LONG_AGO, 0.7),
        ({"content": "As you said, it is slow"}, LONG_AGO, 0.6),
        ({"content": "As you said, it is slow, and we discussed why"}, LONG_AGO, 0.7),
        ({"content": "thanks!"}, LONG_AGO, 0.3),
        ({"content": "Task complete."}, LONG_AGO, 0.2),
        ({"created_at": NOW - timedelta(hours=23)}, LONG_AGO, 0.5),
        ({"created_at": NOW - timedelta(days=3)}, LONG_AGO, 0.2),
        ({"created_at": NOW - timedelta(days=300)}, LONG_AGO, 0.0),
        ({"created_at": NOW + timedelta(days=300)}, LONG_AGO, 0.5),
        ({}, 0, 0.9),
        ({}, 4, 0.9),
        ({}, 5, 0.7),
        ({}, 9, 0.7),
        ({}, 10, 0.6),
        ({}, 19, 0.6),
        ({}, 20, 0.5),
        ({"content": "It failed: you must always retry"}, 0, 1.0),
        ({"role": Role.SYSTEM, "created_at": NOW - timedelta(days=300)}, LONG_AGO, 1.0),
        ({"importance": 0.25}, 0, 0.25),
        ({"importance": 0.0, "content": "The build failed"}, 0, 0.0),
        ({"importance": 0.1, "role": Role.SYSTEM}, 0, 1.0),
    ],
)
def test_every_row_of_the_table_counts(fields: dict[str, Any], age: int, expected: float) -> None:
    assert score(message(**fields), age, NOW, Scoring()) == expected


@pytest.mark.row("S3.4.3")
def test_a_finished_task_makes_its_messages_less_important_once() -> None:
    assert score(message(), LONG_AGO, NOW, Scoring(), finished=True) == 0.2
    assert score(message("Task complete."), LONG_AGO, NOW, Scoring(), finished=True) == 0.2


@pytest.mark.parametrize(
    ("row", "said", "age"),
    [
        ("base", message(), LONG_AGO),
        ("tool_call", message(tool_call="ls"), LONG_AGO),
        ("tool_result", message(tool_result="a file"), LONG_AGO),
        ("directive", message("You must keep it short"), LONG_AGO),
        ("error", message("The build failed"), LONG_AGO),
        ("correction", message("Actually, it is the other one"), LONG_AGO),
        ("reference", message("As you said, it is slow"), LONG_AGO),
        ("per_day", message(created_at=NOW - timedelta(days=1)), LONG_AGO),
        ("casual", message("thanks!"), LONG_AGO),
        ("finished", message("Task complete."), LONG_AGO),
        ("last_5", message(), 4),
        ("last_10", message(), 9),
        ("last_20", message(), 19),
    ],
)
def test_every_row_can_be_configured(row: str, said: Message, age: int) -> None:
    nothing = Scoring(**dict.fromkeys(Scoring.__struct_fields__, 0.0))
    assert score(said, age, NOW, nothing) == 0.0
    assert score(said, age, NOW, msgspec.structs.replace(nothing, **{row: 0.75})) == 0.75


weights = st.floats(-1, 1)
tables = st.builds(Scoring, **dict.fromkeys(Scoring.__struct_fields__, weights))
said = st.builds(
    message,
    st.sampled_from([PLAIN, "thanks!", "done", "It failed", "You must", "Actually, no"])
    | st.text(),
    role=st.sampled_from(Role),
    created_at=moments,
    importance=st.none() | st.floats(0, 1),
    tool_call=st.none() | st.just({}),
    tool_result=st.none() | st.just(""),
)


@pytest.mark.row("S3.4.1")
@given(said, st.integers(0, 10**6), moments, tables, st.booleans())
def test_a_score_lies_between_0_and_1(
    one: Message, age: int, now: Any, table: Scoring, finished: bool
) -> None:
    assert 0 <= score(one, age, now, table, finished) <= 1


@given(said, st.integers(0, 40), st.integers(0, 40), st.integers(0, 9), moments)
def test_by_default_a_message_never_gains_by_growing_older(
    one: Message, age: int, more: int, days: int, now: Any
) -> None:
    before = score(one, age, now, Scoring())
    assert score(one, age + more, now + timedelta(days=days), Scoring()) <= before
