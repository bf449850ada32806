"""What a project asks of models: a narrow protocol for each task, or one that completes prompts."""

from collections.abc import Callable, Mapping
from contextlib import suppress
from queue import Empty, SimpleQueue
from threading import Thread
from typing import Any, Final, Protocol, TypeVar

import msgspec

from pmem.model import tasks


class AnswerRefused(Exception):
    """A model's answer cannot be used; the sentence says why."""


class ModelUnreachable(Exception):
    """A model gave no answer: it failed, is not there, or took too long."""


class Completion(msgspec.Struct, frozen=True, kw_only=True):
    """What a model wrote, and the tokens that it read and wrote, where it says so."""

    text: str
    tokens: int | None = None


class TextModel(Protocol):
    """Completes prompts. Whatever it does, it can neither lose a memory nor stop a command."""

    @property
    def name(self) -> str:
        """What records that it had a part in say of it."""
        ...

    def complete(self, prompt: tasks.ModelPrompt, seconds: float) -> Completion:
        """Return what it writes within so many seconds.

        Raises:
            ModelUnreachable: It did not answer.
            AnswerRefused: It answered with more than anybody reads.
        """
        ...


class Models:
    """Who does which task: a function each, which may also answer with a mapping or with JSON.

    `text` does every task that has none; where it is None, the rules do.
    """

    def __init__(
        self,
        name: str,
        text: TextModel | None = None,
        *,
        chunk_summary: Callable[[tasks.ChunkGiven], tasks.SummaryAnswer] | None = None,
        conversation_summary: Callable[[tasks.ConversationGiven], tasks.SummaryAnswer]
        | None = None,
        compaction: Callable[[tasks.CompactionGiven], tasks.CompactionAnswer] | None = None,
        turn_facts: Callable[[tasks.TurnGiven], tasks.FactsAnswer] | None = None,
        episode: Callable[[tasks.EpisodeGiven], tasks.EpisodeAnswer] | None = None,
        insight: Callable[[tasks.InsightGiven], tasks.InsightsAnswer] | None = None,
        same_fact: Callable[[tasks.PairsGiven], tasks.PairsAnswer] | None = None,
        procedure: Callable[[tasks.ProcedureGiven], tasks.ProcedureAnswer] | None = None,
    ) -> None:
        self.name = name
        self.text = text
        self._functions: Mapping[tasks.TaskKind, Callable[[Any], Any] | None] = {
            "chunk_summary": chunk_summary,
            "conversation_summary": conversation_summary,
            "compaction": compaction,
            "turn_facts": turn_facts,
            "episode": episode,
            "insight": insight,
            "same_fact": same_fact,
            "procedure": procedure,
        }

    def function_for(self, kind: tasks.TaskKind) -> Callable[[Any], Any] | None:
        """Return the function that does a task by itself; None where there is none."""
        return self._functions[kind]

    def does(self, kind: tasks.TaskKind) -> bool:
        """Tell whether there is anybody for a task."""
        return self.text is not None or self._functions[kind] is not None


T = TypeVar("T")
_MOST_READ: Final = 2000
_SAID: Final = 200


def in_time(ask: Callable[[], T], seconds: float, who: str) -> T:
    """Return an answer; it is asked for in a thread that is left alone once its time is up.

    Whatever asking fails with is raised as ModelUnreachable, but for AnswerRefused.
    """
    answers: SimpleQueue[T | Exception] = SimpleQueue()

    def run() -> None:
        try:
            answers.put(ask())
        except Exception as error:  # whatever a model raises, work goes on without it
            answers.put(error)

    Thread(target=run, daemon=True).start()
    try:
        found = answers.get(timeout=seconds)
    except Empty:
        raise ModelUnreachable(f"{who} gave no answer within {seconds:g} s") from None
    if isinstance(found, ModelUnreachable | AnswerRefused):
        raise found
    if isinstance(found, Exception):
        why = "it does not say why"
        with suppress(Exception):  # one that cannot even say what is wrong
            why = " ".join(str(found)[:_MOST_READ].split())[:_SAID]
        said = f"{who} failed: {type(found).__name__}: {why}"
        raise ModelUnreachable(said.encode(errors="replace").decode())
    return found
