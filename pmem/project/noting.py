"""Noting in this clone which command changed which records, so that it can be taken back."""

from typing import TYPE_CHECKING, Any

from pmem.values.records import Episode, Event, Memory

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pmem.project.workspace import Workspace
    from pmem.storage.backend import Change
    from pmem.storage.local.commands import LoggedChange

_KINDS = {Memory: "memory", Episode: "episode"}


def note_command(workspace: "Workspace", operation: str) -> None:
    """Note what a command has written; where that fails, nothing happens.

    Args:
        workspace: Its `written` says what.
        operation: What the command is called in the table.
    """
    from pmem.storage.local.commands import LoggedCommand

    written, workspace.written[:] = list(workspace.written), []
    changes = tuple(_changes(written))
    if not changes:
        return
    beyond = any(change.type not in _KINDS for change, _ in written)
    workspace.own.commands.note(
        LoggedCommand(
            at=workspace.now(),
            operation=operation,
            changes=changes,
            beyond=beyond,
            took_back=tuple(workspace.taken_back),
        )
    )


def _changes(written: "list[tuple[Change, Any]]") -> "Iterator[LoggedChange]":
    """Yield the records that were changed, each once, whatever number of transactions did so."""
    from pmem.storage.local.commands import LoggedChange, digest_of

    first: dict[str, Any] = {}
    last: dict[str, Change] = {}
    for change, old in written:
        if change.type in _KINDS:
            first.setdefault(change.id, old)
            last[change.id] = change
    for identifier, change in last.items():
        record, old = change.record, first[identifier]
        known = {digest_of(event) for event in _history(old)}
        digests = [digest_of(event) for event in _history(record)]
        yield LoggedChange(
            kind="memory" if change.type is Memory else "episode",
            id=identifier,
            events=tuple(digest for digest in digests if digest not in known),
            is_new=old is None,
        )


def _history(record: Any) -> "tuple[Event, ...]":
    return () if record is None else record.history
