"""Taking commands of this clone back: each record is brought to what it was, as a new event."""

from collections.abc import Sequence
from datetime import datetime
from itertools import takewhile
from typing import Any, Final

import msgspec

from pmem.core.journal import one_line
from pmem.core.operations import command_of
from pmem.core.retention import TAKES_BACK, before_event, changed, json_value
from pmem.core.threeway.history import REOPENED, open_conflicts
from pmem.core.trust import INHERITED, trust_of
from pmem.errors import BuiltOn, InvalidValue, NotFound
from pmem.memory.changes import out_of_recall
from pmem.memory.conversations import shorten
from pmem.project.workspace import Workspace
from pmem.storage.git.git_index import HeldByGit
from pmem.storage.git.tracked import check_own
from pmem.storage.local.logs import LoggedChange, LoggedCommand, digest_of
from pmem.values.fields import DryRun
from pmem.values.ids import short
from pmem.values.records import Conversation, Episode, Event, EventKind, Memory, State, plain
from pmem.values.times import iso

Returnable = Memory | Episode | Conversation
"""What keeps the earlier values of its fields; a conversation those of some."""
_BOOKS: Final = ("history", "updated_at", "tokens", "access")
_TYPES: Final[dict[str, type[Returnable]]] = {
    "memory": Memory,
    "episode": Episode,
    "conversation": Conversation,
}


class UndoRequest(msgspec.Struct, frozen=True, kw_only=True):
    """Which commands are to be taken back: the last ones of this clone, or the last on a record."""

    many: int = 1
    reference: str | None = None
    dry_run: DryRun = False


class UndoneChange(msgspec.Struct, frozen=True, kw_only=True):
    """A record that was brought back to what it was: what it said, and the fields that differ.

    `gone` says that the command had made it, so that it is removed. `deleted` says that its file
    is gone with it, as no commit has it; `staged` is its path in the memory folder where git still
    has it staged.
    """

    id: str
    short: str
    text: str
    before: dict[str, Any] = {}
    after: dict[str, Any] = {}
    gone: bool = False
    deleted: bool = False
    staged: str = ""


class UndoneCommand(msgspec.Struct, frozen=True, kw_only=True):
    """A command that was taken back: its operation, when it was run, what became of its records.

    `facts` are those that are pending again. `stays` says that what was said in conversations is
    still there.
    """

    operation: str
    at: datetime
    changes: tuple[UndoneChange, ...]
    facts: tuple[str, ...] = ()
    stays: bool = False


class Undone(msgspec.Struct, frozen=True, kw_only=True):
    """The commands that were taken back, the latest first; of a dry run those that would be."""

    items: tuple[UndoneCommand, ...]
    dry_run: bool

    @property
    def total(self) -> int:
        """How many commands."""
        return len(self.items)

    def to_plain(self) -> dict[str, Any]:
        """Return the commands, and how many."""
        return {**msgspec.structs.asdict(self), "total": self.total}


def undo(workspace: Workspace, request: UndoRequest) -> Undone:
    """Take commands of this clone back, the latest first, all of them or none.

    Raises:
        BuiltOn: A record has changed since in what the command changed.
    """
    if request.many < 1:
        raise InvalidValue("undo needs at least one command", "give a number from 1")
    wanted = _wanted(workspace, request)
    held = HeldByGit(workspace.root, workspace.environment)
    done = tuple(_undo(workspace, one, held) for one in wanted)
    if request.dry_run:
        for store in workspace.stores:
            store.forget()
    return Undone(items=done, dry_run=request.dry_run)


