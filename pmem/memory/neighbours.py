"""What a new or changed memory has to do with those that are known: looked for as it is written."""

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Final, NamedTuple

from pmem.core.filters import Filter, fold
from pmem.core.lifecycle.neighbours import Neighbour, is_near
from pmem.core.retention import linked, valid_at
from pmem.core.selection import Selection
from pmem.project.workspace import Workspace
from pmem.storage.backend import NEAR_KEY, subject_key
from pmem.values.records import Memory

_MOST_ON_SUBJECT: Final = 32
"""So many memories on one subject are compared with a new one."""


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


def near_pairs(workspace: Workspace) -> Iterator[tuple[Memory, Memory]]:
    """Yield pairs of current memories that say nearly the same, the older first."""
    from pmem.core.lifecycle.linking import say_nearly_the_same

    now, seen = workspace.now(), set[frozenset[str]]()
    for memory in list(workspace.memories.twins(NEAR_KEY)):
        ends = tuple(link.target for link in memory.relationships if is_near(link))
        current = Selection(wanted=Filter(), ids=ends, holding_at=now)
        for other in workspace.memories.select(current) if valid_at(memory, now) else ():
            pair = frozenset((memory.id, other.id))
            if pair not in seen and say_nearly_the_same(memory, other):
                seen.add(pair)
                older, newer = sorted((memory, other), key=lambda each: (each.created_at, each.id))
                yield older, newer


def find_rivals(workspace: Workspace, memory: Memory) -> Iterator[Memory]:
    """Yield what gives a memory's subject another value, or denies it; of many memories on it the
    first are compared. A user's own name is no subject: much may be said of one.
    """
    if not memory.subject or memory.subject == memory.scope.user:
        return
    on_subject = islice(workspace.memories.twins(subject_key(memory.subject)), _MOST_ON_SUBJECT)
    current = [known for known in on_subject if valid_at(known, memory.created_at)]
    if current:
        from pmem.core.lifecycle.linking import says_otherwise

        yield from (known for known in current if says_otherwise(memory, known))


def count_on_subject(workspace: Workspace, subject: str | None) -> int:
    """Count the current memories on a subject; dear where some have changed in this transaction."""
    if not subject:
        return 0
    on_subject = Selection(wanted=Filter(), subjects=(fold(subject),), holding_at=workspace.now())
    return workspace.memories.count(on_subject)
