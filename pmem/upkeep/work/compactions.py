"""What apps let go that have more memories than they may."""

from collections.abc import Iterator

from msgspec.structs import astuple

from pmem.core.filters import Filter
from pmem.errors import Refused
from pmem.memory.app_limit import carry_out
from pmem.memory.app_memories import members
from pmem.memory.app_questions import crowd_given, decision_of
from pmem.memory.proposals import needs_leave
from pmem.model.tasks import CompactionAnswer, CompactionGiven
from pmem.project.workspace import Workspace
from pmem.upkeep.work.kinds import Changed
from pmem.values.records import Origin


def waiting(workspace: Workspace, about: str | None) -> Iterator[str]:
    """Yield the apps that have memories."""
    if about is None:
        found = {memory.scope.app for memory in workspace.memories.find(Filter())}
        yield from sorted(filter(None, found))


def given(workspace: Workspace, name: str) -> CompactionGiven | None:
    """Return an app's memories; None where it has no more than it may."""
    kept = members(workspace, name)
    return crowd_given(workspace, name, kept) if len(kept) > workspace.settings.apps.limit else None


def apply(workspace: Workspace, name: str, answer: CompactionAnswer, made_by: Origin) -> Changed:
    """Carry a decision out.

    Raises:
        Refused: An agent may not let go what a person wrote.
    """
    kept = members(workspace, name)
    decision = decision_of(answer, kept, " ".join(astuple(made_by)))
    named = [one for one in kept if one.id in (decision.target, decision.merged)]
    if any(needs_leave(workspace, memory) for memory in named):
        raise Refused("a person wrote what would go", "let a person do this work")
    carry_out(workspace, kept, decision)
    return tuple(memory.id for memory in named)
