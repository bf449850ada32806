"""The histories of all records as one log, and the audit trail.

A history holds what each event replaced. Walked back from the present, it also tells what each
event led to: what a later event replaced, or what holds now.
"""

from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from enum import StrEnum
from typing import Annotated, Any, Final, NamedTuple

import msgspec

from pmem.core.filters import created, is_part_of_name
from pmem.core.lines import shortened
from pmem.core.retention import Unwinding, json_value, undo_links
from pmem.core.trust import RecordOrigin
from pmem.values.fields import asked
from pmem.values.ids import ids_in, is_id
from pmem.values.records import KINDS, Conversation, Episode, Event, EventKind, Memory, State, plain

TEXT_CHARACTERS: Final = 200
_READ_CHARACTERS: Final = 2000
_TITLES: Final[dict[type, tuple[str, ...]]] = {
    Memory: ("content",),
    Episode: ("title", "summary"),
    Conversation: ("title", "external_id"),
}
"""The fields that say on one line what a record is; the first that is filled counts."""
_LEAVING: Final = (EventKind.DELETE, EventKind.TTL, EventKind.ARCHIVE)
_ARRIVING: Final = (EventKind.ADD, EventKind.RESTORE)
_LEADING: Final = (EventKind.MERGE, EventKind.SUPERSEDE)

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
    empty where a person did it. `is_present` tells that no later event keeps that text: it is what
    the record says now, whoever changed the file since. `origin` is that of a record in doubt.
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
    is_present: bool = False
    origin: RecordOrigin | None = None


class JournalStep(NamedTuple):
    """An event, and the values right after it of all fields that the history tells of.

    `kept` are the fields of which later events keep the values.
    """

    record: Historic
    place: int
    event: Event
    later: Mapping[str, Any]
    kept: frozenset[str] = frozenset()

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
    kept: frozenset[str] = frozenset()
    for place, event in reversed(list(enumerate(history, start=1))):
        later = dict(unwinding.state)
        led_to = unwinding.undo(event)
        if "relationships" in names:
            undo_links(unwinding.state, event, history[: place - 1])
        found.append(JournalStep(record, place, event, later | led_to, kept))
        kept |= event.before.keys()
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


def entry(step: JournalStep, origin: RecordOrigin | None = None) -> JournalEntry:
    """Return what the log says about an event of a record, which may be in doubt."""
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
        is_present=step.kept.isdisjoint(_TITLES[type(step.record)]),
        origin=origin,
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


class AuditRow(msgspec.Struct, frozen=True, kw_only=True):
    """One event in the trail.

    `id` is the record's id and the event's place in its history. `old_ref` is missing where a
    content arrives (ADD, RESTORE), `new_ref` where it leaves (DELETE, TTL, ARCHIVE). A record
    that was merged into another or superseded by it names that one in `new_ref`; LINK names
    there where the link leads, UNLINK in `old_ref` where it led. `meta` holds whatever else is
    known.
    """

    id: str
    memory_id: str
    event: str
    old_ref: str | None
    new_ref: str | None
    actor: str | None
    meta: dict[str, Any]
    ts: datetime


def row(step: JournalStep) -> AuditRow:
    """Return the trail's row for an event."""
    event = step.event
    old, new = _references(step)
    return AuditRow(
        id=f"{step.record.id}:{step.place}",
        memory_id=step.record.id,
        event=event.event,
        old_ref=old,
        new_ref=new,
        actor=event.actor or None,
        meta=_meta(step),
        ts=event.at,
    )


def digest(text: str) -> str:
    """Return the reference that stands for a content."""
    from hashlib import sha256  # other commands load this module and need no digest

    return f"sha256:{sha256(text.encode('utf-8', 'surrogatepass')).hexdigest()}"


def _references(step: JournalStep) -> tuple[str | None, str | None]:
    kind, field = step.event.event, _body(step)
    if kind is EventKind.LINK:
        return next(_ids_in(step.event.detail.get("replaced")), None), _target(step)
    if kind is EventKind.UNLINK:
        return _target(step), None
    old = None if kind in _ARRIVING else digest(str(step.earlier(field) or ""))
    new = None if kind in _LEAVING else digest(str(step.value(field) or ""))
    if kind in _LEADING and step.value("state") != State.ACTIVE:
        new = _target(step)
    return old, new


def _body(step: JournalStep) -> str:
    if isinstance(step.record, Memory):
        return "content"
    return "summary" if isinstance(step.record, Episode) else "title"


def _target(step: JournalStep) -> str | None:
    """Return the id of the first other record that an event names."""
    named = (*_ids_in(step.event.detail), *_removed_ids(step))
    return next((found for found in named if found != step.record.id), None)


def _removed_ids(step: JournalStep) -> Iterator[str]:
    """Yield the ids that an event took out of a list."""
    for name, earlier in step.event.before.items():
        kept = set(_ids_in(step.later.get(name)))
        yield from (found for found in _ids_in(earlier) if found not in kept)


def _ids_in(value: Any) -> Iterator[str]:
    """Yield the record ids in a JSON value, in their order."""
    return filter(is_id, ids_in(value))


def _meta(step: JournalStep) -> dict[str, Any]:
    """Return what is known of an event beside its columns; nothing that is empty."""
    event, record = step.event, step.record
    known = {
        "kind": KINDS[type(record)],
        "scope": plain(record.scope) if isinstance(record, Memory) else {},
        "source": event.source,
        "content": step.value(_body(step)) if event.event is EventKind.ADD else None,
        "before": event.before,
        "after": step.after,
        "detail": event.detail,
    }
    return {name: value for name, value in known.items() if value}
