"""What a query finds comes to the front where a context speaks of it as well."""

from collections.abc import Sequence
from typing import Final

from pmem.core.retrieval.ranking import RankedDocument

CONTEXT_BOOST: Final = 0.5
"""A hit that answers the context best comes so much nearer to a score of 1."""
LOOKED_AT: Final = 50
"""So many hits are looked at where a context may bring one to the front."""
CONTEXT_HITS: Final = 200
"""And so many of what the context finds."""


def boosted(
    hits: Sequence[RankedDocument], context: Sequence[RankedDocument]
) -> list[RankedDocument]:
    """Return hits with higher scores for those that answer a context as well.

    Each comes so much nearer to 1 as it answers the context beside what answers it best.
    """
    best = max((hit.score for hit in context), default=0.0) or 1.0
    near = {hit.number: hit.score / best for hit in context}
    return [
        hit._replace(
            score=hit.score + CONTEXT_BOOST * near[hit.number] * (1 - hit.score),
            signals={**hit.signals, "context": near[hit.number]},
        )
        if near.get(hit.number)
        else hit
        for hit in hits
    ]
