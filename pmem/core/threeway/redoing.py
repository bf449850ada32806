"""Redoing the merge of one record, and where the merge that was committed differs."""

from collections.abc import Iterator, Sequence
from enum import StrEnum
from typing import Any, Final, NamedTuple

from pmem.core.threeway.history import SOURCE
from pmem.core.threeway.record import merged
from pmem.core.threeway.shapes import UNKNOWN, RecordShape, checked
from pmem.core.threeway.values import MISSING, Doubt, Object, canonical, moment, numbered, same

Record = dict[str, Any]
_HISTORY: Final = "history"
_CHUNKS: Final = "chunks"
_MESSAGES: Final = "recent_messages"
_LINKS: Final = "relationships"
_RECALLS: Final = "access"
"""They may grow after the merge, and leave no events."""
_NAMED: Final = 60
"""Characters of an item's name that are shown."""


class Mistake(StrEnum):
    """What a merge did to a record: the codes of `pmem check merges --range`."""

    LOST_RECORD = "lost_record"
    RESURRECTED_RECORD = "resurrected_record"
    DROPPED_SIDE = "dropped_side"
    DROPPED_FIELD = "dropped_field"
    DROPPED_ITEMS = "dropped_items"
    RESURRECTED_ITEMS = "resurrected_items"
    MIXED_RECORD = "mixed_record"
    UNREADABLE_MERGE = "unreadable_merge"


class Mismatch(NamedTuple):
    """Something that a merge did wrong.

    `side` is the number of the parent that had it right; None where it is no single one's.
    `what` names fields and items.
    """

    mistake: Mistake
    side: int | None
    what: tuple[str, ...] = ()


def redone(
    bases: Sequence[Record | None], sides: Sequence[Record | None], shape: RecordShape
) -> Record | None:
    """Merge the sides of a record one after the other, as git has the driver do it.

    Args:
        bases: For every side but the first, what it and those before it started from.
        sides: The record in each parent; None where it is not there.
        shape: What the fields of such a record are.
    """
    whole = sides[0]
    for base, side in zip(bases, sides[1:], strict=True):
        whole = merged(base, whole, side, shape).result
    return whole


def differences(
    bases: Sequence[Record | None],
    sides: Sequence[Record | None],
    result: Record | None,
    shape: RecordShape,
) -> list[Mismatch]:
    """Compare what a merge made of a record with what merging it again makes of it.

    What was changed with pmem after the merge, and before it was committed, has events of its own
    and is no difference.

    Raises:
        Doubt: A base or a side is not what pmem writes.
    """
    wanted = redone(bases, sides, shape)
    starts = (bases[0], *bases)
    changed = [n for n, side in enumerate(sides) if not same(side, starts[n])]
    having = [n for n, side in enumerate(sides) if side is not None]
    if result is None:
        lost = [n for n in having if n in changed] or having
        return [] if wanted is None else [Mismatch(Mistake.LOST_RECORD, lost[0])]
    if wanted is None:
        is_new = not having and not any(bases)
        return [] if is_new else [Mismatch(Mistake.RESURRECTED_RECORD, sides.index(None))]
    if same(wanted, result):
        return []
    if any(same(result, version) for version in (bases[-1], *sides)):
        dropped = [n for n in having if n in changed and not same(sides[n], result)]
        return [Mismatch(Mistake.DROPPED_SIDE, number) for number in dropped]
    versions = [version or {} for version in (bases[-1], *sides)]
    return _compared(versions, wanted, result, shape)


def _compared(
    versions: Sequence[Object], wanted: Record, result: Record, shape: RecordShape
) -> list[Mismatch]:
    try:
        checked(result, shape)
    except Doubt as doubt:
        return [Mismatch(Mistake.UNREADABLE_MERGE, None, (str(doubt),))]
    if result["id"] != wanted["id"]:
        return [Mismatch(Mistake.MIXED_RECORD, None, ("id",))]
    named: dict[tuple[Mistake, int | None], dict[str, None]] = {}
    for mistake, side, what in _Comparison(shape, versions, wanted, result).all():
        named.setdefault((mistake, side), {}).update(dict.fromkeys(what))
    return [Mismatch(mistake, side, tuple(what)) for (mistake, side), what in named.items()]


