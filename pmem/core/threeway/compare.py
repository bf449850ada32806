"""What a merged record lacks of its two sides, field by field and item by item."""

from collections.abc import Iterable, Sequence
from enum import Enum
from typing import Any, Final, NamedTuple

from pmem.core.threeway.lists import numbered
from pmem.core.threeway.shapes import UNKNOWN, Rule, Shape
from pmem.core.threeway.told import Told
from pmem.core.threeway.values import MISSING, Object, canonical, moment, moment_in, same

Path = tuple[str, ...]
Pair = tuple[Any, Any]
_HISTORY: Final = "history"
_CHUNKS: Final = "chunks"
_RECALLS: Final = "access"
"""They may grow after the merge, and leave no events."""
_NAMED: Final = 60
"""Characters of an item's name that are shown."""


class How(Enum):
    """In what way a merged record is wrong."""

    FIELD = 1
    """A value of one side is neither there nor in the history."""
    ITEMS = 2
    """Something that was in a list is not."""
    BACK = 3
    """Something that one side took out of a list is there again."""
    MIXED = 4
    """Something is there that neither side has, and nothing says where it comes from."""


class Wrong(NamedTuple):
    """One thing that is wrong, and the number of the side that had it right, if one had."""

    how: How
    side: int | None
    what: str


