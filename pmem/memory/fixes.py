"""What worked where something else failed."""

from pmem.core.outcomes import warns
from pmem.core.retention import valid_at
from pmem.project.workspace import Workspace
from pmem.storage.backend import fixed_key
from pmem.values.records import Memory


def fix_of(workspace: Workspace, memory: Memory) -> Memory | None:
    """Return the newest memory that holds and fixes a dead end; None for what warns of nothing.

    Args:
        workspace: Where to look.
        memory: A memory, usually a dead end.
    """
    if not warns(memory):
        return None
    now = workspace.now()
    found = (one for one in workspace.memories.twins(fixed_key(memory.id)) if valid_at(one, now))
    return max(found, key=lambda one: one.id, default=None)
