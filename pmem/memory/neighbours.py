"""What a new or changed memory has to do with those that are known: looked for as it is written."""

from collections.abc import Sequence
from typing import NamedTuple

from pmem.core.lifecycle.neighbours import Neighbour
from pmem.core.retention import linked
from pmem.project.workspace import Workspace
from pmem.values.records import Memory


class Comparison(NamedTuple):
    """The memory that says the same as another one, if one does, and where that one may lead."""

    same: Memory | None
    neighbours: Sequence[Neighbour]


NOTHING = Comparison(None, ())


def compare_with_known(workspace: Workspace, memory: Memory) -> Comparison:
    """Compare what a memory says from now on with the likeliest of those that are known.

    The comparing is loaded only if it is needed.
    """
    from pmem.core.lifecycle.candidates import MOST_CANDIDATES, asked_keys, promising

    keys = asked_keys(memory.content, memory.scope)
    alike = workspace.memories.alike(keys, MOST_CANDIDATES)
    at = memory.updated_at
    others = promising(memory, alike, at)
    if not others:
        return NOTHING
    from pmem.core.lifecycle.linking import close_to, linked_to, same_as

    close = close_to(memory, others)
    return Comparison(same_as(memory, close), linked_to(memory, close, at))


def link_to_all(
    workspace: Workspace, memory: Memory, neighbours: Sequence[Neighbour]
) -> tuple[Memory, tuple[Neighbour, ...]]:
    """Return a memory with links to its neighbours, and these; neither where links are not wanted.

    Args:
        memory: The memory, as it is about to be written.
        neighbours: Where its links are to lead.
    """
    if not workspace.settings.link_on_add:
        return memory, ()
    for neighbour in neighbours:
        memory = linked(memory, neighbour.link, workspace.actor, memory.updated_at)
    return memory, tuple(neighbours)


def link_again(
    workspace: Workspace, memory: Memory
) -> tuple[Memory, tuple[Neighbour, ...], Memory | None]:
    """Return a memory that says something else now, with links to its new neighbours.

    Returns:
        The memory, these neighbours, and another memory that says the same, if one does.
    """
    found = compare_with_known(workspace, memory)
    same = found.same.id if found.same else None
    others = [one for one in found.neighbours if one.link.target != same]
    memory, neighbours = link_to_all(workspace, memory, others)
    return memory, neighbours, found.same
