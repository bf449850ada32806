"""What a search draws on: documents of chosen kinds, with the facts that filters ask.

The disk's index is one pool, and `MemoryPool` is another; both rank the same.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from copy import copy
from datetime import datetime
from functools import cached_property
from operator import attrgetter
from typing import Final, NamedTuple, Protocol

from pmem.core.filters import Searchable
from pmem.core.policy import EVERYTHING, Reach
from pmem.core.retrieval.collection import CollectionStatistics, MemoryStatistics, SeenLink
from pmem.core.retrieval.documents import Facts, IndexedDocument, entries, searched_text, summary_id
from pmem.core.retrieval.evidence import Frequencies, Scorer
from pmem.core.retrieval.question import QueryTerm
from pmem.errors import NotFound
from pmem.values.records import (
    Chunk,
    Conversation,
    Episode,
    Memory,
    Message,
    Record,
    RecordType,
    State,
)


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
        term.term: term.weight * term.rarity(rarity, frequencies) * (k1 + 1.0) / 2.0
        for term in query
    }
    scores = model.get_scores([term.term for term in query])
    return dict(zip(units, map(float, scores), strict=True))


ACTIVE_MEMORIES: Final = "memory"
"""The label of what can be linked."""
_LINK: Final = attrgetter("target", "type", "strength")


class DocumentKey(NamedTuple):
    """Where a document is kept: the record's type and id, and the document's own id."""

    type: RecordType
    record: str
    id: str

    def find_in(self, record: Record) -> Searchable:
        """Return the document itself: the record, or the message within it, the last of that id."""
        if self.id == record.id or (isinstance(record, Chunk) and self.id == summary_id(record)):
            return record
        held = record.recent_messages if isinstance(record, Conversation) else ()
        for message in reversed(record.messages if isinstance(record, Chunk) else held):
            if message.id == self.id:
                return message
        raise NotFound(f"there is no message {self.id}")

    def text_in(self, record: Record) -> str:
        """Return what a search looks at of the document's text."""
        found = self.find_in(record)
        assert isinstance(found, Memory | Episode | Chunk | Message)
        return searched_text(found)


class Pool(Protocol):
    """Documents to rank, filter and find again, each under a number."""

    @property
    def scorer(self) -> Scorer:
        """What computes the BM25 part."""
        ...

    def within(self, reach: Reach) -> "Pool":
        """Return the same documents of which only some may be found."""
        ...

    def hidden(self) -> Collection[int]:
        """Return the documents that may not be found."""
        ...

    def statistics(self, labels: Collection[str]) -> CollectionStatistics:
        """Return what ranking needs to know of the documents with these labels."""
        ...

    def facts(self, numbers: Collection[int]) -> Mapping[int, Facts]:
        """Return what filters ask of documents."""
        ...

    def invalid(self, at: datetime) -> Collection[int]:
        """Return the active memories that do not hold at a moment."""
        ...

    def places(self, numbers: Collection[int]) -> Mapping[int, DocumentKey]:
        """Return where documents are kept."""
        ...

    def newest(self, labels: Collection[str], names: Collection[str]) -> Sequence[int]:
        """Return the documents with these labels, the newest first, equals by number."""
        ...

    def links(self, numbers: Collection[int]) -> Iterable[SeenLink]:
        """Return the links of active memories to and from others, whichever way they lead."""
        ...


def label_of(entry: IndexedDocument) -> str:
    """Return the list that a document is ranked in: its kind, apart from what is active."""
    kind = entry.document.kind
    return kind if entry.facts.state is State.ACTIVE else f"{kind}!"


def labels(kind: str, states: Collection[State]) -> tuple[str, ...]:
    """Return the lists that can hold documents of a kind in these states; none is any."""
    if states and set(states) == {State.ACTIVE}:
        return (kind,)
    return (kind, f"{kind}!")


def holds_at(facts: Facts, at: datetime) -> bool:
    """Tell whether a document holds at a moment; what has no validity always does.

    What holds since it was made holds now, even if it was made where the clock is ahead. What left
    recall had its validity closed by that: it is found by its state, and never hidden by validity.
    """
    if facts.state is not State.ACTIVE:
        return True
    begun = facts.valid_from is None or facts.valid_from <= max(at, facts.created_at)
    return begun and (facts.valid_until is None or at < facts.valid_until)


class MemoryPool:
    """A pool made of records as they are when it is made."""

    def __init__(self, records: Iterable[Record], scorer: Scorer) -> None:
        self._scorer = scorer
        self._reach = EVERYTHING
        self._entries: dict[int, tuple[DocumentKey, IndexedDocument]] = {}
        for record in records:
            for entry in entries(record):
                self._put(DocumentKey(type(record), record.id, entry.id), entry)

    @property
    def scorer(self) -> Scorer:
        """What computes the BM25 part."""
        return self._scorer

    def within(self, reach: Reach) -> "MemoryPool":
        limited = copy(self)
        limited._reach = reach
        return limited

    def hidden(self) -> Collection[int]:
        if self._reach == EVERYTHING:
            return ()
        return {
            number
            for number, (_, entry) in self._entries.items()
            if not (
                self._reach.covers(entry.category)
                and self._reach.serves(entry.facts.app)
                and (self._reach.procedures or not entry.is_procedural)
            )
        }

    def statistics(self, labels: Collection[str]) -> CollectionStatistics:
        chosen = [found for found in self._entries.items() if label_of(found[1][1]) in labels]
        statistics = MemoryStatistics()
        for number, (_, entry) in sorted(chosen, key=lambda item: item[0]):
            statistics.add(
                entry.document._replace(number=number),
                entry.frequencies,
                place=entry.place,
                text=entry.text,
                name_terms=entry.name_terms,
            )
        return statistics

    def facts(self, numbers: Collection[int]) -> Mapping[int, Facts]:
        return {number: self._entries[number][1].facts for number in numbers}

    def invalid(self, at: datetime) -> Collection[int]:
        return {n for n, (_, entry) in self._entries.items() if not holds_at(entry.facts, at)}

    def places(self, numbers: Collection[int]) -> Mapping[int, DocumentKey]:
        return {number: self._entries[number][0] for number in numbers}

    def newest(self, labels: Collection[str], names: Collection[str]) -> Sequence[int]:
        chosen = [
            (-entry.document.timestamp, number)
            for number, (_, entry) in self._entries.items()
            if label_of(entry) in labels and (not names or entry.document.speaker in names)
        ]
        return [number for _, number in sorted(chosen)]

    def links(self, numbers: Collection[int]) -> Iterable[SeenLink]:
        return [link for number in sorted(numbers) for link in self._links.get(number, ())]

    @cached_property
    def _links(self) -> Mapping[int, list[SeenLink]]:
        """All links between active memories by each of their ends."""
        known = {
            place.id: (number, entry.links)
            for number, (place, entry) in self._entries.items()
            if label_of(entry) == ACTIVE_MEMORIES
        }
        found: dict[int, list[SeenLink]] = {}
        for source, links in known.values():
            for target, type_, strength in map(_LINK, links):
                far = known[target][0] if target in known else source
                if far != source:
                    found.setdefault(source, []).append(SeenLink(source, far, type_, strength))
                    found.setdefault(far, []).append(
                        SeenLink(far, source, type_, strength, forward=False)
                    )
        return found

    def _put(self, place: DocumentKey, entry: IndexedDocument) -> None:
        """Keep a document; a message that is just moving into a chunk is kept once."""
        number = entry.document.number
        while number in self._entries and self._entries[number][0].id != entry.id:
            number += 1
        self._entries[number] = (place, entry)
