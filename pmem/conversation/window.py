"""What a conversation brings to its context."""

from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import datetime
from itertools import chain

import msgspec

from pmem.core.chunking import may_repeat
from pmem.errors import Damaged, NotFound, StorageRefused
from pmem.memory.conversations import conversation_named, current, read_whole, target
from pmem.project.workspace import Workspace
from pmem.values.ids import short
from pmem.values.records import Chunk, Conversation, Message, Role, Status


class ConversationWindow(msgspec.Struct, frozen=True, kw_only=True):
    """A conversation as a context shows it.

    `recent` are its messages outside chunks since it was last cleared, `gone` the ids of those that
    are pruned, `cleared` the ids of chunks and recent messages before. `chunks` are those with a
    summary of their own since then, the latest first, and `turns_ago` when they ended. `chunked`
    are the messages of the latest of these but for pruned ones: up to one whose summary stands for
    others too, or before which a chunk is missing, and no more than a context may show.
    """

    system: tuple[Message, ...] = ()
    recent: tuple[Message, ...] = ()
    gone: frozenset[str] = frozenset()
    chunks: tuple[Chunk, ...] = ()
    turns_ago: tuple[int, ...] = ()
    chunked: tuple[tuple[Message, ...], ...] = ()
    cleared: frozenset[str] = frozenset()
    id: str = ""
    app: str | None = None


def talk_of(workspace: Workspace, reference: str | None) -> ConversationWindow:
    """Return what a conversation brings, the latest active one's where none is named."""
    if reference is None:
        conversation = _usable_current(workspace)
    else:
        conversation = conversation_named(workspace, reference)
    if conversation is None:
        return ConversationWindow()
    from pmem.conversation.pruning import gone, window  # where there is something to prune

    conversation, chunks = _read_chunks(workspace, conversation)
    opening = _opening(workspace, conversation, chunks)
    system = (opening,) if opening is not None and opening.role is Role.SYSTEM else ()
    shown = window(conversation)
    endings = list(_endings(workspace, conversation, chunks))
    recent = tuple(item for item in shown if item not in system)
    return ConversationWindow(
        system=system,
        recent=recent,
        gone=gone(workspace, conversation) & {message.id for message in recent},
        chunks=tuple(chunk for chunk, _ in endings),
        turns_ago=tuple(turns for _, turns in endings),
        chunked=tuple(
            _chunked_messages(conversation, endings, system, workspace.settings.max_messages)
        ),
        cleared=_ids_before_clearing(conversation, shown, endings),
        id=conversation.id,
        app=conversation.app,
    )


def with_chunked_messages(talk: ConversationWindow, room: int) -> ConversationWindow:
    """Return a talk with messages of its chunks word for word, and without these summaries.

    The latest chunk comes back first, each as a whole, up to one that there is no room for. In all
    it has `room` tokens of messages at the most.
    """
    said = talk.recent
    left = room - sum(one.tokens for one in said)
    back = 0
    for messages in talk.chunked:
        left -= sum(one.tokens for one in messages)
        if left < 0:
            break
        said = (*messages, *said)
        back += 1
    return msgspec.structs.replace(
        talk,
        recent=said,
        chunks=talk.chunks[back:],
        turns_ago=talk.turns_ago[back:],
        chunked=talk.chunked[back:],
    )


def _chunked_messages(
    conversation: Conversation,
    endings: Sequence[tuple[Chunk, int]],
    system: Sequence[Message],
    most: int,
) -> Iterator[tuple[Message, ...]]:
    """Yield the messages of the latest chunks that a context may show word for word."""
    from pmem.conversation.pruning import window

    merged = conversation.merged_chunks
    for_others = conversation.chunks[merged : merged + 1] if merged else ()
    hidden = {*conversation.pruned, *(message.id for message in system)}
    behind = len(conversation.recent_messages)
    shown = len(window(conversation))
    for chunk, ago in endings:
        if chunk.id in for_others or ago != behind:
            return
        behind += len(chunk.messages)
        early = max(0, conversation.cleared_turns - (conversation.turns - behind))
        messages = tuple(
            one for one in chunk.messages[early:] if one.id not in hidden and not one.removed
        )
        shown += len(messages)
        if shown > most:
            return
        yield messages


