"""Whether a merge that was made kept what its sides did to a record, whoever made it.

What the merge driver would have made is right, but so is much else: a merge that git did line by
line, or one that somebody settled with `pmem edit` before committing it. So a result is held to
what every side changed: that must be in it, or in its history.
"""

from collections.abc import Sequence
from enum import StrEnum
from typing import Any, Final, NamedTuple

from pmem.core.threeway.compare import Comparison, How, Wrong
from pmem.core.threeway.conflicts import open_conflicts
from pmem.core.threeway.recall import ACTIVE, STATE, state_of
from pmem.core.threeway.record import merged
from pmem.core.threeway.shapes import Shape
from pmem.core.threeway.sides import checked
from pmem.core.threeway.told import Told
from pmem.core.threeway.values import Doubt, canonical, same

Json = dict[str, Any]


class Kind(StrEnum):
    """What a merge did to a record: the codes of `pmem check --merges`."""

    LOST_RECORD = "lost_record"
    RESURRECTED_RECORD = "resurrected_record"
    DROPPED_SIDE = "dropped_side"
    DROPPED_FIELD = "dropped_field"
    DROPPED_ITEMS = "dropped_items"
    RESURRECTED_ITEMS = "resurrected_items"
    MIXED_RECORD = "mixed_record"
    UNREADABLE_MERGE = "unreadable_merge"
    LEFT_RECALL = "left_recall"
    OVERRULED = "overruled"


_KINDS: Final = {
    How.FIELD: Kind.DROPPED_FIELD,
    How.ITEMS: Kind.DROPPED_ITEMS,
    How.BACK: Kind.RESURRECTED_ITEMS,
    How.MIXED: Kind.MIXED_RECORD,
}


class Found(NamedTuple):
    """Something that a merge did wrong.

    `side` is the number of the parent that had it right; None where it is no single one's.
    `what` names fields and items.
    """

    kind: Kind
    side: int | None
    what: tuple[str, ...] = ()


def verified(
    bases: Sequence[Sequence[Json | None]],
    parents: Sequence[Json | None],
    result: Json | None,
    shape: Shape,
) -> list[Found]:
    """Hold what a merge made of a record to what its parents had done to it.

    Args:
        bases: For every parent but the first, what it and those before it started from. Where
            branches crossed these are several: a result that is right for one of them is right.
        parents: The record in each parent; None where it is not there.
        result: The record in the merge.
        shape: What the fields of such a record are.

    Returns:
        What is wrong, at the most one of a kind for each side.

    Raises:
        Doubt: A base or a parent is not what pmem writes, so nothing can be told.
    """
    for side in (*(base for several in bases for base in several), *parents):
        if side is not None:
            checked(side, shape)
    before = _folded(bases[:-1], parents[:-1], shape)
    found = [_judged(base, (before, parents[-1]), result, shape) for base in bases[-1]]
    least = min(found, key=len)
    return [_attributed(item, bases[-1][0], parents) for item in least]


def undecided(parents: Sequence[Json | None], result: Json | None) -> list[Found]:
    """Return what a merge rightly left for somebody to decide: whether a record stays in recall.

    Args:
        parents: See `verified`.
        result: The record in the merge.
    """
    if result is None or not _is_open(result) or any(map(_is_open, filter(None, parents))):
        return []
    left = [n for n, side in enumerate(parents) if side is not None and state_of(side) != ACTIVE]
    return [Found(Kind.OVERRULED, left[0] if left else None)]


def _is_open(side: Json) -> bool:
    return STATE in open_conflicts(side.get("history", ()))


def common(root: Json | None, bases: Sequence[Json | None], shape: Shape) -> Json | None:
    """Return the one base of branches that crossed: what merging their several bases gives.

    Args:
        root: What the bases started from.
        bases: The record in each.
        shape: What the fields of such a record are.

    Raises:
        Doubt: One of them is not what pmem writes.
    """
    return _folded([[root]] * (len(bases) - 1), bases, shape)


