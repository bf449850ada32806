"""What a project's settings make of the ranking."""

from typing import Final

from pmem.core.retrieval.ranking_settings import (
    DEFAULTS,
    EVERYBODY_ALIKE,
    MEMORIES,
    RankingSettings,
)
from pmem.core.retrieval.weighted_sum import Weights
from pmem.search.hits import SearchKind
from pmem.values.config import Settings

RELATION_WEIGHT: Final = 0.1
"""Weight of a memory's strongest link, among the priors."""


def weights_of(settings: Settings) -> Weights:
    """Return the weights of the signals, for a ranking by their sum."""
    return Weights(
        semantic=settings.semantic_weight,
        keyword=settings.keyword_weight,
        recency=settings.recency_weight,
        importance=settings.importance_weight,
        access=settings.access_weight,
    )


def measured(settings: Settings, kind: SearchKind) -> RankingSettings:
    """Return the measured weights of a kind with the project's priors."""
    measured = MEMORIES if kind is SearchKind.MEMORY else DEFAULTS
    return measured._replace(
        roles=measured.roles if settings.prefer_talk else EVERYBODY_ALIKE,
        prior=settings.prior_share,
        merits=(
            settings.recency_weight,
            settings.importance_weight,
            settings.access_weight,
            RELATION_WEIGHT,
        ),
        half_life=settings.half_life_days,
    )
