"""What a project's settings make of the ranking."""

from typing import Final

from msgspec.structs import replace

from pmem.core.retrieval.ranking_settings import (
    DEFAULTS,
    MEMORIES,
    RankingSettings,
    Weights,
)
from pmem.search.hits import SearchKind
from pmem.values.config import Settings

SEMANTIC_WEIGHT: Final = 0.4
"""Weight of TF-IDF in the weighted sum."""
KEYWORD_WEIGHT: Final = 0.3
"""Weight of matched words in the weighted sum."""
ACCESS_WEIGHT: Final = 0.0
"""Weight of access, among the priors and in the weighted sum."""
RELATION_WEIGHT: Final = 0.1
"""Weight of a memory's strongest link, among the priors."""


def weights_of(settings: Settings) -> Weights:
    """Return the weights of the signals, for a ranking by their sum."""
    return Weights(
        semantic=SEMANTIC_WEIGHT,
        keyword=KEYWORD_WEIGHT,
        recency=settings.recency_weight,
        importance=settings.importance_weight,
        access=ACCESS_WEIGHT,
    )


def measured(settings: Settings, kind: SearchKind) -> RankingSettings:
    """Return the measured weights of a kind with the project's priors."""
    measured = MEMORIES if kind is SearchKind.MEMORY else DEFAULTS
    return replace(
        measured,
        prior=settings.prior_share,
        merits=(
            settings.recency_weight,
            settings.importance_weight,
            ACCESS_WEIGHT,
            RELATION_WEIGHT,
        ),
    )
