"""What a search finds without ranking: a known error, and words too common to be ranked."""

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Final

from pmem.core.filters import Filter, judge_of
from pmem.core.outcomes import warns
from pmem.core.retention import valid_at
from pmem.core.retrieval.ranked import RankedDocument
from pmem.core.text.terms import fold, terms
from pmem.project.workspace import Workspace
from pmem.search.hits import LoadedHit, SearchKind
from pmem.storage.backend import fixed_key, proven_key
from pmem.values.bounds import QUERY_CHARACTERS
from pmem.values.records import Memory

if TYPE_CHECKING:
    from pmem.search.picking import SearchRequest


def find_known(
    workspace: Workspace, error: str, wanted: Filter
) -> tuple[list[LoadedHit], tuple[str, ...]]:
    """Return what is known of an error, and what is to be said of the error itself."""
    from pmem.core.error_fingerprint import evidence_of, telling_line

    evidence = evidence_of(error)
    if not evidence:
        return [], ("the error says too little to be told from others",)
    judge = judge_of(wanted)
    exact = RankedDocument(0, 1.0, {"error": 1.0})
    return [
        LoadedHit(SearchKind.MEMORY, memory, memory, exact)
        for memory in known_of(workspace, evidence)
        if judge(memory) is None
    ], (f"the error is told by this line: {telling_line(error)}",)


def known_of(workspace: Workspace, evidence: Sequence[str]) -> list[Memory]:
    """Return the memories that name an error as their evidence, and what fixed them.

    Returns:
        Dead ends that still warn first, then the newest; behind each what fixed it.
    """
    found: dict[str, Memory] = {}
    keys = [proven_key(each) for each in evidence]
    for memory in (one for key in keys for one in _newest(workspace, key)):
        for one in (memory, *_newest(workspace, fixed_key(memory.id))):
            found.setdefault(one.id, one)
    return list(found.values())


def _newest(workspace: Workspace, key: str) -> Iterable[Memory]:
    """Return what is found by a key and holds now, what warns before all else."""
    found = [one for one in workspace.memories.twins(key) if valid_at(one, workspace.now())]
    return sorted(found, key=lambda memory: (warns(memory), memory.id), reverse=True)


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
