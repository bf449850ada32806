"""Ranking: BM25 evidence from a message, its neighbours and its session, then rules and priors.

score = (text + neighbours + session) * product of factors, every factor within (0, 1]. Each hit
carries these parts as `signals`, and `total` computes the score from them again, to the bit.
"""

import heapq
from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING, NamedTuple

from msgspec.structs import replace

from pmem.core.retrieval.collection import CollectionStatistics, Links
from pmem.core.retrieval.evidence import Accept, Evidence, Scorer, bm25_scores, gather
from pmem.core.retrieval.factors import DEFAULTS, QuestionScorer, RankingSettings, Weights
from pmem.core.retrieval.question import plan_question
from pmem.core.retrieval.ranked import (
    Parts,
    RankedDocument,
    by_letters,
    by_meaning,
    mixed,
    sum_of,
    total,
)
from pmem.core.retrieval.signals import (
    TOOLS,
    familiarity,
    plain_idf,
    recency,
    relative_frequency,
    smooth_share,
)
from pmem.core.text.terms import terms
from pmem.errors import InvalidValue

if TYPE_CHECKING:
    from pmem.core.retrieval.meaning import Nearness

EVERY = 2**62  # more documents than there can be
SLACK = 1e-9  # within which scores are not told apart before they are exact
POOL = 200  # hits, at least, among which several sessions are mixed


class Ranking(NamedTuple):
    """The best documents, and how many speak to the question in all.

    `shared` are the idfs of the question's own words that a hit holds, or has a form of, by number.
    """

    hits: list[RankedDocument]
    total: int
    shared: Mapping[int, tuple[float, ...]] = {}


def rank(
    question: str,
    statistics: CollectionStatistics,
    settings: RankingSettings = DEFAULTS,
    *,
    now: float | None = None,
    accept: Accept | None = None,
    limit: int | None = None,
    score: Scorer = bm25_scores,
    links: Links | None = None,
    hidden: Collection[int] = (),
    nearness: "Nearness | None" = None,
    closely: bool | None = True,
) -> Ranking:
    """Return the documents that speak to a question, best first, ties by ascending number.

    Args:
        question: any text; without a word to look for, nothing is found.
        statistics: the collection.
        settings: weights.
        now: seconds since 1970 for recency; None leaves recency out.
        accept: filter of documents; what it rejects still counts as a neighbour.
        limit: how many hits at most; None for all.
        score: computes BM25 scores.
        links: knows how documents are linked; None links nothing.
        hidden: documents that do not even count as neighbours.
        nearness: knows how near documents are in meaning; None asks nothing.
        closely: whether the best are compared with the question by their letters; None compares
            them unless it surely is English.
    """
    plan = plan_question(question, statistics.speakers(), settings.related)
    chosen = settings.constants if plan.is_english else settings.not_english
    constants = chosen or settings.constants
    least = EVERY if limit is None else limit  # as many documents as are wanted are looked at
    constants = replace(constants, breadth=max(constants.breadth, least))
    evidence = gather(plan, statistics, constants, accept, score, hidden)
    parts = _additional_parts(evidence, settings)
    if accept is not None:
        passed = set(accept(parts.keys()))
        parts = {number: part for number, part in parts.items() if number in passed}
    judge = QuestionScorer(plan, statistics, settings, evidence, parts, now, links)
    wanted = len(parts) if limit is None else limit
    whole = len(parts) + len(evidence.beyond - parts.keys())
    mixes = plan.several and bool(evidence.sessions) and settings.repeat != 1.0
    closely = not plan.is_english if closely is None else closely
    spelt = constants.spelt if closely else 0
    further = max(POOL, 2 * wanted) if mixes or nearness is not None else wanted
    pool = _best(judge, parts, max(further, spelt))
    if spelt:
        pool = by_letters(question, pool, statistics, constants)
    if nearness is not None:
        pool = by_meaning(pool, evidence, nearness, settings.meaning)
    if mixes:
        pool = mixed(pool, evidence.documents, settings.repeat, wanted)
    words = (*plan.asked, *(name.term for name in plan.names))
    hits = pool[:wanted]
    return Ranking(hits, whole, {one.number: evidence.shared(words, one.number) for one in hits})


def _additional_parts(evidence: Evidence, settings: RankingSettings) -> dict[int, Parts]:
    """The parts ADDED of every candidate, together at most 1.

    Each kind of evidence is taken relative to its maximum. The whole is scaled by how much of the
    question the best document holds, so that scores of different questions can be compared.
    A document without a session is its own window and its own session. What tools were told and
    answered is not found by its neighbours alone.
    """
    best = {
        "text": max(evidence.text.values(), default=0.0) or 1.0,
        "neighbours": max(evidence.window.values(), default=0.0) or 1.0,
        "session": max(evidence.session.values(), default=0.0) or 1.0,
    }
    whole = 1.0 + settings.neighbours + settings.session
    scale = smooth_share(best["text"], evidence.attainable) / whole
    text, near, session = (
        scale / best["text"],
        scale * settings.neighbours / best["neighbours"],
        scale * settings.session / best["session"],
    )
    parts: dict[int, Parts] = {}
    near_ones = evidence.window.keys() if settings.reply else set[int]()
    for number in sorted(evidence.text.keys() | near_ones):
        said_in = evidence.documents[number].session
        own = evidence.text.get(number, 0.0) * text
        if not own and evidence.documents[number].traits & TOOLS:
            continue
        if said_in is None or said_in not in evidence.sessions:
            parts[number] = (own * whole, 0.0, 0.0)
        else:
            window, around = evidence.window.get(number, 0.0), evidence.session.get(said_in, 0.0)
            parts[number] = (own, window * near, around * session)
    return parts


def _best(judge: QuestionScorer, parts: Mapping[int, Parts], wanted: int) -> list[RankedDocument]:
    """The `wanted` best hits.

    A score exceeds its sum by rounding at the most, so that most need no judging; and of those
    judged, only who may be among the best has its links looked at.
    """
    ordered = sorted(parts, key=lambda number: (-sum_of(parts[number]), number))
    surest: list[float] = []  # the `wanted` best of the scores that are certain
    found: list[RankedDocument] = []
    for number in ordered:
        if len(surest) >= wanted and (not surest or sum_of(parts[number]) < surest[0] - SLACK):
            break
        signals = judge.signals(number, parts[number])
        hit = RankedDocument(number, total(signals), signals)
        if hit.score <= 0.0:
            continue
        found.append(hit)
        heapq.heappush(surest, judge.certain(hit))
        if len(surest) > wanted:
            heapq.heappop(surest)
    close = judge.linked([hit for hit in found if hit.score >= surest[0] - SLACK])
    ranked = sorted(close, key=lambda hit: (-hit.score, hit.number))
    return [hit for hit in ranked[:wanted] if hit.score > 0.0]


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
    whole = sum(weights)
    if min(weights) < 0 or not whole:
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
        parts = [weight * value / whole for weight, value in zip(weights, values, strict=True)]
        signals = dict(zip(weights._fields, parts, strict=True))
        hits.append(RankedDocument(number, sum(parts), signals))
    hits.sort(key=lambda hit: (-hit.score, hit.number))
    return Ranking(hits[:limit], len(hits), shared)


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
