"""Who may see what: the categories that an agent's allowlist names, and the records in each.

A policy comes down to a `Reach`, and a storage layer answers within it: `storage.limited` leaves
out the records, the search index the documents, that lie beyond.
"""

from collections.abc import Collection, Mapping
from typing import Any, Final

import msgspec

from pmem.errors import Refused
from pmem.values.records import Episode, Memory, MemoryType, Record

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

    `categories` are those that may, and `apps` those whose records may, all of them when None;
    what belongs to no app may be seen whatever `apps` says. `who` asks. Without `procedures`
    memories that tell how something is done are left out.
    """

    who: str | None = None
    categories: frozenset[str] | None = None
    apps: frozenset[str] | None = None
    procedures: bool = True

    def admits(self, record: Record) -> bool:
        """Tell whether a record lies within."""
        return (
            self.covers(category_of(record))
            and self.serves(app_of(record))
            and (self.procedures or not is_procedural(record))
        )

    def serves(self, app: str | None) -> bool:
        """Tell whether what belongs to an app, or to none, lies within."""
        return app is None or self.apps is None or app in self.apps

    def covers(self, category: str) -> bool:
        """Tell whether a category lies within."""
        return self.categories is None or category in self.categories

    def check_app(self, app: str) -> None:
        """Refuse an app whose records may not be seen."""
        if not self.serves(app.strip().casefold()):
            raise Refused(f"{self.who} may not see what belongs to the app {app}", self.hint)

    def check_categories(self, categories: Collection[str]) -> None:
        """Refuse categories that may not be seen; the sentence names them."""
        beyond = sorted(category for category in set(categories) if not self.covers(category))
        if beyond:
            what = "categories" if len(beyond) > 1 else "category"
            raise Refused(f"{self.who} may not see the {what} {', '.join(beyond)}", self.hint)

    @property
    def hint(self) -> str:
        """What may be seen, in words."""
        if self.categories is None:
            return "an app sees what is its own or the project's"
        named = ", ".join(sorted(self.categories))
        return f"its allowlist has {named}" if named else "its allowlist is empty"

    def refusal(self, what: str) -> tuple[str, str]:
        """Return why something that takes in all records is refused, and what to do."""
        if self.categories is None:
            return f"{self.who} may not {what}: that takes in every app", "run it without PMEM_APP"
        return (
            f"{self.who} may not {what}: that takes in every category",
            "leave it to somebody without an allowlist",
        )


EVERYTHING: Final = Reach()
"""What people reach, and every agent of a project without allowlists."""


def reach_of(
    agent: str | None, allowlists: Mapping[str, Collection[str]], app: str | None = None
) -> Reach:
    """Return what an agent, or an app, may see.

    An agent of None is a person; without allowlists there is no policy.

    Raises:
        Refused: There are allowlists, and none is this agent's.
    """
    apps = None if app is None else frozenset({app})
    if agent is None or not allowlists:
        return Reach(who=app, apps=apps)
    if agent not in allowlists:
        known = ", ".join(sorted(allowlists))
        raise Refused(f"there is no allowlist for the agent {agent!r}", f"there are {known}")
    return Reach(who=agent, categories=frozenset(allowlists[agent]), apps=apps)


def serving(reach: Reach, app: str | None) -> Reach:
    """Return the part of a reach that one app may see, or nobody's app where it is None."""
    if app is not None:
        reach.check_app(app)
    elif reach.apps is not None:
        return reach
    return msgspec.structs.replace(reach, apps=frozenset({app} - {None}))


def who_asks(pinned: str | None, named: str | None, variable: str) -> str | None:
    """Return who asks; refuse those who ask as somebody else."""
    if pinned and named and pinned != named:
        raise Refused(f"{pinned} may not ask as {named}", f"{variable} says who asks here")
    return pinned or named or None


def category_of(record: Any) -> str:
    """Return the category by which a record is seen or not."""
    if isinstance(record, Memory):
        return record.category
    return EVENT if isinstance(record, Episode) else ACTIVITY


def app_of(record: Any) -> str | None:
    """Return the app that a record belongs to; None for none."""
    app: str | None = record.scope.app if isinstance(record, Memory) else record.app
    return app


def is_procedural(record: Any) -> bool:
    """Tell whether a record tells how something is done."""
    return isinstance(record, Memory) and tells_how(record.type, record.category)


def tells_how(type_: MemoryType, category: str | None) -> bool:
    """Tell whether a memory tells how something is done; without a category, by its type."""
    return type_ is MemoryType.PROCEDURE or category == PROCEDURAL
