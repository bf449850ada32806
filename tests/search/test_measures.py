"""The measures of a ranking, by worked examples."""

from math import log2

import pytest

from pmem.search.evaluation import Ranks, mean, ndcg_at, recall_at, reciprocal_rank

BEST_OF_FIVE = sum(1 / log2(place + 1) for place in range(1, 6))


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
        ([None, None], 0, 0, 0),
        ([4, 2, None, 7, 1], 3 / 5, 1, (1 + 1 / log2(3) + 1 / log2(5)) / BEST_OF_FIVE),
    ],
)
def test_worked_examples_at_five(
    ranks: Ranks, recall: float, reciprocal: float, gain: float
) -> None:
    assert (recall_at(ranks, 5), reciprocal_rank(ranks)) == (recall, reciprocal)
    assert ndcg_at(ranks, 5) == pytest.approx(gain)


def test_a_mean_has_six_decimals() -> None:
    assert mean([1, 0, 0]) == 0.333333
