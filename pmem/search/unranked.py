"""What a search finds without ranking: a known error, and words too common to be ranked."""

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from pmem.core.filters import Filter
from pmem.core.retention import valid_at
from pmem.core.retrieval.ranking import RankedDocument
from pmem.core.text.terms import fold, terms
from pmem.project.workspace import Workspace
from pmem.search.hits import LoadedHit, SearchKind
from pmem.values.bounds import QUERY_CHARACTERS

if TYPE_CHECKING:
    from pmem.search.search import SearchRequest

_WORD: Final = re.compile(r"[^\W_]+")


def find_unranked(
    workspace: Workspace, request: "SearchRequest"
) -> tuple[list[LoadedHit], tuple[str, ...]]:
    """Return what no ranking finds, and what is to be said of it.

    That is what is known of a request's error, or what says the words of a query that has none but
    such as "hello" and "you", which the index leaves out.
    """
    if SearchKind.MEMORY not in (request.kinds or SearchKind):
        return [], ()
    if request.error is not None:
        from pmem.search.known_errors import find_known

        return find_known(workspace, request.error, request.wanted)
    query = request.query[:QUERY_CHARACTERS]
    if query and not terms(query):
        return list(_memories_saying(workspace, query, request.wanted)), ()
    return [], ()


def _memories_saying(workspace: Workspace, query: str, wanted: Filter) -> Iterator[LoadedHit]:
    """Yield the memories that say every word of a query, the newest first; each is read."""
    asked = _words(query)
    if not asked:
        return
    now = workspace.now()
    every = RankedDocument(0, 1.0, {"words": 1.0})
    saying = [
        memory
        for memory in workspace.memories.find(wanted)
        if asked <= _words(f"{memory.content} {memory.subject or ''} {' '.join(memory.tags)}")
        and valid_at(memory, now)
    ]
    for memory in sorted(saying, key=lambda one: one.updated_at, reverse=True):
        yield LoadedHit(SearchKind.MEMORY, memory, memory, every)


def _words(text: str) -> set[str]:
    return set(_WORD.findall(fold(text).casefold()))
