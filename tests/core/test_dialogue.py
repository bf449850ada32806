"""What moves into chunks, and which messages a context still shows."""

from datetime import timedelta
from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pmem.core import dialogue
from pmem.core.dialogue import Strategy, importance, overflow
from pmem.records import Message, Role
from tests.conftest import NOW

STRATEGIES: tuple[Strategy, ...] = get_args(Strategy)


def message(number: int = 0, content: str = "Nothing special here", **fields: Any) -> Message:
    known: dict[str, Any] = {"role": Role.USER, "created_at": NOW}
    return Message(id=f"x-{number:08d}", content=content, **known | fields)


def shown(said: list[Message], **given_: Any) -> list[Message]:
    limits: dict[str, Any] = {"most_tokens": 10**9, "now": NOW}
    return dialogue.shown(said, **limits | given_)


def talk(count: int) -> list[Message]:
    return [message(number) for number in range(count)]


@given(st.integers(0, 80), st.integers(1, 30), st.integers(1, 30))
def test_every_message_is_in_one_chunk_or_stays(count: int, most: int, size: int) -> None:
    said = talk(count)
    chunks, recent = overflow(said, most, size)
    assert [*(item for chunk in chunks for item in chunk), *recent] == said
    assert len(recent) <= most
    assert all(len(chunk) == size for chunk in chunks) or size > most
    assert all(chunks)
    assert not chunks or count > most


@given(st.integers(0, 80), st.integers(1, 30), st.integers(1, 30), st.integers(0, 80))
def test_saying_one_by_one_and_all_at_once_come_to_the_same(
    count: int, most: int, size: int, cut: int
) -> None:
    said = talk(count)
    at_once = overflow(said, most, size)
    first, rest = overflow(said[:cut], most, size)
    second, recent = overflow([*rest, *said[cut:]], most, size)
    if size <= most:
        assert at_once == ([*first, *second], recent)


@pytest.mark.parametrize(("count", "chunks", "recent"), [(20, 0, 20), (21, 1, 11), (250, 23, 20)])
def test_the_defaults_of_the_design(count: int, chunks: int, recent: int) -> None:
    moved, stay = overflow(talk(count), 20, 10)
    assert (chunks, recent) == (len(moved), len(stay))


@pytest.mark.parametrize("strategy", STRATEGIES)
@given(
    st.lists(
        st.tuples(st.sampled_from(Role), st.sampled_from(["ok", "An error", "You must", "Fine so"]))
    ),
    st.integers(1, 30),
    st.integers(1, 30),
)
def test_pruning_keeps_order_limits_and_what_is_protected(
    strategy: Strategy, drawn: list[tuple[Role, str]], most: int, keep: int
) -> None:
    said = [message(n, text, role=role) for n, (role, text) in enumerate(drawn)]
    kept = shown(said, most=most, keep=keep, strategy=strategy)
    assert kept == [item for item in said if item in kept]
    assert said[-keep:] == kept[-keep:] or len(said) < keep
    assert [item for item in said if item.role is Role.SYSTEM] == [
        item for item in kept if item.role is Role.SYSTEM
    ]
    protected = sum(
        item.role is Role.SYSTEM or place >= len(said) - keep for place, item in enumerate(said)
    )
    assert len(kept) == min(len(said), max(most, protected))
    assert kept == shown(said, most=most, keep=keep, strategy=strategy)


def test_a_rolling_window_lets_the_oldest_go() -> None:
    said = talk(30)
    assert said[10:] == shown(said, most=20, keep=10, strategy="rolling_window")


def test_importance_lets_the_least_important_go() -> None:
    said = talk(30)
    said[3] = message(3, "The build failed with an error")
    said[15] = message(15, "thanks!")
    kept = shown(said, most=29, keep=10, strategy="importance")
    assert said[15] not in kept
    kept = shown(said, most=12, keep=10, strategy="importance")
    assert said[3] in kept


def test_strategies_differ_where_importance_and_age_disagree() -> None:
    said = talk(30)
    said[0] = message(0, "You must never skip the tests: error!")
    results = [shown(said, most=12, keep=10, strategy=name, now=NOW) for name in STRATEGIES]
    assert said[0] not in results[0]
    assert said[0] in results[1]


@pytest.mark.parametrize(
    ("fields", "age", "score"),
    [
        ({"role": Role.SYSTEM}, 99, 1.0),
        ({"importance": 0.25}, 0, 0.25),
        ({}, 99, 0.5),
        ({}, 0, 0.9),
        ({}, 7, 0.7),
        ({}, 15, 0.6),
        ({"content": "You must do it"}, 99, 0.7),
        ({"content": "You must do it", "role": Role.ASSISTANT}, 99, 0.5),
        ({"content": "An error came up"}, 99, 0.8),
        ({"content": "Actually, no"}, 99, 0.7),
        ({"content": "Thanks!"}, 99, 0.3),
        ({"content": "All done"}, 99, 0.2),
        ({"content": "See above"}, 99, 0.6),
        ({"tool_call": {"name": "ls"}}, 99, 0.8),
        ({"tool_result": "x"}, 99, 0.7),
        ({"created_at": NOW - timedelta(days=3)}, 99, 0.2),
        ({"created_at": NOW - timedelta(days=9000)}, 0, 0.0),
        ({"created_at": NOW + timedelta(days=9000)}, 99, 0.5),
    ],
)
def test_importance_follows_the_table(fields: dict[str, Any], age: int, score: float) -> None:
    assert importance(message(**fields), age, NOW) == pytest.approx(score)


@given(st.text(), st.integers(0, 10**6), st.integers(-(10**6), 10**6))
def test_importance_is_a_share_whatever_the_clock_says(text: str, age: int, days: int) -> None:
    said = message(0, text, created_at=NOW + timedelta(days=max(-700_000, min(days, 2_000_000))))
    assert 0 <= importance(said, age, NOW) <= 1


def test_tokens_limit_a_conversation_too() -> None:
    said = [message(number, tokens=100) for number in range(30)]
    kept = shown(said, most=50, keep=10, strategy="rolling_window", most_tokens=1500)
    assert kept == said[15:]
    kept = shown(said, most=50, keep=10, strategy="rolling_window", most_tokens=1)
    assert kept == said[20:]
