"""Whom or what a question names: people who speak, and the subjects of memories. Pure."""

from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from typing import NamedTuple

from pmem.core.retrieval.bm25 import confidence
from pmem.core.retrieval.collection import Document
from pmem.core.retrieval.question import QuestionPlan
from pmem.core.retrieval.ranking_settings import RankingSettings
from pmem.core.text.terms import terms


class Named(NamedTuple):
    """The people and subjects that a question names.

    Attributes:
        names: as documents spell them.
        is_all: whether the question says nothing but a subject.
        gain: how many times more documents of and about them count.
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
