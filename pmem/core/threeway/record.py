"""Merging one record: a change by either side counts, and nothing that a side says is lost.

The two sides are put in order first, the one that changed later in front, and only then compared.
So it makes no difference which of them is called ours. Of a field that both changed, the value
that was set later holds, as far as the histories tell.
"""

from typing import Any, Final, NamedTuple

from pmem.core.threeway import history
from pmem.core.threeway.shapes import UNKNOWN, RecordShape, Rule, checked
from pmem.core.threeway.values import (
    MISSING,
    Doubt,
    Object,
    canonical,
    kept,
    moment,
    moment_in,
    same,
    together,
)

Path = tuple[str, ...]
_MOST: Final = 2**63 - 1
"""No record holds a larger count."""


class Merged(NamedTuple):
    """A merged record.

    `result` is None where the record is gone. `conflicts` names the fields in which the sides
    contradict each other, `notes` every field of which one side's value went into the history.
    `overruled` is whether the record stays in recall although one side took it out.
    """

    result: dict[str, Any] | None
    conflicts: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    overruled: bool = False


def merged(
    base: dict[str, Any] | None,
    ours: dict[str, Any] | None,
    theirs: dict[str, Any] | None,
    shape: RecordShape,
) -> Merged:
    """Merge what two sides made of a record.

    Without a base, both made it; a side that is None was purged.

    Returns:
        The same, to the order of the keys, whichever side is called ours.

    Raises:
        Doubt: One of the three is not what pmem writes, or they are not the same record.
    """
    if ours is None or theirs is None:
        left = theirs if ours is None else ours
        return Merged(None if base is not None and same(left, base) else left)
    for side in (base, ours, theirs):
        if side is not None:
            checked(side, shape)
    if len({side["id"] for side in (base, ours, theirs) if side is not None}) > 1:
        raise Doubt("the sides are different records")
    if same(ours, theirs) or (base is not None and same(theirs, base)):
        return Merged(ours)
    if base is not None and same(ours, base):
        return Merged(theirs)
    early, late = sorted(
        (ours, theirs), key=lambda side: (moment(side[shape.time]), canonical(side))
    )
    return _Merging(shape, base or {}, late, early).merged()


