"""Noting in this clone which command changed which records, so that it can be taken back."""

from typing import TYPE_CHECKING, Any

from pmem.values.records import Chunk, Conversation, Episode, Event, Memory, Standing

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pmem.project.workspace import Workspace
    from pmem.storage.backend import Change
    from pmem.storage.local.commands import LoggedChange, LoggedFact

_KINDS = {Memory: "memory", Episode: "episode", Conversation: "conversation"}
_TALK = frozenset({"messages", "recent_messages", "chunks", "pruned", "pruned_at", "summary"})
"""The fields of conversations and chunks whose earlier values nothing keeps."""
_NO_WAY_BACK = ("conversation.mark", "conversation.rm")
"""What changes single messages: `undo` says that it cannot, and takes back nothing before it."""


def note_command(workspace: "Workspace", operation: str, *, beyond: bool = False) -> None:
    """Note what a command has written; where that fails, nothing happens.

    Args:
        workspace: Its `written` says what.
        operation: What the command is called in the table.
        beyond: Whether it also changed what is no record, and keeps no earlier values.
    """
    from pmem.storage.local.commands import LoggedCommand

    written, workspace.written[:] = list(workspace.written), []
    pairs = _first_and_last(written)
    changes, facts = tuple(_changes(pairs)), tuple(_settled_facts(pairs))
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


def _first_and_last(written: "list[tuple[Change, Any]]") -> "list[tuple[Change, Any]]":
    """Return each record once, whatever number of transactions changed it, and what it was."""
    first: dict[str, Any] = {}
    last: dict[str, Change] = {}
    for change, old in written:
        first.setdefault(change.id, old)
        last[change.id] = change
    return [(change, first[identifier]) for identifier, change in last.items()]


def _changes(pairs: "list[tuple[Change, Any]]") -> "Iterator[LoggedChange]":
    """Yield what was changed of records that keep what they were, and what was deleted.

    Of a new conversation nothing, and nothing where only recalls were counted.
    """
    from pmem.storage.local.commands import LoggedChange, digest_of

    for change, old in pairs:
        if change.type not in _KINDS:
            continue
        known = {digest_of(event) for event in _history(old)}
        history = _history(change.record)
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


def _settled_facts(pairs: "list[tuple[Change, Any]]") -> "Iterator[LoggedFact]":
    """Yield the facts that were promoted or rejected, each once."""
    from pmem.storage.local.commands import LoggedFact
    from pmem.values.ids import short

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


def _history(record: Any) -> "tuple[Event, ...]":
    return () if record is None else record.history
