"""What is found by words and what is found by meaning, in one order.

Ranks are fused as in reciprocal rank fusion (Cormack, Clarke and Buettcher, 2009), but onto the
scores by words, which say how well a question is answered: the nearest come nearer to 1.
"""

from collections.abc import Sequence
from typing import Final

from pmem.core.retrieval.ranking import ADDED, RankedDocument, total

DEPTH: Final = 60
"""So many of the nearest count."""
_NEW: Final = 3
"""So many of the nearest are found by meaning alone: something is always nearest."""
_SHARE: Final = 0.3
_STEADY: Final = 3.0


def fused(hits: Sequence[RankedDocument], nearest: Sequence[int]) -> list[RankedDocument]:
    """Return hits by words and documents that are near in meaning, best first, ties by number.

    The signal `nearness` is 0.3 * 3 / (3 + r), r the number of documents that are nearer.
    """
    signals = {hit.number: hit.signals for hit in hits}
    for number in nearest[:_NEW]:
        signals.setdefault(number, dict.fromkeys(ADDED, 0.0))
    for place, number in enumerate(nearest):
        if number in signals:
            share = _SHARE * _STEADY / (_STEADY + place)
            signals[number] = {**signals[number], "nearness": share}
    found = [RankedDocument(number, total(parts), parts) for number, parts in signals.items()]
    return sorted(found, key=lambda hit: (-hit.score, hit.number))
