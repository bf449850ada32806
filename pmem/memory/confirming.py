"""What agents noted by themselves, until a person confirms it."""

from typing import Annotated, Final

import msgspec

from pmem.core.filters import Filter
from pmem.core.selection import Selection
from pmem.core.trust import LEVELS, Trust, noted_by
from pmem.memory.changes import vouched
from pmem.project.events import event_of
from pmem.project.workspace import Workspace
from pmem.values.fields import asked
from pmem.values.records import EventKind, Memory

_MEDIUM: Final = Selection(
    wanted=Filter(),
    least=(("trust", LEVELS.index(Trust.MEDIUM)),),
    below=(("trust", LEVELS.index(Trust.HIGH)),),
)


class ConfirmRequest(msgspec.Struct, frozen=True, kw_only=True):
    """Whose memories are right: all that this agent noted."""

    agent: Annotated[str, asked("Also all memories that this agent noted.", shown="NAME")]


class Confirmed(msgspec.Struct, frozen=True, kw_only=True):
    """The memories that are trusted from now on."""

    items: tuple[Memory, ...]


def list_noted(workspace: Workspace) -> list[tuple[str, Memory]]:
    """Return the active memories that no person has confirmed, with the agents that noted them."""
    found = ((noted_by(memory), memory) for memory in workspace.memories.select(_MEDIUM))
    return [(agent, memory) for agent, memory in found if agent]


def confirm(workspace: Workspace, request: ConfirmRequest) -> Confirmed:
    """Trust all that an agent noted: a person has looked at it.

    Raises:
        Damaged, Locked: The store.
    """
    found = [one for agent, one in list_noted(workspace) if agent == request.agent]
    event = event_of(workspace, EventKind.UPDATE)
    kept = (vouched(workspace, one, event) for one in found)
    return Confirmed(items=tuple(map(workspace.memories.put, kept)))
