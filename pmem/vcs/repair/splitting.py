"""Writing conversations again in parts that earlier versions wrote in files too large to be read.

Nothing of a message changes, nor the order: only the files that messages stand in.
"""

from collections.abc import Sequence

import msgspec

from pmem.core.chunking import overflow, size_of
from pmem.errors import Damaged, NotFound, StorageRefused
from pmem.memory.chunking import extend, summarised
from pmem.project.workspace import Workspace
from pmem.values.bounds import MESSAGES_BYTES, RECORD_BYTES
from pmem.values.records import Chunk, Conversation, Message


def split_conversations(workspace: Workspace, *, dry_run: bool = False) -> list[Conversation]:
    """Split what is too large of every conversation, where larger files are read than written.

    Returns:
        The conversations that are, or would be, split, as they were.

    Raises:
        Locked, StorageRefused, Refused: See `Workspace.transaction`.
    """
    if workspace.settings.limits.record <= RECORD_BYTES:
        return []
    if dry_run:
        return [each for each in workspace.conversations.find() if _is_large(workspace, each)]
    with workspace.transaction():
        found = [each for each in workspace.conversations.find() if _is_large(workspace, each)]
        for conversation in found:
            workspace.conversations.put(_split_chunk(workspace, conversation))
    return found


def _is_large(workspace: Workspace, conversation: Conversation) -> bool:
    try:
        held = [workspace.chunks.get(id_).messages for id_ in conversation.chunks]
    except (NotFound, Damaged, StorageRefused):  # `check` tells of it
        return False
    return any(map(_takes_too_much, (conversation.recent_messages, *held)))


def _takes_too_much(messages: Sequence[Message]) -> bool:
    return len(messages) > 1 and sum(map(size_of, messages)) > MESSAGES_BYTES


def _split_chunk(workspace: Workspace, conversation: Conversation) -> Conversation:
    """Return a conversation whose chunks and recent messages are all small enough."""
    chunks: list[str] = []
    merged = conversation.merged_chunks
    turn = 0
    for place, identifier in enumerate(conversation.chunks):
        chunk = workspace.chunks.get(identifier)
        is_merged = place <= conversation.merged_chunks > 0
        cleared = max(0, conversation.cleared_turns - turn)
        parts = _parts(workspace, chunk, cleared, is_merged=is_merged)
        for number, part in enumerate(parts, start=len(chunks) + 1):
            if number != chunk.number or len(parts) > 1:
                workspace.chunks.put(msgspec.structs.replace(part, number=number))
        chunks += [part.id for part in parts]
        merged += (len(parts) - 1) * is_merged
        turn += len(chunk.messages)
    grown = msgspec.structs.replace(conversation, chunks=tuple(chunks), merged_chunks=merged)
    return extend(workspace, grown, (), conversation.updated_at)


def _parts(workspace: Workspace, chunk: Chunk, cleared: int, *, is_merged: bool) -> list[Chunk]:
    """Return a chunk in parts, the last of which goes on under its id.

    What is merged keeps its summary in that last one, which stands for all of them; of the others
    each has its own.
    """
    if not _takes_too_much(chunk.messages):
        return [chunk]
    count = len(chunk.messages)
    batches, rest = overflow(chunk.messages, count, count)
    found = []
    for batch in (*batches, rest):
        held = {message.id for message in batch}
        facts = tuple(fact for fact in chunk.facts if fact.message in held)
        id_ = chunk.id if batch is rest else workspace.new_id(chunk.created_at)
        part = msgspec.structs.replace(
            chunk, id=id_, created_at=batch[-1].created_at, messages=batch, facts=facts
        )
        found.append(summarised(workspace, part, cleared))
        cleared = max(0, cleared - len(batch))
    if not is_merged:
        return found
    into = chunk.merged_into or chunk.id
    last = msgspec.structs.replace(chunk, messages=rest, facts=found[-1].facts)
    return [*(msgspec.structs.replace(part, merged_into=into) for part in found[:-1]), last]
