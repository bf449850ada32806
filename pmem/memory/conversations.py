"""A conversation and its chunks: reading them as one, and moving older messages into chunks."""

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import datetime
from itertools import chain
from typing import Annotated, Any

import msgspec

from pmem.core.chunking import Whole, may_repeat, overflow, whole
from pmem.core.summaries import summary
from pmem.errors import Ambiguous, BuiltOn, Damaged, NotFound, StorageRefused
from pmem.project.workspace import Workspace
from pmem.values.fields import AsOf, asked
from pmem.values.ids import short
from pmem.values.records import STORES, Chunk, Conversation, Fact, Message, Standing, Status

MERGED_TOKENS = 300
"""Tokens of a merged summary at the most."""

ChunkId = Callable[[Conversation, int, Message], str]
"""Makes a chunk's id from its conversation, its number and its first message."""


class Transcript(msgspec.Struct, frozen=True, kw_only=True):
    """A conversation with all its messages and chunks."""

    conversation: Conversation
    messages: tuple[Message, ...]
    chunks: tuple[Chunk, ...]

    def to_plain(self) -> dict[str, Any]:
        """Return the conversation, all its messages, and what its chunks say in short."""
        fields = msgspec.structs.asdict(self.conversation)
        del fields["recent_messages"]
        named = ("id", "summary", "key_topics")
        summaries = [{name: getattr(chunk, name) for name in named} for chunk in self.chunks]
        return {**fields, "messages": self.messages, "summaries": summaries}


def extend(
    workspace: Workspace,
    conversation: Conversation,
    messages: Sequence[Message],
    at: datetime,
    chunk_id: ChunkId | None = None,
    told: Callable[[int], None] = lambda count: None,
) -> Conversation:
    """Return a conversation with more messages, to be put; what overflows goes into chunks.

    Inside a transaction. `chunk_id` makes a chunk's id, a new one by chance if None; `told` is told
    how many messages have gone into chunks so far.
    """
    settings = workspace.settings
    if len(conversation.recent_messages) + len(messages) > settings.max_recent_messages:
        conversation = written_once(workspace, conversation)
    moved, recent = overflow(
        (*conversation.recent_messages, *messages),
        settings.max_recent_messages,
        settings.chunk_size,
    )
    stated: dict[str, list[Fact]] = {}
    for fact in conversation.facts:
        stated.setdefault(fact.message, []).append(fact)
    done = conversation.merged_chunks
    turn = conversation.turns - len(conversation.recent_messages)
    made = []
    for number, batch in enumerate(moved, start=len(conversation.chunks) + 1):
        identifier = chunk_id(conversation, number, batch[0]) if chunk_id else None
        if identifier is None or _holds_others(workspace, identifier, batch):
            made_at = messages[-1].created_at if messages else at
            identifier = workspace.new_id(made_at)  # its id tells when it was made
        facts = tuple(fact for message in batch for fact in stated.pop(message.id, ()))
        cleared = max(0, conversation.cleared_turns - turn)
        chunk = Chunk(
            id=identifier,
            conversation=conversation.id,
            app=conversation.app,
            number=number,
            summary="",
            created_at=batch[-1].created_at,
            messages=batch,
            facts=facts,
        )
        made.append(workspace.chunks.put(summarised(workspace, chunk, cleared)))
        turn += len(batch)
        done = number if turn <= conversation.cleared_turns else done
        told(len(made) * settings.chunk_size)
    here = {message.id for message in recent}
    grown = msgspec.structs.replace(
        conversation,
        turns=conversation.turns + len(messages),
        chunks=(*conversation.chunks, *(chunk.id for chunk in made)),
        merged_chunks=done,
        recent_messages=recent,
        pruned=tuple(identifier for identifier in conversation.pruned if identifier in here),
        facts=tuple(chain(*stated.values())),
        updated_at=max(at, conversation.updated_at),
    )
    return merged(workspace, grown)


