"""Waiting for an answer, and no longer than it may take."""

from collections.abc import Callable
from queue import Empty, SimpleQueue
from threading import Thread
from typing import Final, TypeVar

from pmem.model.models import AnswerRefused, ModelUnreachable

T = TypeVar("T")
_MOST_READ: Final = 2000
_SAID: Final = 200


def in_time(ask: Callable[[], T], seconds: float, who: str) -> T:
    """Return an answer; it is asked for in a thread that is left alone once its time is up.

    Args:
        ask: Asks for it.
        seconds: How long it may take.
        who: Who is asked, for the sentence.

    Raises:
        ModelUnreachable: There was no answer, or asking failed.
        AnswerRefused: Asking found that the answer cannot be used.
    """
    answers: SimpleQueue[T | Exception] = SimpleQueue()
    Thread(target=lambda: answers.put(_outcome(ask)), daemon=True).start()
    try:
        found = answers.get(timeout=seconds)
    except Empty:
        raise ModelUnreachable(f"{who} gave no answer within {seconds:g} s") from None
    if isinstance(found, ModelUnreachable | AnswerRefused):
        raise found
    if isinstance(found, Exception):
        said = f"{who} failed: {type(found).__name__}: {_error_line(found)}"
        raise ModelUnreachable(said.encode(errors="replace").decode())
    return found


def _outcome(ask: Callable[[], T]) -> T | Exception:
    try:
        return ask()
    except Exception as error:  # whatever a model raises, work goes on without it
        return error


def _error_line(error: Exception) -> str:
    """Return what an error says, in one line."""
    try:
        return " ".join(str(error)[:_MOST_READ].split())[:_SAID]
    except Exception:  # one that cannot even say what is wrong
        return "it does not say why"
