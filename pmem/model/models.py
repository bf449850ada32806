"""What a project asks of models: a narrow protocol for each task, or one that completes prompts."""

from collections.abc import Callable, Mapping
from typing import Any, Protocol

import msgspec

from pmem.model.prompts import ModelPrompt
from pmem.model.tasks import (
    ChunkGiven,
    CompactionAnswer,
    CompactionGiven,
    ConversationGiven,
    EpisodeAnswer,
    EpisodeGiven,
    FactsAnswer,
    InsightGiven,
    InsightsAnswer,
    PairsAnswer,
    PairsGiven,
    ProcedureAnswer,
    ProcedureGiven,
    SummaryAnswer,
    TaskKind,
    TurnGiven,
)


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

    def complete(self, prompt: ModelPrompt, seconds: float) -> Completion:
        """Return what it writes.

        Args:
            prompt: What it reads.
            seconds: How long it may take.

        Raises:
            ModelUnreachable: It did not answer.
            AnswerRefused: It answered with more than anybody reads.
        """
        ...


class Models:
    """Who does which task. Each task's function may also answer with a mapping, or with JSON.

    Args:
        name: What records say of it.
        text: Does every task that has no function of its own; None where the rules are to.
        chunk_summary: Sums up older messages.
        conversation_summary: Sums up, for its app, a conversation that has ended.
        compaction: Decides what an app lets go.
        turn_facts: Finds the facts of a message.
        episode: Tells what happened in a stretch of a conversation.
        insight: Notices what no single memory says.
        same_fact: Compares memories that are alike.
        procedure: Writes a workflow down.
    """

    def __init__(
        self,
        name: str,
        text: TextModel | None = None,
        *,
        chunk_summary: Callable[[ChunkGiven], SummaryAnswer] | None = None,
        conversation_summary: Callable[[ConversationGiven], SummaryAnswer] | None = None,
        compaction: Callable[[CompactionGiven], CompactionAnswer] | None = None,
        turn_facts: Callable[[TurnGiven], FactsAnswer] | None = None,
        episode: Callable[[EpisodeGiven], EpisodeAnswer] | None = None,
        insight: Callable[[InsightGiven], InsightsAnswer] | None = None,
        same_fact: Callable[[PairsGiven], PairsAnswer] | None = None,
        procedure: Callable[[ProcedureGiven], ProcedureAnswer] | None = None,
    ) -> None:
        self.name = name
        self.text = text
        self._functions: Mapping[TaskKind, Callable[[Any], Any] | None] = {
            "chunk_summary": chunk_summary,
            "conversation_summary": conversation_summary,
            "compaction": compaction,
            "turn_facts": turn_facts,
            "episode": episode,
            "insight": insight,
            "same_fact": same_fact,
            "procedure": procedure,
        }

    def function_for(self, kind: TaskKind) -> Callable[[Any], Any] | None:
        """Return the function that does a task by itself; None where there is none.

        Args:
            kind: The task.
        """
        return self._functions[kind]

    def does(self, kind: TaskKind) -> bool:
        """Tell whether there is anybody for a task.

        Args:
            kind: The task.
        """
        return self.text is not None or self._functions[kind] is not None
