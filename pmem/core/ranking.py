"""How well each document answers a query: plain BM25, with priors that settle near-ties."""

import math
from collections.abc import Sequence
from datetime import datetime

import msgspec

from pmem.core.retention import decay
from pmem.core.text import terms


class Document(msgspec.Struct, frozen=True):
    """What ranking needs to know of a record or message.

    Args:
        key: Settles ties, in ascending order.
        text: What is searched.
        at: When it was written.
        importance: Between 0 and 1.
    """

    key: str
    text: str
    at: datetime
    importance: float = 0.5


class Priors(msgspec.Struct, frozen=True):
    """What counts besides relevance.

    Args:
        recency: Weight of recency.
        importance: Weight of importance.
        share: The most that both together can take from a score, from 0 to 1.
        half_life_days: Days after which recency halves.
    """

    recency: float = 0.3
    importance: float = 0.4
    share: float = 0.1
    half_life_days: float = 30.0


class Ranked(msgspec.Struct, frozen=True):
    """A document's place: its position in the input, its score, and the score's parts."""

    position: int
    score: float
    signals: dict[str, float]


def rank(query: str, documents: Sequence[Document], now: datetime, priors: Priors) -> list[Ranked]:
    """Order documents by how well they answer a query.

    The score is `relevance * prior`, where relevance is BM25 over its largest value and
    prior lies between `1 - share` and 1; a document without any of the query's words is
    left out.

    Args:
        query: What is asked, as people write it.
        documents: Everything that could answer.
        now: The present, for recency.
        priors: Weights besides relevance.

    Returns:
        The best first, equal scores by key; scores lie in (0, 1].
    """
    asked = terms(query)
    ranked = [
        _scored(position, relevance, documents[position], now, priors)
        for position, relevance in enumerate(_relevance(asked, documents))
        if relevance > 0
    ]
    return sorted(ranked, key=lambda hit: (-hit.score, documents[hit.position].key))


def _scored(
    position: int, relevance: float, document: Document, now: datetime, priors: Priors
) -> Ranked:
    fresh = decay(document.at, 0, now, priors.half_life_days)
    prior = 1 - priors.share * (1 - _mean(fresh, document.importance, priors))
    parts = {
        "relevance": relevance,
        "recency": fresh,
        "importance": document.importance,
        "prior": prior,
    }
    return Ranked(position, relevance * prior, parts)


def _mean(fresh: float, importance: float, priors: Priors) -> float:
    total = priors.recency + priors.importance
    if total == 0:
        return 1.0
    return (priors.recency * fresh + priors.importance * importance) / total


def _relevance(asked: list[str], documents: Sequence[Document]) -> list[float]:
    corpus = [terms(document.text) for document in documents]
    if not asked or not any(corpus):
        return [0.0] * len(documents)
    scores = _bm25(asked, corpus)
    best = max(scores)
    return [score / best if best > 0 else 0.0 for score in scores]


def _bm25(asked: list[str], corpus: list[list[str]]) -> list[float]:
    """Score by Okapi BM25 (Robertson and Zaragoza, 2009) as rank-bm25 computes it.

    Its inverse document frequency turns negative for words in more than half of the
    documents; `log(1 + (N - n + 0.5) / (n + 0.5))` stays positive and replaces it.
    """
    from rank_bm25 import BM25Okapi

    model = BM25Okapi(corpus)
    frequency: dict[str, int] = {}
    for document in corpus:
        for word in set(document):
            frequency[word] = frequency.get(word, 0) + 1
    model.idf = {
        word: math.log(1 + (len(corpus) - n + 0.5) / (n + 0.5)) for word, n in frequency.items()
    }
    return [float(score) for score in model.get_scores(asked)]
