"""What is told of a record that changed."""

from collections.abc import Sequence
from typing import Any, Literal

import msgspec

from pmem.errors import PmemError
from pmem.project.workspace import Workspace
from pmem.values.ids import short
from pmem.values.records import KINDS, RecordType


class StreamedChange(msgspec.Struct, frozen=True, kw_only=True):
    """A record that changed: what happened to it last, and who did that.

    Attributes:
        number: Counts the changes since the server began.
        id: The record's.
        short: Its short id.
        kind: What it is.
        change: Whether it is new, was changed, or is gone for good.
        event: The last event of its history; empty where it has none.
        at: When that was.
        actor: Who it was.
        agent: Which agent, if it was one.
    """

    number: int
    id: str
    short: str
    kind: str
    change: Literal["added", "changed", "gone"]
    event: str = ""
    at: Any = None
    actor: str = ""
    agent: str = ""


def change_of(
    workspace: Workspace, type_: RecordType, identifier: str, was: bool | None, is_there: bool
) -> StreamedChange:
    """Return what is told of a record.

    `was` tells whether it was there before; None where only its history knows.
    """
    history = _history(workspace, type_, identifier) if is_there else ()
    last = history[-1] if history else None
    was = len(history) > 1 if was is None else was
    change: Any = ("changed" if was else "added") if is_there else "gone"
    return StreamedChange(
        number=0,
        id=identifier,
        short=short(identifier),
        kind=KINDS[type_],
        change=change,
        event=last.event if last else "",
        at=last.at if last else None,
        actor=last.actor if last else "",
        agent=last.agent if last else "",
    )


def _history(workspace: Workspace, type_: RecordType, identifier: str) -> Sequence[Any]:
    try:
        record = workspace.store(type_).get(identifier)
    except PmemError:  # half of a merge, or a conflict: the file has changed all the same
        return ()
    return getattr(record, "history", ())
