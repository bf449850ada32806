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
_RECALLS: Final = "access"
"""They may grow after the merge, and leave no events."""


class Mistake(StrEnum):
    """What a merge did to a record: the codes of `pmem check merges --range`."""

    LOST = "lost_record"
    RESURRECTED = "resurrected_record"
    DIFFERS = "differing_record"


class Mismatch(NamedTuple):
    """Something that a merge did wrong.

    `side` is the number of a parent that has it right, if one has. `what` names fields, or says
    why something is no record; it is empty where all that a side changed is missing.
    """

    mistake: Mistake
    side: int | None
    what: tuple[str, ...] = ()


def mismatch(
    base: Record | None,
    sides: tuple[Record | None, Record | None],
    result: Record | None,
    shape: RecordShape,
) -> Mismatch | None:
    """Compare what a merge made of a record with what merging it again makes of it.

    What was changed with pmem after the merge, and before it was committed, has events of its own
    and is no difference.

    Raises:
        Doubt: The base or a side is not what pmem writes.
    """
    wanted = merged(base, *sides, shape).result
    having = [n for n, side in enumerate(sides) if side is not None]
    changed = [n for n in having if not same(sides[n], base)]
    if result is None:
        return None if wanted is None else Mismatch(Mistake.LOST, (changed or having)[0])
    if wanted is None:
        is_new = not having and base is None
        return None if is_new else Mismatch(Mistake.RESURRECTED, sides.index(None))
    if same(wanted, result):
        return None
    if any(same(result, version) for version in (base, *sides)):
        dropped = next((n for n in changed if not same(sides[n], result)), None)
        return None if dropped is None else Mismatch(Mistake.DIFFERS, dropped)
    try:
        checked(result, shape)
    except Doubt as doubt:
        return Mismatch(Mistake.LOST, None, (str(doubt),))
    what = tuple(_differing_fields(wanted, result, (base, *sides), shape))
    right = (n for n in changed if any(same((sides[n] or {}).get(f), wanted.get(f)) for f in what))
    return Mismatch(Mistake.DIFFERS, next(right, None), what) if what else None


def _differing_fields(
    wanted: Object, result: Object, versions: Sequence[Object | None], shape: RecordShape
) -> Iterator[str]:
    is_conversation = _CHUNKS in shape.rules  # it goes on without events
    goes_on = is_conversation and moment(result[shape.time]) > moment(wanted[shape.time])
    excused = {_RECALLS, shape.time, *shape.derived, *_edited_fields(wanted, result)}
    if goes_on and not same(wanted.get(_CHUNKS), result.get(_CHUNKS)):
        excused.add("recent_messages")  # some of them moved into a chunk
    for field in dict.fromkeys((*wanted, *result)):
        then, now = wanted.get(field, MISSING), result.get(field, MISSING)
        if field in excused or shape.follows.get(field) in excused or same(then, now):
            continue
        before = [(it or {}).get(field, MISSING) for it in versions]
        if all(isinstance(items or [], list) for items in (then, now, *before)):
            inside = shape.inside.get(field, UNKNOWN) if goes_on else UNKNOWN
            right, found, *known = (_by_name(it or [], inside) for it in (then, now, *before))
            more = found.keys() - right.keys()
            if goes_on or field == _HISTORY:  # it may have grown, but not by what a side removed
                more = {
                    it for it in more & known[0].keys() if any(it not in side for side in known)
                }
            back = (
                name
                for name in right.keys() & found.keys()
                if not same(right[name], found[name])
                and any(same(found[name], it.get(name, MISSING)) for it in known)
            )
            if more or right.keys() - found.keys() or any(back):
                yield field
        elif not goes_on or any(same(now, value) for value in before):
            yield field


def _edited_fields(wanted: Object, result: Object) -> set[str]:
    """Return the fields that events of a person changed since the merge."""
    known = set(map(canonical, wanted.get(_HISTORY, ())))
    events = [it for it in result.get(_HISTORY, ()) if canonical(it) not in known]
    own = [it for it in events if it.get("source") != SOURCE]
    links = {"relationships"} if any(it.get("event") in ("LINK", "UNLINK") for it in own) else set()
    return links.union(*(it.get("before", {}) for it in own))


def _by_name(items: Sequence[Any], shape: RecordShape) -> dict[Any, Any]:
    if shape.identity:
        return {shape.identity_of(item): item for item in items}
    return dict(zip(numbered(map(canonical, items)), items, strict=True))