def shorten(workspace: Workspace, conversation: Conversation, turns: int) -> None:
    """Delete the messages after the first ones, with what they state; of none the conversation.

    Inside a transaction.

    Raises:
        BuiltOn: A fact that they state was accepted or rejected.
    """
    found = unfold(workspace, conversation)
    kept = {message.id: message for message in found.messages[:turns]}
    whole = [chunk for chunk in found.chunks if chunk.messages[-1].id in kept]
    cut = found.chunks[len(whole) :]
    facts = (*chain(*(chunk.facts for chunk in cut)), *conversation.facts)
    for fact in facts:
        if fact.message not in kept and fact.standing is not Standing.PENDING:
            raise BuiltOn(f"{short(fact.id)} was {fact.standing} since", "undo that first")
    for chunk in cut:
        workspace.chunks.remove(chunk.id)
    if not kept:
        workspace.conversations.remove(conversation.id)
        return
    is_merged = bool(whole) and whole[-1].merged_into in {chunk.id for chunk in cut}
    if is_merged:
        workspace.chunks.put(msgspec.structs.replace(whole[-1], merged_into=None))
    latest = max(message.created_at for message in kept.values())
    workspace.conversations.put(
        msgspec.structs.replace(
            conversation,
            turns=turns,
            chunks=tuple(chunk.id for chunk in whole),
            merged_chunks=min(conversation.merged_chunks, len(whole) - is_merged),
            recent_messages=tuple(kept.values())[sum(len(one.messages) for one in whole) :],
            pruned=tuple(identifier for identifier in conversation.pruned if identifier in kept),
            facts=tuple(fact for fact in facts if fact.message in kept),
            unread_from=conversation.unread_from if conversation.unread_from in kept else None,
            ended_at=conversation.ended_at and latest,
            updated_at=latest,
        )
    )


def read_whole(workspace: Workspace, conversation: Conversation) -> Whole:
    """Read a conversation's chunks, each message once, and each summary of what its chunk holds.

    Raises:
        Damaged: A chunk's file is missing or cannot be used; so do those that call this.
    """
    kept = list(chunks_of(workspace, conversation))
    found = whole(conversation, kept)
    before = {chunk.id: len(chunk.messages) for chunk in kept}
    turn = 0
    chunks = []
    for chunk in found.chunks:
        cleared = max(0, conversation.cleared_turns - turn)
        is_less = len(chunk.messages) != before[chunk.id]
        again = summarised(workspace, chunk, cleared) if is_less else chunk
        turn += len(chunk.messages)
        chunks.append(again)
    return Whole(found.conversation, tuple(chunks))


def unfold(workspace: Workspace, conversation: Conversation) -> Transcript:
    """Return the chunks and messages of a conversation in their order.

    The conversation was read before its chunks, so that a message that is just moving between
    them shows up twice at the most; it is returned once.
    """
    found = read_whole(workspace, conversation)
    messages = [message for chunk in found.chunks for message in chunk.messages]
    messages += found.conversation.recent_messages
    return Transcript(
        conversation=found.conversation, messages=tuple(messages), chunks=found.chunks
    )


def read_once(workspace: Workspace, conversation: Conversation, parts: Sequence[Chunk]) -> Whole:
    """Read a conversation as `read_whole` does, with those of all its `parts` that it does not
    name.

    Taking one side of a conversation leaves the chunks of the other side so; what they hold that
    stands elsewhere is left out.
    """
    found = read_whole(workspace, conversation)
    seen = {message.id for chunk in found.chunks for message in chunk.messages}
    seen |= {message.id for message in found.conversation.recent_messages}
    strays = []
    for chunk in parts:
        own = tuple(message for message in chunk.messages if message.id not in seen)
        if chunk.id not in conversation.chunks and (own or not chunk.messages):
            ids = {message.id for message in own}
            seen |= ids
            if own != chunk.messages:
                facts = tuple(fact for fact in chunk.facts if fact.message in ids)
                less = msgspec.structs.replace(chunk, messages=own, facts=facts)
                chunk = summarised(workspace, less)  # noqa: PLW2901
            strays.append(chunk)
    return Whole(found.conversation, (*found.chunks, *strays))


def written_once(workspace: Workspace, conversation: Conversation) -> Conversation:
    """Put the chunks of a conversation without what it keeps twice, and return it so, to be put."""
    place = len(conversation.chunks) - 1
    try:
        last = {place: workspace.chunks.get(conversation.chunks[place])} if place >= 0 else {}
        found = read_whole(workspace, conversation) if may_repeat(conversation, last) else None
    except (NotFound, Damaged, StorageRefused):  # it is left as it is until somebody mends it
        return conversation
    return conversation if found is None else put_whole(workspace, conversation.chunks, found)


def put_whole(workspace: Workspace, before: Iterable[str], found: Whole) -> Conversation:
    """Put the chunks that are not as they should be, and return the conversation, to be put."""
    for chunk in found.chunks:
        if chunk != workspace.chunks.get(chunk.id):
            workspace.chunks.put(chunk)
    for identifier in set(before) - {chunk.id for chunk in found.chunks}:
        workspace.chunks.remove(identifier)
    return found.conversation


