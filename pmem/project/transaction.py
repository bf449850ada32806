"""What a transaction writes: whole, agreed to, without secrets, and noted in the log."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from pmem.errors import ReadOnly, Refused
from pmem.storage.backend import Change
from pmem.storage.git.tracked import check_own
from pmem.values.records import Chunk, Conversation, Episode, Memory, RecordType

if TYPE_CHECKING:
    from pmem.core.operations import LoggedOperation, Node
    from pmem.project.workspace import Workspace


@contextmanager
def transaction(workspace: "Workspace") -> Iterator[None]:
    """Hold the writers' lock, start from what is on disk, and commit at the end.

    Nothing is written when the body raises. What it read before it began is read again, so
    references are resolved in the body. What leads to records that it removes is cut.

    Raises:
        ReadOnly: The workspace is read-only.
        Damaged: A merge is open in the project's settings.
        Locked: Another writer kept the lock, or changed a record meanwhile.
        NotFound: A record would lead to one that is gone.
        StorageRefused: The disk or a file refused; `Unfinished` if after the change was made.
    """
    check_writable(workspace)
    workspace.configuration.check_resolved()
    _load()
    with workspace.backend.lock():
        _forget(workspace)
        try:
            yield
            workspace.has_written |= _commit(workspace)
            if workspace.settled:
                workspace.own.proposals.settle(workspace.settled, workspace.now())
        finally:
            workspace.settled.clear()
            _forget(workspace)


def check_writable(workspace: "Workspace") -> None:
    """See that this run may write at all.

    Raises:
        ReadOnly: The workspace is read-only.
        Refused: Git tracks what is each clone's own, or the moment is past.
    """
    check_own(workspace.root, workspace.environment)
    if workspace.is_past:
        raise Refused("what has been cannot be changed", "leave out --at to write")
    if workspace.read_only:
        raise ReadOnly()


def _load() -> None:
    """Load what a commit needs before the lock is taken: nobody waits for it."""
    import pmem.core.operations
    import pmem.project.own_state
    import pmem.project.references
    import pmem.storage.local.operations  # noqa: F401


def _forget(workspace: "Workspace") -> None:
    for part in workspace.stores:
        part.forget()


def _commit(workspace: "Workspace") -> bool:
    """Write what the stores of a workspace hold changed, all of it or nothing.

    Args:
        workspace: The lock on its records is held.

    Returns:
        Whether there was anything to write.

    Raises:
        NotFound: Something new would lead nowhere.
        Refused: It holds a secret, or needs a person's consent.
        StorageRefused: The disk refused.
    """
    changes = _whole_changes(workspace)
    if workspace.caller.agent is not None:
        _check_agreed(workspace, changes)
    workspace.gate.refuse_new_secrets(changes, lambda change: _before(workspace, change))
    noted = [(change, _replaced(workspace, change)) for change in changes]
    workspace.backend.commit(changes)
    workspace.written += noted
    _note_written(workspace, changes)
    return bool(changes)


def _whole_changes(workspace: "Workspace") -> list[Change]:
    """Return what a transaction writes, with what leads to records that it removes cut.

    Raises:
        NotFound: Something new would lead nowhere.
    """
    changes = _changes(workspace)
    if not changes:
        return changes
    from pmem.project.references import check_targets, cut_what_leads_to

    cut: set[tuple[RecordType, str]] = set()
    while gone := {(each.type, each.id) for each in changes if each.record is None} - cut:
        cut_what_leads_to(workspace, gone)
        cut |= gone
        changes = _changes(workspace)
    check_targets(workspace, changes)
    return changes


def _changes(workspace: "Workspace") -> list[Change]:
    return [change for part in workspace.stores for change in part.changes()]


def _before(workspace: "Workspace", change: Change) -> Any:
    """Return a changed record as it was read; None for a new one."""
    return workspace.store(change.type).before(change.id)


def _replaced(workspace: "Workspace", change: Change) -> Any:
    """Return what a change replaces; talk is changed by those who never asked for it by its id."""
    old = _before(workspace, change)
    is_talk = change.type in (Conversation, Chunk)
    return _as_kept(workspace, change) if old is None and is_talk else old


def _check_agreed(workspace: "Workspace", changes: Sequence[Change]) -> None:
    """See that an agent writes nothing that a person must agree to first.

    Raises:
        Refused: It does; `pmem add` and `pmem edit` hold such a thing back instead.
    """
    from pmem.core.consent import unagreed

    for change in changes:
        if isinstance(change.record, Memory | Episode):
            old = _before(workspace, change) or _as_kept(workspace, change)
            field = unagreed(change.record, old, workspace.settings.consent.fields)
            if field is not None:
                raise Refused(
                    f"{field.replace('_', ' ')} is remembered only with a person's consent",
                    "propose it with `pmem add`, or let a person do this",
                )


def _as_kept(workspace: "Workspace", change: Change) -> Any:
    """Return a record as it is on disk; None for one that is new."""
    if not list(workspace.backend.ids(change.type, change.id)):
        return None
    return workspace.backend.read(change.type, change.id)


def _note_written(workspace: "Workspace", changes: Sequence[Change]) -> None:
    """Note what a transaction did to memories and episodes."""
    about = [change for change in changes if change.type in (Memory, Episode)]
    if not about or not workspace.settings.record_operations:
        return
    from pmem.core.operations import removed, written

    node: Node = "worker" if workspace.is_upkeep else "hotpath"
    found: list[LoggedOperation] = []
    for change in about:
        if isinstance(change.record, Memory | Episode):
            found += written(change.record, _before(workspace, change), node)
        else:
            found.append(removed(change.id, workspace.now(), workspace.actor, node))
    workspace.own.operations.note(found)
