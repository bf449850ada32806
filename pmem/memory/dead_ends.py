"""Noting what was tried: what failed, and what worked instead."""

from typing import Annotated, Any

import msgspec

from pmem.core.filters import same_text
from pmem.core.outcomes import FIXES, describe_attempt, warns
from pmem.core.retention import linked
from pmem.core.selection import Selection
from pmem.errors import InvalidValue
from pmem.memory.memories import put_new
from pmem.memory.requests import Added, AddRequest, Cited, Force, Places, Subject, Tags
from pmem.project.workspace import Workspace
from pmem.values.fields import asked
from pmem.values.records import Memory, MemoryType, Relationship


class TriedRequest(msgspec.Struct, frozen=True, kw_only=True):
    """What was tried, why it `failed`, and what `worked` instead; at least one of the two.

    What `worked` for something that is known to have failed needs no reason again. `places`,
    `cite`, `evidence`, `subject` and `tags` are as in `AddRequest`; both memories get them.
    """

    tried: Annotated[str, asked("What was tried.", shown="TEXT", is_argument=True)]
    failed: Annotated[str | None, asked("Why it failed.")] = None
    worked: Annotated[str | None, asked("What worked instead.")] = None
    places: Places = ()
    cite: Cited = ()
    evidence: tuple[str, ...] = ()
    subject: Subject = None
    tags: Tags = ()
    app: str | None = None
    agent: str | None = None
    force: Force = False

    @property
    def named_app(self) -> str | None:
        """The app that it is for, by name."""
        return self.app


class Tried(msgspec.Struct, frozen=True, kw_only=True):
    """The dead end, and what fixes it: what adding each of them led to."""

    dead_end: Added
    fix: Added | None = None

    @property
    def noted(self) -> dict[str, str] | None:
        """What the log of operations says of it."""
        return self.dead_end.noted

    def to_plain(self) -> dict[str, Any]:
        """Return what became of both."""
        return {
            "dead_end": self.dead_end.to_plain(),
            "fix": None if self.fix is None else self.fix.to_plain(),
        }


def note_attempt(workspace: Workspace, request: TriedRequest) -> Tried:
    """Note what was tried and failed, and what worked instead, linked to it.

    Raises:
        InvalidValue: A value is not allowed, or it neither failed nor is known to have.
    """
    dead_end = _dead_end(workspace, request)
    if request.worked is None:
        return Tried(dead_end=dead_end)
    wanted = _like(request, content=request.worked, type=MemoryType.PROCEDURE)
    fix = put_new(workspace, wanted)
    if fix.action == "added" and dead_end.record is not None:
        link = Relationship(
            target=dead_end.record.id, type=FIXES, strength=1.0, created_at=workspace.now()
        )
        memory = linked(fix.memory, link, workspace.actor, workspace.now())
        fix = msgspec.structs.replace(fix, record=workspace.memories.put(memory))
    return Tried(dead_end=dead_end, fix=fix)


def _dead_end(workspace: Workspace, request: TriedRequest) -> Added:
    """Return the dead end that a request is about, known or new."""
    known = _known(workspace, request.tried)
    if known is not None and not request.force:
        return Added(action="suggested", record=known, reason="this dead end is known")
    if request.failed is None:
        raise InvalidValue(
            "nothing is known to have failed under these words", "say why with --failed"
        )
    wanted = _like(
        request,
        content=describe_attempt(request.tried, request.failed),
        type=MemoryType.DEAD_END,
        tried=request.tried,
        because=request.failed,
    )
    return put_new(workspace, wanted)


def _known(workspace: Workspace, tried: str) -> Memory | None:
    from pmem.core.filters import Filter

    selection = Selection(wanted=Filter(types=(MemoryType.DEAD_END,)))
    found = workspace.memories.select(selection)
    return next((one for one in found if warns(one) and same_text(one.tried, tried)), None)


def _like(request: TriedRequest, **fields: Any) -> AddRequest:
    """Return a request for a memory that has what both of them get."""
    same = ("places", "cite", "evidence", "subject", "tags", "app", "agent")
    given = {name: getattr(request, name) for name in same}
    return AddRequest(**given, **fields, force=request.force)