def summarised(workspace: Workspace, chunk: Chunk, cleared: int = 0) -> Chunk:
    """Return a chunk with the summary of what it holds.

    So many of its messages as `cleared` were said before the conversation was cleared: the
    summary is of the others, unless there are none.
    """
    from pmem.core.summaries.topics import key_topics

    told = chunk.messages[cleared:] or chunk.messages
    text = summary.summarise(told, workspace.count, summary.SHARE)
    return msgspec.structs.replace(
        chunk,
        summary=text,
        key_topics=key_topics(told),
        tokens=workspace.count(text),
        made_by=None,
    )


def merged(workspace: Workspace, conversation: Conversation) -> Conversation:
    """Merge the oldest summaries while more chunks than `max_chunks` have one of their own.

    A chunk that cannot be read is left as it is, and so are those after it.
    """
    done = conversation.merged_chunks
    most = workspace.settings.max_chunks
    while len(conversation.chunks) - done > most:
        try:
            older, newer = (
                workspace.chunks.get(id_) for id_ in conversation.chunks[done : done + 2]
            )
        except (NotFound, Damaged, StorageRefused):
            break
        workspace.chunks.put(msgspec.structs.replace(older, merged_into=newer.id))
        workspace.chunks.put(_join_chunks(workspace, older, newer))
        done += 1
    return msgspec.structs.replace(conversation, merged_chunks=done)


def _holds_others(workspace: Workspace, identifier: str, batch: Sequence[Message]) -> bool:
    """Tell whether a chunk of that id is there with more than these messages: one outlives its
    conversation where someone deletes that one's file.
    """
    try:
        held = workspace.chunks.get(identifier).messages
    except NotFound:
        return False
    except Damaged:
        return True
    return not {message.id for message in held} <= {message.id for message in batch}


def _join_chunks(workspace: Workspace, older: Chunk, newer: Chunk) -> Chunk:
    from pmem.core.summaries.topics import merged_topics

    text = summary.merged(older.summary, newer.summary, workspace.count, MERGED_TOKENS)
    return msgspec.structs.replace(
        newer,
        summary=text,
        key_topics=merged_topics(older.key_topics, newer.key_topics),
        tokens=workspace.count(text),
        made_by=None,
    )


class ConversationRequest(msgspec.Struct, frozen=True, kw_only=True):
    """Which conversation is meant: the latest active one when None; for resuming, the latest paused
    one, or else the one that ended last.
    """

    conversation: Annotated[
        str | None,
        asked(
            "A conversation's id or title [the current one].",
            shown="[REF]",
            is_argument=True,
            completes="conversation",
        ),
    ] = None


class LookRequest(ConversationRequest, frozen=True, kw_only=True):
    """Which conversation is to be looked at: as it was at a moment or a revision, if given."""

    at: AsOf = None
    revision: str | None = None


def conversation_named(workspace: Workspace, reference: str) -> Conversation:
    """Return the conversation that a reference means: an id or its start, an external id, a title.

    An external id and a title count before the start of an id, or a caller's conversation `7`
    could be taken for another one.
    """
    if any(reference in (id_, short(id_)) for id_ in workspace.conversations.ids(reference)):
        named = []
    else:
        named = [
            conversation.id
            for conversation in workspace.conversations.find()
            if reference in (conversation.external_id, conversation.title)
        ]
    if len(named) > 1:
        raise Ambiguous(f"{reference!r} names {' and '.join(named)}", "give one of these ids")
    identifier = named[0] if named else workspace.resolve(reference, Conversation)[1]
    return workspace.conversations.get(identifier)


def chunks_of(workspace: Workspace, conversation: Conversation) -> Iterator[Chunk]:
    """Yield the chunks of a conversation in their order; a missing one is Damaged."""
    for identifier in conversation.chunks:
        try:
            yield workspace.chunks.get(identifier)
        except NotFound:
            path = os.path.join(workspace.root, STORES[Chunk], f"{identifier}.json")
            raise Damaged(f"{path} is missing, and its conversation needs it") from None


def current(workspace: Workspace, status: Status = Status.ACTIVE) -> Conversation | None:
    """Return the conversation that was started last among those of a status, if any."""
    for identifier in reversed(workspace.conversations.ids()):
        conversation = workspace.conversations.get(identifier)
        if conversation.status is status:
            return conversation
    return None


def target(
    workspace: Workspace, reference: str | None, status: Status = Status.ACTIVE
) -> Conversation:
    """Return the conversation that a reference means; without one, the current one."""
    if reference is None:
        found = current(workspace, status)
        if found is not None:
            return found
        next_step = "`pmem conversation start` starts one"
        if status is not Status.ACTIVE:
            next_step = "`pmem conversation list` shows them all"
        elif current(workspace, Status.PAUSED) is not None:
            next_step = (
                "`pmem conversation resume` goes on with the paused one, `start` starts another"
            )
        raise NotFound(f"no conversation is {status}", next_step)
    return conversation_named(workspace, reference)
