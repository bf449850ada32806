"""Linking memories to each other, by hand."""

from typing import Final

from pmem.core import checks
from pmem.core.retention import linked, same_link, unlinked
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
    """Link one memory to another, or give the link that is there a new strength.

    Returns:
        The memory at the start.

    Raises:
        NotFound, Ambiguous: A reference.
        InvalidValue: Both are one memory, or a value is not allowed.
    """
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
    """Remove the links from one memory to another.

    Raises:
        NotFound, Ambiguous: A reference, or there is no such link.
    """
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
    """Make and remove the links of a memory that an edit names; return it as it then is.

    Raises:
        NotFound, Ambiguous: A reference, or there is no such link.
        InvalidValue: It would be linked to itself.
    """
    for written in request.unlink:
        end, _, type_ = written.partition(":")
        memory = unlink(workspace, UnlinkRequest(start=memory.id, end=end, type=type_ or None))
    for written in request.link:
        end, colon, type_ = written.partition(":")
        wanted = LinkRequest(start=memory.id, end=end, type=type_ if colon else LINK_TYPES[0])
        memory = link(workspace, wanted)
    return memory
