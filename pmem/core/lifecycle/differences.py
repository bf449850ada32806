"""Memories that say different things of the same: which is newer, for those who show them."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime

import msgspec

from pmem.core.lifecycle.neighbours import JUDGED
from pmem.core.lifecycle.presence import said_at
from pmem.values.records import Memory, Relationship
from pmem.values.times import day


class SaidOtherwise(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """How a memory stands beside another one that says something else of the same.

    Attributes:
        said: The day since which it has said what it says.
        newer: The id of the newest memory that updates or contradicts it; None for that one.
        relation: What that one does: `updates` or `contradicts`.
    """

    said: str
    newer: str | None = None
    relation: str = ""

    @property
    def mark(self) -> str:
        """What stands before its text where it is shown."""
        against = f"; a newer memory {self.relation} it" if self.newer else ""
        return f"({self.said}{against}) "


def differences(memories: Iterable[Memory]) -> dict[str, SaidOtherwise]:
    """Return how memories stand that their links say differ, by id.

    A link tells of what both said when it was made: once one of them says something else, it
    tells nothing any more.
    """
    known = {memory.id: memory for memory in memories}
    against: dict[str, tuple[datetime, str, str]] = {}
    found: dict[str, SaidOtherwise] = {}
    for memory in known.values():
        for link in memory.relationships:
            other = known.get(link.target) if link.type in JUDGED else None
            if other is None or other is memory or _is_outdated(link, memory, other):
                continue
            older, newer = sorted((memory, other), key=lambda one: (said_at(one), one.id))
            claim = (said_at(newer), newer.id, link.type)
            against[older.id] = max(claim, against.get(older.id, claim))
            found[newer.id] = SaidOtherwise(said=_day(newer))
    for older_id, (_, newer_id, relation) in against.items():
        found[older_id] = SaidOtherwise(
            said=_day(known[older_id]), newer=newer_id, relation=relation
        )
    return found


def newer_first(ids: Sequence[str], differing: Mapping[str, SaidOtherwise]) -> list[int]:
    """Return the places of ids in their order, but a newer memory before those that it changes."""
    places = {identifier: place for place, identifier in reversed(list(enumerate(ids)))}
    order: dict[int, None] = {}
    for place, identifier in enumerate(ids):
        chain, found = [place], differing.get(identifier)
        while found is not None and found.newer in places:
            chain.append(places[found.newer])
            found = differing.get(found.newer)
        order.update(dict.fromkeys(reversed(chain)))
    return list(order)


def with_newer(ids: Iterable[str], differing: Mapping[str, SaidOtherwise]) -> list[str]:
    """Return ids, and behind them those of the newer memories that they are shown with."""
    shown = dict.fromkeys(ids)
    waiting = list(shown)
    while waiting:
        found = differing.get(waiting.pop())
        if found is not None and found.newer is not None and found.newer not in shown:
            shown[found.newer] = None
            waiting.append(found.newer)
    return list(shown)


def _is_outdated(link: Relationship, start: Memory, end: Memory) -> bool:
    made = link.created_at
    return made is not None and max(said_at(start), said_at(end)) > made


def _day(memory: Memory) -> str:
    return day(said_at(memory)).strip()
