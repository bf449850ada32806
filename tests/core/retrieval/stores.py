"""Collections to rank: random ones, and documents added one by one."""

import datetime
import random
from collections.abc import Sequence
from typing import Any, Final

from pmem.core.retrieval.collection import Document, MemoryStatistics
from pmem.core.retrieval.signals import day_terms, frequencies, traits
from pmem.core.text.terms import terms

WORDS: Final = (
    "apple", "river", "stone", "cloud", "lamp", "chair", "tiger", "piano", "horse", "music",
)  # fmt: skip
DAY: Final = datetime.date(2024, 3, 6)
NOW: Final = 1_700_000_000.0
QUESTIONS: Final = (
    "apple river",
    "What did Ann say of the piano?",
    "What songs has Bob heard of the tiger?",
    '"tiger piano" and horse',
    "When was the music on March 6?",
    "How many apples did Bob and Ann both see?",
    "animal",
    "Ann",
    "stone stone stone lamp",
)


def add(store: MemoryStatistics, number: int, text: str, **fields: Any) -> None:
    """Add a text as a document; one with a session is a message of `DAY`."""
    said = fields.get("session") is not None
    found = terms(text) + (day_terms(text, DAY) if said else [])
    counts = frequencies([(found, 1.0)])
    known = {"kind": "message" if said else "memory", "length": sum(counts.values())}
    known |= {"peak": max(counts.values(), default=0.0), "traits": traits(text, terms(text))}
    store.add(
        Document(number=number, **(known | fields)),
        counts,
        place=number,
        text=text,
        name_terms=terms(fields.get("speaker", "")),
    )


def store_of(texts: Sequence[str], **fields: Any) -> MemoryStatistics:
    """Return a collection of memories, numbered in their order."""
    store = MemoryStatistics()
    for number, text in enumerate(texts):
        add(store, number, text, **fields)
    return store


def random_documents(seed: int, size: int = 120) -> list[tuple[str, dict[str, Any]]]:
    """Return texts and facts of messages in sessions of two speakers, and of some memories."""
    chance = random.Random(seed)
    made: list[tuple[str, dict[str, Any]]] = []
    for _ in range(size):
        text = " ".join(chance.choices(WORDS, k=chance.randrange(1, 12)))
        text += chance.choice(["", "", "?", " yesterday", ' "x"', " 7"])
        facts: dict[str, Any] = {
            "importance": chance.random(),
            "accesses": chance.choice([0, 0, 3, 900]),
            "timestamp": NOW - chance.random() * 1e8,
        }
        if chance.random() < 0.8:
            facts |= {"session": chance.randrange(6), "speaker": chance.choice(["Ann", "Bob", ""])}
        made.append((text, facts))
    return made


def random_store(seed: int, size: int = 120) -> MemoryStatistics:
    """Return a random collection."""
    store = MemoryStatistics()
    for number, (text, facts) in enumerate(random_documents(seed, size)):
        add(store, number, text, **facts)
    return store