def _folded(
    bases: Sequence[Sequence[Json | None]], sides: Sequence[Json | None], shape: Shape
) -> Json | None:
    """Merge several sides one after the other, without the notes that this would write."""
    whole = sides[0]
    for several, side in zip(bases, sides[1:], strict=True):
        whole = merged(several[0], whole, side, shape).result
    if whole is None or len(sides) == 1:
        return whole
    known = {canonical(event) for side in sides if side for event in side.get("history", ())}
    events = [event for event in whole.get("history", ()) if canonical(event) in known]
    return {**whole, "history": events} if "history" in whole else whole


def _judged(
    base: Json | None,
    sides: tuple[Json | None, Json | None],
    result: Json | None,
    shape: Shape,
) -> list[Found]:
    kept = [side for side in sides if side is not None]
    changed = [
        number
        for number, side in enumerate(sides)
        if side is not None and (base is None or not same(side, base))
    ]
    if result is None:
        if kept and (changed or len(kept) == len(sides)):
            return [Found(Kind.LOST_RECORD, changed[0] if changed else 0)]
        return []
    gone = [number for number, side in enumerate(sides) if side is None]
    if base is not None and gone and not changed:
        return [Found(Kind.RESURRECTED_RECORD, gone[0])]
    if not kept:
        return []
    ours, theirs = (kept[0], kept[-1])
    found = _compared(base, ours, theirs, result, shape)
    if not gone:
        return found
    left = sides.index(kept[0])
    named = (item._replace(side=None if item.side is None else left) for item in found)
    return list(dict.fromkeys(named))


def _compared(
    base: Json | None, ours: Json, theirs: Json, result: Json, shape: Shape
) -> list[Found]:
    """Compare a record that is there in the result with one or two sides that have it."""
    try:
        checked(result, shape)
    except Doubt as doubt:
        return [Found(Kind.UNREADABLE_MERGE, None, (str(doubt),))]
    if result["id"] != ours["id"]:
        return [Found(Kind.MIXED_RECORD, None, ("id",))]
    wanted = merged(base, ours, theirs, shape)
    sides = (ours, theirs)
    found: list[Found] = []
    if not same(wanted.result, result):
        wrong = Comparison(shape, base or {}, sides, result).wrong()
        found = _whole_sides(base, sides, result, wrong)
    dropped = any(each.kind is Kind.DROPPED_SIDE for each in found)
    if wanted.overruled and not dropped and state_of(result) != ACTIVE:
        found += _of_recall(sides, result)
    return found


def _of_recall(sides: tuple[Json, Json], result: Json) -> list[Found]:
    """Report a record that left recall although one side kept it, and nobody decided so since."""
    if STATE in Told(sides, result).decided:
        return []
    return [Found(Kind.LEFT_RECALL, 0 if state_of(sides[0]) == ACTIVE else 1)]


def _whole_sides(
    base: Json | None, sides: tuple[Json, Json], result: Json, wrong: list[Wrong]
) -> list[Found]:
    """Put what is wrong together, and call a side dropped of which nothing is left."""
    dropped = {item.side for item in wrong if item.side is not None}
    for number in sorted(dropped):
        if same(result, sides[1 - number]) and not same(*sides):
            return [Found(Kind.DROPPED_SIDE, number)]
    if base is not None and same(result, base) and dropped:
        return [Found(Kind.DROPPED_SIDE, number) for number in sorted(dropped)]
    found: dict[tuple[Kind, int | None], dict[str, None]] = {}
    for item in wrong:
        found.setdefault((_KINDS[item.how], item.side), {})[item.what] = None
    return [Found(kind, side, tuple(what)) for (kind, side), what in found.items()]


def _attributed(found: Found, base: Json | None, parents: Sequence[Json | None]) -> Found:
    """Say which parent is meant: of those that were folded, the first one that differs."""
    if found.side is None or len(parents) == 2:
        return found
    if found.side == 1:
        return found._replace(side=len(parents) - 1)
    wanted = found.kind is not Kind.RESURRECTED_RECORD
    for number, parent in enumerate(parents[:-1]):
        if (parent is not None) == wanted and not same(parent, base):
            return found._replace(side=number)
    return found
