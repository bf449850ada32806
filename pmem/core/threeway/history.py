"""The histories of two sides: what is new on each, and one history of both.

They also decide whether a record stays in recall that one side took out of it. A removal holds for
what its author had seen. Whoever reworded the record on the other side, pinned it, brought it back,
or put it in the place of another record, made something of it that the author of the removal did
not know: the record stays, and somebody decides.
"""

from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any, Final

from pmem.core.threeway.shapes import RecordShape
from pmem.core.threeway.values import Object, canonical, moment, numbered, same, together

SOURCE: Final = "git"
"""The source of the events that merging writes."""
SETTLED: Final = "settled"
"""What an event's detail has that says which fields a person decided."""
REOPENED: Final = "reopened"
"""What an event's detail has that takes back what settled contradictions: those that are open."""
_Key = tuple[str, int]


class HistorySides:
    """The events of a record before and on its two sides."""

    def __init__(self, base: Object, late: Object, early: Object) -> None:
        self._base = {key for key, _ in _keyed(base)}
        self._late, self._early = dict(_keyed(late)), dict(_keyed(early))

    def events(self) -> list[Any]:
        """Return all events of both sides: by time, and each side's own order kept."""
        found = self._late | self._early
        order = {key: (moment(event["at"]), key) for key, event in found.items()}
        return [found[key] for key in together([*self._late], [*self._early], order.__getitem__)]

    def has_been(self, side: Object, field: str, value: Any) -> bool:
        """Tell whether a side had a value in a field since it left the base."""
        return any(same(event["before"][field], value) for event in self.changes(side, (field,)))

    def unseen(self, side: Object, other: Object) -> list[Any]:
        """Return the events of a side since it left the base that the other side does not have."""
        known = self._base | {key for key, _ in _keyed(other)}
        return [event for key, event in _keyed(side) if key not in known]

    def last(self, side: Object, fields: Iterable[str], time: str) -> datetime:
        """Return when a side changed one of the fields last; where nothing tells, the record.

        A note of an earlier merge is no change: it is from whenever either record changed.
        """
        changes = self.changes(side, fields)
        times = [moment(event["at"]) for event in changes if event.get("source") != SOURCE]
        return max(times, default=None) or moment(side[time])

    def times(self, side: Object, field: str) -> list[str]:
        """Return when a side, and not the other one too, changed a field."""
        shared = self._late.keys() & self._early.keys()
        events = self.changes(side, (field,), apart_from=shared)
        return list(dict.fromkeys(event["at"] for event in events))

    def keeps_the_past(self, side: Object) -> bool:
        """Tell whether a side has all events of the base."""
        return self._base <= {key for key, _ in _keyed(side)}

    def changes(
        self, side: Object, fields: Iterable[str], apart_from: Container[_Key] = ()
    ) -> list[Any]:
        """Return the events since the base in which a side changed one of the fields, in order."""
        wanted = set(fields)
        return [
            event
            for key, event in _keyed(side)
            if key not in self._base
            and key not in apart_from
            and wanted & event.get("before", {}).keys()
        ]


def note(
    at: str,
    lost: Mapping[str, Any],
    inner: Mapping[tuple[str, ...], Any],
    conflicts: Sequence[str],
    branch: Mapping[str, Sequence[str]],
) -> dict[str, Any]:
    """Return the event that keeps what found no place in a merged record.

    Args:
        at: When the later side changed.
        lost: Values of the record's own fields.
        inner: Values inside of them, by the way that leads there.
        conflicts: Fields in which the sides contradict each other, the state included.
        branch: When the side that a lost value is of had changed the field.
    """
    detail: dict[str, Any] = {}
    if branch:
        detail["branch"] = {field: [*branch[field]] for field in sorted(branch)}
    if conflicts:
        detail["conflict"] = sorted(conflicts)
    if inner:
        detail["kept"] = [{"path": [*path], "value": inner[path]} for path in sorted(inner)]
    event: dict[str, Any] = {"event": "MERGE", "at": at, "source": SOURCE}
    if lost:
        event["before"] = {field: lost[field] for field in sorted(lost)}
    if detail:
        event["detail"] = detail
    return event


