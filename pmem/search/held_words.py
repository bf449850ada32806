"""What of a search holds a word of its query itself: among the hits, and among what has expired."""

from collections.abc import Iterable
from collections.abc import Set as AbstractSet
from functools import reduce
from itertools import chain, product
from operator import and_
from typing import Final

from pmem.core.filters import judge_of
from pmem.core.retrieval.documents import entries
from pmem.core.retrieval.forms import joined_words, likeness
from pmem.core.retrieval.pool import Pool, labels
from pmem.core.retrieval.question import is_english
from pmem.core.retrieval.signals import day_terms
from pmem.core.text.terms import characters, parse_query, terms
from pmem.project.workspace import Workspace
from pmem.search.hits import LoadedHit, SearchKind
from pmem.search.picking import SearchRequest
from pmem.values.bounds import QUERY_CHARACTERS
from pmem.values.records import Chunk, Episode, Memory, Message

_MOST_WORDS: Final = 32
_TELLING: Final = frozenset({"error", "words", "meaning"})
"""Signals of a hit that answers whatever words it holds."""


def without_words(query: str, found: Iterable[LoadedHit]) -> list[LoadedHit]:
    """Return the hits that have no query term: related ones, and those near in meaning."""
    query = query[:QUERY_CHARACTERS]
    asked = {*parse_query(query).terms, *joined_words(query), *characters(query)}
    has_forms = not is_english(query)
    return [
        one
        for one in found
        if _TELLING.isdisjoint(one.hit.signals)
        and not _holds(one.document, asked, has_forms=has_forms)
    ]


def is_near(found: LoadedHit) -> bool:
    """Tell whether a hit is among the nearest in meaning."""
    return "nearness" in found.hit.signals


def _holds(
    document: Memory | Episode | Chunk | Message, asked: AbstractSet[str], *, has_forms: bool
) -> bool:
    """Return whether a document holds one of some terms, or a form of one that has forms.

    Mostly its text tells, and is cheap.
    """
    plain = document.content if isinstance(document, Memory | Message) else document.summary
    if not asked.isdisjoint(terms(plain)):
        return True
    held = set(_terms(document))
    if not has_forms:
        return not asked.isdisjoint(held)
    return not asked.isdisjoint(held) or any(likeness(*pair) for pair in product(asked, held))


def _terms(document: Memory | Episode | Chunk | Message) -> Iterable[str]:
    """Return the terms by which a document is found."""
    if isinstance(document, Memory | Episode):
        return chain.from_iterable(entry.frequencies for entry in entries(document))
    if isinstance(document, Chunk):
        text = " ".join((document.summary, *document.key_topics))
        return [*terms(text), *joined_words(text), *characters(text)]
    text = f"{document.speaker or ''} {document.content}"
    days = day_terms(document.content, document.created_at.date())
    return [*terms(text), *joined_words(text), *characters(text), *days]


def count_expired(workspace: Workspace, request: SearchRequest) -> int:
    """Count the memories that hold every word of a query, and held once."""
    words = list(dict.fromkeys(terms(request.query[:QUERY_CHARACTERS])))[:_MOST_WORDS]
    if not words or SearchKind.MEMORY not in (request.kinds or SearchKind):
        return 0
    judge, now = judge_of(request.wanted), workspace.now()

    def count(pool: Pool) -> int:
        statistics = pool.statistics(labels(SearchKind.MEMORY, request.wanted.states))
        holding = reduce(and_, (set(statistics.postings(word)) for word in words))
        found = holding.intersection(pool.invalid(now)).difference(pool.hidden())
        return sum(
            facts.valid_until is not None and facts.valid_until <= now and judge(facts) is None
            for facts in pool.facts(found).values()
        )

    return workspace.backend.searched(count)
