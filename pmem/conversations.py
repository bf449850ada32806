"""Keeping conversations: start, say, end, and take in whole transcripts."""

import os
from collections.abc import Callable, Iterator, Sequence
from datetime import datetime
from typing import Any

import msgspec

from pmem.core import checks, dialogue, summary
from pmem.core.retention import changed
from pmem.errors import Damaged, InvalidValue, NotFound
from pmem.ids import derived_id
from pmem.lookup import Said, conversation_named
from pmem.records import (
    STORES,
    Chunk,
    Conversation,
    Episode,
    EpisodeType,
    Event,
    EventKind,
    Message,
    Role,
    Status,
    TurnRange,
)
from pmem.workspace import Workspace


class SayRequest(msgspec.Struct, frozen=True, kw_only=True):
    """A message to keep; without a conversation it joins the latest active one."""

    content: str
    role: Role = Role.USER
    speaker: str | None = None
    conversation: str | None = None
    importance: float | None = None
    tool_call: Any = None
    tool_result: Any = None


class Transcript(msgspec.Struct, frozen=True, kw_only=True):
    """A conversation with all its messages and chunks."""

    conversation: Conversation
    messages: tuple[Message, ...]
    chunks: tuple[Chunk, ...]


class Overview(msgspec.Struct, frozen=True, kw_only=True):
    """A conversation in a list."""

    id: str
    external_id: str | None
    title: str | None
    status: Status
    started_at: datetime
    updated_at: datetime
    turns: int
    chunks: int


def start(workspace: Workspace, title: str | None = None) -> Conversation:
    """Start a conversation; it becomes the current one.

    Args:
        workspace: Where to.
        title: What it is about.

    Raises:
        InvalidValue: The title is empty or too long.
    """
    title = checks.word(title, "a title")
    with workspace.transaction():
        now = workspace.now()
        return workspace.conversations.put(
            Conversation(
                id=workspace.new_id(),
                title=title,
                started_at=now,
                updated_at=now,
                history=(Event(event=EventKind.ADD, at=now, actor=workspace.actor),),
            )
        )


def say(workspace: Workspace, request: SayRequest) -> Said:
    """Add a message to a conversation; what overflows moves into a chunk.

    Args:
        workspace: Where to.
        request: What is said.

    Raises:
        NotFound, Ambiguous: The conversation, or none is active.
        InvalidValue: The message is empty or too long, or its conversation is not active.
    """
    checks.text(request.content, "a message", workspace.settings.limits.message)
    content = request.content.rstrip("\r\n")  # a pipe's last line end is none of the message
    if request.importance is not None:
        checks.share("importance", request.importance)
    with workspace.transaction():
        conversation = _target(workspace, request.conversation)
        if conversation.status is not Status.ACTIVE:
            raise InvalidValue(
                f"conversation {conversation.id} is {conversation.status}",
                "`pmem conversation resume` makes it active",
            )
        message = Message(
            id=workspace.new_id(),
            role=request.role,
            speaker=checks.word(request.speaker, "a speaker"),
            content=content,
            created_at=workspace.now(),
            tokens=workspace.count(content),
            importance=request.importance,
            tool_call=request.tool_call,
            tool_result=request.tool_result,
        )
        _extend(workspace, conversation, [message], workspace.now())
    return Said(message=message, conversation=conversation.id)


def change_status(
    workspace: Workspace, reference: str | None, status: Status, outcome: str | None = None
) -> Conversation:
    """End, pause or resume a conversation.

    Args:
        workspace: Where it is.
        reference: Which one; the latest active one when None (the latest paused one for
            resuming).
        status: What it becomes; resuming makes an ended one active again.
        outcome: What came of it; kept with the conversation, and as an episode of its own.

    Raises:
        NotFound, Ambiguous: The conversation.
    """
    wanted = Status.PAUSED if status is Status.ACTIVE else Status.ACTIVE
    with workspace.transaction():
        conversation = _target(workspace, reference, wanted)
        if conversation.status is status:
            return conversation
        event = Event(event=EventKind.UPDATE, at=workspace.now(), actor=workspace.actor)
        fields: dict[str, Any] = {"status": status, "ended_at": None}
        if status is Status.ENDED:
            fields["ended_at"] = event.at
        if outcome is not None:
            episode = workspace.episodes.put(_episode(workspace, conversation, outcome))
            fields |= {
                "outcome": episode.outcome,
                "milestones": (*conversation.milestones, episode.id),
            }
        return workspace.conversations.put(changed(conversation, event, **fields))


