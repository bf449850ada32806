"""Our BM25 against rank-bm25, which stays the reference."""

import random
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pmem.core.retrieval.evidence import bm25_scores
from pmem.core.retrieval.pool import okapi_scores
from pmem.core.retrieval.question import QueryTerm
from pmem.core.retrieval.ranking import rank
from pmem.core.retrieval.signals import (
    DAY,
    confidence,
    familiarity,
    idf,
    length_norm,
    plain_idf,
    recency,
    relative_frequency,
    saturation,
    smooth_share,
    substance,
)
from tests.core.retrieval.stores import NOW, QUESTIONS, random_store, store_of

WORDS = "abcdefgh"
Held = dict[str, dict[int, float]]
Norms = dict[int, float]


def counted(corpus: Sequence[Sequence[str]], k1: float, b: float) -> tuple[Held, Norms]:
    """Return what our formula needs to know of a corpus."""
    average = sum(map(len, corpus)) / len(corpus) if corpus else 0.0
    norms = {n: length_norm(len(text), average, k1, b) for n, text in enumerate(corpus)}
    held = {
        word: {n: float(text.count(word)) for n, text in enumerate(corpus) if word in text}
        for word in WORDS
    }
    return held, norms


corpora = st.lists(st.lists(st.sampled_from(WORDS), min_size=1, max_size=30), max_size=40)
saturations = st.sampled_from([0.0001, 0.9, 1.2, 1.5, 3.0])
shares = st.sampled_from([0.0, 0.2, 0.75, 1.0])


weighted = st.lists(
    st.tuples(st.sampled_from(WORDS), st.floats(0.01, 3), st.sampled_from(WORDS)),
    unique_by=lambda term: term[0],
    max_size=6,
)


@pytest.mark.row("S2.7.3")
@given(
    corpus=st.one_of(corpora, corpora.map(lambda found: found[:2])),
    wanted=weighted,
    k1=saturations,
    b=shares,
)
def test_rank_bm25_computes_what_our_formula_does(
    corpus: list[list[str]], wanted: list[tuple[str, float, str]], k1: float, b: float
) -> None:
    """Weighted and related words included; a related word never counts as rarer than its source."""
    held, norms = counted(corpus, k1, b)
    rarity = {word: idf(len(corpus), len(found)) for word, found in held.items()}
    query = [QueryTerm(*term) for term in wanted]
    ours = bm25_scores(query, held, rarity, norms, k1)
    reference = okapi_scores(query, held, rarity, norms, k1)
    assert ours == reference  # to the last bit


@pytest.mark.parametrize("size", [0, 1, 2, 3, 60])
@pytest.mark.parametrize("question", QUESTIONS)
def test_whole_rankings_agree_whoever_computes_the_scores(size: int, question: str) -> None:
    for seed in range(4):
        store = random_store(seed, size)
        ours = rank(question, store, now=NOW)
        reference = rank(question, store, now=NOW, score=okapi_scores)
        assert ours == reference  # to the last bit


def test_ties_of_sums_in_another_order_stay_ties() -> None:
    """Sums of the same parts in another order differ in their last bits, documents by number."""
    chance = random.Random(3)
    words = ["apple", "river", "stone", "cloud", "lamp"]
    texts = [" ".join(chance.sample(words, 5)) for _ in range(30)]
    store = store_of(texts)
    for score in (bm25_scores, okapi_scores):
        hits = rank("lamp cloud apple stone river", store, score=score).hits
        assert [hit.number for hit in hits] == list(range(30))


@given(documents=st.integers(0, 10**7), share=st.floats(0, 1))
def test_the_inverse_document_frequency_is_positive_and_falls(documents: int, share: float) -> None:
    containing = int(documents * share)
    assert idf(documents, containing) > 0
    assert idf(documents, containing) >= idf(documents, min(containing + 1, documents))


@given(frequency=st.floats(0, 1e6), norm=st.floats(1e-3, 1e3), k1=st.floats(0.001, 3))
def test_saturation_grows_up_to_its_bound(frequency: float, norm: float, k1: float) -> None:
    assert 0 <= saturation(frequency, norm, k1) <= k1 + 1
    assert saturation(frequency, norm, k1) <= saturation(frequency + 1, norm, k1)


def test_the_small_formulas_keep_their_bounds() -> None:
    assert [recency(age * DAY, 30.0) for age in (-9, 0, 30, 60)] == [1.0, 1.0, 0.5, 0.25]
    assert familiarity(0) == familiarity(-3) == 0.0
    assert 0.0 < familiarity(1) < familiarity(10**9) < 1.0
    assert (plain_idf(8, 0), plain_idf(8, 8)) == (0.0, 0.0)
    assert (relative_frequency(2.0, 4.0), relative_frequency(0.0, 0.0)) == (0.5, 0.0)
    assert [confidence(ratio, 0.7, 1.0) for ratio in (0.0, 0.7, 1.0, 9.0)] == [0.0, 0.0, 1.0, 1.0]
    assert substance(0.0) == substance(1.0) < substance(40.0) == substance(900.0) == 1.0
    assert [smooth_share(part, 2.0) for part in (-1.0, 1.0, 3.0)] == [0.0, 0.5, 1.0]
    assert smooth_share(1.0, 0.0) == 0.0
    assert length_norm(7.0, 0.0, 1.2, 0.75) == pytest.approx(1.2)
