"""Ranking: BM25 evidence from a message, its neighbours and its session, then rules and priors.

score = (text + neighbours + session) * product of factors, every factor within (0, 1]. Each hit
carries these parts as `signals`, and `total` computes the score from them again, to the bit.
"""

import heapq
from collections.abc import Collection, Iterable, Mapping
from math import sqrt
from typing import TYPE_CHECKING, NamedTuple

from msgspec.structs import replace

from pmem.core.retrieval.bm25 import familiarity, recency, smooth_share, substance
from pmem.core.retrieval.collection import CollectionStatistics, Document
from pmem.core.retrieval.evidence import (
    Accept,
    Constants,
    Evidence,
    Scorer,
    bm25_scores,
    gather,
)
from pmem.core.retrieval.letters import alike_by_letters
from pmem.core.retrieval.named import named_by
from pmem.core.retrieval.question import QuestionPlan, plan_question
from pmem.core.retrieval.ranking_settings import DEFAULTS, RankingSettings
from pmem.core.retrieval.relations import Links, boosts
from pmem.core.retrieval.signals import (
    ASSISTANT,
    CALL,
    INSIGHT,
    NUMBER,
    ONLY_ASKS,
    QUESTION,
    QUOTED,
    RESULT,
    TIME,
    TOOLS,
    holds_phrase,
)
from pmem.core.text.terms import sequence

if TYPE_CHECKING:
    from pmem.core.retrieval.meaning import Nearness

Parts = tuple[float, float, float]  # in the order of ADDED
ADDED = ("text", "neighbours", "session")
FACTORS = (
    "speaker", "elsewhere", "time", "number", "quoted", "question", "substance", "bulk", "phrase",
    "exact", "insight", "role", "prior", "letters", "meaning", "repeat",
)  # fmt: skip
SAID = "message"  # the kind of what somebody said
DIGITS = 12  # of a score
EVERY = 2**62  # more documents than there can be
SLACK = 1e-9  # within which scores are not told apart before they are exact
WITHIN = 0.5  # share of an identifier that a message holds within a longer one
BATCH = 100  # texts that are read at once
POOL = 200  # hits, at least, among which several sessions are mixed


class RankedDocument(NamedTuple):
    """A ranked document: its number, its score in [0, 1] and the parts of the score."""

    number: int
    score: float
    signals: dict[str, float]


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
    constants = _as_broad_as(chosen or settings.constants, limit)
    evidence = gather(plan, statistics, constants, accept, score, hidden)
    parts = _additional_parts(evidence, settings)
    if accept is not None:
        passed = set(accept(parts.keys()))
        parts = {number: part for number, part in parts.items() if number in passed}
    judge = _QuestionScorer(plan, statistics, settings, evidence, parts, now, links)
    wanted = len(parts) if limit is None else limit
    whole = len(parts) + len(evidence.beyond - parts.keys())
    mixes = plan.several and bool(evidence.sessions) and settings.repeat != 1.0
    closely = not plan.is_english if closely is None else closely
    spelt = constants.spelt if closely else 0
    further = max(POOL, 2 * wanted) if mixes or nearness is not None else wanted
    pool = _best(judge, parts, max(further, spelt))
    if spelt:
        pool = _by_letters(question, pool, statistics, constants)
    if nearness is not None:
        pool = _by_meaning(pool, evidence, nearness, settings.meaning)
    if mixes:
        pool = _mixed(pool, evidence.documents, settings.repeat, wanted)
    words = (*plan.asked, *(name.term for name in plan.names))
    hits = pool[:wanted]
    return Ranking(hits, whole, {one.number: evidence.shared(words, one.number) for one in hits})


def _as_broad_as(constants: Constants, limit: int | None) -> Constants:
    """Look at as many documents as are wanted, at least; None wants all."""
    return replace(constants, breadth=max(constants.breadth, EVERY if limit is None else limit))


def total(signals: Mapping[str, float]) -> float:
    """Return the score that these parts add up to: the sum of ADDED times all of FACTORS.

    By `nearness`, a share, it comes nearer to 1.
    Rounded, so that equals stay equal when their parts were summed in another order.
    """
    score = _sum((signals["text"], signals["neighbours"], signals["session"]))
    for name in FACTORS:
        score *= signals.get(name, 1.0)
    score += signals.get("nearness", 0.0) * (1.0 - score)
    return round(score, DIGITS)


def _sum(parts: Parts) -> float:
    return parts[0] + parts[1] + parts[2]


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


