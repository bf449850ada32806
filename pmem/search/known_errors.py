"""What is known of an error: the dead ends that it proves, and what fixed them."""

from collections.abc import Iterable, Sequence

from pmem.core.dead_ends import warns
from pmem.core.retention import valid_at
from pmem.project.workspace import Workspace
from pmem.storage.backend import fixed_key, proven_key
from pmem.values.records import Memory


def known_of(workspace: Workspace, evidence: Sequence[str]) -> list[Memory]:
    """Return the memories that name an error as their evidence, and what fixed them.

    Args:
        workspace: Where to look.
        evidence: The error, as `error_fingerprint.evidence_of` returns it.

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
