"""Linking memories to each other, by hand."""

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Final, NamedTuple

from pmem import __version__
from pmem.core import checks
from pmem.core.filters import Filter, fold
from pmem.core.lifecycle.neighbours import Neighbour
from pmem.core.record_keys import subject_key
from pmem.core.retention import linked, same_link, unlinked, valid_at
from pmem.core.selection import Selection
from pmem.errors import InvalidValue, NotFound
from pmem.memory.changes import change
from pmem.memory.requests import EditRequest, LinkRequest, UnlinkRequest
from pmem.project.workspace import Workspace
from pmem.values.ids import matches, short
from pmem.values.records import Event, EventKind, Memory, Relationship

LINK_TYPES: Final = (
    *("related_to", "depends_on", "derived_from", "fixes"),
    *("contradicts", "supersedes", "updates"),
)
"""The types of links that pmem writes or its documents name; any other may be given as well."""


def link(workspace: Workspace, request: LinkRequest) -> Memory:
    """Link one memory to another, or give that link a new strength; return the one at the start."""
    checks.share("strength", request.strength)
    if not request.type.strip():
        raise InvalidValue("a link's type must not be empty")

    def apply(memory: Memory, event: Event) -> Memory:
        _, target = workspace.resolve(request.end, Memory)
        if memory.id == target:
            raise InvalidValue(f"memory {target} cannot be linked to itself", "name another memory")
        new = Relationship(
            target=target, type=request.type, strength=request.strength, created_at=event.at
        )
        known = next((old for old in memory.relationships if same_link(old, new)), None)
        if known is not None and known.strength == request.strength:
            return memory
        return linked(memory, new, event.actor, event.at)

    return change(workspace, Memory, request.start, EventKind.LINK, apply)


def unlink(workspace: Workspace, request: UnlinkRequest) -> Memory:
    """Remove the links from one memory to another."""
    end = request.end

    def apply(memory: Memory, event: Event) -> Memory:
        targets = {old.target for old in memory.relationships if matches(end, old.target)}
        if len(targets) != 1:
            hint = f"`pmem show {short(memory.id)}` lists its links"
            many = "several links" if targets else "no link"
            raise NotFound(f"memory {short(memory.id)} has {many} to {end!r}", hint)
        cut = unlinked(memory, targets, request.type, event.actor, event.at)
        if cut.relationships == memory.relationships:
            raise NotFound(f"memory {memory.id} has no link of type {request.type!r} to {end!r}")
        return cut

    return change(workspace, Memory, request.start, EventKind.UNLINK, apply)


def change_links(workspace: Workspace, memory: Memory, request: EditRequest) -> Memory:
    """Make and remove the links of a memory that an edit names; return it as it then is."""
    for written in request.unlink:
        end, _, type_ = written.partition(":")
        memory = unlink(workspace, UnlinkRequest(start=memory.id, end=end, type=type_ or None))
    for written in request.link:
        end, colon, type_ = written.partition(":")
        wanted = LinkRequest(start=memory.id, end=end, type=type_ if colon else LINK_TYPES[0])
        memory = link(workspace, wanted)
    return memory


_NEAR_RULES: Final = f"near {__version__}"
"""Another version judges anew."""
_MOST_ON_SUBJECT: Final = 32
"""So many memories on one subject are compared with a new one."""


class Comparison(NamedTuple):
    """The memory that says the same as another one, if one does, and where that one may lead."""

    same: Memory | None
    neighbours: Sequence[Neighbour]


NOTHING = Comparison(None, ())


def compare_with_known(workspace: Workspace, memory: Memory) -> Comparison:
    """Compare what a memory says from now on with the likeliest of those that are known."""
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
    """Return a memory linked to its neighbours, and these; none where links are not wanted."""
    if not workspace.settings.link_on_add:
        return memory, ()
    for neighbour in neighbours:
        memory = linked(memory, neighbour.link, workspace.actor, memory.updated_at)
    return memory, tuple(neighbours)


def link_again(
    workspace: Workspace, memory: Memory
) -> tuple[Memory, tuple[Neighbour, ...], Memory | None]:
    """Return a memory that says something else now, linked to its new neighbours; these; and
    another memory that says the same, if one does.
    """
    found = compare_with_known(workspace, memory)
    same = found.same.id if found.same else None
    others = [one for one in found.neighbours if one.link.target != same]
    memory, neighbours = link_to_all(workspace, memory, others)
    return memory, neighbours, found.same


def near_pairs(workspace: Workspace) -> Iterator[tuple[Memory, Memory]]:
    """Yield pairs of current memories that say nearly the same, the older first."""
    found, current = _near_pairs(workspace)
    known = {memory.id: memory for memory in workspace.memories.select(current)} if found else {}
    for pair in found:
        if known.keys() >= pair:
            one, other = sorted(map(known.__getitem__, pair), key=lambda it: (it.created_at, it.id))
            yield one, other


def count_near_pairs(workspace: Workspace) -> int:
    """Count the pairs of current memories that say nearly the same."""
    found, current = _near_pairs(workspace)
    known = {id_ for (id_,) in workspace.memories.tally(current, ("id",))} if found else set()
    return sum(1 for pair in found if pair <= known)


def _near_pairs(workspace: Workspace) -> tuple[list[frozenset[str]], Selection]:
    """Return pairs of ids that say nearly the same, and which of these memories are current."""
    found = workspace.memories.near_pairs(_NEAR_RULES, _judge_near)
    pairs = list(dict.fromkeys(map(frozenset, found)))
    ids = tuple({id_ for pair in pairs for id_ in pair})
    return pairs, Selection(wanted=Filter(), ids=ids, holding_at=workspace.now())


def _judge_near(one: Memory, other: Memory) -> bool:
    from pmem.core.lifecycle.linking import say_nearly_the_same  # much to load, and seldom asked

    return say_nearly_the_same(one, other)


def find_rivals(workspace: Workspace, memory: Memory) -> Iterator[Memory]:
    """Yield what gives a memory's subject another value, or denies it; of many memories on it the
    first are compared. A user's own name is no subject: much may be said of one.
    """
    if not memory.subject or memory.subject == memory.scope.user:
        return
    keyed = workspace.memories.twins(subject_key(memory.subject), _MOST_ON_SUBJECT)
    on_subject = islice(keyed, _MOST_ON_SUBJECT)
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
