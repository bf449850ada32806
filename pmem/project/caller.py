"""Who asks: a person, an agent or an app, and what there is for whom."""

from collections.abc import Mapping
from copy import copy
from typing import TYPE_CHECKING, Final

import msgspec

from pmem.errors import InvalidValue, Refused
from pmem.values.config import Settings
from pmem.values.ids import short
from pmem.values.records import Episode, Memory

if TYPE_CHECKING:
    from pmem.core.policy import Reach
    from pmem.project.workspace import Workspace


_OF_THE_CALLER: Final = ("caller", "reach", "backend", "stores")
"""What a workspace keeps that differs for whoever asks."""


class Caller(msgspec.Struct, frozen=True):
    """Who asks, and writes: an agent, an app, or nobody in particular, such as a person.

    An agent's allowlist says what there is for it, and an app that asks sees nothing of another.
    """

    agent: str | None = None
    app: str | None = None

    def known_in(self, environment: Mapping[str, str]) -> "Caller":
        """Return who asks where `PMEM_AGENT` and `PMEM_APP` may say so, and nobody else then."""
        return Caller(
            _who_asks(environment.get("PMEM_AGENT"), self.agent, "PMEM_AGENT", "the agent's name"),
            _app_that_asks(environment.get("PMEM_APP"), self.app),
        )

    def joined(self, other: "Caller") -> "Caller":
        """Return who asks, when something that somebody asks names who asks as well."""
        return Caller(
            _who_asks(self.agent, other.agent, "--agent or PMEM_AGENT", "the agent's name"),
            _app_that_asks(self.app, other.app),
        )

    def reach(self, settings: Settings) -> "Reach | None":
        """Return what whoever asks may see; None where that is everything."""
        is_held = self.agent is not None and bool(settings.allowlists)
        if self.app is None and not is_held:
            return None
        from pmem.core.policy import reach_of

        return reach_of(self.agent, settings.allowlists, self.app)


NOBODY = Caller()
"""Nobody in particular, such as a person: the one who may do everything."""


def asked_by(workspace: "Workspace", caller: Caller) -> "Workspace":
    """Return the same workspace as somebody may see it.

    Nobody in particular is whoever did before.
    """
    if caller == NOBODY:
        return workspace
    joined = workspace.caller.joined(caller)
    if joined == workspace.caller:
        return workspace
    if workspace.present is None:
        other = _anew(workspace)
        other.given_caller = joined
        return other
    from pmem.project.views import again

    return again(workspace, asked_by(workspace.present, joined))


def serving(workspace: "Workspace", app: str | None) -> "Workspace":
    """Return the same workspace without what belongs to other apps than one.

    None is for no app in particular, or for the one that asks; for another one it is Refused.
    """
    from pmem.core import policy

    return within(workspace, policy.serving(workspace.reach or policy.EVERYTHING, app))


def reaches(workspace: "Workspace", category: str) -> bool:
    """Tell whether whoever asks may see a category."""
    return workspace.reach is None or workspace.reach.covers(category)


def within(workspace: "Workspace", reach: "Reach") -> "Workspace":
    """Return the same workspace with a narrower reach."""
    other = _anew(workspace)
    other.reach = reach
    return other


def check_writer(workspace: "Workspace", agent: str | None, category: str) -> None:
    """See that an agent that a request names may write a category; it is Refused otherwise."""
    reach = None if agent is None else Caller(agent).reach(workspace.settings)
    if reach is not None and not reach.covers(category):
        raise Refused(f"{reach.who} may not write in the category {category}", reach.hint)


def check_leave(workspace: "Workspace", record: Memory | Episode, hint: str) -> None:
    """See that no agent does to what a person wrote what it cannot propose; that is Refused."""
    if needs_leave(workspace, record):
        agent = workspace.caller.agent
        raise Refused(f"a person wrote {short(record.id)}: {agent} may not do this to it", hint)


def needs_leave(workspace: "Workspace", record: Memory | Episode) -> bool:
    """Tell whether whoever writes here needs a person's leave to change a record."""
    if workspace.caller.agent is None or not workspace.settings.consent.changes:
        return False
    from pmem.core.trust import Trust, trust_of

    return trust_of(record) is Trust.HIGH


def noted_for(workspace: "Workspace") -> str | None:
    """Return for whom contexts and hooks show what agents noted; None for everybody.

    See `trust.assistant_of`.
    """
    if workspace.settings.trust.unconfirmed != "hide":
        return None
    from pmem.core.trust import assistant_of

    return assistant_of(workspace.caller.agent, workspace.actor)


def _anew(workspace: "Workspace") -> "Workspace":
    """Return the same workspace with nothing read yet, over the same storage."""
    other = copy(workspace)
    for name in _OF_THE_CALLER:
        other.__dict__.pop(name, None)
    other.given_backend, other.server = workspace.whole, workspace.server
    return other


def _app_that_asks(pinned: str | None, given: str | None) -> str | None:
    """Return the app that asks, as apps are named: `Calendar` is the app `calendar`."""
    names = [None if name is None else name.strip().casefold() for name in (pinned, given)]
    return _who_asks(names[0], names[1], "PMEM_APP", "the app's name")


def _who_asks(pinned: str | None, given: str | None, variable: str, what: str) -> str | None:
    if any(name is not None and not name.strip() for name in (pinned, given)):
        # it would mean everybody
        raise InvalidValue(f"{what} is empty", "say who asks")
    if not pinned and not given:
        return None
    from pmem.core.policy import who_asks

    return who_asks(pinned, given, variable)