def _wanted(workspace: Workspace, request: UndoRequest) -> Sequence[LoggedCommand]:
    """Return the commands to take back, without those that were and those that took some back."""
    check_own(workspace.root, workspace.environment)
    left = _standing(workspace.own.commands.all())
    if request.reference is not None:
        _, identifier = workspace.resolve(request.reference, Memory, Episode, Conversation)
        about = [one for one in left if any(each.id == identifier for each in one.changes)]
        if not about:
            raise NotFound(
                f"no command of this clone that changed {short(identifier)} is left to undo",
                "`pmem log` shows what happened to it",
            )
        return about[:1]
    if len(left) < request.many:
        known = len([*takewhile(_can_go, left)])
        most = f"only the last {known}" if known else "no command"
        raise NotFound(f"this clone can undo {most}", "`pmem log` shows what happened")
    wanted = left[: request.many]
    final = next((one for one in wanted if one.is_final and not one.forgot), None)
    if final is not None:
        name = f"`{command_of(final.operation)}`"
        which = f"the last command, {name}," if final is wanted[0] else name
        raise InvalidValue(
            f"{which} cannot be undone", "`pmem undo REF` undoes the last one on a record"
        )
    return wanted


def _can_go(command: LoggedCommand) -> bool:
    """Tell whether a command left what it can be undone by."""
    is_lost = command.is_final or command.forgot
    return not is_lost and all(change.events or change.turns for change in command.changes)


def _standing(commands: Sequence[LoggedCommand]) -> list[LoggedCommand]:
    """Return the commands that are not taken back, the latest first."""
    left: list[LoggedCommand] = []
    for one in commands:
        if one.operation != TAKES_BACK:
            left.append(one)
            continue
        left = [each for each in left if each.key not in one.took_back]
    return left[::-1]


def _undo(workspace: Workspace, command: LoggedCommand, held: HeldByGit) -> UndoneCommand:
    name = f"`{command_of(command.operation)}` of {iso(command.at)}"
    if command.forgot:
        raise InvalidValue(f"{name} forgot for good what was proposed", "it can be proposed again")
    if command.is_final:
        raise InvalidValue(
            f"{name} changed a message, which keeps no earlier state",
            "`pmem undo REF` undoes what an earlier command did to one record",
        )
    changes = tuple(_undo_change(workspace, each, name, held) for each in reversed(command.changes))
    if command.facts:
        from pmem.memory.facts import unsettle

        unsettle(workspace, {one.fact: (one.standing, one.memory) for one in command.facts})
    workspace.taken_back.append(command.key)
    return UndoneCommand(
        operation=command.operation,
        at=command.at,
        changes=changes,
        facts=tuple(one.fact for one in command.facts),
        stays=command.beyond,
    )


def _undo_change(
    workspace: Workspace, change: LoggedChange, name: str, held: HeldByGit
) -> UndoneChange:
    if not (change.events or change.turns):
        raise InvalidValue(
            f"{name} deleted {short(change.id)} for good", "git may have its file still"
        )
    store = workspace.store(_TYPES[change.kind])
    try:
        record: Returnable = store.get(change.id)
    except NotFound:
        why = f"{short(change.id)} is not here, so {name} cannot be undone"
        raise BuiltOn(why, "another branch may have it") from None
    if isinstance(record, Conversation) and change.turns:
        return _take_away(workspace, record, change.turns, name, held)
    first, last = _place_of(record, change, name)
    then = before_event(record, last)
    differing = ", ".join(_differing(then, record)).replace("_", " ")
    if differing:
        raise BuiltOn(
            f"{short(record.id)} has changed since {name}: {differing}",
            f"`pmem log {short(record.id)}` shows how; undo that first",
        )
    done = f"{name.partition(' of ')[0]} of {iso(record.history[first].at)}"
    event = workspace.event(EventKind.UPDATE, **{TAKES_BACK: done})
    if change.is_new and not isinstance(record, Conversation):
        if not held.is_committed(record):
            store.remove(record.id)
            return _undone(record, gone=True, deleted=True, staged=held.staged(record))
        gone = msgspec.structs.replace(event, event=EventKind.DELETE)
        new: Returnable = out_of_recall(workspace, record, gone)
        new = changed(record, event) if new is record else new
    else:
        new = _brought_back(workspace, record, before_event(record, first), event)
        _check_branches(record, new, last, name)
    store.put(new)
    before, now = new.history[-1].before, json_value(new)
    after = {field: now.get(field) for field in before}
    return _undone(record, before=before, after=after, gone=change.is_new)