class _Comparison:
    """A merged record beside its versions (the base first), and the same merge done again."""

    def __init__(
        self, shape: RecordShape, versions: Sequence[Object], wanted: Object, result: Object
    ) -> None:
        self._shape = shape
        self._versions, self._wanted, self._result = versions, wanted, result
        is_conversation = _CHUNKS in shape.rules  # it goes on without events
        self._goes_on = is_conversation and moment(result[shape.time]) > moment(wanted[shape.time])
        known = set(map(canonical, wanted.get(_HISTORY, ())))
        events = [it for it in result.get(_HISTORY, ()) if canonical(it) not in known]
        own = [it for it in events if it.get("source") != SOURCE]
        self._edited = {field for it in own for field in it.get("before", ())}
        if any(it.get("event") in ("LINK", "UNLINK") for it in own):
            self._edited.add(_LINKS)

    def all(self) -> Iterator[Mismatch]:
        """Yield what differs, in the order of the record's fields."""
        for field in dict.fromkeys((*self._wanted, *self._result)):
            then, now = (it.get(field, MISSING) for it in (self._wanted, self._result))
            if same(then, now) or self._may_differ(field):
                continue
            before = [version.get(field, MISSING) for version in self._versions]
            if all(isinstance(value or [], list) for value in (then, now, *before)):
                yield from self._list(field, before, then or [], now or [])
            else:
                yield from self._value(field, before, then, now)

    def _may_differ(self, field: str) -> bool:
        """Tell whether a field may have changed since, or comes with one that has."""
        if field in (_RECALLS, self._shape.time) or field in self._shape.derived:
            return True
        if field == _MESSAGES and not same(
            *(it.get(_CHUNKS) for it in (self._wanted, self._result))
        ):
            return self._goes_on
        return field in self._edited or self._shape.follows.get(field) in self._edited

    def _list(self, field: str, before: list[Any], then: Any, now: Any) -> Iterator[Mismatch]:
        wanted, held, *versions = (
            self._by_name(field, value or []) for value in (then, now, *before)
        )
        for key in dict.fromkeys((*wanted, *held)):
            was = [version.get(key, MISSING) for version in versions]
            name = f"{field} {_name(key, held.get(key, wanted.get(key)))[:_NAMED]!r}"
            if key not in held:
                side = next((n for n, it in enumerate(was[1:]) if it is not MISSING), None)
                alone = sum(it is not MISSING for it in was[1:]) == 1
                yield Mismatch(Mistake.DROPPED_ITEMS, side if alone else None, (name,))
            elif key in wanted:
                if not same(wanted[key], held[key]):
                    yield from self._value(name, was, wanted[key], held[key])
            elif was[0] is not MISSING and MISSING in was:
                side = was[1:].index(MISSING)
                yield Mismatch(Mistake.RESURRECTED_ITEMS, side, (name,))
            elif field != _HISTORY and not self._goes_on:
                yield Mismatch(Mistake.MIXED_RECORD, None, (name,))

    def _by_name(self, field: str, items: Any) -> dict[Any, Any]:
        shape = self._shape.inside.get(field, UNKNOWN)
        if shape.identity:
            return {shape.identity_of(item): item for item in items}
        return dict(zip(numbered(map(canonical, items)), items, strict=True))

    def _value(self, what: str, before: list[Any], then: Any, now: Any) -> Iterator[Mismatch]:
        base, *sides = before
        if not any(same(now, value) for value in before):
            if not self._goes_on:
                yield Mismatch(Mistake.MIXED_RECORD, None, (what,))
            return
        having = (n for n, value in enumerate(sides) if same(value, then) and not same(value, base))
        yield Mismatch(Mistake.DROPPED_FIELD, next(having, None), (what,))


def _name(key: tuple[Any, ...], item: Any) -> str:
    """Return how people tell an item: its text, what happened and when, or what identifies it."""
    if isinstance(item, dict) and "event" in item:
        return f"{item['event']} of {item.get('at')}"
    return item if isinstance(item, str) else " ".join(map(str, key))
