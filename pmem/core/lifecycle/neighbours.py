"""How memories are related: whom they concern, their links, and which one is newer.

A scope says whom a memory concerns (an app, a user, a role), and also who noted it and where (an
agent, an actor, a run). Who noted something makes no difference to what it says: a context shows
what several agents noted side by side.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from typing import Final

import msgspec

from pmem.core.lifecycle.presence import said_at
from pmem.values.defaults import LINK_AT
from pmem.values.ids import short
from pmem.values.records import Memory, Relationship, Scope
from pmem.values.times import day

JUDGED: Final = ("updates", "contradicts")
"""The types of links from a memory to an older one that may not hold any more."""
OUTRANKS: Final = "outranks"


def is_near(link: Relationship) -> bool:
    """Tell whether a link was made because two texts have nearly all words in common."""
    return link.type == "related_to" and link.strength >= LINK_AT


class Neighbour(msgspec.Struct, frozen=True, kw_only=True):
    """A link that was made, what the memory at its end says, and why they belong together."""

    link: Relationship
    content: str
    reason: str


def judgements(neighbours: Iterable[Neighbour]) -> tuple[Neighbour, ...]:
    """Return the neighbours that a memory updates or contradicts."""
    return tuple(neighbour for neighbour in neighbours if neighbour.link.type in JUDGED)


def advice(type_: str, older: str, newer: str) -> str:
    """Say what to do about a newer memory that changes or contradicts an older one."""
    if type_ not in JUDGED:
        return ""
    return (
        "if the newer one holds instead of the older:"
        f" `pmem edit {short(older)} --superseded-by {short(newer)}`"
    )


class SaidOtherwise(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """How a memory stands beside another one that says something else of the same.

    Attributes:
        said: The day since which it has said what it says.
        against: The id of the memory that goes before it, None for that one: the newest that
            updates or contradicts it, or an older one that is trusted more.
        relation: What a newer one does: `updates` or `contradicts`; `outranks` where it is older.
    """

    said: str
    against: str | None = None
    relation: str = ""

    @property
    def mark(self) -> str:
        """What stands before its text where it is shown."""
        against = f"; a newer memory {self.relation} it" if self.against else ""
        if self.relation == OUTRANKS:
            against = "; what is trusted more says otherwise"
        return f"({self.said}{against}) "


def differences(
    memories: Iterable[Memory], is_lesser: Callable[[Memory], bool] = lambda memory: False
) -> dict[str, SaidOtherwise]:
    """Return how memories stand that their links say differ, by id.

    The newer of two goes first; but what `is_lesser`, as nobody stands for it, goes behind what is
    not. A link tells of what both said when it was made: once one of them says something else, it
    tells nothing any more.
    """
    known = {memory.id: memory for memory in memories}
    against: dict[str, tuple[bool, datetime, str, str]] = {}
    found: dict[str, SaidOtherwise] = {}
    for memory in known.values():
        for link in memory.relationships:
            other = known.get(link.target) if link.type in JUDGED else None
            made = link.created_at
            if other is None or other is memory:
                continue
            if made is not None and max(said_at(memory), said_at(other)) > made:
                continue
            older, newer = sorted((memory, other), key=lambda one: (said_at(one), one.id))
            relation = link.type
            if is_lesser(newer) and not is_lesser(older):
                older, newer, relation = newer, older, OUTRANKS
            claim = (relation == OUTRANKS, said_at(newer), newer.id, relation)
            against[older.id] = max(claim, against.get(older.id, claim))
            found[newer.id] = SaidOtherwise(said=_day(newer))
    for id_, (_, _, first, relation) in against.items():
        found[id_] = SaidOtherwise(said=_day(known[id_]), against=first, relation=relation)
    return found


def newer_first(ids: Sequence[str], differing: Mapping[str, SaidOtherwise]) -> list[int]:
    """Return the places of ids in their order, but each behind what it is `against`."""
    places = {identifier: place for place, identifier in reversed(list(enumerate(ids)))}
    order: dict[int, None] = {}
    for place, identifier in enumerate(ids):
        chain, found = [place], differing.get(identifier)
        while found is not None and found.against in places:
            chain.append(places[found.against])
            found = differing.get(found.against)
        order.update(dict.fromkeys(reversed(chain)))
    return list(order)


def with_newer(ids: Iterable[str], differing: Mapping[str, SaidOtherwise]) -> list[str]:
    """Return ids, and behind them those of the memories that they are shown with."""
    shown = dict.fromkeys(ids)
    waiting = list(shown)
    while waiting:
        found = differing.get(waiting.pop())
        if found is not None and found.against is not None and found.against not in shown:
            shown[found.against] = None
            waiting.append(found.against)
    return list(shown)


def _day(memory: Memory) -> str:
    return day(said_at(memory)).strip()


Concern = tuple[str | None, str | None, str | None]
"""The app, the user and the role that a memory concerns."""


def concern_of(scope: Scope) -> Concern:
    """Return whom a memory concerns, whoever noted it."""
    return (scope.app, scope.user, scope.role)


def may_meet(one: Scope, other: Scope) -> bool:
    """Tell whether two memories may speak of the same in one context.

    Apps live apart. Of what concerns two users, or two roles, each holds for its own; what
    concerns everyone may say something else than what concerns one of them.
    """
    return (
        one.app == other.app
        and (one.user is None or other.user is None or one.user == other.user)
        and (one.role is None or other.role is None or one.role == other.role)
    )
