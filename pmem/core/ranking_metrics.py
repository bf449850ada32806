"""How good a ranking is, judged by the ranks of what was wanted.

Ranks count from one. None stands for what was wanted and not found.
"""

from collections.abc import Sequence
from math import log2

Ranks = Sequence[int | None]


def recall_at(ranks: Ranks, k: int) -> float:
    """Return the share of what was wanted that is among the first `k`.

    Manning, Raghavan and Schütze, Introduction to Information Retrieval (2008), chapter 8.
    """
    return sum(rank is not None and rank <= k for rank in ranks) / len(ranks)


def reciprocal_rank(ranks: Ranks) -> float:
    """Return one divided by the best rank, and zero where nothing was found.

    Its mean over questions is MRR: Voorhees, The TREC-8 Question Answering Track Report (1999).
    """
    return max((1 / rank for rank in ranks if rank is not None), default=0.0)


def ndcg_at(ranks: Ranks, k: int) -> float:
    """Return the discounted gain of the first `k` hits as a share of the best possible one.

    Järvelin and Kekäläinen, Cumulated gain-based evaluation of IR techniques (2002), with
    gains of zero and one, and the discount of `log2(rank + 1)` that Burges et al., Learning to
    rank using gradient descent (2005) made usual. A rank counts once.
    """
    found = sorted({rank for rank in ranks if rank is not None and rank <= k})
    return _discounted(found) / _discounted(range(1, min(k, len(ranks)) + 1))


def mean(values: Sequence[float]) -> float:
    """Return the arithmetic mean, to six decimals: the same on every machine."""
    return round(sum(values) / len(values), 6)


def _discounted(ranks: Sequence[int]) -> float:
    """Return the cumulated gain of hits of gain one at these ranks."""
    return sum(1 / log2(rank + 1) for rank in ranks)
