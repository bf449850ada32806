"""Who sums conversations up and who decides what goes: by rules, or a model some day.

A model takes part through two narrow protocols. Whatever it does (it fails, it takes too long, it
gives nonsense), it can neither lose a memory nor stop a command.
"""

from collections.abc import Callable
from typing import Any, Final, Protocol

import msgspec

from pmem.core.apps.deciding import OfflineDecider, Surplus, Unusable
from pmem.core.apps.digest import digest
from pmem.memory.app_memories import budget_of, state_of
from pmem.project.workspace import Workspace
from pmem.storage.local.appstate import Waiting
from pmem.values.records import Message

_MOST_READ: Final = 2000
_MOST_TOLD: Final = 200
"""Characters of what an error says: those that are read, and those that are told of them."""


class Talk(msgspec.Struct, frozen=True, kw_only=True):
    """A conversation that has ended, to be summed up in so many characters at the most.

    `private` names what may not be said of a person (the setting `consent.fields`): nobody has
    agreed to it.
    """

    app: str
    conversation: str
    messages: tuple[Message, ...]
    outcome: str | None
    most: int
    private: tuple[str, ...] = ()


class Summariser(Protocol):
    """Sums up conversations. One that is not free costs energy and has a time-out."""

    name: str
    is_free: bool

    def summarise(self, talk: Talk) -> str:
        """Return two to four factual sentences; nothing where there is nothing to keep."""
        ...


class Decider(Protocol):
    """Decides which memory goes. One that is not free costs energy and has a time-out."""

    name: str
    is_free: bool

    def decide(self, surplus: Surplus) -> Any:
        """Return a decision, a mapping with its fields, or JSON (see `core.apps.deciding`)."""
        ...


class Models(msgspec.Struct, frozen=True):
    """Who does the work for apps."""

    summariser: Summariser
    decider: Decider


class OfflineSummariser:
    """Sums up by the rules of `core.apps.digest`."""

    name = "offline"
    is_free = True

    def summarise(self, talk: Talk) -> str:
        """Return the sentences that are worth keeping."""
        return digest(talk.messages, talk.outcome, talk.most, talk.private)


def offline() -> Models:
    """Return those who work by rules."""
    return Models(OfflineSummariser(), OfflineDecider())


def answer(model: Summariser | Decider, ask: Callable[[], Any], seconds: float) -> Any:
    """Return what a model answers.

    Args:
        model: Which one.
        ask: Asks it.
        seconds: How long it may take; one that is free is waited for.

    Raises:
        Unusable: It failed, or did not answer in time.
    """
    found = _outcome(ask) if model.is_free else _in_time(ask, seconds)
    if isinstance(found, Exception):
        said = f"{model.name} failed: {type(found).__name__}: {_told(found)}"
        raise Unusable(said.encode(errors="replace").decode())
    return found


def _told(error: Exception) -> str:
    """Return what an error says, in one line."""
    try:
        return " ".join(str(error)[:_MOST_READ].split())[:_MOST_TOLD]
    except Exception:  # one that cannot even say what is wrong
        return "it does not say why"


def _outcome(ask: Callable[[], Any]) -> Any:
    try:
        return ask()
    except Exception as error:  # whatever a model raises, its work is done without it
        return error


def _in_time(ask: Callable[[], Any], seconds: float) -> Any:
    """Ask in a thread that is left alone once its time is up."""
    from queue import Empty, SimpleQueue
    from threading import Thread

    answers: SimpleQueue[Any] = SimpleQueue()
    Thread(target=lambda: answers.put(_outcome(ask)), daemon=True).start()
    try:
        return answers.get(timeout=seconds)
    except Empty:
        return TimeoutError(f"no answer within {seconds:g} s")


def may_work(workspace: Workspace, model: Summariser | Decider, work: Waiting, cost: float) -> bool:
    """Take the energy that a model costs; where too little is left, put the work off.

    Args:
        workspace: Where the energy is kept.
        model: Who is to do it; those that are free always may.
        work: What is to be done.
        cost: Units.
    """
    if model.is_free:
        return True
    state = state_of(workspace)
    if state.spend(cost, workspace.now(), budget_of(workspace)):
        return True
    state.put_off(work)
    return False
