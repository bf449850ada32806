"""Recalls: noting them, and counting those that wait to be folded into the records."""

from collections.abc import Collection, Iterable, Mapping

from pmem.core.lifecycle.presence import with_recalls
from pmem.project.workspace import Workspace
from pmem.values.records import Access, Memory


def note(workspace: Workspace, ids: Collection[str], kept: Collection[str] = ()) -> None:
    """Note that memories and episodes were recalled, each once, unless a setting forbids it.

    Whatever stands in the way, nothing fails and no tracked file changes.

    Args:
        ids: Which ones.
        kept: Those that were only shown: that is a use of them, and no recall.
    """
    if not workspace.read_only and workspace.configuration.records_access:
        workspace.own.access.note(ids, workspace.now())
        workspace.own.access.note(kept, workspace.now(), count=0)


def counted(workspace: Workspace, memories: Iterable[Memory]) -> list[Memory]:
    """Return memories with the recalls that wait for consolidation counted in.

    What was is not mixed with recalls of today: a view of the past counts none.

    Args:
        memories: The memories as they are in their files.
    """
    recalls = {} if workspace.is_past else waiting(workspace)
    return [
        with_recalls(memory, recalls[memory.id]) if memory.id in recalls else memory
        for memory in memories
    ]


def waiting(workspace: Workspace) -> dict[str, Access]:
    """Return by id the recalls that wait for consolidation."""
    return not_ahead(workspace, workspace.own.access.known())


def not_ahead(workspace: Workspace, recalls: Mapping[str, Access]) -> dict[str, Access]:
    """Return recalls with no time after the present, which a clock that was ahead would leave.

    Args:
        recalls: The recalls by id.
    """
    now = workspace.now()
    return {
        id_: Access(count=access.count, last_at=access.last_at and min(access.last_at, now))
        for id_, access in recalls.items()
    }
