"""Which of many memories a new one may belong with, by their words alone.

Looking at every memory would take too long. So an index keeps the words of each, the memories
that share most of the rarer ones are read, and only those that are promising are compared (see
`linking`). Every bound below is all that may be missed:

* A memory's words are the `MOST_WORDS` longest of its first `MOST_READ` characters.
* A word that more than `MOST_HOLDERS` memories hold leads to none of them.
* `MOST_CANDIDATES` memories are read.
* One is promising if it shares a third of the words of both (`_LEAST_SHARED`), or half of the
  beginnings of words, as forms of words do.
"""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from functools import lru_cache
from heapq import nlargest
from math import log
from typing import Final
from zlib import crc32

from pmem.core.lifecycle.neighbours import may_meet
from pmem.core.retention import valid_at
from pmem.core.text.terms import terms
from pmem.values.records import Memory, Scope, State

MOST_WORDS: Final = 12
MOST_READ: Final = 6000
MOST_HOLDERS: Final = 256
MOST_CANDIDATES: Final = 16
_LEAST_SHARED: Final = 1 / 3
_START: Final = 3
"""Letters of a beginning."""
_LEAST_BEGINNINGS: Final = 1 / 2
_ANY: Final = "\0"
"""Stands for any user; no user is called so."""


@lru_cache(maxsize=4096)
def words_of(content: str) -> frozenset[str]:
    """Return the words by which memories are found to be alike, numbers left out."""
    words = set(terms(content[:MOST_READ]))
    found = {term for term in words if len(term) > 1 and not term.isdecimal()}
    if len(found) <= MOST_WORDS:
        return frozenset(found)
    return frozenset(sorted(found, key=lambda word: (len(word), word))[-MOST_WORDS:])


def word_keys(content: str, scope: Scope) -> list[str]:
    """Return a memory's words as an index keeps them.

    They differ by the app and the user that it concerns, so that what many users say is not in
    each other's way. What concerns a user is kept under "any user" as well.
    """
    words = sorted(words_of(content))
    own = _marked(words, scope.app, scope.user)
    return own if scope.user is None else [*own, *_marked(words, scope.app, _ANY)]


def asked_keys(content: str, scope: Scope) -> list[str]:
    """Return the keys under which those stand that a memory may meet (see `scopes.may_meet`)."""
    words = sorted(words_of(content))
    others = _ANY if scope.user is None else None
    return [*_marked(words, scope.app, scope.user), *_marked(words, scope.app, others)]


def _marked(words: Sequence[str], app: str | None, user: str | None) -> list[str]:
    if app is None and user is None:
        return list(words)
    parts = "\0".join("" if part is None else f"={part}" for part in (app, user))
    mark = crc32(parts.encode("utf-8", "surrogatepass"))
    return [f"{mark:08x} {word}" for word in words]


def likeliest(holders: Mapping[str, Sequence[str]], limit: int) -> list[str]:
    """Return the ids of the records that share most of the rarer words, the likeliest first.

    A shared word counts by how rare it is (inverse document frequency, Spärck Jones 1972); of
    records that share as much the newest is first.

    `holders` has the ids of the records that hold each word.
    """
    scores: dict[str, float] = {}
    for _, ids in sorted(holders.items()):
        if 0 < len(ids) <= MOST_HOLDERS:
            weight = log((MOST_HOLDERS + 1) / len(ids))
            for id_ in ids:
                scores[id_] = scores.get(id_, 0.0) + weight
    return nlargest(limit, scores, key=lambda id_: (scores[id_], id_))


def promising(memory: Memory, candidates: Iterable[Memory], now: datetime) -> list[Memory]:
    """Return the candidates that are worth a comparison with a memory, by ascending id.

    What does not hold at present is left out.
    """
    words = words_of(memory.content)
    if not valid_at(memory, now):
        return []
    return sorted(
        (
            other
            for other in candidates
            if other.id != memory.id
            and may_meet(other.scope, memory.scope)
            and other.state is State.ACTIVE
            and valid_at(other, now)
            and _is_alike(words, words_of(other.content))
        ),
        key=lambda other: other.id,
    )


def _is_alike(one: frozenset[str], other: frozenset[str]) -> bool:
    if _shared(one, other) >= _LEAST_SHARED:
        return True
    begun, started = (frozenset(word[:_START] for word in words) for words in (one, other))
    return _shared(begun, started) >= _LEAST_BEGINNINGS


def _shared(one: frozenset[str], other: frozenset[str]) -> float:
    return 2 * len(one & other) / (len(one) + len(other) or 1)
