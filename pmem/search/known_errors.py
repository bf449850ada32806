"""What is known of an error: the dead ends that it proves, and what fixed them."""

from collections.abc import Iterable, Sequence

from pmem.core.filters import Filter, judge_of
from pmem.core.outcomes import warns
from pmem.core.retention import valid_at
from pmem.core.retrieval.ranking import RankedDocument
from pmem.project.workspace import Workspace
from pmem.search.hits import LoadedHit, SearchKind
from pmem.storage.backend import fixed_key, proven_key
from pmem.values.records import Memory


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
