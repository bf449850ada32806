"""BM25 over single documents, windows of neighbours and sessions, from one set of postings."""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import NamedTuple

import msgspec

from pmem.core.retrieval.collection import CollectionStatistics, Document, SessionDocuments, Totals
from pmem.core.retrieval.forms import with_forms
from pmem.core.retrieval.question import QueryTerm, QuestionPlan
from pmem.core.retrieval.signals import idf, length_norm, saturation

Frequencies = Mapping[str, Mapping[int, float]]  # term -> unit (document, session) -> frequency

OFTEN = 2.0  # times that a word of one message counts in a window


class Bm25(msgspec.Struct, frozen=True):
    """The two constants of BM25: saturation `k1` and length normalisation `b`."""

    k1: float
    b: float


class Structure(msgspec.Struct, frozen=True):
    """How far the turns around a message speak for it.

    Attributes:
        before: weight of the turn before, of the one before that, and so on.
        after: the same for the turns after.
    """

    before: tuple[float, ...] = (1.0, 0.5)
    after: tuple[float, ...] = (0.3, 0.15)

    def reach(self) -> list[tuple[int, float]]:
        """Return (offset, weight) of every message that a message speaks for."""
        forward = [(step, weight) for step, weight in enumerate(self.before, start=1)]
        backward = [(-step, weight) for step, weight in enumerate(self.after, start=1)]
        return [*reversed(backward), (0, 1.0), *forward]

    def total(self) -> float:
        """Return the sum of all weights, the message itself included."""
        return 1.0 + sum(self.before) + sum(self.after)


class Constants(msgspec.Struct, frozen=True):
    """Settings of the three BM25 indexes.

    Attributes:
        text, window, whole: the constants for documents, windows and sessions.
        structure: the weights within a window.
        rarity: the power of a word's rarity: above 1, words that every other text has count less,
            as stop words do that no list knows.
        room: how many times the average length a message may have. What is longer, such as a
            log, counts in windows as a sample of that length would.
        breadth: of how many of the best documents the sessions are looked at, at least. Only a
            question that matches more than that many is affected.
        crowd: how many documents a session may hold to be looked at; None for any number.
            Memories that are written by the hundred were imported, and are no company.
        letters: weight of how alike the best documents are to the question by their letters.
        spelt: how many of the best are compared so.
    """

    text: Bm25 = Bm25(0.9, 0.2)
    window: Bm25 = Bm25(1.0, 0.8)
    whole: Bm25 = Bm25(1.2, 1.0)
    structure: Structure = Structure()
    rarity: float = 1.0
    room: float = 3.0
    breadth: int = 200
    crowd: int | None = None
    letters: float = 0.0
    spelt: int = 0


class Evidence(NamedTuple):
    """BM25 scores of everything that holds a term of the question or stands near one that does.

    Attributes:
        documents: the facts of all scored documents.
        sessions: their sessions.
        text: score of each document that holds a term.
        window: score of each message together with its neighbours.
        session: score of each session.
        attainable: the text score of a document as long as the best one that holds every word of
            the question.
        held: for each term, the documents that hold it, of those that were looked at.
        idfs: `bm25.idf` of each term in the whole collection, its forms with it.
        rarity: what ranks by them.
        share: the share of a term's documents that `held` has.
        beyond: documents that hold a term, but are not among the `breadth` best.
    """

    documents: Mapping[int, Document]
    sessions: Mapping[int, SessionDocuments]
    held: Frequencies
    idfs: Mapping[str, float]
    rarity: Mapping[str, float]
    share: Mapping[str, float]
    beyond: frozenset[int]
    text: Mapping[int, float] = {}
    window: Mapping[int, float] = {}
    session: Mapping[int, float] = {}
    attainable: float = 0.0

    def shared(self, words: Iterable[str], number: int) -> tuple[float, ...]:
        """Return the idf of each of some words that a document holds."""
        return tuple(self.idfs[word] for word in words if number in self.held[word])


Accept = Callable[[Collection[int]], Collection[int]]
"""Returns those of the documents with these numbers that filters let pass."""

Scorer = Callable[
    [Sequence[QueryTerm], Frequencies, Mapping[str, float], Mapping[int, float], float],
    dict[int, float],
]
"""Computes BM25 scores: `bm25_scores`, or another with the same result."""


