"""What happens to records, as their histories tell it."""

from typing import TYPE_CHECKING, Any

from pmem.values.records import Event, EventKind

if TYPE_CHECKING:
    from pmem.project.workspace import Workspace


def event_of(workspace: "Workspace", kind: EventKind, **detail: Any) -> Event:
    """Return what happens now, by whoever writes here.

    Args:
        kind: What happens.
        detail: See `Event`.
    """
    agent = workspace.caller.agent or ""
    return Event(event=kind, at=workspace.now(), actor=workspace.actor, agent=agent, detail=detail)
