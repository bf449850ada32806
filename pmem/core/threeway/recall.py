"""Whether a record stays in recall when one side removed it and the other kept it.

A removal holds for what its author had seen. Whoever reworded the record on the other side, pinned
it, brought it back, or put it in the place of another record, made something of it that the author
of the removal did not know: the record stays, and somebody decides.
"""

from collections.abc import Iterator
from typing import Any, Final

from pmem.core.threeway.history import SOURCE, HistorySides
from pmem.core.threeway.shapes import RecordShape
from pmem.core.threeway.values import Object, same

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
