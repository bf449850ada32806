"""Copying what somebody remembers for themselves into a project, because they say so."""

from typing import Final

import msgspec

from pmem.core.outcomes import ERROR
from pmem.errors import InvalidValue, NotFound
from pmem.memory.memories import add
from pmem.memory.requests import Added, AddRequest, Force
from pmem.project.own_memory import open_own
from pmem.project.workspace import Workspace
from pmem.values.fields import Admit, Ref, as_it_is
from pmem.values.ids import short
from pmem.values.records import Memory, Source, State


class ShareRequest(msgspec.Struct, frozen=True, kw_only=True):
    """Which memory of one's own is copied, and whether even beside a similar one."""

    reference: Ref
    force: Force = False
    admit: Admit = as_it_is


def share(workspace: Workspace, request: ShareRequest) -> Added:
    """Copy a memory of one's own into a project, unless there is one that says the same."""
    own = open_own(workspace)
    try:
        _, identifier = own.resolve(request.reference, Memory)
    except NotFound:
        raise NotFound(
            f"no memory of your own has an id that starts with {request.reference!r}",
            "`pmem list --mine` shows ids",
        ) from None
    memory = own.memories.get(identifier)
    if memory.state is not State.ACTIVE:
        raise InvalidValue(
            f"your memory {short(memory.id)} is {memory.state.replace('_', ' ')}",
            f"bring it back with `pmem restore --mine {short(memory.id)}`",
        )
    return add(workspace, request.admit(_copy_of(memory, force=request.force), "the memory"))


_COPIED: Final = (
    *("content", "type", "category", "subject", "tags", "importance", "valid_from", "valid_until"),
    *("places", "tried", "because", "instead_of", "review_at", "review_if"),
)
"""Whether it is pinned, and for whom it is, its owner decided; what it cites stands elsewhere."""


def _copy_of(memory: Memory, *, force: bool) -> AddRequest:
    """Return what adds the same to a project."""
    errors = tuple(each for each in memory.evidence if each.startswith(ERROR))
    copied = {name: getattr(memory, name) for name in _COPIED}
    return AddRequest(**copied, source=Source(memory=memory.id), evidence=errors, force=force)