def bm25_scores(
    query: Sequence[QueryTerm],
    frequencies: Frequencies,
    rarity: Mapping[str, float],
    norms: Mapping[int, float],
    k1: float,
) -> dict[int, float]:
    """Return the BM25 score of every unit that holds a term.

    The sum over terms of idf * saturation (`bm25.saturation`, written out for speed and in the
    order of `okapi_scores`, whose bits it has). A related word is never weighed as rarer than the
    word it stands for.

    Args:
        query: terms in the order in which their parts are summed.
        frequencies: for each term, the units that hold it.
        rarity: `bm25.idf` of each term.
        norms: `bm25.length_norm` of each unit.
        k1: BM25's saturation.
    """
    scores: dict[int, float] = {}
    for term in query:
        gain = term.weight * term.rarity(rarity, frequencies) * (k1 + 1.0)
        for unit, frequency in frequencies[term.term].items():
            part = gain * (frequency / (frequency + norms[unit]))
            scores[unit] = scores.get(unit, 0.0) + part
    return scores


def gather(
    plan: QuestionPlan,
    statistics: CollectionStatistics,
    constants: Constants,
    accept: Accept | None = None,
    score: Scorer = bm25_scores,
    hidden: Collection[int] = (),
) -> Evidence:
    """Score documents, windows and sessions for a plan.

    Costs time in proportion to the postings of the plan's terms, never to the collection; facts
    of documents are read only for the sessions of the `breadth` best.

    Args:
        plan: what to look for.
        statistics: the collection.
        constants: settings of BM25.
        accept: filter of the documents that choose those sessions; None accepts all.
        score: computes BM25 scores.
        hidden: documents that do not even count as neighbours.
    """
    totals = statistics.totals()
    found = _find(plan, statistics, totals, constants, accept, frozenset(hidden))
    around = _Around(found.sessions, totals, constants)
    windows = {term: around.spread(held) for term, held in found.held.items()}
    whole = {
        term: _by_session(held, found.documents, found.sessions)
        for term, held in found.held.items()
    }
    reached = {number for held in windows.values() for number in held}
    documents = dict(found.documents)
    documents.update(statistics.documents(sorted(reached - documents.keys())))
    norms = _single_norms(found.documents, totals, constants.text)
    text = score(plan.everything, found.held, found.rarity, norms, constants.text.k1)
    return found._replace(
        documents=documents,
        text=text,
        window=score(
            plan.everything, windows, _rarity(windows, found.share, totals.said),
            around.norms(), constants.window.k1,
        ),
        session=score(
            plan.everything, whole, _rarity(whole, found.share, totals.sessions),
            _session_norms(found.sessions, totals, constants.whole), constants.whole.k1,
        ),
        attainable=_attainable(plan, found.rarity, text, norms, constants.text.k1),
    )  # fmt: skip


def _find(
    plan: QuestionPlan,
    statistics: CollectionStatistics,
    totals: Totals,
    constants: Constants,
    accept: Accept | None,
    hidden: frozenset[int],
) -> Evidence:
    """Find the matching documents that are worth a close look, and their sessions."""
    postings = {term.term: statistics.postings(term.term) for term in plan.everything}
    own = {term: len(held) for term, held in postings.items()}
    for term in () if plan.is_english else plan.asked:
        postings[term] = with_forms(postings[term], term, statistics)
    rarity = {
        term: _rare(totals.documents, own[term] or len(held), constants.rarity)
        for term, held in postings.items()
    }
    idfs = {term: idf(totals.documents, len(held)) for term, held in postings.items()}
    every: set[int] = set().union(*postings.values())
    if accept is not None:
        every = set(accept(every))
    matched = every
    if len(every) > constants.breadth:
        matched = _broadest(plan, postings, rarity, every, constants)
    documents = dict(statistics.documents(sorted(matched)))
    keys = {document.session for document in documents.values()}
    said_in = sorted(key for key in keys if key is not None)
    sessions = statistics.sessions(said_in, constants.crowd)
    inside = matched.union(*(session.numbers for session in sessions.values())) - hidden
    held_inside = {
        term: {number: held[number] for number in sorted(inside & held.keys())}
        for term, held in postings.items()
    }
    missing = {number for held in held_inside.values() for number in held} - documents.keys()
    documents.update(statistics.documents(sorted(missing)))
    share = {term: len(held_inside[term]) / max(len(held), 1) for term, held in postings.items()}
    for name in plan.names:  # counts only where nobody speaks
        held = held_inside[name.term]
        held_inside[name.term] = {n: c for n, c in held.items() if not documents[n].speaker}
    beyond = frozenset(every - matched)
    return Evidence(documents, sessions, held_inside, idfs, rarity, share, beyond)


def _rare(documents: int, containing: int, power: float) -> float:
    """The idf of a term to a power; a word that nothing has counts no more for that."""
    held = max(containing, 1)
    return idf(documents, containing) * float(idf(max(documents, held), held) ** (power - 1.0))