class _Merging:
    """One merge under way, and the values that found no place in its result."""

    def __init__(self, shape: RecordShape, base: Object, late: Object, early: Object) -> None:
        self._shape = shape
        self._base = base
        self._sides = (late, early)
        self._new = history.HistorySides(base, late, early)
        self._lost: dict[str, Any] = {}
        self._inner: dict[Path, Any] = {}
        self._conflicts: list[str] = []
        self._late = self._in_recall(late, early)
        self._early = self._in_recall(early, late)
        self._overruled = bool(self._lost) and history.ACTIVE in map(history.state_of, self._sides)

    def merged(self) -> Merged:
        """Merge the record, and note in its history what found no place elsewhere."""
        result = self._object(self._shape, self._base, self._late, self._early, ())
        self._note_what_was_taken_back(result)
        notes = (*sorted(self._lost), *("/".join(path) for path in sorted(self._inner)))
        if notes:
            at = self._late[self._shape.time]
            branch = self._branch(result)
            undecided = [*self._conflicts, *([history.STATE] if self._overruled else [])]
            event = history.note(at, self._lost, self._inner, undecided, branch)
            result["history"] = [*result.get("history", []), event]
        return Merged(result, tuple(sorted(self._conflicts)), notes, self._overruled)

    def _branch(self, result: Object) -> dict[str, list[str]]:
        """Return when the side whose value was lost had changed the field, where it tells."""
        found = {}
        for field, value in self._lost.items():
            for side in self._sides:
                kept = same(side.get(field, MISSING), result.get(field, MISSING))
                if not kept and same(side.get(field, MISSING), value):
                    found[field] = self._new.times(side, field)
        return {field: times for field, times in found.items() if times}

    def _in_recall(self, side: Object, other: Object) -> Object:
        """Return a side as if it had not left recall, where the other one meant to keep it."""
        before = history.overruled(self._shape, self._base, side, other, self._new)
        self._lost |= {field: side[field] for field in before}
        return {**side, **before}

    def _note_what_was_taken_back(self, result: Object) -> None:
        """Note the values that a side took back together with their events, as a revert does."""
        sides = (self._late, self._early)
        for side, other in (sides, sides[::-1]):
            if self._new.keeps_the_past(side):
                continue
            for field in self._shape.fields:
                rule = self._shape.rules.get(field, Rule.VALUE)
                if rule in (Rule.VALUE, Rule.STATEMENT) and field not in self._shape.derived:
                    before, now = self._base.get(field, MISSING), side.get(field, MISSING)
                    held = same(before, other.get(field, MISSING)) and not same(now, before)
                    if held and same(now, result.get(field, MISSING)):
                        self._lose((field,), self._lost.get(field, before))

    def _object(
        self, shape: RecordShape, base: Object, late: Object, early: Object, path: Path
    ) -> dict[str, Any]:
        known = [field for field in shape.fields if field in late or field in early]
        others = together([*late], [*early], str)
        keys = [*known, *(key for key in others if key not in shape.fields)]
        led = {
            field: leader
            for field, leader in shape.follows.items()
            if field in known and not same(late.get(leader, MISSING), early.get(leader, MISSING))
        }
        found: dict[str, Any] = {}
        for key in sorted(keys, key=led.__contains__):
            if key in led:
                leader = led[key]
                lead = same(found[leader], late.get(leader, MISSING))
                source, other = (late, early) if lead else (early, late)
                found[key] = self._led(shape, key, base, source, other, (*path, key))
            else:
                before, *now = (side.get(key, MISSING) for side in (base, late, early))
                found[key] = self._field(shape, key, before, now[0], now[1], (*path, key))
        found |= _counts(shape, base, late, early)
        return {key: found[key] for key in keys if found[key] is not MISSING}

    def _led(
        self,
        shape: RecordShape,
        field: str,
        base: Object,
        source: Object,
        other: Object,
        path: Path,
    ) -> Any:
        """Return a field of the side that the field which leads it came from."""
        value, left = source.get(field, MISSING), other.get(field, MISSING)
        if field not in shape.derived and not same(left, value) and not same(left, base.get(field)):
            self._lose(path, left)
        return value

    def _field(
        self, shape: RecordShape, key: str, base: Any, late: Any, early: Any, path: Path
    ) -> Any:
        rule = shape.rules.get(key)
        if rule is None:
            rule = Rule.VALUE if key in shape.fields else _unknown(base, late, early)
        if rule is Rule.EVENTS:
            return self._new.events()
        if rule is Rule.LATEST or same(late, early) or same(base, early):
            return late
        if same(base, late):
            return early
        return self._both(rule, shape, base, late, early, path)

    def _both(
        self, rule: Rule, shape: RecordShape, base: Any, late: Any, early: Any, path: Path
    ) -> Any:
        """Merge what both sides changed; of a record's own fields, the one changed later leads."""
        inside = shape.inside.get(path[-1], UNKNOWN)
        if rule is Rule.STATEMENT:
            return self._statement(path[-1], late, early)
        if len(path) == 1 and self._changed_earlier(path[0]):
            late, early = early, late
        if rule is Rule.ITEMS:
            return self._items(inside, base or [], late or [], early or [], path)
        if rule is Rule.PART:
            return self._part(inside, base, late, early, path)
        if rule is Rule.SUM and self._base:
            return _sum(base or 0, late or 0, early or 0)
        if rule in _COMBINED:
            return _COMBINED[rule](base, late, early)
        return self._value(late, early, path)

    def _changed_earlier(self, field: str) -> bool:
        times = [self._new.last(it, (field,), self._shape.time) for it in (self._late, self._early)]
        return times[0] < times[1]

    def _value(self, late: Any, early: Any, path: Path) -> Any:
        """Return the later of two values that both changed; none at all is no value."""
        if late is MISSING:
            return early
        self._lose(path, early)
        return late

    def _statement(self, field: str, late: Any, early: Any) -> Any:
        """Return one of two statements: what grew out of the other one, else the later."""
        if late is MISSING or early is MISSING or self._new.has_been(self._late, field, early):
            return early if late is MISSING else late
        if self._new.has_been(self._early, field, late):
            return early
        if self._changed_earlier(field):
            late, early = early, late
        self._lose((field,), early)
        self._conflicts.append(field)
        return late

    def _part(self, shape: RecordShape, base: Any, late: Any, early: Any, path: Path) -> Any:
        if not isinstance(late, dict) or not isinstance(early, dict):
            return self._value(late, early, path)
        before = base if isinstance(base, dict) else {}
        if not shape.atomic:
            return self._object(shape, before, late, early, path)
        whole = [{k: side[k] for k in shape.fields if k in side} for side in (before, late, early)]
        chosen = whole[1]
        if same(whole[0], whole[1]):
            chosen = whole[2]
        elif not same(whole[0], whole[2]) and not same(whole[1], whole[2]):
            self._lose(path, early)
        rest = [
            {k: side[k] for k in side if k not in shape.fields} for side in (before, late, early)
        ]
        return chosen | self._object(UNKNOWN, rest[0], rest[1], rest[2], path)

    def _items(self, shape: RecordShape, base: Any, late: Any, early: Any, path: Path) -> Any:
        before, here, there = (_by_identity(side, shape) for side in (base, late, early))
        changed = {
            key: item
            for key, item in (here | there).items()
            if key in before and not (key in here and key in there) and not same(before[key], item)
        }
        items = before | here | there
        order = {key: moment_in(item, shape.time) for key, item in items.items()}
        gone = before.keys() - changed.keys()
        result = []
        for key in kept(gone, [*here], [*there], lambda key: (order[key], key)):
            item = here.get(key) or there[key]
            if key in here and key in there:
                base_item = before.get(key, {})
                item = self._object(shape, base_item, here[key], there[key], (*path, *key))
            result.append(item)
        return result

    def _lose(self, path: Path, value: Any) -> None:
        """Note a value that a later one takes the place of."""
        if value is MISSING:
            return
        if len(path) == 1:
            self._lost[path[0]] = value
        else:
            self._inner[path] = value


