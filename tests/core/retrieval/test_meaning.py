"""Nearness in meaning: a direction in half precision, a key, and a factor of a score."""

from math import isclose, sqrt

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pmem.core.retrieval.collection import Document, MemoryStatistics, SessionDocuments
from pmem.core.retrieval.meaning import (
    NEAREST,
    cosine,
    embedded_texts,
    nearness_factors,
    pack_vector,
    turns_after,
    unpack_vector,
    vector_key,
    with_turns_after,
)
from pmem.core.retrieval.ranked import total
from pmem.core.retrieval.ranking import Ranking, rank
from tests.storage.folders import memory

NUMBERS = st.floats(-1e3, 1e3, allow_nan=False)
VECTORS = st.lists(NUMBERS, min_size=2, max_size=8).filter(
    lambda vector: sum(abs(number) for number in vector) > 1e-3
)


def test_of_a_long_text_only_the_beginning_is_embedded() -> None:
    long = memory("x", "a" * 3000)
    assert [len(text) for _, text in embedded_texts(long)] == [2000]
    about = msgspec.structs.replace(long, subject="Ann", content="keeps cats")
    assert list(embedded_texts(about)) == [(long.id, "Ann: keeps cats")]


@pytest.mark.row("S2.4.9")
@given(VECTORS)
def test_a_packed_vector_keeps_its_direction_in_two_bytes_a_number(vector: list[float]) -> None:
    packed = pack_vector(vector)
    assert len(packed) == 2 * len(vector)
    kept = cosine(unpack_vector(packed), [n / sqrt(sum(m * m for m in vector)) for n in vector])
    assert kept is not None
    assert isclose(kept, 1.0, abs_tol=5e-3)
    assert cosine(vector, [*vector, 1.0]) is None, "they are of different spaces"


@pytest.mark.parametrize(
    "vector", [[], [1.0], [0.0, 0.0], [float("nan"), 1.0], [float("inf"), 1.0], [1.0] * 10_000]
)
def test_what_is_no_direction_is_refused(vector: list[float]) -> None:
    with pytest.raises(ValueError, match="a vector"):
        pack_vector(vector)


@given(st.text(), st.text(), st.text(), st.text())
def test_no_two_models_or_texts_share_a_key(a: str, b: str, c: str, d: str) -> None:
    assert (vector_key(a, b) == vector_key(c, d)) == ((a, b) == (c, d))


@given(st.lists(st.floats(-1, 1) | st.none(), max_size=30), st.floats(0, 1))
def test_factors_follow_nearness_and_take_the_unknown_for_average(
    known: list[float | None], weight: float
) -> None:
    factors = nearness_factors(known, weight)
    assert len(factors) == len(known)
    assert all(0 < factor <= 1 for factor in factors)
    pairs = sorted((near, factor) for near, factor in zip(known, factors, strict=True) if near)
    assert [factor for _, factor in pairs] == sorted(factor for _, factor in pairs)
    if known:
        assert max(factors) == 1.0
    unknown = [factor for near, factor in zip(known, factors, strict=True) if near is None]
    assert len(set(unknown)) <= 1


def test_factors_do_not_depend_on_a_models_range() -> None:
    wide, narrow = nearness_factors([0.1, 0.5, 0.9], 0.1), nearness_factors([0.81, 0.85, 0.89], 0.1)
    assert all(isclose(one, other) for one, other in zip(wide, narrow, strict=True))


def test_the_turn_after_a_message_counts_a_little_and_an_unknown_one_is_average() -> None:
    sessions = [SessionDocuments([5, 1, 9], [1.0] * 3, {}), SessionDocuments([7], [1.0], {})]
    after = turns_after([5, 1, 7, 3], sessions)
    assert after == {5: 1, 1: 9}
    near = with_turns_after([5, 1, 7, 3], after, {5: 0.4, 1: 0.8, 7: 0.6})
    assert near[0] is not None
    assert isclose(near[0], 0.4 + 0.3 * (0.8 - 0.6))
    assert near[1:] == [0.8, 0.6, None]


def _ranked(count: int, near: dict[int, float] | None, limit: int | None = None) -> Ranking:
    statistics = MemoryStatistics()
    for number in range(count):
        statistics.add(Document(number, "memory", 1.0 + number), {"river": 1.0})
    nearness = None if near is None else lambda numbers: {n: near[n] for n in numbers if n in near}
    return rank("river", statistics, limit=limit, nearness=nearness)


def test_only_the_best_by_words_are_ranked_anew_and_the_others_stay_below() -> None:
    count = NEAREST + 20
    plain = [hit.number for hit in _ranked(count, None).hits]
    near = {number: number / count for number in range(count)}
    hits = _ranked(count, near).hits
    assert [hit.number for hit in hits] != plain
    assert {hit.number for hit in hits[:NEAREST]} == set(plain[:NEAREST])
    assert [hit.number for hit in hits[NEAREST:]] == plain[NEAREST:]
    assert all(hit.score == total(hit.signals) for hit in hits)


@pytest.mark.parametrize("near", [{}, {3: 0.5}, dict.fromkeys(range(9), 0.7)])
def test_nearness_that_tells_nothing_apart_changes_nothing(near: dict[int, float]) -> None:
    assert _ranked(9, near) == _ranked(9, None)


def test_a_larger_answer_begins_with_the_smaller_one() -> None:
    near = {number: (number * 7 % 11) / 11 for number in range(40)}
    whole = _ranked(40, near).hits
    assert all(_ranked(40, near, limit=most).hits == whole[:most] for most in (1, 5, 20))
