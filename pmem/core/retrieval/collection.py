"""What the ranking needs to know about a collection, and a provider that holds it in memory.

A provider stores postings of single documents only. Windows of neighbouring messages and whole
sessions are derived from those at query time, so that an index on disk needs no second copy.
"""

from bisect import bisect_left
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Final, NamedTuple, Protocol

from pmem.values.records import JUDGEMENTS

LAST: Final = "\U0010ffff"
"""Stands behind every letter, so that what begins alike stands between two texts."""


class Document(NamedTuple):
    """The stored facts of one document.

    Its `number` breaks ties of equal scores. `length` is the sum of its term frequencies, without
    what `documents` adds unspelt, and `peak` the highest of them. `traits` are bits of `signals`;
    `session` is None for what stands alone, `timestamp` in seconds since 1970.
    """

    number: int
    kind: str
    length: float
    peak: float = 1.0
    traits: int = 0
    session: int | None = None
    speaker: str = ""
    timestamp: float = 0.0
    importance: float = 0.5
    accesses: int = 0
    about: str = ""


class SessionDocuments(NamedTuple):
    """The documents of one session in the order they were said, their lengths, and who spoke."""

    numbers: list[int]
    lengths: list[float]
    speakers: dict[str, None]


class Totals(NamedTuple):
    """Aggregates of the whole collection, kept up to date while indexing.

    `lengths` has for each kind how many documents there are and the sum of their lengths; `said`
    and `said_length` are the same of the documents in sessions.
    """

    documents: int
    lengths: Mapping[str, tuple[int, float]]
    sessions: int
    said: int
    said_length: float


class CollectionStatistics(Protocol):
    """A collection to rank. Every answer must be the same whenever it is asked."""

    def totals(self) -> Totals:
        """Return the aggregates of the collection."""

    def postings(self, term: str) -> Mapping[int, float]:
        """Return how often `term` occurs in each document that holds it, by ascending number."""

    def beginning(self, starts: Sequence[str]) -> Sequence[str]:
        """Return the terms that begin with one of some starts, each once, in any order."""

    def documents(self, numbers: Iterable[int]) -> Mapping[int, Document]:
        """Return the facts of the documents with these numbers."""

    def sessions(
        self, keys: Iterable[int], most: int | None = None
    ) -> Mapping[int, SessionDocuments]:
        """Return those of the sessions with these numbers that hold no more than `most`."""

    def speakers(self) -> Mapping[str, Sequence[str]]:
        """Return, for each term of a speaker's name, the speakers it may mean."""

    def texts(self, numbers: Iterable[int]) -> Mapping[int, str]:
        """Return what the documents with these numbers say."""


class MemoryStatistics:
    """Statistics over documents added one by one, held in dictionaries."""

    def __init__(self) -> None:
        self._documents: dict[int, Document] = {}
        self._postings: dict[str, dict[int, float]] = {}
        self._ordered: list[str] = []
        self._texts: dict[int, str] = {}
        self._sessions: dict[int, list[tuple[int, int]]] = {}
        self._names: dict[str, set[str]] = {}
        self._totals = Totals(0, {}, 0, 0, 0.0)

    def add(
        self,
        document: Document,
        frequencies: Mapping[str, float],
        *,
        place: int = 0,
        text: str = "",
        name_terms: Iterable[str] = (),
    ) -> None:
        """Add a document."""
        number = document.number
        self._documents[number] = document
        self._texts[number] = text
        for term, frequency in frequencies.items():
            self._postings.setdefault(term, {})[number] = frequency
        if document.session is not None:
            self._sessions.setdefault(document.session, []).append((place, number))
        self._count(document)
        for term in name_terms:
            self._names.setdefault(term, set()).add(document.speaker)

    def _count(self, document: Document) -> None:
        old = self._totals
        count, length = old.lengths.get(document.kind, (0, 0.0))
        said = document.session is not None
        self._totals = Totals(
            old.documents + 1,
            {**old.lengths, document.kind: (count + 1, length + document.length)},
            len(self._sessions),
            old.said + said,
            old.said_length + (document.length if said else 0.0),
        )

    def totals(self) -> Totals:
        return self._totals

    def postings(self, term: str) -> Mapping[int, float]:
        return self._postings.get(term, {})

    def beginning(self, starts: Sequence[str]) -> Sequence[str]:
        if len(self._ordered) != len(self._postings):
            self._ordered = sorted(self._postings)
        ends = ((bisect_left(self._ordered, at) for at in (s, s + LAST)) for s in starts)
        return list({term for begin, end in ends for term in self._ordered[begin:end]})

    def documents(self, numbers: Iterable[int]) -> Mapping[int, Document]:
        return {number: self._documents[number] for number in numbers}

    def sessions(
        self, keys: Iterable[int], most: int | None = None
    ) -> Mapping[int, SessionDocuments]:
        sized = (key for key in keys if most is None or len(self._sessions[key]) <= most)
        return {key: self._session(key) for key in sized}

    def speakers(self) -> Mapping[str, Sequence[str]]:
        return {term: sorted(names) for term, names in self._names.items()}

    def texts(self, numbers: Iterable[int]) -> Mapping[int, str]:
        return {number: self._texts[number] for number in numbers}

    def _session(self, key: int) -> SessionDocuments:
        said = [self._documents[number] for _, number in sorted(self._sessions[key])]
        return SessionDocuments(
            [document.number for document in said],
            [document.length for document in said],
            dict.fromkeys(document.speaker for document in said),
        )


_DIGITS: Final = 9


class SeenLink(NamedTuple):
    """A link between two active memories, by their numbers, seen from the `near` end.

    It is `forward` if it leads away from there.
    """

    near: int
    far: int
    type: str
    strength: float
    forward: bool = True


Links = Callable[[Collection[int]], Iterable[SeenLink]]
"""Returns the links of the documents with these numbers, in either direction."""


class LinkedMemory(NamedTuple):
    """A memory that one that was found, `via`, may bring along, by the link between them.

    `value` is the link's strength times the score of the one that was found, rounded, so that
    equals stay equal when scores were summed in another order.
    """

    via: str
    id: str
    type: str
    strength: float
    forward: bool = True
    value: float = 0.0


def boosts(links: Iterable[SeenLink]) -> dict[int, float]:
    """Return the strength of each memory's strongest link: S1's `max_related_strength`."""
    strongest: dict[int, float] = {}
    for link in links:
        if link.type not in JUDGEMENTS:
            strongest[link.near] = max(strongest.get(link.near, 0.0), link.strength)
    return strongest


def brought_along(
    scores: Mapping[str, float], ties: Iterable[LinkedMemory], most: int
) -> dict[str, LinkedMemory]:
    """Return the memories that hits bring along, by id: the strongest first, equals by id.

    Each is brought once, over its best link. A link of no strength brings nothing.
    """
    values = [
        tie._replace(value=round(tie.strength * scores[tie.via], _DIGITS))
        for tie in ties
        if tie.via in scores and tie.id not in scores
    ]
    values.sort(key=lambda tie: (-tie.value, tie.id, tie.via, tie.type, not tie.forward))
    best: dict[str, LinkedMemory] = {}
    for tie in values:
        if tie.value > 0 and len(best) < most:
            best.setdefault(tie.id, tie)
    return best
