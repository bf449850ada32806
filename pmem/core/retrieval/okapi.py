"""The BM25 part of a ranking by rank-bm25, the reference that our own formula is held to."""

from collections.abc import Mapping, Sequence

from pmem.core.retrieval.evidence import Frequencies
from pmem.core.retrieval.question import QueryTerm


def okapi_scores(
    query: Sequence[QueryTerm],
    frequencies: Frequencies,
    rarity: Mapping[str, float],
    norms: Mapping[int, float],
    k1: float,
) -> dict[int, float]:
    """Return what `evidence.bm25_scores` returns, computed by rank-bm25.

    Its own inverse document frequency turns negative for words in more than half of the
    documents, so ours is put in its place; so are our lengths, which it would take from texts.
    With its own k1 at 1 it multiplies by nothing but powers of two, which rounds nowhere: the
    scores are those of our own formula to the last bit.
    """
    units = sorted({unit for term in query for unit in frequencies[term.term]})
    if not units:
        return {}
    import numpy
    from rank_bm25 import BM25Okapi

    model = BM25Okapi.__new__(BM25Okapi)
    model.k1, model.b, model.avgdl, model.corpus_size = 1.0, 1.0, 1.0, len(units)
    model.doc_len = numpy.array([norms[unit] for unit in units])
    model.doc_freqs = [
        {term.term: frequencies[term.term].get(unit, 0.0) for term in query} for unit in units
    ]
    model.idf = {
        term.term: term.weight * _rarity(term, frequencies, rarity) * (k1 + 1.0) / 2.0
        for term in query
    }
    scores = model.get_scores([term.term for term in query])
    return dict(zip(units, map(float, scores), strict=True))


def _rarity(term: QueryTerm, frequencies: Frequencies, rarity: Mapping[str, float]) -> float:
    """A related word never counts as rarer than the word that it stands for."""
    if frequencies[term.source]:
        return min(rarity[term.term], rarity[term.source])
    return rarity[term.term]
