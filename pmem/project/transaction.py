"""What a transaction writes: whole, agreed to, without secrets, and noted in the log."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from pmem.errors import ReadOnly, Refused
from pmem.storage.backend import Change
from pmem.storage.git.tracked import check_own
from pmem.values.ids import short
from pmem.values.records import (
    Chunk,
    Conversation,
    Episode,
    Event,
    Memory,
    Message,
    RecordType,
    Standing,
)

if TYPE_CHECKING:
    from pmem.core.operations import LoggedOperation, Node
    from pmem.project.workspace import Workspace
    from pmem.storage.local.logs import LoggedChange, LoggedFact


@contextmanager
def transaction(workspace: "Workspace") -> Iterator[None]:
    """Hold the writers' lock, start from what is on disk, and commit at the end.

    Nothing is written when the body raises. What it read before it began is read again, so
    references are resolved in the body. What leads to records that it removes is cut.

    Raises:
        Locked: Another writer kept the lock, or changed a record meanwhile.
        NotFound: A record would lead to one that is gone.
    """
    check_writable(workspace)
    workspace.configuration.check_resolved()
    _load()
    with workspace.backend.lock():
        for part in workspace.stores:
            part.forget()
        try:
            yield
            workspace.has_written |= _commit(workspace)
            if workspace.settled:
                workspace.own.proposals.settle(workspace.settled, workspace.now())
        finally:
            workspace.settled.clear()
            for part in workspace.stores:
                part.forget()


def check_writable(workspace: "Workspace") -> None:
    """See that this run may write at all: not in the past, nor into what came with the project."""
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
    import pmem.storage.local.logs  # noqa: F401


def _commit(workspace: "Workspace") -> bool:
    """Write what the stores hold changed, all of it or nothing; tell whether there was anything."""
    changes = _whole_changes(workspace)
    if workspace.caller.agent is not None:
        _check_agreed(workspace, changes)
    workspace.gate.refuse_new_secrets(changes, lambda change: _before(workspace, change))
    noted = []
    for change in changes:
        old = _before(workspace, change)
        if old is None and change.type in (Conversation, Chunk):  # changed without a look at it
            old = _as_kept(workspace, change)
        noted.append((change, old))
    workspace.backend.commit(changes)
    workspace.written += noted
    _note_written(workspace, changes)
    return bool(changes)


def _whole_changes(workspace: "Workspace") -> list[Change]:
    """Return what a transaction writes, with what leads to records that it removes cut."""
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


def _check_agreed(workspace: "Workspace", changes: Sequence[Change]) -> None:
    """See that an agent writes nothing that a person must agree to first."""
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


_KINDS = {Memory: "memory", Episode: "episode", Conversation: "conversation"}
_TALK = frozenset({"messages", "recent_messages", "chunks", "pruned", "pruned_at", "summary"})
"""The fields of conversations and chunks whose earlier values nothing keeps."""
_IMPORTS = frozenset({"import.auto", "import.git", "import.messages", "import.project"})
"""What adds to conversations so that `undo` can take away again what was added."""
_NO_WAY_BACK = ("conversation.mark", "conversation.rm")
"""What changes single messages: `undo` says that it cannot, and takes back nothing before it."""


def note_command(workspace: "Workspace", operation: str, *, beyond: bool = False) -> None:
    """Note what a command has written, and whether that is `beyond` records that keep what they
    were.

    Where that fails, nothing happens.
    """
    from pmem.storage.local.logs import LoggedCommand

    first: dict[str, Any] = {}
    last: dict[str, Change] = {}
    for change, old in workspace.written:  # whatever number of transactions changed a record
        first.setdefault(change.id, old)
        last[change.id] = change
    workspace.written.clear()
    pairs = [(change, first[identifier]) for identifier, change in last.items()]
    facts = tuple(_settled_facts(pairs))
    if operation in _IMPORTS:
        changes = (*_grown_talks(pairs), *_logged_changes(pairs))
        is_beyond = _are_edited(pairs)
    else:
        changes = tuple(_logged_changes(pairs))
        is_beyond = beyond or any(_is_beyond(change, old) for change, old in pairs)
    command = LoggedCommand(
        at=workspace.now(),
        operation=operation,
        changes=changes,
        facts=facts,
        beyond=is_beyond,
        is_final=operation in _NO_WAY_BACK or (is_beyond and not changes and not facts),
        forgot=workspace.forgot,
        took_back=tuple(workspace.taken_back),
    )
    if not command.is_empty:
        workspace.own.commands.note(command)


def _logged_changes(pairs: "list[tuple[Change, Any]]") -> "Iterator[LoggedChange]":
    """Yield what was changed of records that keep what they were, and what was deleted.

    Of a new conversation nothing, and nothing where only recalls were counted.
    """
    from pmem.storage.local.logs import LoggedChange, digest_of

    for change, old in pairs:
        if change.type not in _KINDS:
            continue
        known = {digest_of(event) for event in getattr(old, "history", ())}
        history: Sequence[Event] = getattr(change.record, "history", ())
        if change.type is Conversation:  # what happened to messages alone has nothing to go back to
            history = tuple(event for event in history if event.before)
        digests = [digest_of(event) for event in history]
        events = tuple(digest for digest in digests if digest not in known)
        is_talk = change.type is Conversation
        if (is_talk and old is None) or (not events and (is_talk or change.record is not None)):
            continue
        yield LoggedChange(
            kind=_KINDS[change.type],  # type: ignore[arg-type]
            id=change.id,
            events=events,
            is_new=old is None,
            place=len(known),
        )


def _grown_talks(pairs: "list[tuple[Change, Any]]") -> "Iterator[LoggedChange]":
    """Yield the conversations that are new or have more messages."""
    from pmem.storage.local.logs import LoggedChange

    for change, old in pairs:
        if isinstance(change.record, Conversation):
            turns = (0 if old is None else old.turns, change.record.turns)
            if turns[0] < turns[1]:
                yield LoggedChange(
                    kind="conversation", id=change.id, events=(), is_new=old is None, turns=turns
                )


def _are_edited(pairs: "list[tuple[Change, Any]]") -> bool:
    """Tell whether a message that was there has another text, wherever it is kept now."""
    now = {one.id: one for change, _ in pairs for one in _messages(change.record)}
    return any(now.get(one.id, one) != one for _, old in pairs for one in _messages(old))


def _messages(record: Any) -> "tuple[Message, ...]":
    """Return the messages that are in a record itself."""
    return (*getattr(record, "messages", ()), *getattr(record, "recent_messages", ()))


def _settled_facts(pairs: "list[tuple[Change, Any]]") -> "Iterator[LoggedFact]":
    """Yield the facts that were promoted or rejected, each once."""
    from pmem.storage.local.logs import LoggedFact

    before: dict[str, Standing] = {}
    after: dict[str, LoggedFact] = {}
    for change, old in pairs:
        if change.type in (Conversation, Chunk):
            before |= {short(fact.id): fact.standing for fact in getattr(old, "facts", ())}
            after |= {
                short(fact.id): LoggedFact(
                    fact=short(fact.id), standing=fact.standing, memory=fact.memory
                )
                for fact in getattr(change.record, "facts", ())
            }
    for name, fact in after.items():
        was = before.get(name, Standing.PENDING)
        if was is Standing.PENDING is not fact.standing:
            yield fact


def _is_beyond(change: "Change", old: Any) -> bool:
    """Tell whether what keeps no earlier values was changed as well."""
    if change.type not in (Conversation, Chunk):
        return False
    if change.record is None or old is None:
        return True
    return any(getattr(change.record, name, None) != getattr(old, name, None) for name in _TALK)