def _broadest(
    plan: QuestionPlan,
    postings: Frequencies,
    rarity: Mapping[str, float],
    matched: set[int],
    constants: Constants,
) -> set[int]:
    """The `breadth` best of the matched documents by BM25 without lengths, ties by number."""
    k1 = constants.text.k1
    parts = []
    for term in plan.everything:
        held, weight = postings[term.term], term.weight * term.rarity(rarity, postings)
        parts.append((held, {n: weight * n / (n + k1) for n in set(held.values())}))
    scores = dict.fromkeys(matched, 0.0)
    for held, gains in sorted(parts, key=lambda one: -max(one[1].values(), default=0.0)):
        for number, count in held.items():
            if number in scores:
                scores[number] += gains[count]
    last = sorted(scores.values(), reverse=True)[constants.breadth - 1]
    better = {number for number, score in scores.items() if score > last}
    equal = sorted(number for number, score in scores.items() if score == last)
    return better.union(equal[: constants.breadth - len(better)])


def _rarity(found: Frequencies, share: Mapping[str, float], units: int) -> dict[str, float]:
    """The idf of each term; where only a share of its documents was looked at, extrapolated."""
    return {
        term: idf(units, min(units, len(holders) / share[term])) if holders else idf(units, 0)
        for term, holders in found.items()
    }


class _Around:
    """The neighbours of messages: who reaches whom, and how long a window is."""

    def __init__(
        self, sessions: Mapping[int, SessionDocuments], totals: Totals, constants: Constants
    ) -> None:
        said = totals.said_length / max(totals.said, 1)
        self._sessions = sessions
        self._bm25 = constants.window
        self._reach = constants.structure.reach()
        self._average = constants.structure.total() * said
        self._room = constants.room * said
        self._places = {
            number: (session, place)
            for session in sessions.values()
            for place, number in enumerate(session.numbers)
        }

    def spread(self, found: Mapping[int, float]) -> dict[int, float]:
        """Return the weighted frequencies in the windows of all messages that a term reaches."""
        spread: dict[int, float] = {}
        for number, frequency in found.items():
            if number not in self._places:  # stands alone
                continue
            (numbers, lengths, _), place = self._places[number]
            heard = min(frequency, OFTEN) * min(1.0, self._room / (lengths[place] or 1.0))
            for offset, weight in self._reach:
                at = place + offset
                if 0 <= at < len(numbers):
                    receiver = numbers[at]
                    spread[receiver] = spread.get(receiver, 0.0) + weight * heard
        return spread

    def norms(self) -> dict[int, float]:
        """Return the length norm of the window of every message of these sessions.

        The average window length is that of messages far from the ends of a session.
        """
        return {
            number: length_norm(length, self._average, self._bm25.k1, self._bm25.b)
            for session in self._sessions.values()
            for number, length in zip(session.numbers, self._lengths(session), strict=True)
        }

    def _lengths(self, session: SessionDocuments) -> list[float]:
        """Weighted lengths of the windows of a session, summed one offset after the other."""
        lengths = [min(length, self._room) for length in session.lengths]
        size = len(lengths)
        sums = [0.0] * size
        for offset, weight in self._reach:
            to, start = max(offset, 0), max(-offset, 0)
            pairs = zip(sums[to : size - start], lengths[start:], strict=False)
            sums[to : size - start] = [total + weight * length for total, length in pairs]
        return sums


def _by_session(
    found: Mapping[int, float],
    documents: Mapping[int, Document],
    sessions: Mapping[int, SessionDocuments],
) -> dict[int, float]:
    sums: dict[int, float] = {}
    for number, frequency in found.items():
        session = documents[number].session
        if session is not None and session in sessions:
            sums[session] = sums.get(session, 0.0) + frequency
    return sums


def _single_norms(
    documents: Mapping[int, Document], totals: Totals, bm25: Bm25
) -> dict[int, float]:
    """Length norms within each kind, so that short memories do not beat long summaries."""
    averages = {kind: total / count for kind, (count, total) in totals.lengths.items() if count}
    return {
        number: length_norm(document.length, averages[document.kind], bm25.k1, bm25.b)
        for number, document in documents.items()
    }


def _session_norms(
    sessions: Mapping[int, SessionDocuments], totals: Totals, bm25: Bm25
) -> dict[int, float]:
    average = totals.said_length / max(totals.sessions, 1)
    return {
        key: length_norm(sum(session.lengths), average, bm25.k1, bm25.b)
        for key, session in sessions.items()
    }


def _attainable(
    plan: QuestionPlan,
    rarity: Mapping[str, float],
    scores: Mapping[int, float],
    norms: Mapping[int, float],
    k1: float,
) -> float:
    """The score of a document as long as the best one that holds every word as often as asked."""
    best = min(scores, key=lambda number: (-scores[number], number), default=None)
    once = 1.0 if best is None else saturation(1.0, norms[best], k1)
    direct = (term for term in plan.terms if term.term == term.source)
    return once * sum(term.weight * rarity[term.term] for term in direct)
