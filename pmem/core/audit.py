"""The audit trail: one row for each event, for programs that keep or check what was done.

A reference is the digest of a content (`sha256:` and 64 hexadecimal digits of its UTF-8 bytes) or
the id of another record. What an event did to the content is told by two digests; where it leads
to another record, by that record's id.
"""

from collections.abc import Iterator
from datetime import datetime
from typing import Any, Final

import msgspec

from pmem.core.journal import JournalStep
from pmem.values.ids import is_id
from pmem.values.records import KINDS, Episode, EventKind, Memory, State, plain

_LEAVING: Final = (EventKind.DELETE, EventKind.TTL, EventKind.ARCHIVE)
_ARRIVING: Final = (EventKind.ADD, EventKind.RESTORE)
_LEADING: Final = (EventKind.MERGE, EventKind.SUPERSEDE)


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
    if isinstance(value, str) and is_id(value):
        yield value
    elif isinstance(value, list):
        for item in value:
            yield from _ids_in(item)
    elif isinstance(value, dict):
        for item in value.values():
            yield from _ids_in(item)


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
