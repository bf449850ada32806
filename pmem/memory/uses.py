"""What of the memory was of use to sessions, as this clone has counted."""

from contextlib import suppress
from typing import TYPE_CHECKING

from pmem.errors import PmemError
from pmem.project.workspace import Workspace

if TYPE_CHECKING:
    from pmem.storage.local.sessions import UseCount


def counted_uses(workspace: Workspace) -> "dict[str, UseCount]":
    """Return by id in how many sessions records were shown and used.

    A view of the past counts none, and neither does a clone whose state cannot be read: these are
    figures only.
    """
    if workspace.is_past:
        return {}
    with suppress(PmemError):
        return workspace.own.use_counts.all()
    return {}


def use_of(workspace: Workspace, identifier: str) -> "UseCount | None":
    """Return in how many sessions a record was shown and used; None if it was shown in none.

    Args:
        identifier: Its id.
    """
    if workspace.is_past:
        return None
    with suppress(PmemError):
        return workspace.own.use_counts.of(identifier)
    return None
