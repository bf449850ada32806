"""Which memories have to do with each other, by whom they concern.

A scope says whom a memory concerns (an app, a user, a role), and also who noted it and where (an
agent, an actor, a run). Who noted something makes no difference to what it says: a context shows
what several agents noted side by side.
"""

from pmem.values.records import Scope

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
