"""Asking the project's models for apps, and what becomes of their answers."""

from collections.abc import Iterable, Sequence

from pmem.core import secrets
from pmem.core.apps.deciding import AppDecision, oldest_goes
from pmem.core.consent import sensitive
from pmem.core.text.commands import tool_text
from pmem.memory.app_memories import WorkWaits, worths_of
from pmem.memory.conversations import Transcript
from pmem.model.asking import ModelAnswered, NoAnswer, ask, clean_given, unquoted
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
from pmem.values.records import Memory, Message
from pmem.values.times import day

MOST_MESSAGES = 60
"""Of a longer conversation both ends are told."""
MOST_CHARACTERS = 1500
"""Of one message."""


def ask_summary(
    workspace: Workspace, app: str, talk: Transcript
) -> tuple[str | None, dict[str, str]]:
    """Return what a model says of a conversation, and what the memory's history says of that.

    The summary is empty where there is nothing to keep, and None where the rules are to sum it up.

    Raises:
        WorkWaits: It may not be asked now.
    """
    try:
        found = _ask(workspace, "conversation_summary", talk_given(workspace, app, talk))
    except NoAnswer as none:
        return None, {"failure": _failure(workspace, none)}
    return found.answer.summary, found.made_by


def ask_decision(workspace: Workspace, app: str, memories: Sequence[Memory]) -> AppDecision:
    """Return what a model decides; where no answer can be used, that the oldest goes, and why.

    Raises:
        WorkWaits: It may not be asked now.
    """
    try:
        found = _ask(workspace, "compaction", crowd_given(workspace, app, memories))
    except NoAnswer as none:
        return oldest_goes(memories, _failure(workspace, none))
    return decision_of(found.answer, memories, " ".join(found.made_by.values()))


def _ask(workspace: Workspace, kind: TaskKind, given: Given) -> ModelAnswered:
    try:
        return ask(workspace, kind, clean_given(workspace, given))
    except NoAnswer as none:
        if none.waits:
            raise WorkWaits(none.reason) from None
        raise


def _failure(workspace: Workspace, none: NoAnswer) -> str:
    """Return why there is no answer, as a history may keep it: an error may quote anything."""
    settings = workspace.settings
    told = secrets.find(none.reason, settings.secrets.allow)
    private = sensitive(none.reason, settings.consent.fields)
    return unquoted(none.reason) if told or private else none.reason


def talk_given(workspace: Workspace, app: str, talk: Transcript) -> ConversationGiven:
    """Return what is told of a conversation that has ended."""
    return ConversationGiven(
        app=app,
        messages=told_messages(talk.messages),
        outcome=talk.conversation.outcome,
        most_characters=workspace.settings.limits.app_memory,
    )


def crowd_given(workspace: Workspace, app: str, memories: Sequence[Memory]) -> CompactionGiven:
    """Return what is told of an app's memories."""
    worths = worths_of(workspace, memories)
    return CompactionGiven(
        app=app,
        memories=tuple(
            KeptMemory(
                id=short(memory.id),
                content=memory.content,
                created=day(memory.created_at),
                worth=round(worths[memory.id], 2),
                pinned=memory.pinned,
            )
            for memory in memories
        ),
        limit=workspace.settings.apps.limit,
        most_characters=workspace.settings.limits.app_memory,
    )


def decision_of(answer: CompactionAnswer, memories: Sequence[Memory], by: str) -> AppDecision:
    """Return a decision as apps carry it out."""
    whole = {short(memory.id): memory.id for memory in memories}
    target, reason = whole[answer.targetMemoryId], " ".join(answer.reason.split())
    if answer.action == "delete":
        return AppDecision(action="delete", target=target, reason=reason, by=by)
    return AppDecision(
        action="edit",
        target=target,
        merged=whole[answer.mergedMemoryId] if answer.mergedMemoryId else memories[-1].id,
        content=answer.newContent,
        reason=reason,
        by=by,
    )


def told_messages(said: Iterable[Message], most: int = MOST_MESSAGES) -> tuple[SaidMessage, ...]:
    """Return what was said as a model reads it: both ends of it, and of each message both ends."""
    messages = list(said)
    if len(messages) > most:
        messages = messages[: most // 2] + messages[-(most - most // 2) :]
    return tuple(told_message(message) for message in messages)


def told_message(message: Message) -> SaidMessage:
    """Return a message as a model reads it."""
    text = message.content
    if not text.strip() and (message.tool_call or message.tool_result):
        text = tool_text(message)
    if len(text) > MOST_CHARACTERS:
        half = MOST_CHARACTERS // 2
        text = f"{text[:half]} [...] {text[-half:]}"
    return SaidMessage(who=message.speaker or message.role, text=text)
