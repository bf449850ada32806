"""How records change over time: histories, what was true when, validity and decay.

The life cycle is `active` -> `archived` | `superseded` | `merged` -> `soft_deleted` -> gone.
Everything before the last step can be restored, because each event keeps what it replaced.
"""

import math
from collections.abc import Collection, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, Final, TypeVar

import msgspec

from pmem.values.records import (
    Conversation,
    Episode,
    Event,
    EventKind,
    Memory,
    Relationship,
    dump_line,
)
from pmem.values.times import shifted

TAKES_BACK: Final = "undo"
"""What an event's detail has that takes a command back: which one."""
BRANCH: Final = "branch"
"""Where a merge's event says, by field, when the branch whose value it did not take changed it."""


class _Other:
    """A value that a merge did not take, and when its branch changed it."""

    def __init__(self, value: Any, times: frozenset[datetime]) -> None:
        self.value = value
        self.times = times


class Unwinding:
    """The fields of a record, as JSON, on the way back; each step changes them in place."""

    def __init__(self, state: dict[str, Any]) -> None:
        self.state = state
        self._others: dict[str, list[_Other]] = {}

    def undo(self, event: Event) -> dict[str, Any]:
        """Take an event back, the newest that is left; return what it led to, by the field."""
        merged = _times(event)
        known = [field for field in event.before if field in self.state]
        return {field: self._undo(field, event, merged.get(field)) for field in known}

    def _undo(self, field: str, event: Event, merged: frozenset[datetime] | None) -> Any:
        others = self._others.setdefault(field, [])
        inmost = reversed(others)  # a branch may itself have been merged from others
        other = next((other for other in inmost if event.at in other.times), None)
        led_to = self.state[field] if other is None else other.value
        earlier = event.before[field]
        if merged is not None:
            others.append(_Other(earlier, merged))
            return led_to
        for one in others:  # branches share what happened before they parted
            if one is other or one.value == led_to:
                one.value = earlier
        if other is None or self.state[field] == led_to:
            self.state[field] = earlier
        return led_to


def _times(event: Event) -> dict[str, frozenset[datetime]]:
    """Return when the other branch changed the fields that a merge decided; often nothing."""
    told = event.detail.get(BRANCH)
    if not isinstance(told, Mapping):
        return {}
    try:
        return {
            field: frozenset(datetime.fromisoformat(time) for time in times)
            for field, times in told.items()
        }
    except (TypeError, ValueError):  # written by another program
        return {}


SECONDS_A_DAY: Final = 86_400
ACCESS_BOOST: Final = 0.1
MOST_ACCESS_BOOST: Final = 0.5
_UNTRACKED: Final = ("updated_at", "tokens", "history")

Kept = TypeVar("Kept", bound=Memory | Episode)
Noted = TypeVar("Noted", bound=Memory | Episode | Conversation)


def changed(record: Noted, event: Event, **fields: Any) -> Noted:
    """Return a record with some fields replaced and the event in its history."""
    before = {
        name: json_value(getattr(record, name))
        for name, value in fields.items()
        if name not in _UNTRACKED and getattr(record, name) != value
    }
    noted = msgspec.structs.replace(event, before={**event.before, **before})
    return msgspec.structs.replace(
        record, **fields, updated_at=event.at, history=(*record.history, noted)
    )


def linked(memory: Memory, link: Relationship, actor: str, at: datetime) -> Memory:
    """Return a memory with one more link, or with a new strength for one that it has."""
    others = tuple(known for known in memory.relationships if not same_link(known, link))
    earlier = [json_value(known) for known in memory.relationships if same_link(known, link)]
    event = Event(
        event=EventKind.LINK,
        at=at,
        actor=actor,
        detail={"link": json_value(link), "replaced": earlier},
    )
    return _with_links(memory, (*others, link), event)


def unlinked(
    memory: Memory, targets: Collection[str], type_: str | None, actor: str, at: datetime
) -> Memory:
    """Return a memory without its links to some others, of one type or of all."""
    cut: list[Relationship] = []
    kept: list[Relationship] = []
    for link in memory.relationships:
        is_cut = link.target in targets and type_ in (None, link.type)
        (cut if is_cut else kept).append(link)
    event = Event(event=EventKind.UNLINK, at=at, actor=actor, detail={"removed": json_value(cut)})
    return _with_links(memory, tuple(kept), event)


def same_link(one: Relationship, other: Relationship) -> bool:
    """Tell whether two links are one: same target and same type."""
    return (one.target, one.type) == (other.target, other.type)


def as_of(record: Kept, at: datetime) -> Kept | None:
    """Return a record as it was at a moment, or None where it did not exist yet.

    Later events are undone from the last in the list to the first, also where a clock that ran
    backwards has put earlier ones between them.
    """
    if record.created_at > at:
        return None
    later = [place for place, event in enumerate(record.history) if event.at > at]
    return _without_events(record, later) if later else record