def _take_away(
    workspace: Workspace, record: Conversation, turns: tuple[int, int], name: str, held: HeldByGit
) -> UndoneChange:
    """Delete what an import added to a conversation: all of one that it made."""
    before, after = turns
    if record.turns != after:
        raise BuiltOn(
            f"{short(record.id)} has changed since {name}: it has other messages",
            f"`pmem conversation show {short(record.id)}` shows them",
        )
    shorten(workspace, record, before)
    if not before:
        return _undone(record, gone=True, deleted=True, staged=held.staged(record))
    return _undone(record, before={"turns": after}, after={"turns": before})


def _undone(record: Returnable, **fields: Any) -> UndoneChange:
    text = one_line(_text(record))
    return UndoneChange(id=record.id, short=short(record.id), text=text, **fields)


def _place_of(record: Returnable, change: LoggedChange, name: str) -> tuple[int, int]:
    """Return where the events of a change begin in a history, and where those behind them do."""
    digests = [digest_of(event) for event in record.history]
    places = [digests.index(each) for each in change.events if each in digests]
    if not places:
        raise BuiltOn(
            f"the history of {short(record.id)} does not have {name}",
            f"another branch may have it; `pmem log {short(record.id)}` shows what is here",
        )
    start = change.place if change.place is not None else places[0]
    if places != list(range(start, start + len(change.events))):
        raise BuiltOn(
            f"the history of {short(record.id)} was merged since {name}",
            f"`pmem log {short(record.id)}` shows it",
        )
    return places[0], places[-1] + 1


def _brought_back(
    workspace: Workspace, record: Returnable, then: Returnable, event: Event
) -> Returnable:
    """Return a record that is what it was, with what happened to it since in its history."""
    fields = {name: getattr(then, name) for name in _differing(then, record)}
    if isinstance(record, Conversation):
        return changed(record, event, **fields)
    comes_back = fields.get("state") is State.ACTIVE
    if comes_back and isinstance(record, Memory) and record.scope.app is not None:
        from pmem.memory.app_limit import check_room

        check_room(workspace, record.scope.app)
    kind = EventKind.RESTORE if comes_back else EventKind.UPDATE
    fields["tokens"] = workspace.count(_text(then))
    event = msgspec.structs.replace(event, event=kind)
    new = changed(record, event, **fields)
    follows: dict[str, Any] = {}  # so that trust and open contradictions are as they were then
    trust, was = trust_of(then), open_conflicts(plain(then.history))
    if trust is not None and trust is not trust_of(new):
        follows[INHERITED] = trust
    if was != open_conflicts(plain(new.history)):
        follows[REOPENED] = was
    if not follows:
        return new
    event = msgspec.structs.replace(event, detail={**event.detail, **follows})
    return changed(record, event, **fields)


def _check_branches(record: Returnable, new: Returnable, last: int, name: str) -> None:
    """See that no field comes back of which a merge left out what another branch made of it."""
    merges = [event for event in record.history[last:] if event.event is EventKind.MERGE]
    lost = {field for event in merges for field in event.before or ()}
    both = [
        field
        for field in sorted(lost.difference(_BOOKS))
        if getattr(new, field) != getattr(record, field)
    ]
    if both:
        raise BuiltOn(
            f"another branch changed {short(record.id)} as well as {name}: {', '.join(both)}",
            f"`pmem log {short(record.id)}` shows both",
        )


def _differing(one: Returnable, other: Returnable) -> list[str]:
    """Return the fields in which two states of a record differ, the books apart."""
    return [
        name
        for name in one.__struct_fields__
        if name not in _BOOKS and getattr(one, name) != getattr(other, name)
    ]


def _text(record: Returnable) -> str:
    if isinstance(record, Conversation):
        return record.title or "(conversation)"
    return record.content if isinstance(record, Memory) else record.summary