def _ids_before_clearing(
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


_Chunks = dict[str, Chunk | None]
"""Chunks by their ids, as far as they have been read."""


def _read_chunks(workspace: Workspace, conversation: Conversation) -> tuple[Conversation, _Chunks]:
    """Read the chunks that a context shows; all of them where messages may be kept twice."""
    shown = conversation.chunks[conversation.merged_chunks :]
    read = {identifier: _usable_chunk(workspace, identifier) for identifier in shown}
    found = {place: read[id_] for place, id_ in enumerate(conversation.chunks) if id_ in read}

    if not may_repeat(conversation, {place: each for place, each in found.items() if each}):
        return conversation, read

    try:
        whole = read_whole(workspace, conversation)
    except (Damaged, StorageRefused):
        return conversation, read
    return whole.conversation, {chunk.id: chunk for chunk in whole.chunks}


def _opening(workspace: Workspace, conversation: Conversation, chunks: _Chunks) -> Message | None:
    """Return a conversation's first message."""
    said: tuple[Message, ...] = conversation.recent_messages
    if conversation.chunks:
        first = conversation.chunks[0]
        chunk = chunks[first] if first in chunks else _usable_chunk(workspace, first)
        said = chunk.messages if chunk else ()
    return said[0] if said and not said[0].removed else None


def _endings(
    workspace: Workspace, conversation: Conversation, chunks: _Chunks
) -> Iterator[tuple[Chunk, int]]:
    """Yield the chunks with a summary of their own, the latest first, and the turns since."""
    ago = len(conversation.recent_messages)
    for identifier in reversed(conversation.chunks[conversation.merged_chunks :]):
        if conversation.turns - ago <= conversation.cleared_turns:
            return
        chunk = chunks[identifier]
        if chunk is None:
            ago += workspace.settings.chunk_size
            continue
        if chunk.merged_into is None:
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


class Usage(msgspec.Struct, frozen=True, kw_only=True):
    """What a conversation holds, what of it a context shows, and what may still go in.

    Every message is in the context, pruned, or summarised in a chunk. The numbers by role are
    those of the context.
    """

    total_messages: int
    messages_in_context: int
    pruned_messages: int
    summarised_messages: int
    total_tokens: int
    tokens_in_context: int
    token_limit: int
    percent_used: float
    tokens_by_role: dict[str, int]
    messages_by_role: dict[str, int]
    oldest_in_context: datetime | None
    last_prune: datetime | None
    conversation: str
    title: str | None
    status: str
    chunks: int
    merged_chunks: int
    pending_facts: int
    prune_at: float
    prune_hard_at: float


def usage(workspace: Workspace, reference: str | None) -> Usage:
    """Count what a conversation holds, the latest active one by default, and what it shows."""
    from pmem.conversation.pruning import gone, window
    from pmem.core.pruning.plan import AGGRESSIVE, NORMAL

    settings = workspace.settings
    conversation, chunks = read_whole(workspace, target(workspace, reference))
    facts = chain(conversation.facts, *(chunk.facts for chunk in chunks))
    left_out, limit = gone(workspace, conversation), settings.conversation_tokens
    live = [message for message in window(conversation) if message.id not in left_out]
    recent = [message for message in conversation.recent_messages if not message.removed]
    summarised = [message for chunk in chunks for message in chunk.messages]
    by_role: Counter[str] = Counter()
    for message in live:
        by_role[message.role.value] += message.tokens
    clearings = (one.at for one in conversation.history if "cleared_turns" in one.before)
    return Usage(
        total_messages=len(recent) + len(summarised),
        messages_in_context=len(live),
        pruned_messages=len(recent) - len(live),
        summarised_messages=len(summarised),
        total_tokens=sum(message.tokens for message in (*recent, *summarised)),
        tokens_in_context=by_role.total(),
        token_limit=limit,
        percent_used=round(100 * by_role.total() / limit, 1) if limit else 0.0,
        tokens_by_role=dict(sorted(by_role.items())),
        messages_by_role=dict(sorted(Counter(one.role.value for one in live).items())),
        oldest_in_context=live[0].created_at if live else None,
        last_prune=max((at for at in (conversation.pruned_at, *clearings) if at), default=None),
        conversation=conversation.id,
        title=conversation.title or conversation.external_id,
        status=conversation.status,
        chunks=len(conversation.chunks),
        merged_chunks=sum(chunk.merged_into is not None for chunk in chunks),
        pending_facts=len({short(fact.id) for fact in facts if fact.standing == "pending"}),
        prune_at=NORMAL,
        prune_hard_at=AGGRESSIVE,
    )
