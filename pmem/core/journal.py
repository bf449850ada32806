"""What happened to everything that is kept: the histories of all records as one log.

A history holds what each event replaced. Walked back from the present, it also tells what each
event led to: what a later event replaced, or what holds now.
"""

from collections.abc import Iterable, Mapping
from datetime import datetime
from enum import StrEnum
from typing import Annotated, Any, Final, NamedTuple

import msgspec

from pmem.core.filters import created, is_part_of_name
from pmem.core.retention import json_value, undo_links
from pmem.core.shortening import shortened
from pmem.core.undo import Unwinding
from pmem.values.fields import asked
from pmem.values.records import KINDS, Conversation, Episode, Event, EventKind, Memory

TEXT_CHARACTERS: Final = 200
_READ_CHARACTERS: Final = 2000
_TITLES: Final[dict[type, tuple[str, ...]]] = {
    Memory: ("content",),
    Episode: ("title", "summary"),
    Conversation: ("title", "external_id"),
}
"""The fields that say on one line what a record is; the first that is filled counts."""

Historic = Memory | Episode | Conversation
"""A record that keeps a history."""


class JournalKind(StrEnum):
    """The kinds of records that keep a history."""

    MEMORY = "memory"
    EPISODE = "episode"
    CONVERSATION = "conversation"


class Wanted(msgspec.Struct, frozen=True, kw_only=True):
    """Which events are meant; an empty field lets everything through.

    `app`, `user` and `agent` are the record's: only memories concern someone. Times are
    inclusive at the start and exclusive at the end.
    """

    kinds: Annotated[tuple[JournalKind, ...], asked("Only this kind.", flag="--kind")] = ()
    events: Annotated[tuple[EventKind, ...], asked("Only this event.", flag="--event")] = ()
    app: Annotated[str | None, asked("Only of this app.", completes="app")] = None
    user: Annotated[str | None, asked("Only of this user.", completes="user")] = None
    agent: str | None = None
    actor: Annotated[
        str | None,
        asked(
            "Only by this person or program; a part of the name is enough.",
            flag="--by",
            shown="NAME",
        ),
    ] = None
    after: Annotated[
        datetime | None, asked("At this time or later.", flag="--since", reading="time")
    ] = None
    before: Annotated[
        datetime | None, asked("Before this time.", flag="--until", reading="time")
    ] = None

    @property
    def asks_events(self) -> bool:
        """Whether the filter looks at single events, and not only at their records."""
        asked = (self.actor, self.after, self.before)
        return bool(self.events) or any(value is not None for value in asked)


class JournalEntry(msgspec.Struct, frozen=True, kw_only=True):
    """One event of the log.

    `place` is where it stands in the record's history, counted from one. `before` and `after`
    hold the fields that it changed, `text` says on one line what the record then was. `agent` is
    empty where a person did it.
    """

    id: str
    kind: str
    event: EventKind
    at: datetime
    actor: str
    agent: str
    source: str
    before: dict[str, Any]
    after: dict[str, Any]
    detail: dict[str, Any]
    text: str
    place: int


class JournalStep(NamedTuple):
    """An event, and the values right after it of all fields that the history tells of."""

    record: Historic
    place: int
    event: Event
    later: Mapping[str, Any]

    @property
    def order(self) -> tuple[datetime, str, int]:
        """What the log is sorted by."""
        return (self.event.at, self.record.id, self.place)

    def value(self, field: str) -> Any:
        """Return a field of the record, as JSON, right after the event."""
        if field in self.later:
            return self.later[field]
        return json_value(getattr(self.record, field, None))

    def earlier(self, field: str) -> Any:
        """Return a field of the record, as JSON, right before the event."""
        return self.event.before.get(field, self.value(field))

    @property
    def after(self) -> dict[str, Any]:
        """The values that the event gave to the fields that it changed."""
        return {name: self.later[name] for name in self.event.before if name in self.later}

    @property
    def text(self) -> str:
        """One line that says what the record was after the event."""
        for field in _TITLES[type(self.record)]:
            text = one_line(str(self.value(field) or ""))
            if text:
                return text
        return ""


def steps(record: Historic) -> list[JournalStep]:
    """Return what happened to a record, in the order of its history."""
    history = record.history or (Event(event=EventKind.ADD, at=created(record)),)
    fields = record.__struct_fields__
    names = {name for event in history for name in event.before if name in fields}
    unwinding = Unwinding({name: json_value(getattr(record, name)) for name in names})
    found = []
    for place, event in reversed(list(enumerate(history, start=1))):
        later = dict(unwinding.state)
        led_to = unwinding.undo(event)
        if "relationships" in names:
            undo_links(unwinding.state, event, history[: place - 1])
        found.append(JournalStep(record, place, event, later | led_to))
    return found[::-1]


def log(records: Iterable[Historic], wanted: Wanted) -> list[JournalStep]:
    """Return the events that pass a filter, by time, then id, then place in the history."""
    found = [
        step
        for record in records
        if _concerns(record, wanted)
        for step in steps(record)
        if _passes(step.event, wanted)
    ]
    found.sort(key=lambda step: step.order)
    return found


def entry(step: JournalStep) -> JournalEntry:
    """Return what the log says about an event."""
    event = step.event
    return JournalEntry(
        id=step.record.id,
        kind=KINDS[type(step.record)],
        event=event.event,
        at=event.at,
        actor=event.actor,
        agent=event.agent,
        source=event.source,
        before=event.before,
        after=step.after,
        detail=event.detail,
        text=step.text,
        place=step.place,
    )


def one_line(text: str, most: int = TEXT_CHARACTERS) -> str:
    """Fold a text into one line of so many characters at the most, cut at a word's end."""
    return shortened(" ".join(text[:_READ_CHARACTERS].split()), most)


def _concerns(record: Historic, wanted: Wanted) -> bool:
    if wanted.kinds and KINDS[type(record)] not in wanted.kinds:
        return False
    asked = [(name, getattr(wanted, name)) for name in ("app", "user", "agent")]
    scope = record.scope if isinstance(record, Memory) else None
    return all(value is None or getattr(scope, name, None) == value for name, value in asked)


def _passes(event: Event, wanted: Wanted) -> bool:
    return (
        (not wanted.events or event.event in wanted.events)
        and (
            wanted.actor is None
            or is_part_of_name(wanted.actor, event.actor, event.agent, event.source)
        )
        and (wanted.after is None or event.at >= wanted.after)
        and (wanted.before is None or event.at < wanted.before)
    )