def _episode(workspace: Workspace, conversation: Conversation, outcome: str) -> Episode:
    """Make the episode that keeps what came of a conversation."""
    now = workspace.now()
    outcome = checks.text(outcome, "an outcome", workspace.settings.limits.memory)
    said = conversation.recent_messages
    return Episode(
        id=workspace.new_id(),
        type=EpisodeType.TASK_COMPLETED,
        title=conversation.title or conversation.external_id or summary.shortened(outcome),
        summary=outcome,
        participants=tuple(sorted({message.speaker or message.role for message in said})),
        outcome=outcome,
        conversation=conversation.id,
        turns=TurnRange(start=1, end=conversation.turns) if conversation.turns else None,
        created_at=now,
        updated_at=now,
        tokens=workspace.count(outcome),
        history=(Event(event=EventKind.ADD, at=now, actor=workspace.actor),),
    )


def clear(workspace: Workspace, reference: str | None) -> Conversation:
    """Let contexts of a conversation start afresh; every message stays kept and searchable.

    Args:
        workspace: Where it is.
        reference: Which one; the latest active one when None.

    Raises:
        NotFound, Ambiguous: The conversation.
    """
    with workspace.transaction():
        conversation = _target(workspace, reference)
        if conversation.cleared_turns == conversation.turns:
            return conversation
        event = Event(event=EventKind.UPDATE, at=workspace.now(), actor=workspace.actor)
        return workspace.conversations.put(
            changed(conversation, event, cleared_turns=conversation.turns)
        )


def overviews(workspace: Workspace, status: Status | None = None) -> list[Overview]:
    """Return every conversation, the earliest first.

    Args:
        workspace: Where they are.
        status: Only those that stand so.
    """
    found = [
        Overview(
            id=conversation.id,
            external_id=conversation.external_id,
            title=conversation.title,
            status=conversation.status,
            started_at=conversation.started_at,
            updated_at=conversation.updated_at,
            turns=conversation.turns,
            chunks=len(conversation.chunks),
        )
        for conversation in workspace.conversations.find()
        if status in (None, conversation.status)
    ]
    return sorted(found, key=lambda item: (item.started_at, item.id))


def transcript(workspace: Workspace, reference: str | None) -> Transcript:
    """Return a conversation with everything that was said in it.

    Args:
        workspace: Where it is.
        reference: Which one; the latest active one when None.

    Raises:
        NotFound, Ambiguous: The conversation.
        Damaged: A file of it cannot be used.
    """
    return unfold(workspace, _target(workspace, reference))


def current(workspace: Workspace, status: Status = Status.ACTIVE) -> Conversation | None:
    """Return the conversation that was started last among those of a status, if any."""
    for identifier in reversed(workspace.conversations.ids()):
        conversation = workspace.conversations.get(identifier)
        if conversation.status is status:
            return conversation
    return None


def unfold(workspace: Workspace, conversation: Conversation) -> Transcript:
    """Return the chunks and messages of a conversation in their order.

    Args:
        workspace: Where they are.
        conversation: Read before its chunks, so that a message that is just moving between
            them shows up twice at the most; it is returned once.

    Raises:
        Damaged: A chunk's file is missing or cannot be used.
    """
    chunks = tuple(_existing_chunk(workspace, identifier) for identifier in conversation.chunks)
    messages = {message.id: message for chunk in chunks for message in chunk.messages}
    messages |= {message.id: message for message in conversation.recent_messages}
    return Transcript(conversation=conversation, messages=tuple(messages.values()), chunks=chunks)


def _existing_chunk(workspace: Workspace, identifier: str) -> Chunk:
    try:
        return workspace.chunks.get(identifier)
    except NotFound:
        path = os.path.join(workspace.root, STORES[Chunk], f"{identifier}.json")
        raise Damaged(f"{path} is missing, and its conversation needs it") from None


def all_messages(workspace: Workspace) -> Iterator[Said]:
    """Yield every message that is kept, by conversation and chunk."""
    seen: set[str] = set()
    for conversation in workspace.conversations.find():
        for message in conversation.recent_messages:
            seen.add(message.id)
            yield Said(message=message, conversation=conversation.id)
    for chunk in workspace.chunks.find():
        for message in chunk.messages:
            if message.id not in seen:
                yield Said(message=message, conversation=chunk.conversation)