class _QuestionScorer:
    """The factors of one question, applied to one document at a time."""

    __slots__ = (
        "_asked",
        "_documents",
        "_held",
        "_links",
        "_named",
        "_now",
        "_phrased",
        "_plan",
        "_present",
        "_roomy",
        "_settings",
    )

    def __init__(
        self,
        plan: QuestionPlan,
        statistics: CollectionStatistics,
        settings: RankingSettings,
        evidence: Evidence,
        parts: Mapping[int, Parts],
        now: float | None,
        links: Links | None,
    ) -> None:
        self._plan = plan
        self._settings = settings
        self._documents = evidence.documents
        self._now = now
        self._links = links
        asked = {term: evidence.held[term].keys() for term in plan.asked if evidence.held[term]}
        self._asked = set(parts).intersection(*asked.values()) if len(asked) > 1 else set[int]()
        sums = {number: _sum(added) for number, added in parts.items()}
        self._named = named_by(plan, asked.keys(), evidence.documents, sums, settings)
        self._present = frozenset(
            key
            for key, session in evidence.sessions.items()
            if not plan.speakers.isdisjoint(session.speakers)
        )
        self._phrased = _phrased(plan, statistics, parts)
        self._held = _share_of_keys_held(plan, statistics, parts)
        self._roomy = {
            kind: settings.constants.room * length / count
            for kind, (count, length) in statistics.totals().lengths.items()
            if count
        }

    def signals(self, number: int, added: Parts) -> dict[str, float]:
        """Return the additive parts with every factor that is not 1.

        Links are taken to be as strong as can be; `linked` looks at them.
        """
        document = self._documents[number]
        factors = {
            "speaker": self._named.factor(document),
            "elsewhere": self._elsewhere(document),
            "phrase": self._phrase(number),
            "prior": self._prior(document, 0.0 if self._links is None else 1.0),
            **self._traits(document),
        }
        signals = dict(zip(ADDED, added, strict=True))
        signals.update((name, value) for name, value in factors.items() if value != 1.0)
        return signals

    def certain(self, hit: RankedDocument) -> float:
        """Return what a hit scores at the least, whatever its links."""
        whole = sum(self._settings.merits)
        if self._links is None or not whole:
            return hit.score
        prior = hit.signals.get("prior", 1.0)
        boost = self._settings.prior * self._settings.merits[-1] / whole
        return hit.score * (1.0 - boost / prior)

    def linked(self, hits: list[RankedDocument]) -> list[RankedDocument]:
        """Return hits with the priors that their links give them."""
        if self._links is None:
            return hits
        strengths = boosts(self._links([hit.number for hit in hits]))
        return [self._with_links(hit, strengths.get(hit.number, 0.0)) for hit in hits]

    def _with_links(self, hit: RankedDocument, strength: float) -> RankedDocument:
        prior = self._prior(self._documents[hit.number], strength)
        signals = {**hit.signals, "prior": prior}
        if prior == 1.0:
            del signals["prior"]
        return RankedDocument(hit.number, total(signals), signals)

    def _elsewhere(self, document: Document) -> float:
        if not self._present or document.session is None or document.session in self._present:
            return 1.0
        return 1.0 / self._settings.elsewhere

    def _phrase(self, number: int) -> float:
        missing = self._phrased is not None and number not in self._phrased
        return 1.0 / self._settings.phrase if missing else 1.0

    def _traits(self, document: Document) -> dict[str, float]:
        settings, missing = self._settings, self._plan.wanted & ~document.traits
        factors = {
            "time": 1.0 / settings.time if missing & TIME else 1.0,
            "number": 1.0 / settings.number if missing & NUMBER else 1.0,
            "quoted": 1.0 / settings.quoted if missing & QUOTED else 1.0,
            "insight": settings.insight if document.traits & INSIGHT else 1.0,
        }
        if document.kind == SAID:
            factors["question"] = self._question(document)
            factors["substance"] = substance(document.length)
            factors["exact"] = self._exact(document.number)
            factors["bulk"] = self._bulk(document)
            factors["role"] = self._role(document.traits)
        return factors

    def _question(self, document: Document) -> float:
        """Less than 1 for a question, far less where a person does nothing but ask the same."""
        if not document.traits & QUESTION:
            return 1.0
        only_asks = document.traits & ONLY_ASKS and not document.traits & (ASSISTANT | TOOLS)
        is_same = only_asks and document.number in self._asked
        return self._settings.same_question if is_same else self._settings.question

    def _role(self, said: int) -> float:
        """Less than 1 for what no person said, unless the question asks for output."""
        if said & self._plan.wanted & TOOLS:
            return 1.0
        assistant, call, result = self._settings.roles
        if said & RESULT:
            return result
        return call if said & CALL else assistant if said & ASSISTANT else 1.0

    def _exact(self, number: int) -> float:
        """1 for those that hold most of the keys, less for every key that they alone hold."""
        if not self._held:
            return 1.0
        missing = max(self._held.values()) - self._held.get(number, 0.0)
        return float(self._settings.exact ** -sqrt(missing))

    def _bulk(self, document: Document) -> float:
        """Less than 1 for what is far longer than others: logs and listings."""
        roomy = self._roomy[document.kind]
        if document.length <= roomy:
            return 1.0
        return max(self._settings.bulk, sqrt(roomy / document.length))

    def _prior(self, document: Document, strength: float) -> float:
        """The weighted mean of recency, importance, access and links, within its share."""
        fresh = 1.0
        if self._now is not None:
            fresh = recency(self._now - document.timestamp)
        merits = (
            fresh,
            document.importance,
            familiarity(document.accesses),
            strength,
        )
        weights = self._settings.merits
        whole = sum(weights)
        if not whole:
            return 1.0
        merit = sum(weight * value for weight, value in zip(weights, merits, strict=True)) / whole
        return 1.0 - self._settings.prior * (1.0 - merit)


