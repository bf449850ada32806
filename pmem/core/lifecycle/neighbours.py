"""Links that are made because memories belong together, and what to do about them."""

from collections.abc import Iterable
from typing import Final

import msgspec

from pmem.values.defaults import LINK_AT
from pmem.values.ids import short
from pmem.values.records import Relationship

JUDGED: Final = ("updates", "contradicts")
"""The types of links from a memory to an older one that may not hold any more."""


def is_near(link: Relationship) -> bool:
    """Tell whether a link was made because two texts have nearly all words in common."""
    return link.type == "related_to" and link.strength >= LINK_AT


class Neighbour(msgspec.Struct, frozen=True, kw_only=True):
    """A link that was made, and where it leads.

    Attributes:
        link: The link.
        content: What the memory at its end says.
        reason: Why they belong together, a short phrase.
    """

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
