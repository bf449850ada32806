"""Lists on two sides, and the one list that keeps both orders where they agree."""

from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import Any, TypeVar

K = TypeVar("K", bound=Hashable)


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