class Comparison:
    """One merged record beside its sides.

    Args:
        shape: What the fields of such a record are.
        base: What both sides started from; empty where both made the record.
        sides: The two sides; twice the same one where the other purged the record.
        result: The merged record.
    """

    def __init__(
        self, shape: Shape, base: Object, sides: tuple[Object, Object], result: Object
    ) -> None:
        self._shape = shape
        self._base, self._sides, self._result = base, sides, result
        self._told = Told((base, *sides), result)
        self._went_on = self._has_gone_on()
        self._grown = self._told.touched or self._went_on
        self._chunked = self._went_on and self._has_new_chunks()
        self._found: list[Wrong] = []

    def wrong(self) -> list[Wrong]:
        """Return everything that is wrong, in the order of the record's fields."""
        self._object(self._shape, (), self._base, self._sides, self._result)
        return self._found

    def _has_gone_on(self) -> bool:
        """Tell whether a conversation went on after the merge: messages leave no events."""
        time = self._shape.time
        if time not in self._result or _CHUNKS not in self._shape.rules:
            return False
        latest = max(moment(side[time]) for side in self._sides)
        return moment(self._result[time]) > latest

    def _has_new_chunks(self) -> bool:
        known = {chunk for side in self._sides for chunk in side.get(_CHUNKS, ())}
        return not known.issuperset(self._result.get(_CHUNKS, ()))

    def _object(self, shape: Shape, path: Path, base: Object, sides: Pair, result: Object) -> None:
        for key in dict.fromkeys((*sides[0], *sides[1], *base, *result)):
            before, now = base.get(key, MISSING), result.get(key, MISSING)
            both = (sides[0].get(key, MISSING), sides[1].get(key, MISSING))
            if key == _HISTORY and not path:
                self._events()
            elif not all(same(now, other) for other in (before, *both)):
                self._field(shape, (*path, key), before, both, now)

    def _field(self, shape: Shape, path: Path, base: Any, sides: Pair, result: Any) -> None:
        key = path[-1]
        rule = shape.rules.get(key)
        if rule is None:
            rule = Rule.VALUE if key in shape.fields else _unknown((base, *sides, result))
        inside = shape.inside.get(key, UNKNOWN)
        if key in shape.derived:
            self._derived(shape.follows.get(key), path, base, sides, result)
        elif rule is Rule.SET:
            self._set(path, base, sides, result)
        elif rule is Rule.ITEMS:
            self._items(inside, path, base, sides, result)
        elif rule in (Rule.SUM, Rule.GREATEST, Rule.LATEST):
            self._growing(rule, path, base, sides, result)
        elif rule is Rule.PART and all(isinstance(value, dict) for value in (*sides, result)):
            self._part(inside, path, base if isinstance(base, dict) else {}, sides, result)
        else:
            self._value(path, base, sides, result)

    def _value(self, path: Path, base: Any, sides: Pair, result: Any) -> None:
        if path[0] in self._told.decided:
            return
        changed = [not _alike(side, base) for side in sides]
        contested = all(changed) and not same(*sides)
        for number, side in enumerate(sides):
            if (
                changed[number]
                and not same(side, result)
                and not self._keeps(path, side, contested)
            ):
                self._report(How.FIELD, number, path)
        new = not any(same(result, value) for value in (base, *sides))
        added = self._grown and all(value is MISSING for value in (base, *sides))
        if new and not added:
            self._report(How.MIXED, None, path)

    def _keeps(self, path: Path, value: Any, contested: bool) -> bool:
        """Tell whether a value that has no place in the record needs none."""
        if value is MISSING:
            return contested
        held = self._told.has if contested else self._told.notes
        inner = value.values() if isinstance(value, dict) else ()
        return held(path[0], value) or bool(inner and all(held(path[0], part) for part in inner))

    def _derived(self, leader: str | None, path: Path, base: Any, sides: Pair, result: Any) -> None:
        decided = path[0] in self._told.decided or leader in self._told.decided
        if not decided and not any(same(result, value) for value in (base, *sides)):
            self._report(How.MIXED, None, path)

    def _part(self, shape: Shape, path: Path, base: Object, sides: Pair, result: Object) -> None:
        if not shape.atomic:
            self._object(shape, path, base, sides, result)
            return
        whole, ours, theirs, now = (
            {key: value[key] for key in shape.fields if key in value}
            for value in (base, *sides, result)
        )
        self._value(path, whole, (ours, theirs), now)
        rest, left, right, kept = (
            {key: value[key] for key in value if key not in shape.fields}
            for value in (base, *sides, result)
        )
        self._object(UNKNOWN, path, rest, (left, right), kept)

    def _set(self, path: Path, base: Any, sides: Pair, result: Any) -> None:
        if path[0] in self._told.decided:
            return
        before, *both, now = (set(value or ()) for value in (base, *sides, result))
        for number, side in enumerate(both):
            self._named(How.ITEMS, number, path, (side - before) - now)
            self._named(How.BACK, number, path, (before - side) & now)
        self._named(How.ITEMS, None, path, (before & both[0] & both[1]) - now)
        if not self._went_on:
            self._named(How.MIXED, None, path, now - before - both[0] - both[1])

    def _items(self, shape: Shape, path: Path, base: Any, sides: Pair, result: Any) -> None:
        before, ours, theirs, now = (
            {tuple(item[key] for key in shape.identity): item for item in value or ()}
            for value in (base, *sides, result)
        )
        decided = path[0] in self._told.decided or self._chunked
        for key in dict.fromkeys((*before, *ours, *theirs, *now)):
            was, is_ = before.get(key), now.get(key)
            both = (ours.get(key), theirs.get(key))
            having = [number for number in (0, 1) if both[number] is not None]
            if is_ is None:
                if not decided and _is_lost(was, both):
                    self._named(How.ITEMS, _changer(was, both), path, [" ".join(key)])
            elif not having:
                if not decided and not (was is None and self._is_later(is_, shape)):
                    how = How.MIXED if was is None else How.BACK
                    self._named(how, None if was is None else 0, path, [" ".join(key)])
            elif len(having) == 1 and was is not None and same(both[having[0]], was):
                if not decided:
                    self._named(How.BACK, 1 - having[0], path, [" ".join(key)])
            else:
                pair = (both[having[0]], both[having[-1]])
                self._object(shape, (*path, *key), was or {}, pair, is_)

    def _is_later(self, item: Object, shape: Shape) -> bool:
        """Tell whether an item came after the merge, as a message does that was said since."""
        if not self._went_on:
            return False
        latest = max(moment(side[self._shape.time]) for side in self._sides)
        return moment_in(item, shape.time) >= latest

    def _growing(self, rule: Rule, path: Path, base: Any, sides: Pair, result: Any) -> None:
        """Hold counts and times to what they must be at least, and can be at the most."""
        order = _counted if rule is Rule.SUM else _reached
        start, *both, now = (order(value) for value in (base, *sides, result))
        changed = [n for n in (0, 1) if rule is Rule.LATEST or not same(sides[n], base)]
        least = most = max((both[number] for number in changed), default=start)
        if rule is Rule.SUM and len(changed) == 2 and self._base:
            total = max((0, both[0][1] + both[1][1] - start[1]), (0, 0))
            least, most = min(least, total), max(most, total)
        if now < least and not self._stands(path, sides, both.index(least) if least in both else 0):
            self._report(How.FIELD, both.index(least) if least in both else None, path)
        elif now > most and not self._grown:
            if changed and now == start:
                self._report(How.FIELD, changed[0], path)
            elif path[0] != _RECALLS:
                self._report(How.MIXED, None, path)

    def _stands(self, path: Path, sides: Pair, number: int) -> bool:
        value = sides[number]
        decided = path[0] in self._told.decided or self._told.has(path[0], value)
        return decided or (len(path) == 1 and value in self._told.times())

    def _events(self) -> None:
        before, *both, now = (
            set(numbered(map(canonical, record.get(_HISTORY, ()))))
            for record in (self._base, *self._sides, self._result)
        )
        names = {
            key: f"{event.get('event')} of {event.get('at')}"
            for record in (self._base, *self._sides)
            for key, event in zip(
                numbered(map(canonical, record.get(_HISTORY, ()))),
                record.get(_HISTORY, ()),
                strict=True,
            )
        }
        for number, side in enumerate(both):
            lost = (side - before) - now
            self._named(How.ITEMS, number, (_HISTORY,), (names[key] for key in lost))
        lost = (before & both[0] & both[1]) - now
        self._named(How.ITEMS, None, (_HISTORY,), (names[key] for key in lost))

    def _report(self, how: How, side: int | None, path: Path) -> None:
        self._found.append(Wrong(how, side, "/".join(path)))

    def _named(self, how: How, side: int | None, path: Path, names: Iterable[str]) -> None:
        where = "/".join(path)
        self._found += [Wrong(how, side, f"{where} {name[:_NAMED]!r}") for name in sorted(names)]