def take_in(
    workspace: Workspace,
    external_id: str,
    incoming: Sequence[Message],
    known: Conversation | None,
    put_chunk_id: Callable[[Conversation, int, Message], str],
    told: Callable[[int], None],
) -> tuple[int, int]:
    """Add a transcript's messages to its conversation, each once, inside a transaction.

    Args:
        workspace: Where to.
        external_id: What the transcript calls the conversation.
        incoming: Its messages in their order; ids and external ids are set.
        known: The conversation as it is kept so far, if it is.
        put_chunk_id: Makes a chunk's id from conversation, number and first message.
        told: Told how many messages have gone into chunks so far.

    Returns:
        How many messages were added, and how many were there with another text.
    """
    conversation = known or _imported(external_id, incoming)
    kept = {message.id: message for message in unfold(workspace, conversation).messages}
    fresh = [message for message in incoming if message.id not in kept]
    edited = {
        message.id: message
        for message in incoming
        if message.id in kept and kept[message.id].content != message.content
    }
    if edited:
        conversation = _replace_messages(workspace, conversation, edited)
    if fresh:
        latest = max(message.created_at for message in fresh)
        conversation = msgspec.structs.replace(
            conversation, ended_at=max(latest, conversation.ended_at or latest)
        )
        _extend(workspace, conversation, fresh, latest, put_chunk_id, told)
    return len(fresh), len(edited)


def _imported(external_id: str, incoming: Sequence[Message]) -> Conversation:
    """Make the record of a transcript; the same transcript makes the same one everywhere."""
    begun = min(message.created_at for message in incoming)
    return Conversation(
        id=derived_id(begun, "conversation", external_id),
        external_id=external_id,
        status=Status.ENDED,
        started_at=begun,
        updated_at=begun,
        history=(Event(event=EventKind.ADD, at=begun, source="import messages"),),
    )


def imported_chunk_id(conversation: Conversation, number: int, first: Message) -> str:
    """Make the id of an imported chunk, the same on every machine."""
    return derived_id(first.created_at, "chunk", conversation.id, str(number), first.id)


def _target(
    workspace: Workspace, reference: str | None, status: Status = Status.ACTIVE
) -> Conversation:
    if reference is None:
        found = current(workspace, status)
        if found is None:
            start = status is Status.ACTIVE
            raise NotFound(
                f"no conversation is {status}",
                f"`pmem conversation {'start` starts one' if start else 'list` shows them all'}",
            )
        return found
    return conversation_named(workspace, reference)


def _extend(
    workspace: Workspace,
    conversation: Conversation,
    messages: Sequence[Message],
    at: datetime,
    chunk_id: Callable[[Conversation, int, Message], str] | None = None,
    told: Callable[[int], None] = lambda count: None,
) -> Conversation:
    """Append messages and move what overflows into chunks."""
    settings = workspace.settings
    moved, recent = dialogue.overflow(
        (*conversation.recent_messages, *messages),
        settings.max_recent_messages,
        settings.chunk_size,
    )
    made = []
    for number, batch in enumerate(moved, start=len(conversation.chunks) + 1):
        identifier = chunk_id(conversation, number, batch[0]) if chunk_id else workspace.new_id()
        made.append(
            workspace.chunks.put(_chunk(workspace, conversation, identifier, number, batch))
        )
        told(len(made) * settings.chunk_size)
    return workspace.conversations.put(
        msgspec.structs.replace(
            conversation,
            turns=conversation.turns + len(messages),
            chunks=(*conversation.chunks, *(chunk.id for chunk in made)),
            recent_messages=recent,
            updated_at=max(at, conversation.updated_at),
        )
    )


def _chunk(
    workspace: Workspace,
    conversation: Conversation,
    identifier: str,
    number: int,
    messages: tuple[Message, ...],
) -> Chunk:
    text = summary.summarise(messages)
    return Chunk(
        id=identifier,
        conversation=conversation.id,
        number=number,
        summary=text,
        key_topics=summary.key_topics(messages),
        tokens=workspace.count(text),
        created_at=messages[-1].created_at,
        messages=messages,
    )


def _replace_messages(
    workspace: Workspace, conversation: Conversation, edited: dict[str, Message]
) -> Conversation:
    """Put new texts in the place of old ones, wherever the messages are kept."""
    for identifier in conversation.chunks:
        chunk = workspace.chunks.get(identifier)
        if any(message.id in edited for message in chunk.messages):
            messages = tuple(edited.get(old.id, old) for old in chunk.messages)
            workspace.chunks.put(_chunk(workspace, conversation, chunk.id, chunk.number, messages))
    recent = tuple(edited.get(old.id, old) for old in conversation.recent_messages)
    return workspace.conversations.put(
        msgspec.structs.replace(conversation, recent_messages=recent)
    )
