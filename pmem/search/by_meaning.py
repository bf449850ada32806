"""What the vectors of texts add to a search: documents near in meaning, and nearness itself."""

from collections.abc import Collection
from typing import TYPE_CHECKING, Final

from pmem.core.retrieval.ranking import Ranking
from pmem.core.text.terms import parse_query
from pmem.project.configuration import embeds
from pmem.values.rules import AUTO

if TYPE_CHECKING:
    from pmem.core.retrieval.meaning import Nearness
    from pmem.core.retrieval.pool import Pool
    from pmem.embedding.embedding import Asked
    from pmem.project.workspace import Workspace

WORDS: Final = 200
"""So many hits by words, at least, stand beside what is near in meaning."""


def asked_by_meaning(workspace: "Workspace", question: str, pool: "Pool") -> "Asked | None":
    """Return a question that can be asked of vectors; None where no model is chosen.

    What has no word to look for, and what quotes the words that it wants, is not asked either.
    """
    if not embeds(workspace.settings.vectors):
        return None
    query = parse_query(question)
    if query.phrases or not query.terms:
        return None
    from pmem.embedding.embedding import Asked

    return Asked(workspace, question, pool)


def nearness_of_talk(workspace: "Workspace", asked: "Asked | None") -> "Nearness | None":
    """Return what says how near messages are; None where they have no vectors."""
    if asked is None or workspace.settings.vectors.model == AUTO:
        return None
    return asked.nearness


def with_nearest(ranking: Ranking, asked: "Asked", numbers: Collection[int]) -> Ranking:
    """Return a ranking of memories or episodes together with those that are near in meaning."""
    from pmem.core.retrieval.fusion import DEPTH, fused

    hits = fused(ranking.hits, asked.nearest(numbers, DEPTH))
    return ranking._replace(hits=hits, total=max(ranking.total, len(hits)))