def _unknown(values: Sequence[Any]) -> Rule:
    """Return the rule for a field that this version does not know; see how it is merged."""
    base, ours, theirs, result = values
    if isinstance(ours, dict) and isinstance(theirs, dict):
        return Rule.PART
    there = [value for value in (base, ours, theirs) if value is not MISSING]
    texts = all(
        isinstance(value, list) and all(isinstance(item, str) for item in value)
        for value in (*there, result)
    )
    return Rule.SET if texts and len(there) > 1 else Rule.VALUE


def _alike(value: Any, base: Any) -> bool:
    """Tell whether a side left a field alone; to write down that there is nothing says nothing."""
    return same(value, base) or (value is None and base is MISSING)


def _is_lost(was: Any, both: Pair) -> bool:
    """Tell whether an item should be there: nobody removed it, or somebody changed it."""
    having = [item for item in both if item is not None]
    return bool(having) and (
        was is None or len(having) == 2 or any(not same(item, was) for item in having)
    )


def _changer(was: Any, both: Pair) -> int | None:
    changed = [n for n in (0, 1) if both[n] is not None and (was is None or not same(both[n], was))]
    return changed[0] if changed else None


def _counted(value: Any) -> tuple[int, Any]:
    return (0, value or 0)


def _reached(value: Any) -> tuple[int, Any]:
    """Order times and counts that only grow; none at all comes first."""
    if value is MISSING or value is None:
        return (0, 0)
    return (2, moment(value)) if isinstance(value, str) else (1, value)
