"""The project's models as the one that sums up and decides for apps."""

from collections.abc import Iterable
from typing import Any

from pmem.core.apps.deciding import AppDecision, EndedConversation, Surplus, Unusable
from pmem.errors import InvalidValue
from pmem.model.asking import NoAnswer, ask, clean_given, knows, models_of
from pmem.model.tasks import (
    CompactionAnswer,
    CompactionGiven,
    ConversationGiven,
    Given,
    KeptMemory,
    SaidMessage,
    TaskKind,
)
from pmem.project.workspace import Workspace
from pmem.values.ids import short
from pmem.values.records import Message
from pmem.values.times import day

MOST_MESSAGES = 60
"""Of a longer conversation both ends are told."""
MOST_CHARACTERS = 1500
"""Of one message."""


class AskedAppModel:
    """Asks the project's models what is asked for apps.

    Args:
        workspace: The project.
    """

    is_free = False
    is_checked = True

    def __init__(self, workspace: Workspace) -> None:
        self.name = _name_of_models(workspace)
        self.made_by: dict[str, str] = {}
        self._workspace = workspace

    def knows(self, question: EndedConversation | Surplus) -> bool:
        """Tell whether a question was answered before, so that it costs nothing.

        Args:
            question: What would be asked.
        """
        kind, given = self._asked(question)
        return knows(self._workspace, kind, given)

    def summarise(self, talk: EndedConversation) -> str:
        """Return two to four sentences, or nothing where nothing is to be kept."""
        return str(self._answer(talk).summary)

    def decide(self, surplus: Surplus) -> AppDecision:
        """Return a decision."""
        return decision_of(self._answer(surplus))

    def _answer(self, question: EndedConversation | Surplus) -> Any:
        self.made_by = {}
        kind, given = self._asked(question)
        seconds = self._workspace.settings.apps.timeout
        try:
            found = ask(self._workspace, kind, given, seconds)
        except NoAnswer as none:
            raise Unusable(none.reason) from None
        self.made_by = found.made_by
        return found.answer

    def _asked(self, question: EndedConversation | Surplus) -> tuple[TaskKind, Given]:
        if isinstance(question, Surplus):
            return "compaction", clean_given(self._workspace, crowd_given(question))
        return "conversation_summary", clean_given(self._workspace, talk_given(question))


def _name_of_models(workspace: Workspace) -> str:
    try:
        models = models_of(workspace)
    except InvalidValue:  # asking says what is wrong
        models = None
    return "model" if models is None else models.name


def talk_given(talk: EndedConversation) -> ConversationGiven:
    """Return what is told of a conversation that has ended.

    Args:
        talk: The conversation.
    """
    return ConversationGiven(
        app=talk.app,
        messages=told_messages(talk.messages),
        outcome=talk.outcome,
        most_characters=talk.most,
    )


def crowd_given(surplus: Surplus) -> CompactionGiven:
    """Return what is told of an app's memories.

    Args:
        surplus: The memories.
    """
    return CompactionGiven(
        app=surplus.app,
        memories=tuple(
            KeptMemory(
                id=short(memory.id),
                content=memory.content,
                created=day(memory.created_at),
                worth=round(surplus.worths.get(memory.id, 0.0), 2),
                pinned=memory.pinned,
            )
            for memory in surplus.memories
        ),
        limit=surplus.limit,
        most_characters=surplus.most,
    )


def decision_of(answer: CompactionAnswer) -> AppDecision:
    """Return a decision as apps carry it out.

    Args:
        answer: The model's.
    """
    return AppDecision(
        action=answer.action,
        target=answer.targetMemoryId,
        merged=answer.mergedMemoryId,
        content=answer.newContent,
        reason=answer.reason,
    )


def told_messages(said: Iterable[Message], most: int = MOST_MESSAGES) -> tuple[SaidMessage, ...]:
    """Return what was said as a model reads it: both ends of it, and of each message both ends.

    Args:
        said: The messages in their order.
        most: How many are told.
    """
    messages = list(said)
    if len(messages) > most:
        messages = messages[: most // 2] + messages[-(most - most // 2) :]
    return tuple(told_message(message) for message in messages)


def told_message(message: Message) -> SaidMessage:
    """Return a message as a model reads it.

    Args:
        message: The message.
    """
    text = message.content
    if not text.strip() and (message.tool_call or message.tool_result):
        from pmem.core.text.tool_text import tool_text

        text = tool_text(message)
    if len(text) > MOST_CHARACTERS:
        half = MOST_CHARACTERS // 2
        text = f"{text[:half]} [...] {text[-half:]}"
    return SaidMessage(who=message.speaker or message.role, text=text)
