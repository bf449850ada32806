"""Asking a model for apps: in so many seconds, and for so much energy."""

from collections.abc import Callable
from typing import Any, Final

from pmem.core.apps.deciding import (
    EndedConversation,
    Model,
    OfflineModel,
    Surplus,
    Unusable,
)
from pmem.memory.app_memories import state_of
from pmem.project.workspace import Workspace
from pmem.storage.local.appstate import DeferredWork

_MOST_READ: Final = 2000
_MOST_TOLD: Final = 200
"""Characters of what an error says: those that are read, and those that are told of them."""


def answer(model: Model, ask: Callable[[], Any], seconds: float) -> Any:
    """Return what a model answers.

    Args:
        model: Which one.
        ask: Asks it.
        seconds: How long it may take; one that is free is waited for.

    Raises:
        Unusable: It failed, or did not answer in time.
    """
    keeps_time = model.is_free or is_checked(model)
    found = _outcome(ask) if keeps_time else _in_time(ask, seconds)
    if isinstance(found, Unusable):
        raise found
    if isinstance(found, Exception):
        said = f"{model.name} failed: {type(found).__name__}: {_error_line(found)}"
        raise Unusable(said.encode(errors="replace").decode())
    return found


def model_for(workspace: Workspace, given: Model | None) -> Model:
    """Return who sums up and decides for apps: who is given, the project's models, else the rules.

    Args:
        given: Who is to; the project says when None.
    """
    if given is not None:
        return given
    if workspace.given_models is None and not workspace.settings.model.is_chosen:
        return OfflineModel()
    from pmem.memory.asked_app_model import AskedAppModel

    return AskedAppModel(workspace)


def is_checked(model: Model) -> bool:
    """Tell whether a model's answers were checked already, and came in time.

    Args:
        model: Which one. Where such a one says nothing of a conversation, nothing is to be kept.
    """
    return bool(getattr(model, "is_checked", False))


def made_by(model: Model) -> dict[str, str]:
    """Return what a record says of the answer that a model gave last; nothing of one by rules.

    Args:
        model: Which one.
    """
    told: dict[str, str] = getattr(model, "made_by", {})
    return dict(told)


def signature(model: Model) -> str:
    """Return who decided, in one line: the model, its prompt's version, what it was asked.

    Args:
        model: Which one.
    """
    return " ".join(made_by(model).values()) or model.name


def _error_line(error: Exception) -> str:
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


def may_work(
    workspace: Workspace,
    model: Model,
    work: DeferredWork,
    cost: float,
    question: EndedConversation | Surplus,
) -> bool:
    """Take the units of energy that a model costs; where too few are left, put the work off.

    A question that was answered before costs nothing.

    Args:
        model: Which one.
        work: What is to be done.
        cost: In units.
        question: What it is asked.
    """
    known = getattr(model, "knows", None)
    if model.is_free or (known is not None and known(question)):
        return True
    state = state_of(workspace)
    if state.spend(cost, workspace.now(), workspace.settings.apps):
        return True
    state.put_off(work)
    return False
