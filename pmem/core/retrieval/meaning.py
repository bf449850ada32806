"""Nearness in meaning as one more signal: vectors of texts, and the factor that they make.

A vector is kept as its direction alone, two bytes a number, so that the product of two is the
cosine between them. What has no vector is taken to be as near as the others are on average.
"""

import struct
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from hashlib import blake2b
from itertools import pairwise
from math import exp, isfinite, sqrt
from operator import mul, sub
from typing import Final

from pmem.core.retrieval.collection import SessionDocuments
from pmem.core.retrieval.documents import searched_messages, summary_id, text_of
from pmem.values.records import Chunk, Conversation, Episode, Memory, Message, Record

NEAREST: Final = 60
"""The best hits by words, which are ranked anew: they hold nearly all that answers."""
MOST_NUMBERS: Final = 8192
"""How many numbers a vector may have."""
_BEFORE: Final = 1000
"""How much of the message before, at the most."""
_CHARACTERS: Final = 2000
"""How much of a text is embedded; no small model takes in more."""
_KEY_BYTES: Final = 16
_AFTER: Final = 0.3
"""Weight of the turn after a message, as in `evidence.Structure`."""

Nearness = Callable[[Collection[int]], Mapping[int, float]]
"""Says of documents, by number, how near they are to the question, where that is known."""


def embedded_texts(record: Record) -> Iterator[tuple[str, str]]:
    """Yield what is embedded of each document of a record, by the document's id.

    A message is embedded with the one before it in the same record, as an answer often says
    little by itself. A memory is embedded with its subject.
    """
    if isinstance(record, Memory):
        yield record.id, _titled(record.subject, text_of(record))
    elif isinstance(record, Episode):
        yield record.id, text_of(record)[:_CHARACTERS]
    elif isinstance(record, Chunk):
        if record.merged_into is None:
            yield summary_id(record), text_of(record)[:_CHARACTERS]
        yield from _said(record.messages)
    elif isinstance(record, Conversation):
        yield from _said(record.recent_messages)


def _said(messages: Sequence[Message]) -> Iterator[tuple[str, str]]:
    before = ""
    for _, message in searched_messages(messages):
        own = _titled(message.speaker, message.content)
        yield message.id, f"{before}\n{own}" if before else own
        before = own[:_BEFORE]


def _titled(title: str | None, text: str) -> str:
    text = text[:_CHARACTERS]
    return f"{title}: {text}" if title else text


def vector_key(model: str, text: str) -> bytes:
    """Return the key of a text's vector, which no other text and no other model has."""
    digest = blake2b(digest_size=_KEY_BYTES)
    digest.update(blake2b(model.encode("utf-8", "surrogatepass"), digest_size=32).digest())
    digest.update(text.encode("utf-8", "surrogatepass"))
    return digest.digest()


def pack_vector(numbers: Sequence[float]) -> bytes:
    """Return a vector's direction in half precision.

    Raises:
        ValueError: It has no direction, or no sensible number of dimensions.
    """
    if not 1 < len(numbers) <= MOST_NUMBERS:
        raise ValueError(f"a vector of {len(numbers)} numbers")
    length = sqrt(sum(map(mul, numbers, numbers)))
    if not isfinite(length) or length < 1e-12:
        raise ValueError("a vector without a direction")
    return struct.pack(f"<{len(numbers)}e", *(number / length for number in numbers))


def unpack_vector(packed: bytes) -> tuple[float, ...]:
    """Return the numbers that `pack_vector` has packed."""
    return struct.unpack(f"<{len(packed) // 2}e", packed)


def cosine(one: Sequence[float], other: Sequence[float]) -> float | None:
    """Return the cosine between two directions; None where they are not of one space."""
    return sum(map(mul, one, other)) if len(one) == len(other) else None


def nearest_first(question: Sequence[float], vectors: Mapping[int, Sequence[float]]) -> list[int]:
    """Return documents by how near they are to a question, the nearest first, equals by number.

    The mean of the vectors is taken off first: what all texts of a memory have in common says
    nothing of any, and lets those that lie in the middle seem near to everything.
    """
    known = {n: vector for n, vector in vectors.items() if len(vector) == len(question)}
    if not known:
        return []
    mean = [sum(column) / len(known) for column in zip(*known.values(), strict=True)]
    asked = tuple(map(sub, question, mean))
    near = {}
    for number, vector in known.items():
        own = tuple(map(sub, vector, mean))
        length = sqrt(sum(map(mul, own, own)))
        near[number] = sum(map(mul, asked, own)) / length if length > 1e-9 else 0.0
    return sorted(near, key=lambda number: (-near[number], number))


def turns_after(numbers: Iterable[int], sessions: Iterable[SessionDocuments]) -> dict[int, int]:
    """Return the message that follows each of these in its session, by number."""
    wanted = set(numbers)
    return {
        number: after
        for session in sessions
        for number, after in pairwise(session.numbers)
        if number in wanted
    }


def with_turns_after(
    numbers: Sequence[int], after: Mapping[int, int], known: Mapping[int, float]
) -> list[float | None]:
    """Return how near each hit is, the turn after it counted with its weight in a window.

    The turn before is embedded with the message itself.
    """
    found = [known[number] for number in numbers if number in known]
    mean = sum(found) / len(found) if found else 0.0
    return [
        known[number] + _AFTER * (known.get(after[number], mean) - mean)
        if number in after and number in known
        else known.get(number)
        for number in numbers
    ]


def nearness_factors(known: Sequence[float | None], weight: float) -> list[float]:
    """Return a factor in (0, 1] for each hit, 1 for the nearest.

    factor = exp(weight * (z - the highest z)), z the standard score of a nearness among all that
    are known. Standard scores make models alike, whose cosines lie in ranges of their own.
    """
    found = [value for value in known if value is not None]
    if not found:
        return [1.0] * len(known)
    mean = sum(found) / len(found)
    spread = sqrt(sum((value - mean) ** 2 for value in found) / len(found))
    if spread < 1e-9:
        return [1.0] * len(known)
    standard = [0.0 if value is None else (value - mean) / spread for value in known]
    highest = max(standard)
    return [exp(weight * (value - highest)) for value in standard]
