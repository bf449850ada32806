"""What a document's score is multiplied by: each sign, and how much it counts."""

from collections.abc import Iterable, Mapping
from collections.abc import Set as AbstractSet
from math import sqrt
from typing import Final, NamedTuple

import msgspec
from msgspec.structs import replace

from pmem.core.retrieval.collection import CollectionStatistics, Document, Links, boosts
from pmem.core.retrieval.evidence import Bm25, Constants, Evidence
from pmem.core.retrieval.question import QuestionPlan
from pmem.core.retrieval.ranked import ADDED, Parts, RankedDocument, sum_of, total
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
    confidence,
    familiarity,
    holds_phrase,
    recency,
    substance,
)
from pmem.core.text.terms import sequence, terms
from pmem.values.config import Settings


class RankingSettings(msgspec.Struct, frozen=True):
    """Weights of the ranking.

    `neighbours` and `session` weigh a score relative to its maximum against that of single
    documents, which has weight 1. The gains say how many times more a document counts that shows
    the sign; `question` and `repeat` how many times less.

    Attributes:
        constants: BM25 constants and the weights of neighbouring turns.
        not_english: the same where a question is not surely English; None for no others.
        neighbours, session: weights of windows and sessions.
        reply: whether what holds no word of the question is found beside what does.
        related: weight of a related word against a word of the question.
        speaker: gain of messages of the person whom the question names, and of memories about it.
        elsewhere: gain of sessions in which the named person takes part.
        trust: ratio of the best score of the named person to that of others: from no gain
            (first) to all of it (second). It limits the harm of a wrong name.
        time, number, quoted: gains where the question asks for a time, a number, a name or title.
        question: factor of messages that are questions themselves.
        same_question: factor of a person's question that has every word of this one.
        phrase: gain of documents with the quoted phrase.
        exact: gain of messages that hold every key of the question themselves.
        insight: factor of insights, which nobody said.
        roles: factors of what assistants said, tools were told, and tools answered.
        bulk: the least factor of messages longer than `constants.room` averages.
        meaning: what one standard deviation of nearness in meaning is worth, as a logarithm.
        repeat: factor for each better hit of the same session, if an answer has several parts.
        prior: the most that recency, importance, access and links take away.
        merits: how these four are weighed among each other.
    """

    constants: Constants = Constants()
    not_english: Constants | None = None
    neighbours: float = 3.0
    session: float = 1.4
    reply: bool = True
    related: float = 0.35
    speaker: float = 1.7
    elsewhere: float = 3.0
    trust: tuple[float, float] = (0.7, 1.0)
    time: float = 1.8
    number: float = 1.35
    quoted: float = 1.2
    question: float = 0.85
    same_question: float = 0.01
    phrase: float = 2.0
    exact: float = 10.0
    bulk: float = 0.5
    insight: float = 0.5
    roles: tuple[float, float, float] = (0.9, 0.7, 0.66)
    meaning: float = 0.15
    repeat: float = 0.9
    prior: float = 0.02
    merits: tuple[float, float, float, float] = (0.3, 0.4, 0.2, 0.1)


DEFAULTS = RankingSettings()
MEMORIES = RankingSettings(
    Constants(text=Bm25(1.2, 0.75), crowd=50, letters=0.8, spelt=20),
    not_english=Constants(text=Bm25(0.9, 0.4), rarity=1.5, crowd=50, letters=1.0, spelt=30),
    neighbours=0.5,
    session=0.5,
    reply=False,
    time=1.3,
    repeat=1.0,
)
"""How memories are ranked: each stands alone, or with the few that were written along with it."""


class Weights(NamedTuple):
    """Weights of the signals, 0 or more; only their ratios count.

    `semantic` is TF-IDF of the words of the question, `keyword` the share of them that a document
    holds; recency has a half-life of 30 days.
    """

    semantic: float = 0.4
    keyword: float = 0.3
    recency: float = 0.2
    importance: float = 0.1
    access: float = 0.0


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


def measured(settings: Settings, kind: str) -> RankingSettings:
    """Return the measured weights of a kind with the project's priors."""
    measured = MEMORIES if kind == "memory" else DEFAULTS
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


class Named(NamedTuple):
    """The people and subjects that a question names, as documents spell them.

    `is_all` tells whether it says nothing but a subject, `gain` how many times more documents of
    and about them count.
    """

    names: frozenset[str]
    is_all: bool
    gain: float

    def factor(self, document: Document) -> float:
        """Return less than 1 for what others say, and for memories on something else."""
        person = _person(document)
        is_other = person not in self.names if person else self.is_all
        return 1.0 / self.gain if is_other else 1.0


def named_by(
    plan: QuestionPlan,
    words: AbstractSet[str],
    documents: Mapping[int, Document],
    sums: Mapping[int, float],
    settings: RankingSettings,
) -> Named:
    """Return whom and what a question names.

    A subject that has every word cannot be the wrong one: then memories on it count as many times
    more as puts the best of them first.
    """
    subjects = {documents[number].about for number in sums} - {""}
    topics = frozenset(name for name in subjects if words and words <= set(terms(name)))
    names = topics or _names(plan, documents)
    if not names:
        return Named(names, is_all=False, gain=1.0)
    named = others = 0.0
    for number, whole in sums.items():
        person = _person(documents[number])
        if person in names:
            named = max(named, whole)
        elif person or topics:
            others = max(others, whole)
    if topics:
        gain = max(settings.speaker, others / (named * (1.0 - settings.prior)))
    else:
        trust = confidence(named / others, *settings.trust) if others else 1.0
        gain = 1.0 + (settings.speaker - 1.0) * trust
    return Named(names, bool(topics), gain)


def _names(plan: QuestionPlan, documents: Mapping[int, Document]) -> frozenset[str]:
    """Whom the question names: speakers, and the subjects of memories.

    A subject is text as well: it may be a thing as much as a person.
    """
    asked = set(plan.asked)
    subjects = {document.about for document in documents.values()} - {""}
    return plan.speakers.union(name for name in subjects if not asked.isdisjoint(terms(name)))


def _person(document: Document) -> str:
    return document.speaker or document.about


SAID = "message"  # the kind of what somebody said
WITHIN = 0.5  # share of an identifier that a message holds within a longer one
BATCH = 100  # texts that are read at once


class QuestionScorer:
    """The factors of one question, applied to one document at a time."""

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
        sums = {number: sum_of(added) for number, added in parts.items()}
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
        document, settings = self._documents[number], self._settings
        said_in, present = document.session, self._present
        is_absent = bool(present) and said_in is not None and said_in not in present
        lacks_phrase = self._phrased is not None and number not in self._phrased
        factors = {
            "speaker": self._named.factor(document),
            "elsewhere": 1.0 / settings.elsewhere if is_absent else 1.0,
            "phrase": 1.0 / settings.phrase if lacks_phrase else 1.0,
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
        linked = []
        for hit in hits:
            prior = self._prior(self._documents[hit.number], strengths.get(hit.number, 0.0))
            signals = {**hit.signals, "prior": prior}
            if prior == 1.0:
                del signals["prior"]
            linked.append(RankedDocument(hit.number, total(signals), signals))
        return linked

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
        fresh = 1.0 if self._now is None else recency(self._now - document.timestamp)
        merits = (fresh, document.importance, familiarity(document.accesses), strength)
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
