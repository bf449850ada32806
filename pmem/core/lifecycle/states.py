"""The states of a record, and the events that lead from one to another.

    active -> archived | superseded | merged -> soft_deleted -> gone

Everything but the last step can be undone, because every event keeps what it replaced.
"""

from datetime import datetime
from typing import Any, Final, NamedTuple, TypeVar

import msgspec

from pmem.core.retention import changed
from pmem.core.threeway import history
from pmem.values.records import Episode, Event, EventKind, Memory, State, Time

Living = TypeVar("Living", bound=Memory | Episode)


class Move(NamedTuple):
    """What an event does to a state: where it may start, and where it leads."""

    starts: frozenset[State]
    end: State


_ACTIVE: Final = frozenset({State.ACTIVE})
_KEPT: Final = frozenset(State) - {State.SOFT_DELETED}
MOVES: Final[dict[EventKind, Move]] = {
    EventKind.ARCHIVE: Move(_ACTIVE, State.ARCHIVED),
    EventKind.SUPERSEDE: Move(_ACTIVE, State.SUPERSEDED),
    EventKind.MERGE: Move(_ACTIVE, State.MERGED),
    EventKind.TTL: Move(_KEPT, State.SOFT_DELETED),
    EventKind.DELETE: Move(_KEPT, State.SOFT_DELETED),
    EventKind.RESTORE: Move(frozenset(State) - _ACTIVE, State.ACTIVE),
}
"""Every event that changes a state. A memory that takes others in stays where it is."""

SUPERSEDES: Final = "supersedes"
"""The type of the link from a memory to the one that it replaces."""
_SUCCESSORS: Final = {EventKind.MERGE: "into", EventKind.SUPERSEDE: "by"}
"""Where an event says what holds instead."""

SUCCESSOR: Final = "successor"
"""Where an UNLINK says that what holds instead was purged knowingly, and this one with it."""
_LEAVING: Final = {
    State.ARCHIVED: EventKind.ARCHIVE,
    State.SUPERSEDED: EventKind.SUPERSEDE,
    State.MERGED: EventKind.MERGE,
    State.SOFT_DELETED: EventKind.DELETE,
}


def leaving(record: Memory | Episode, state: State, event: Event) -> Event:
    """Return the event that takes a record out of recall as another branch had done.

    That branch's history is a part of the record's.
    """
    kind = _LEAVING[state]
    name, heirs = _SUCCESSORS.get(kind, ""), successors_of(record)
    detail = {**event.detail, name: heirs[-1]} if name and heirs else event.detail
    return msgspec.structs.replace(event, event=kind, detail=detail)


def can_move(state: State, kind: EventKind) -> bool:
    """Tell whether an event of this kind may happen to a record in this state."""
    return state in MOVES[kind].starts


def moved(record: Living, event: Event, **fields: Any) -> Living:
    """Return a record in the state that an event leads to.

    A state that does not allow the event is a mistake of the caller's.
    """
    assert can_move(record.state, event.event), (record.state, event.event)
    return changed(record, event, state=MOVES[event.event].end, **fields)


def closed(memory: Memory, at: datetime) -> datetime:
    """Return when a memory's validity ends if it is closed at a moment.

    Never later than it ends anyway, and never before it begins.
    """
    end = max(at, memory.valid_from)
    return end if memory.valid_until is None else min(end, memory.valid_until)


def restored(record: Living, event: Event) -> Living:
    """Return a record as it was before it left recall, what was edited since kept."""
    fields: dict[str, Any] = {"purge_at": None}
    if isinstance(record, Memory):
        fields["valid_until"] = _validity_end(record)
    return moved(record, event, **fields)


def successor_of(record: Memory | Episode) -> str:
    """Return the id of the record that holds in this one's place; nothing where none does."""
    if record.state in (State.MERGED, State.SUPERSEDED):
        gone = set()
        for event in reversed(record.history):
            name = _SUCCESSORS.get(event.event)
            if SUCCESSOR in event.detail:
                gone.add(event.detail[SUCCESSOR])
            if name in event.detail:
                return "" if event.detail[name] in gone else str(event.detail[name])
    return ""


def successors_of(record: Memory | Episode) -> list[str]:
    """Return the ids of all records that took this one's place since it was restored last.

    More than one did where two branches have been merged.
    """
    found: dict[str, None] = {}
    for event in record.history:
        name = _SUCCESSORS.get(event.event)
        if event.event is EventKind.RESTORE:
            found.clear()
        elif name in event.detail:
            found[str(event.detail[name])] = None
    return list(found)


def takes_in(event: Event, identifier: str) -> bool:
    """Tell whether an event put its memory in the place of another one."""
    merged, link = event.detail.get("merged"), event.detail.get("link")
    if isinstance(link, dict) and link.get("type") == SUPERSEDES:
        return bool(link.get("target") == identifier)
    return event.event is EventKind.MERGE and isinstance(merged, list) and identifier in merged


def _validity_end(memory: Memory) -> datetime | None:
    """Return what closing a memory replaced, unless its end was changed after that."""
    for event in reversed(memory.history):
        if event.source == history.SOURCE:  # it keeps what another branch had, and closed nothing
            continue
        if "valid_until" in event.before:
            if event.event not in MOVES:
                break
            try:
                return msgspec.convert(event.before["valid_until"], Time | None)
            except msgspec.ValidationError:  # written by another program
                break
        if event.before.get("state") == State.ACTIVE:
            break
    return memory.valid_until


def was_unseen(heir: Memory | Episode | None, identifier: str) -> bool:
    """Tell whether a record left recall before it took another one's place, on another branch.

    Of an heir that cannot be read (None) nothing is known.
    """
    if heir is None or heir.state not in (State.SOFT_DELETED, State.ARCHIVED):
        return False
    places = {"state": -1, "taken": -1}
    for place, event in enumerate(heir.history):
        if "state" in event.before:
            places["state"] = place
        if takes_in(event, identifier):
            places["taken"] = place
    return places["taken"] > places["state"]
