"""The measures of a ranking: their bounds, how they move, and a slow version of each."""

from math import log2

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pmem.search.evaluation import Ranks, mean, ndcg_at, recall_at, reciprocal_rank

MOST = 30
cuts = st.integers(1, MOST)


@st.composite
def wanted(draw: st.DrawFn) -> list[int | None]:
    """Draw the ranks of what was wanted: different places, and some that were not found."""
    found = draw(st.lists(st.integers(1, MOST), unique=True, max_size=8))
    missing = draw(st.integers(0 if found else 1, 3))
    return draw(st.permutations([*found, *[None] * missing]))


def relevances(ranks: Ranks) -> list[int]:
    """Write the ranking out: one for every hit that was wanted, zero for every other."""
    return [int(place in ranks) for place in range(1, MOST + 1)]


def slow_recall(ranks: Ranks, k: int) -> float:
    return sum(relevances(ranks)[:k]) / len(ranks)


def slow_reciprocal_rank(ranks: Ranks) -> float:
    for place, relevance in enumerate(relevances(ranks), start=1):
        if relevance:
            return 1 / place
    return 0.0


def slow_ndcg(ranks: Ranks, k: int) -> float:
    gained = sum(gain / log2(place + 2) for place, gain in enumerate(relevances(ranks)[:k]))
    best = sorted(relevances(ranks) + [1] * ranks.count(None), reverse=True)[:k]
    return gained / sum(gain / log2(place + 2) for place, gain in enumerate(best))


@given(wanted(), cuts)
def test_every_measure_agrees_with_its_slow_version(ranks: Ranks, k: int) -> None:
    assert recall_at(ranks, k) == pytest.approx(slow_recall(ranks, k))
    assert reciprocal_rank(ranks) == pytest.approx(slow_reciprocal_rank(ranks))
    assert ndcg_at(ranks, k) == pytest.approx(slow_ndcg(ranks, k))


@given(st.integers(1, 8), cuts)
def test_nothing_found_measures_zero(count: int, k: int) -> None:
    nothing = [None] * count
    assert [recall_at(nothing, k), reciprocal_rank(nothing), ndcg_at(nothing, k)] == [0, 0, 0]


def test_two_names_of_one_hit_do_not_gain_twice() -> None:
    assert ndcg_at([1, 1], 10) < 1
    assert recall_at([1, 1], 1) == 1


@pytest.mark.parametrize(
    ("ranks", "recall", "reciprocal", "gain"),
    [
        ([1], 1, 1, 1),
        ([2], 1, 1 / 2, 1 / log2(3)),
        ([3, None], 1 / 2, 1 / 3, (1 / 2) / (1 + 1 / log2(3))),
        ([6], 0, 1 / 6, 0),
    ],
)
def test_worked_examples_at_five(
    ranks: Ranks, recall: float, reciprocal: float, gain: float
) -> None:
    assert recall_at(ranks, 5) == recall
    assert reciprocal_rank(ranks) == reciprocal
    assert ndcg_at(ranks, 5) == pytest.approx(gain)


def test_a_mean_has_six_decimals() -> None:
    assert mean([1, 0, 0]) == 0.333333