def before_event(record: Noted, place: int) -> Noted:
    """Return a record as it was before an event of its history, and all that came later."""
    return _without_events(record, range(place, len(record.history)))


def _without_events(record: Noted, places: Collection[int]) -> Noted:
    """Return a record without some events, undone from the last in the list to the first."""
    state: dict[str, Any] = json_value(record)
    unwinding = Unwinding(state)
    for place, event in reversed(list(enumerate(record.history))):
        if place in places:
            unwinding.undo(event)
            undo_links(state, event, record.history[:place])
    happened = tuple(event for n, event in enumerate(record.history) if n not in places)
    state["history"] = json_value(happened)
    state["updated_at"] = json_value(happened[-1].at if happened else _begun(record))
    return msgspec.convert(state, type(record))


def valid_at(memory: Memory, at: datetime) -> bool:
    """Tell whether a memory holds at a moment: its start included, its end not."""
    return memory.valid_from <= at and (memory.valid_until is None or at < memory.valid_until)


def age_in_days(since: datetime, now: datetime) -> float:
    """Return days between two moments, never below zero."""
    return max(0.0, (now - since).total_seconds() / SECONDS_A_DAY)


def decay(last_access: datetime, accesses: int, now: datetime, half_life_days: float) -> float:
    """Return how present a memory still is, between 0 and 1 (S2's decay function).

    `0.5 ** (days / half_life) + min(0.1 * accesses, 0.5)`, at most 1.
    """
    faded = float(0.5 ** (age_in_days(last_access, now) / half_life_days))
    return min(1.0, faded + min(accesses * ACCESS_BOOST, MOST_ACCESS_BOOST))


def days_until(below: float, importance: float, half_life_days: float) -> float:
    """Return the days without recall until importance times presence can be below a limit."""
    if importance < below or importance <= 0:
        return 0.0
    return half_life_days * math.log2(importance / below) if below > 0 else math.inf


def purge_time(at: datetime, days: int) -> datetime:
    """Return when something removed at `at` may be purged; the calendar's end at the latest."""
    return shifted(at, timedelta(days=min(days, timedelta.max.days)))


def json_value(value: Any) -> Any:
    """Return a value as it reads back from JSON."""
    return msgspec.json.decode(dump_line(value))


def _begun(record: Noted) -> datetime:
    return record.started_at if isinstance(record, Conversation) else record.created_at


def _with_links(memory: Memory, links: tuple[Relationship, ...], event: Event) -> Memory:
    """Replace the links; the event's detail says what changed, to keep histories short."""
    return msgspec.structs.replace(
        memory, relationships=links, updated_at=event.at, history=(*memory.history, event)
    )


def undo_links(state: dict[str, Any], event: Event, earlier: Sequence[Event]) -> None:
    """Undo an event's change to the links.

    Each link that is made goes to the end; so what is put back goes before those that were made
    after it.
    """
    link, removed = event.detail.get("link"), event.detail.get("removed", [])
    if link is None and not removed:
        return
    back = removed if link is None else event.detail.get("replaced", [])
    gone = None if link is None else _ends(link)
    links = [known for known in state["relationships"] if _ends(known) != gone]
    made = {_ends(e.detail["link"]): n for n, e in enumerate(earlier) if "link" in e.detail}
    for known in back:
        own = made.get(_ends(known), -1)
        later = (n for n, other in enumerate(links) if made.get(_ends(other), -1) > own)
        links.insert(next(later, len(links)), known)
    state["relationships"] = links


def _ends(link: dict[str, Any]) -> tuple[Any, Any]:
    return (link["target"], link["type"])


CONVERSATION: Final = "conversation"
"""Where an event says from which conversation a change comes."""
_CONTENT: Final = "content"


class MemoryVersion(msgspec.Struct, frozen=True, kw_only=True):
    """One text that a memory has had: its number from 1 on, since when, by whom, and from where."""

    number: int
    content: str
    created_at: datetime
    actor: str
    conversation: str | None = None


def versions(memory: Memory) -> tuple[MemoryVersion, ...]:
    """Return all that a memory has said, the first version first."""
    changes = [event for event in memory.history if _CONTENT in event.before]
    texts = [*(event.before[_CONTENT] for event in changes), memory.content]
    first = memory.history[0].actor if memory.history else ""
    begun = (memory.created_at, first, memory.source.conversation)
    later = [(event.at, event.actor, event.detail.get(CONVERSATION)) for event in changes]
    return tuple(
        MemoryVersion(
            number=number,
            content=str(text),
            created_at=at,
            actor=actor,
            conversation=conversation,
        )
        for number, (text, (at, actor, conversation)) in enumerate(
            zip(texts, [begun, *later], strict=True), start=1
        )
    )


def version_number(memory: Memory) -> int:
    """Return the number of a memory's version: 1 as long as its text was not changed."""
    return 1 + sum(_CONTENT in event.before for event in memory.history)
