"""Who asks, and what there is for whoever asks: the part of a workspace that keeps a policy."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from copy import copy
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final, Self

from pmem.errors import InvalidValue, Refused
from pmem.storage.backend import Backend
from pmem.values.config import Settings
from pmem.values.records import RecordType

if TYPE_CHECKING:
    from pmem.core.policy import Reach

_READ: Final = (
    "agent",
    "app",
    "reach",
    "backend",
    "memories",
    "episodes",
    "conversations",
    "chunks",
)
"""What a workspace keeps of what it read for whoever asks."""


class Asked(ABC):
    """Something that is asked by an agent, or by nobody in particular.

    The agent's allowlist says what there is for it, and an app that asks sees nothing of another.
    `PMEM_AGENT` and `PMEM_APP` in the environment say who asks, and nothing else may be said then.
    """

    has_written = False
    """Whether a transaction has changed anything."""

    environment: dict[str, str]
    _given_agent: str | None
    _given_app: str | None
    _given_backend: Backend | None
    present: Any
    revision: Any

    @abstractmethod
    def _seen_from(self, present: Any) -> Self:
        """Return the same view, of another workspace."""

    @property
    @abstractmethod
    def settings(self) -> Settings:
        """The settings in force."""

    @cached_property
    @abstractmethod
    def whole(self) -> Backend:
        """Where the records live, whoever asks."""

    @cached_property
    def agent(self) -> str | None:
        """Who asks, if that is anyone in particular.

        Raises:
            Refused: It is not the one that the environment says.
            InvalidValue: Its name is empty.
        """
        return self._who("PMEM_AGENT", self._given_agent, "the agent's name")

    @cached_property
    def app(self) -> str | None:
        """The app that asks, if it is one.

        Raises:
            Refused: It is not the one that the environment says.
            InvalidValue: Its name is empty.
        """
        return self._who("PMEM_APP", self._given_app, "the app's name")

    def _who(self, variable: str, given: str | None, what: str) -> str | None:
        pinned = self.environment.get(variable)
        if any(name is not None and not name.strip() for name in (pinned, given)):
            # it would mean everybody
            raise InvalidValue(f"{what} is empty", "say who asks")
        if not pinned and not given:
            return None
        from pmem.core.policy import who_asks

        return who_asks(pinned, given, variable)

    @cached_property
    def reach(self) -> "Reach | None":
        """What whoever asks may see; None where that is everything.

        Raises:
            Refused: The project has allowlists, and none for this agent.
        """
        is_held = self.agent is not None and bool(self.settings.allowlists)
        if self.app is None and not is_held:
            return None
        from pmem.core.policy import reach_of

        return reach_of(self.agent, self.settings.allowlists, self.app)

    def asked_by(self, agent: str | None) -> Self:
        """Return the same workspace as an agent may see it.

        Args:
            agent: Who asks; None is whoever did before.

        Raises:
            Refused: Another agent asks already, or it has no allowlist where there are some.
        """
        if agent is None or agent == self.agent:
            return self
        if self.agent is not None:
            from pmem.core.policy import who_asks

            who_asks(self.agent, agent, "PMEM_AGENT")
        if self.present is not None:
            return self._seen_from(self.present.asked_by(agent))
        other = self._anew()
        other._given_agent = agent
        return other

    def serving(self, app: str | None) -> Self:
        """Return the same workspace without what belongs to other apps than one.

        Args:
            app: For which app something is; None is for none in particular, or for the one that
                asks.

        Raises:
            Refused: Another app asks.
        """
        from pmem.core.policy import EVERYTHING, serving

        return self.within(serving(self.reach or EVERYTHING, app))

    def must_serve(self, app: str) -> None:
        """See that no other app asks.

        Raises:
            Refused: One does.
        """
        if self.reach is not None:
            self.reach.must_serve(app)

    def within(self, reach: "Reach") -> Self:
        """Return the same workspace with a narrower reach."""
        other = self._anew()
        other.reach = reach
        return other

    def must_reach(self, *categories: str) -> None:
        """See that the agent that asks may see some categories.

        Raises:
            Refused: One of them lies beyond its allowlist.
        """
        if self.reach is not None:
            self.reach.must_cover(categories)

    def reaches(self, category: str) -> bool:
        """Tell whether the agent that asks may see a category."""
        return self.reach is None or self.reach.covers(category)

    def must_reach_everything(self, what: str) -> None:
        """See that nobody asks whose sight is limited.

        Args:
            what: What is to be done, for the error's sentence.

        Raises:
            Refused: An agent with an allowlist asks, or an app.
        """
        if self.reach is not None:
            raise Refused(*self.reach.refusal(what))

    def must_not_be_hidden(self, reference: str, types: Sequence[RecordType]) -> None:
        """See that a reference that fits nothing means no record that may not be seen.

        Raises:
            Refused: It does.
        """
        if self.reach is None or not reference:
            return
        if any(self.whole.ids(type_, reference) for type_ in types):
            raise Refused(f"{self.reach.who} may not see {reference}", self.reach.hint)

    @cached_property
    def backend(self) -> Backend:
        """Where the records live, as far as whoever asks may see them."""
        if self.reach is None:
            return self.whole
        from pmem.storage.limited import Limited

        is_in_git = self.revision is not None and self.present is not None
        return Limited(self.whole, self.reach, self.present.whole if is_in_git else None)

    def _anew(self) -> Self:
        """Return the same workspace with nothing read yet, over the same storage."""
        other = copy(self)
        for name in _READ:
            other.__dict__.pop(name, None)
        other._given_backend = self.whole
        return other
