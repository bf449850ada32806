"""From a question to a plan of what to look for. Pure."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from pmem.core.retrieval.related import related
from pmem.core.retrieval.signals import (
    NUMBER,
    QUOTED,
    TIME,
    asks_how_many,
    asks_several,
    asks_what,
    asks_when,
)
from pmem.core.text import parse_query

MAX_TERMS = 256  # distinct terms of a question; the rest of a pasted text is ignored
MAX_EXPANDED = 32  # terms whose related words are looked for
ROLES = frozenset({"user", "assistant", "system", "tool", "human", "ai", "bot", "model"})


class QueryTerm(NamedTuple):
    """A term to look for.

    Attributes:
        term: the term.
        weight: 1 for a word of the question, less for a related word.
        source: the word of the question it stands for; never counts as rarer than that one.
    """

    term: str
    weight: float
    source: str


class Plan(NamedTuple):
    """A question, ready to be ranked.

    Attributes:
        terms: what to look for in every document, words of the question first.
        names: the terms that name a speaker; looked for only in documents nobody said.
        speakers: whom the question names.
        phrases: quoted phrases as terms.
        wanted: bits of `signals` that an answer probably shows.
        several: whether the answer is likely spread over several sessions.
    """

    terms: tuple[QueryTerm, ...]
    names: tuple[QueryTerm, ...]
    speakers: frozenset[str]
    phrases: tuple[tuple[str, ...], ...]
    wanted: int
    several: bool

    @property
    def everything(self) -> tuple[QueryTerm, ...]:
        """All terms, those of names last."""
        return self.terms + self.names


def plan_question(
    question: str, speakers: Mapping[str, Sequence[str]], related_weight: float
) -> Plan:
    """Plan the search for a question.

    Names of speakers are a field, not text: they leave the terms, unless nothing else remains.

    Args:
        question: any text.
        speakers: for each term of a speaker's name, the speakers it may mean.
        related_weight: weight of related words; 0 leaves them out.
    """
    query = parse_query(question)
    distinct = list(dict.fromkeys(query.terms))[:MAX_TERMS]
    names = [term for term in distinct if term in speakers and term not in ROLES]
    words = [term for term in distinct if term not in names]
    if not words:
        words, names = names, []
    return Plan(
        terms=tuple(_direct(words) + _related(words, set(distinct), related_weight)),
        names=tuple(_direct(names)),
        speakers=frozenset(speaker for name in names for speaker in speakers[name]),
        phrases=tuple(query.phrases),
        wanted=_wanted(question),
        several=asks_several(question),
    )


def _direct(words: Sequence[str]) -> list[QueryTerm]:
    return [QueryTerm(word, 1.0, word) for word in words]


def _related(words: Sequence[str], known: set[str], weight: float) -> list[QueryTerm]:
    """Related words not asked for already; of two sources the first one counts."""
    found: list[QueryTerm] = []
    if weight:
        for word in words[:MAX_EXPANDED]:
            fresh = [term for term in related(word) if term not in known]
            known.update(fresh)
            found += [QueryTerm(term, weight, word) for term in fresh]
    return found


def _wanted(question: str) -> int:
    wanted = TIME if asks_when(question) else QUOTED if asks_what(question) else 0
    return wanted | (NUMBER if asks_how_many(question) else 0)
