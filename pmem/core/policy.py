"""Who may see what: the categories that an agent's allowlist names, and what belongs to them.

A policy comes down to a `Reach`, and a storage layer answers within it: `storage.limited` leaves
out the records, the search index the documents, that lie beyond.
"""

from collections.abc import Collection, Mapping
from typing import Any, Final

import msgspec

from pmem.errors import Refused
from pmem.records import Episode, Memory, MemoryType, Record

EVENT: Final = "event"
"""The category of episodes."""
ACTIVITY: Final = "activity"
"""The category of conversations, of their messages and facts, and of their summaries."""
PROCEDURAL: Final = "procedural"
"""The category of what tells how something is done."""
CATEGORY_OF_KIND: Final = {
    "episode": EVENT,
    "conversation": ACTIVITY,
    "chunk": ACTIVITY,
    "message": ACTIVITY,
}
"""The category of each kind that has none of its own, by the kind's name."""


class Reach(msgspec.Struct, frozen=True, kw_only=True):
    """What may be seen; the empty value is everything.

    `categories` are those that may, all of them when None; `agent` is whose reach it is.
    Without `procedures` memories that tell how something is done are left out.
    """

    agent: str | None = None
    categories: frozenset[str] | None = None
    procedures: bool = True

    def admits(self, record: Record) -> bool:
        """Tell whether a record lies within."""
        return self.covers(category_of(record)) and (self.procedures or not is_procedural(record))

    def covers(self, category: str) -> bool:
        """Tell whether a category lies within."""
        return self.categories is None or category in self.categories

    def must_cover(self, categories: Collection[str]) -> None:
        """See that nothing is asked for that may not be seen.

        Raises:
            Refused: A category lies beyond; the sentence names it.
        """
        beyond = sorted(category for category in set(categories) if not self.covers(category))
        if beyond:
            what = "categories" if len(beyond) > 1 else "category"
            raise Refused(f"{self.agent} may not see the {what} {', '.join(beyond)}", self.hint)

    @property
    def hint(self) -> str:
        """What may be seen, in words."""
        named = ", ".join(sorted(self.categories or ()))
        return f"its allowlist has {named}" if named else "its allowlist is empty"


EVERYTHING: Final = Reach()
"""What people reach, and every agent of a project without allowlists."""


def reach_of(agent: str | None, allowlists: Mapping[str, Collection[str]]) -> Reach:
    """Return what an agent may see.

    Args:
        agent: Its name; None is nobody in particular, such as a person.
        allowlists: The categories of each agent; without any there is no policy.

    Raises:
        Refused: There are allowlists, and none is this agent's.
    """
    if agent is None or not allowlists:
        return EVERYTHING
    if agent not in allowlists:
        known = ", ".join(sorted(allowlists))
        raise Refused(f"there is no allowlist for the agent {agent!r}", f"there are {known}")
    return Reach(agent=agent, categories=frozenset(allowlists[agent]))


def who_asks(pinned: str | None, named: str | None) -> str | None:
    """Return the agent that asks.

    Args:
        pinned: Who asks, as the environment has it.
        named: Who asks, as the request says.

    Raises:
        Refused: They differ: nobody may ask as another agent.
    """
    if pinned and named and pinned != named:
        raise Refused(f"{pinned} may not ask as {named}", "PMEM_AGENT says who asks here")
    return pinned or named or None


def category_of(record: Any) -> str:
    """Return the category by which a record is seen or not."""
    if isinstance(record, Memory):
        return record.category
    return EVENT if isinstance(record, Episode) else ACTIVITY


def is_procedural(record: Any) -> bool:
    """Tell whether a record tells how something is done."""
    return isinstance(record, Memory) and (
        record.type is MemoryType.PROCEDURE or record.category == PROCEDURAL
    )
