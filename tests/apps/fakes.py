"""Models that do their work, and models that fail or lie."""

import threading
from collections.abc import Callable
from datetime import timedelta
from typing import Any

from pmem import Project
from pmem.core.apps.deciding import EndedConversation, OfflineModel, Surplus
from tests.conftest import NOW

Answer = Callable[[Surplus], Any]


class FakeModel:
    """A model that decides and sums up by functions.

    Args:
        decide: What it decides.
        summarise: What it says of a conversation.
    """

    name = "fake"
    is_free = False

    def __init__(self, decide: Answer, summarise: Callable[[EndedConversation], Any]) -> None:
        self._decide = decide
        self._summarise = summarise

    def summarise(self, talk: EndedConversation) -> Any:
        """Answer."""
        return self._summarise(talk)

    def decide(self, surplus: Surplus) -> Any:
        """Answer."""
        return self._decide(surplus)


def limited(root: str, hours: float = 0, of: str | None = None, **rules: float) -> Project:
    """Open a project some hours later, with other rules for apps.

    Args:
        root: Its folder.
        hours: How much later.
        of: The agent that opens it, if it is one.
        rules: Settings below `apps`.
    """
    settings: dict[str, Any] = {f"apps.{name}": value for name, value in rules.items()}
    return Project(root, now=NOW + timedelta(hours=hours), actor="ada", agent=of, **settings)


def raising(_request: Any) -> Any:
    """Fail."""
    raise ConnectionError("nobody is there")


def stammering(_request: Any) -> Any:
    """Fail with a sentence that no file can hold."""
    raise ValueError("half a character: \ud800")


class _Unspeakable(Exception):
    def __str__(self) -> str:
        raise RuntimeError("there is nothing to say")


def unspeakable(_request: Any) -> Any:
    """Fail with an error that fails as well when it is asked what it says."""
    raise _Unspeakable


def hanging(_request: Any) -> Any:
    """Answer never, or too late."""
    threading.Event().wait(5)
    return "too late"


def model(
    decide: Answer | None = None, summarise: Callable[[EndedConversation], Any] | None = None
) -> FakeModel:
    """Return a model with these answers; by the rules, yet at a price, where none is given."""
    return FakeModel(
        decide or OfflineModel().decide,
        summarise or (lambda talk: f"A talk: {talk.messages[-1].content}"),
    )