def _phrased(
    plan: QuestionPlan, statistics: CollectionStatistics, candidates: Iterable[int]
) -> frozenset[int] | None:
    """The candidates that hold every quoted phrase; None without a phrase."""
    if not plan.phrases:
        return None
    holders = set(candidates)
    for term in sorted({term for phrase in plan.phrases for term in phrase if term}):
        holders &= statistics.postings(term).keys()
    numbers = sorted(holders)
    return frozenset(
        number
        for start in range(0, len(numbers), BATCH)
        for number, text in statistics.texts(numbers[start : start + BATCH]).items()
        if all(holds_phrase(sequence(text), phrase) for phrase in plan.phrases)
    )


def _share_of_keys_held(
    plan: QuestionPlan, statistics: CollectionStatistics, candidates: Mapping[int, Parts]
) -> dict[int, float]:
    """The share of the keys that each candidate holds itself; those without any are left out."""
    found = [
        (_holders(key.whole, statistics, candidates), _holders(key.parts, statistics, candidates))
        for key in plan.keys
    ]
    known = [(whole, part) for whole, part in found if whole or part]
    held: dict[int, float] = {}
    for whole, part in known:
        for number in whole | part:
            share = 1.0 if number in whole or not whole else WITHIN
            held[number] = held.get(number, 0.0) + share / len(known)
    return held


def _holders(
    found: Iterable[str], statistics: CollectionStatistics, candidates: Mapping[int, Parts]
) -> set[int]:
    """The candidates that hold all these terms; none if there are no terms."""
    postings = [statistics.postings(term).keys() for term in found]
    return set(candidates).intersection(*postings) if postings else set()


def _best(judge: _QuestionScorer, parts: Mapping[int, Parts], wanted: int) -> list[RankedDocument]:
    """The `wanted` best hits.

    A score exceeds its sum by rounding at the most, so that most need no judging; and of those
    judged, only who may be among the best has its links looked at.
    """
    ordered = sorted(parts, key=lambda number: (-_sum(parts[number]), number))
    surest: list[float] = []  # the `wanted` best of the scores that are certain
    found: list[RankedDocument] = []
    for number in ordered:
        if len(surest) >= wanted and (not surest or _sum(parts[number]) < surest[0] - SLACK):
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


def _by_letters(
    question: str,
    hits: list[RankedDocument],
    statistics: CollectionStatistics,
    constants: Constants,
) -> list[RankedDocument]:
    """Rank the best hits by how alike they are to a question; the others stay below them."""
    best, weight = [hit.number for hit in hits[: constants.spelt]], constants.letters
    texts = statistics.texts(best)
    alike = alike_by_letters(question, [texts[number] for number in best])
    shares = [*alike, *[min(alike, default=0.0)] * (len(hits) - len(alike))]
    judged = [
        _with_factor(hit, "letters", (1.0 + weight * share) / (1.0 + weight))
        for hit, share in zip(hits, shares, strict=True)
    ]
    return sorted(judged, key=lambda hit: (-hit.score, hit.number))


def _by_meaning(
    hits: list[RankedDocument], evidence: Evidence, nearness: "Nearness", weight: float
) -> list[RankedDocument]:
    """Rank the best hits by their nearness in meaning too; the others stay below them."""
    from pmem.core.retrieval.meaning import (
        NEAREST,
        nearness_factors,
        turns_after,
        with_turns_after,
    )

    best, others = hits[:NEAREST], hits[NEAREST:]
    numbers = [hit.number for hit in best]
    after = turns_after(numbers, evidence.sessions.values())
    known = nearness([*dict.fromkeys([*numbers, *after.values()])])
    factors = nearness_factors(with_turns_after(numbers, after, known), weight)
    least = min(factors, default=1.0)
    judged = [
        _with_factor(hit, "meaning", factor)
        for hit, factor in zip(hits, [*factors, *[least] * len(others)], strict=True)
    ]
    return sorted(judged, key=lambda hit: (-hit.score, hit.number))


def _mixed(
    hits: list[RankedDocument], documents: Mapping[int, Document], rate: float, wanted: int
) -> list[RankedDocument]:
    """Mix sessions: each hit counts `rate` times less for every better hit of its session.

    Greedy selection in the manner of maximal marginal relevance (Carbonell and Goldstein, 1998),
    with the session in the place of textual similarity. A hit's place among those of its
    session, best first, is how often it is repeated.
    """
    sessions: dict[int, int] = {}
    mixed = []
    for hit in hits:
        session = documents[hit.number].session
        count = 0 if session is None else sessions.get(session, 0)
        if session is not None:
            sessions[session] = count + 1
        mixed.append(_with_factor(hit, "repeat", rate**count) if count else hit)
    return heapq.nsmallest(wanted, mixed, key=lambda hit: (-hit.score, hit.number))


def _with_factor(hit: RankedDocument, name: str, factor: float) -> RankedDocument:
    if factor == 1.0:
        return hit
    signals = {**hit.signals, name: factor}
    return RankedDocument(hit.number, total(signals), signals)
