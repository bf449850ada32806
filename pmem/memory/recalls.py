"""Recalls: noting them, and counting those that wait to be folded into the records."""

from collections.abc import Collection, Iterable, Mapping
from contextlib import suppress
from typing import TYPE_CHECKING

from pmem.core.lifecycle.presence import with_recalls
from pmem.errors import PmemError
from pmem.project.workspace import Workspace
from pmem.values.records import Access, Memory

if TYPE_CHECKING:
    from pmem.storage.local.sessions import UseCount


def note(workspace: Workspace, ids: Collection[str], kept: Collection[str] = ()) -> None:
    """Note that memories and episodes were recalled, each once, unless a setting forbids it.

    Nothing fails, whatever stands in the way. Those of `kept` were only shown: a use, no recall.
    """
    if not workspace.read_only and workspace.configuration.records_access:
        workspace.own.access.note(ids, workspace.now())
        workspace.own.access.note(kept, workspace.now(), count=0)


def counted(workspace: Workspace, memories: Iterable[Memory]) -> list[Memory]:
    """Return memories with the recalls that wait to be folded; a view of the past counts none."""
    recalls = {} if workspace.is_past else waiting(workspace)
    return [
        with_recalls(memory, recalls[memory.id]) if memory.id in recalls else memory
        for memory in memories
    ]


def waiting(workspace: Workspace) -> dict[str, Access]:
    """Return by id the recalls that wait for consolidation."""
    return not_ahead(workspace, workspace.own.access.known())


def not_ahead(workspace: Workspace, recalls: Mapping[str, Access]) -> dict[str, Access]:
    """Return recalls with no time after the present, which a clock that was ahead would leave."""
    now = workspace.now()
    return {
        id_: Access(count=access.count, last_at=access.last_at and min(access.last_at, now))
        for id_, access in recalls.items()
    }


def counted_uses(workspace: Workspace) -> "dict[str, UseCount]":
    """Return by id in how many sessions records were shown and used.

    A view of the past counts none, nor does a clone whose state cannot be read: these are figures.
    """
    if workspace.is_past:
        return {}
    with suppress(PmemError):
        return workspace.own.use_counts.all()
    return {}


def use_of(workspace: Workspace, identifier: str) -> "UseCount | None":
    """Return in how many sessions a record was shown and used; None if it was shown in none."""
    if workspace.is_past:
        return None
    with suppress(PmemError):
        return workspace.own.use_counts.of(identifier)
    return None
