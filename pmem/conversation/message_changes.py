"""Changing one message: how much it counts, is it pinned, and its text removed with a trace."""

from typing import Annotated, Any

import msgspec

from pmem.conversation.transcripts import replace_messages
from pmem.core import checks
from pmem.core.filters import EVERYTHING
from pmem.core.retention import changed
from pmem.errors import InvalidValue
from pmem.memory.conversations import unfold
from pmem.memory.reading import MessageRef, message_named
from pmem.project.workspace import Workspace
from pmem.values.fields import asked
from pmem.values.ids import short
from pmem.values.records import Conversation, EventKind, Message, Removal

MessageId = Annotated[str, asked("The id of a message.", shown="MESSAGE", is_argument=True)]


class MarkRequest(msgspec.Struct, frozen=True, kw_only=True):
    """How a message is to count; None leaves what there is."""

    message: MessageId
    importance: Annotated[float | None, asked("How much it counts, from 0 to 1.", shown="N")] = None
    pinned: Annotated[
        bool | None, asked("Pin it: a pinned one is never pruned.", flag="--pin/--unpin")
    ] = None


class RemoveMessageRequest(msgspec.Struct, frozen=True, kw_only=True):
    """Which message's text is to go, and the reason."""

    message: MessageId
    reason: Annotated[str | None, asked("Why; it is kept.")] = None


class RemovedMessage(MessageRef, frozen=True, kw_only=True):
    """What is left of a message, and what was made of it, which stays.

    `memories` are the ids of those that say it was their source, `episodes` of those that tell of
    its turn.
    """

    memories: tuple[str, ...] = ()
    episodes: tuple[str, ...] = ()


def mark(workspace: Workspace, request: MarkRequest) -> MessageRef:
    """Change how much a message counts when a conversation is pruned, or pin it.

    A message that was pruned and is pinned comes back.
    """
    before = message_named(workspace, request.message)
    if before.message.removed:
        raise InvalidValue(f"the text of message {short(before.message.id)} was removed")
    fields: dict[str, Any] = {}
    if request.importance is not None:
        fields["importance"] = checks.share("importance", request.importance)
    if request.pinned is not None:
        fields["pinned"] = request.pinned
    if not fields:
        raise InvalidValue("nothing is to change", "give --importance, --pin or --unpin")
    message = msgspec.structs.replace(before.message, **fields)
    if message == before.message:
        return before
    conversation = workspace.conversations.get(before.conversation)
    renewed = _with_message(workspace, conversation, message)
    if message.pinned:
        left = tuple(identifier for identifier in renewed.pruned if identifier != message.id)
        renewed = msgspec.structs.replace(renewed, pruned=left)
    was = {name: getattr(before.message, name) for name in fields}
    event = workspace.event(EventKind.UPDATE, message=message.id, **fields, was=was)
    workspace.conversations.put(changed(renewed, event))
    return MessageRef(message=message, conversation=conversation.id)


def remove(workspace: Workspace, request: RemoveMessageRequest) -> RemovedMessage:
    """Remove the text of a message, and what tools were told and answered with it.

    Its place, who spoke and when are kept, and who removed it. The facts that it states go with
    it, and summaries are made again. Memories and episodes that were made of it stay, and are
    named.
    """
    found = message_named(workspace, request.message)
    old = found.message
    if old.removed:
        raise InvalidValue(f"the text of message {short(old.id)} was removed before")
    conversation = workspace.conversations.get(found.conversation)
    event = workspace.event(EventKind.UPDATE, removed_message=old.id)
    reason = checks.word(request.reason, "a reason") or ""
    message = Message(
        id=old.id,
        external_id=old.external_id,
        role=old.role,
        speaker=old.speaker,
        content="",
        created_at=old.created_at,
        removed=Removal(at=event.at, by=workspace.actor, reason=reason),
    )
    said = unfold(workspace, conversation).messages
    turn = next(turn for turn, one in enumerate(said, start=1) if one.id == old.id)
    renewed = replace_messages(workspace, conversation, {old.id: message})
    if reason:
        event = msgspec.structs.replace(event, detail={**event.detail, "reason": reason})
    workspace.conversations.put(changed(renewed, event))
    return RemovedMessage(
        message=message,
        conversation=conversation.id,
        memories=tuple(
            memory.id
            for memory in workspace.memories.find(EVERYTHING)
            if memory.source.message == old.id
        ),
        episodes=tuple(
            episode.id
            for episode in workspace.episodes.find(EVERYTHING)
            if episode.conversation == conversation.id
            and episode.turns is not None
            and episode.turns.start <= turn <= episode.turns.end
        ),
    )


def _with_message(
    workspace: Workspace, conversation: Conversation, message: Message
) -> Conversation:
    """Put the chunks that hold a message with it as it now is, and return the conversation so."""

    def renewed(messages: tuple[Message, ...]) -> tuple[Message, ...]:
        return tuple(message if old.id == message.id else old for old in messages)

    for identifier in conversation.chunks:
        chunk = workspace.chunks.get(identifier)
        held = renewed(chunk.messages)
        if held != chunk.messages:
            workspace.chunks.put(msgspec.structs.replace(chunk, messages=held))
    return msgspec.structs.replace(
        conversation, recent_messages=renewed(conversation.recent_messages)
    )
