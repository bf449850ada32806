"""JSON values and lists as merging compares them: which are the same, and which is later."""

import json
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, Final, TypeVar

K = TypeVar("K", bound=Hashable)
Object = Mapping[str, Any]
"""A JSON object."""

BEGINNING: Final = datetime.min.replace(tzinfo=UTC)


class Doubt(Exception):
    """Something is not as pmem writes it, so it is not for pmem to merge."""


class _Missing:
    """The value of a key that is not there."""

    def __bool__(self) -> bool:
        return False


MISSING: Final = _Missing()
_PLAIN: Final = (str, bool, int, _Missing, type(None))


def canonical(value: Any) -> str:
    """Write a value as JSON in the one form that equal values share."""
    if value is MISSING:
        return ""
    return json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":"))


def same(one: Any, other: Any) -> bool:
    """Tell whether two values are the same JSON; unlike in Python, true is not 1."""
    if one is other:
        return True
    if isinstance(one, _PLAIN) or isinstance(other, _PLAIN):
        return type(one) is type(other) and bool(one == other)
    return canonical(one) == canonical(other)


def moment(value: Any) -> datetime:
    """Read a time as records hold it.

    Raises:
        Doubt: It is anything else.
    """
    try:
        at = datetime.fromisoformat(value)
    except (TypeError, ValueError):
        raise Doubt(f"{value!r} is not a time") from None
    if at.tzinfo is None:
        raise Doubt(f"{value!r} has no time zone")
    return at


def moment_in(item: Any, field: str) -> datetime:
    """Return the time that an object has in a field; the beginning of time where it has none."""
    value = item.get(field) if isinstance(item, Mapping) else None
    return BEGINNING if value is None else moment(value)


def together(one: Sequence[K], other: Sequence[K], order: Callable[[K], Any]) -> list[K]:
    """Merge two lists of keys; it makes no difference which of them comes first.

    Each list's own order holds. What only one of them has stands before what both have later
    on, and of two that could come next, the one that is lower in `order` does. Where the lists
    contradict each other, `order` decides as well.

    Each key is once in a list, and what they are compared by is different for different keys.
    """
    in_one, in_other = set(one), set(other)
    found: dict[K, None] = {}
    left, right = list(reversed(one)), list(reversed(other))
    while left or right:
        if left and left[-1] in found:
            left.pop()
        elif right and right[-1] in found:
            right.pop()
        elif not left or not right:
            found[(left or right)[-1]] = None
        else:
            here, there = left[-1], right[-1]
            waits, is_waited_for = here in in_other, there in in_one
            if waits == is_waited_for:
                found[min(here, there, key=order)] = None
            else:
                found[there if waits else here] = None
    return list(found)


def kept(base: Iterable[K], one: Sequence[K], other: Sequence[K], order: Any) -> list[K]:
    """Merge two lists of which either may have added and removed keys.

    `base` has the keys that there were; see `together`.
    """
    before, here, there = set(base), set(one), set(other)
    return [
        key
        for key in together(one, other, order)
        if key not in before or (key in here and key in there)
    ]


def numbered(keys: Iterable[K]) -> list[tuple[K, int]]:
    """Tell equal keys apart: each with how many like it came before."""
    seen: dict[K, int] = {}
    found = []
    for key in keys:
        seen[key] = seen.get(key, 0) + 1
        found.append((key, seen[key]))
    return found
