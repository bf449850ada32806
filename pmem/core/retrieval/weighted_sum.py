"""The weighted sum of specification S2, restored literally: every signal in [0, 1], averaged."""

from collections.abc import Sequence

from pmem.core.retrieval.bm25 import (
    familiarity,
    plain_idf,
    recency,
    relative_frequency,
    smooth_share,
)
from pmem.core.retrieval.collection import CollectionStatistics
from pmem.core.retrieval.evidence import Accept
from pmem.core.retrieval.ranked import RankedDocument
from pmem.core.retrieval.ranking import Ranking
from pmem.core.retrieval.ranking_settings import Weights
from pmem.core.text.terms import terms
from pmem.errors import InvalidValue


def rank_by_sum(
    question: str,
    statistics: CollectionStatistics,
    weights: Weights,
    *,
    now: float,
    accept: Accept | None = None,
    limit: int | None = None,
) -> Ranking:
    """Return the documents that hold a word of the question by S2's weighted sum, best first.

    score = sum of weight * signal / sum of weights. The signals of a hit are its summands.

    Raises:
        InvalidValue: all weights are 0, or one is below.
    """
    if min(weights) < 0 or not sum(weights):
        raise InvalidValue("the weights must be 0 or more, and not all of them 0")
    semantic, keyword, shared = _lexical(question, statistics)
    found = sorted(keyword) if accept is None else sorted(accept(keyword.keys()))
    hits = []
    for number, document in statistics.documents(found).items():
        values = (
            semantic[number],
            keyword[number],
            recency(now - document.timestamp),
            document.importance,
            familiarity(document.accesses),
        )
        hits.append(_summed(number, weights, values))
    hits.sort(key=lambda hit: (-hit.score, hit.number))
    return Ranking(hits[:limit], len(hits), shared)


def _summed(number: int, weights: Weights, values: Sequence[float]) -> RankedDocument:
    whole = sum(weights)
    parts = [weight * value / whole for weight, value in zip(weights, values, strict=True)]
    return RankedDocument(number, sum(parts), dict(zip(weights._fields, parts, strict=True)))


def _lexical(
    question: str, statistics: CollectionStatistics
) -> tuple[dict[int, float], dict[int, float], dict[int, tuple[float, ...]]]:
    """TF-IDF relative to the attainable, share of words held, and their idfs, by document.

    tf(t, d) = count / highest count in d, idf(t) = log(N / n): specification S2, "TF-IDF Index".
    """
    words = list(dict.fromkeys(terms(question)))
    found = {word: statistics.postings(word) for word in words}
    size = statistics.totals().documents
    rarity = {word: plain_idf(size, len(postings)) for word, postings in found.items()}
    attainable = sum(rarity.values())
    peaks = statistics.documents(sorted(set[int]().union(*found.values())))
    semantic = dict.fromkeys(peaks, 0.0)
    held: dict[int, tuple[float, ...]] = dict.fromkeys(peaks, ())
    for word in words:
        for number, frequency in found[word].items():
            weight = relative_frequency(frequency, peaks[number].peak) * rarity[word]
            semantic[number] += weight
            held[number] += (rarity[word],)
    shares = {number: len(idfs) / len(words) for number, idfs in held.items()}
    return {n: smooth_share(value, attainable) for n, value in semantic.items()}, shares, held
