"""Links between memories: what they add to a score, and which memories they bring along. Pure."""

from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Final, NamedTuple

from pmem.values.records import JUDGEMENTS

_DIGITS: Final = 9


class SeenLink(NamedTuple):
    """A link between two active memories, seen from one of its ends.

    Attributes:
        near: number of the memory that was asked about.
        far: number of the one at the other end, wherever the link starts.
        type: what the link means.
        strength: 0 to 1.
        forward: whether it leads away from the memory that was asked about.
    """

    near: int
    far: int
    type: str
    strength: float
    forward: bool = True


Links = Callable[[Collection[int]], Iterable[SeenLink]]
"""Returns the links of the documents with these numbers, in either direction."""


class LinkedMemory(NamedTuple):
    """A link by the ids of its ends: a memory that was found, and one that it may bring along.

    Attributes:
        via: the memory that was found.
        id: the other one.
        type: what the link means.
        strength: 0 to 1.
        forward: whether it leads from the one that was found to the other.
    """

    via: str
    id: str
    type: str
    strength: float
    forward: bool = True


class RelatedHit(NamedTuple):
    """A memory that a hit brings along: over which link, and the link's strength times its score.

    The value is rounded, so that equals stay equal when scores were summed in another order.
    """

    tie: LinkedMemory
    value: float


def boosts(links: Iterable[SeenLink]) -> dict[int, float]:
    """Return the strength of each memory's strongest link: S1's `max_related_strength`."""
    strongest: dict[int, float] = {}
    for link in links:
        if link.type not in JUDGEMENTS:
            strongest[link.near] = max(strongest.get(link.near, 0.0), link.strength)
    return strongest


def brought_along(
    scores: Mapping[str, float], ties: Iterable[LinkedMemory], most: int
) -> list[RelatedHit]:
    """Return the memories that hits bring along: the strongest first, equals by id.

    Each is brought once, over its best link. A link of no strength brings nothing.
    """
    values = (
        RelatedHit(tie, round(tie.strength * scores[tie.via], _DIGITS))
        for tie in ties
        if tie.via in scores and tie.id not in scores
    )
    best: dict[str, RelatedHit] = {}
    for brought in sorted(values, key=_order):
        if brought.value > 0:
            best.setdefault(brought.tie.id, brought)
    return list(best.values())[:most]


def _order(brought: RelatedHit) -> tuple[float, str, str, str, bool]:
    tie, value = brought
    return -value, tie.id, tie.via, tie.type, not tie.forward