def _unknown(base: Any, late: Any, early: Any) -> Rule:
    """Return the rule for a field that this version does not know."""
    if isinstance(late, dict) and isinstance(early, dict):
        return Rule.PART
    sides = [side for side in (base, late, early) if side is not MISSING]
    texts = all(
        isinstance(side, list) and all(isinstance(item, str) for item in side) for side in sides
    )
    return Rule.SET if texts and len(sides) > 1 else Rule.VALUE


def _set(base: Any, late: Any, early: Any) -> list[str]:
    return kept(base or (), list(dict.fromkeys(late or ())), list(dict.fromkeys(early or ())), str)


def _sum(base: int, late: int, early: int) -> int:
    return min(max(0, late + early - base), _MOST)


def _counts(shape: RecordShape, base: Object, late: Object, early: Object) -> dict[str, int]:
    """Return how many items there were in all, where both sides added some: each counts once."""
    found = {}
    for field, items in shape.counts.items():
        three = (base, late, early)
        if not all(field in side for side in three):
            continue
        before, here, there = (side[field] for side in three)
        if before not in (here, there):
            known, one, other = (
                _by_identity(side.get(items, []), shape.inside[items]).keys() for side in three
            )
            found[field] = _sum(before, here, there - len((one & other) - known))
    return found


def _greatest(_base: Any, late: Any, early: Any) -> Any:
    try:
        return max(late, early, key=_greatness)
    except TypeError:
        raise Doubt("one side has a number where the other one has a time") from None


def _greatness(value: Any) -> tuple[int, Any, str]:
    if value is MISSING or value is None:
        return (0, 0, "")
    return (1, moment(value), value) if isinstance(value, str) else (1, value, "")


def _by_identity(items: list[Any], shape: RecordShape) -> dict[Path, Any]:
    return {shape.identity_of(item): item for item in items}


_COMBINED: Final = {Rule.SET: _set, Rule.SUM: _greatest, Rule.GREATEST: _greatest}
"""Rules that need the three values alone. Where there was no base, both counted the same."""
