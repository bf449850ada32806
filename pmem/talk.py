"""What a conversation brings to its context."""

from collections.abc import Iterator, Sequence

import msgspec

from pmem.errors import Damaged, NotFound, StorageRefused
from pmem.lookup import conversation_named, current
from pmem.pruning import gone, window
from pmem.records import Chunk, Conversation, Message, Role, Status
from pmem.workspace import Workspace


class Talk(msgspec.Struct, frozen=True, kw_only=True):
    """A conversation as a context shows it.

    Attributes:
        system: its system prompt, if it begins with one.
        recent: its messages outside chunks since it was last cleared.
        gone: the ids of those that are pruned.
        chunks: those with a summary of their own since it was cleared, the latest first.
        turns_ago: for each of these, how many turns ago it ended.
        cleared: the ids of the chunks and recent messages before the clearing.
        app: the app that it is held in.
    """

    system: tuple[Message, ...] = ()
    recent: tuple[Message, ...] = ()
    gone: frozenset[str] = frozenset()
    chunks: tuple[Chunk, ...] = ()
    turns_ago: tuple[int, ...] = ()
    cleared: frozenset[str] = frozenset()
    app: str | None = None


def talk_of(workspace: Workspace, reference: str | None) -> Talk:
    """Return what a conversation brings; nothing where none is named and none is active.

    Args:
        workspace: Where it is.
        reference: Which one; the latest active one when None.

    Raises:
        NotFound, Ambiguous: The conversation.
    """
    if reference is None:
        conversation = _usable_current(workspace)
    else:
        conversation = conversation_named(workspace, reference)
    if conversation is None:
        return Talk()
    opening = _opening(workspace, conversation)
    system = (opening,) if opening is not None and opening.role is Role.SYSTEM else ()
    shown = window(conversation)
    endings = list(_endings(workspace, conversation))
    recent = tuple(item for item in shown if item not in system)
    return Talk(
        system=system,
        recent=recent,
        gone=gone(workspace, conversation) & {message.id for message in recent},
        chunks=tuple(chunk for chunk, _ in endings),
        turns_ago=tuple(turns for _, turns in endings),
        cleared=_cleared(conversation, shown, endings),
        app=conversation.app,
    )


def _cleared(
    conversation: Conversation, shown: Sequence[Message], endings: Sequence[tuple[Chunk, int]]
) -> frozenset[str]:
    """Return the ids of chunks and messages before the clearing; a chunk may lie on both sides."""
    if not conversation.cleared_turns:
        return frozenset()
    before = {message.id for message in conversation.recent_messages} | set(conversation.chunks)
    before -= {message.id for message in shown} | {chunk.id for chunk, _ in endings}
    for chunk, ago in endings:
        first = conversation.turns - ago - len(chunk.messages)
        early = chunk.messages[: max(0, conversation.cleared_turns - first)]
        before |= {message.id for message in early}
    return frozenset(before)


def _opening(workspace: Workspace, conversation: Conversation) -> Message | None:
    """Return a conversation's first message."""
    said: tuple[Message, ...] = conversation.recent_messages
    if conversation.chunks:
        chunk = _usable_chunk(workspace, conversation.chunks[0])
        said = chunk.messages if chunk else ()
    return said[0] if said else None


def _endings(workspace: Workspace, conversation: Conversation) -> Iterator[tuple[Chunk, int]]:
    """Yield the chunks with a summary of their own, the latest first, and the turns since."""
    ago = len(conversation.recent_messages)
    for identifier in reversed(conversation.chunks[conversation.merged_chunks :]):
        if conversation.turns - ago <= conversation.cleared_turns:
            return
        chunk = _usable_chunk(workspace, identifier)
        if chunk is None:
            ago += workspace.settings.chunk_size
        else:
            yield chunk, ago
            ago += len(chunk.messages)


def _usable_current(workspace: Workspace) -> Conversation | None:
    """Return the current conversation; a damaged one is passed over, and noted by the scan."""
    try:
        return current(workspace)
    except (Damaged, StorageRefused):
        found = [item for item in workspace.conversations.find() if item.status is Status.ACTIVE]
        return max(found, key=lambda item: item.id, default=None)


def _usable_chunk(workspace: Workspace, identifier: str) -> Chunk | None:
    """Return a chunk, or None after a scan has noted what is wrong with its file."""
    try:
        return workspace.chunks.get(identifier)
    except (NotFound, Damaged, StorageRefused):
        return next((item for item in workspace.chunks.find() if item.id == identifier), None)