def _keyed(side: Object) -> list[tuple[_Key, Any]]:
    """Return a side's events by what makes each the one it is: all of it, and its number."""
    events = side.get("history", [])
    return list(zip(numbered(map(canonical, events)), events, strict=True))


def open_conflicts(events: Iterable[Any]) -> dict[str, Any]:
    """Return the fields in which two sides contradicted each other and that nobody settled.

    Whoever changes such a field after the merge has settled it, and so has whoever says so.

    Each has what the side that did not win said; the fields are in alphabetical order.
    """
    found: dict[str, Any] = {}
    for event in events:
        before, detail = event.get("before", {}), event.get("detail", {})
        for field in (*before, *_fields(detail, SETTLED)):
            found.pop(field, None)
        again = detail.get(REOPENED) if isinstance(detail, Mapping) else None
        if isinstance(again, Mapping):  # a command that settled some was taken back
            found = {field: again[field] for field in again if isinstance(field, str)}
        if event.get("event") == "MERGE" and event.get("source") == SOURCE:
            found |= {field: before.get(field) for field in _fields(detail, "conflict")}
    return dict(sorted(found.items()))


def _fields(detail: Any, name: str) -> list[str]:
    """Return the fields that an event's detail names; other programs may write anything there."""
    named = detail.get(name) if isinstance(detail, Mapping) else None
    return [field for field in named if isinstance(field, str)] if isinstance(named, list) else []


STATE: Final = "state"
ACTIVE: Final = "active"
_REPLACED: Final = ("superseded", "merged")
"""States of records in whose place another one stands: to pin one does not bring it back."""
_SUPERSEDES: Final = "supersedes"
"""The type of the link from a memory to one in whose place it stands."""
_UNTIL: Final = "valid_until"


def state_of(side: Object) -> Any:
    """Return the state of a record."""
    return side.get(STATE, ACTIVE)


def overruled(
    shape: RecordShape, base: Object, side: Object, other: Object, sides: HistorySides
) -> dict[str, Any]:
    """Return fields of a side as they were before it took the record out of recall.

    Where both made it, `base` is empty. The histories of all three are in `sides`.

    There are none where the other side did not mean to keep the record.
    """
    was, now, elsewhere = map(state_of, (base, side, other))
    leads_on = elsewhere in _REPLACED and now not in _REPLACED
    if not base or now in (was, ACTIVE) or not (elsewhere == ACTIVE or leads_on):
        return {}
    if not sides.keeps_the_past(side):  # it never left: what brought it back is reverted
        return {}
    if not any(_reasons(shape, base, side, other, sides)):
        return {}
    before = {STATE: was, "purge_at": base.get("purge_at"), _UNTIL: _end(side, sides)}
    return {
        field: value
        for field, value in before.items()
        if field in side and not same(value, side[field])
    }


def _reasons(
    shape: RecordShape, base: Object, side: Object, other: Object, sides: HistorySides
) -> Iterator[bool]:
    """Yield what would tell that a side kept a record for a reason that the other did not know."""
    replaced = state_of(side) in _REPLACED
    pins = [it.get("pinned") is True for it in (base, side, other)]
    yield not replaced and pins == [False, False, True]
    for field in shape.texts:
        text = other.get(field)
        new = not same(text, base.get(field)) and not same(text, side.get(field))
        yield new and not sides.has_been(side, field, text)
    for event in sides.unseen(other, side):
        yield event.get("source") != SOURCE and (
            STATE in event.get("before", {}) or _took_in(event)
        )


def _took_in(event: Any) -> bool:
    """Tell whether an event put a record in the place of others, which left recall for it."""
    detail = event.get("detail")
    if not isinstance(detail, dict):
        return False
    link = detail.get("link")
    supersedes = isinstance(link, dict) and link.get("type") == _SUPERSEDES
    return supersedes or (event.get("event") == "MERGE" and bool(detail.get("merged")))


def _end(side: Object, sides: HistorySides) -> Any:
    """Return when a side's record stops being valid, but for being closed as it left recall."""
    end = side.get(_UNTIL)
    for event in reversed(sides.changes(side, (_UNTIL,))):
        if event.get("source") != SOURCE:
            if STATE not in event["before"]:
                break
            end = event["before"][_UNTIL]
    return end
