"""Taking in whole transcripts, each message once, and reading for facts what was not read."""

from collections.abc import Callable, Iterable, Sequence
from datetime import datetime
from itertools import dropwhile

from msgspec.structs import replace

from pmem.conversation.episodes import MESSAGES, noticed_at_import
from pmem.errors import NotFound
from pmem.memory.conversations import extend, merged, summarised, unfold
from pmem.memory.noted_facts import first_words, new_facts, noted, stated
from pmem.project.workspace import Workspace
from pmem.values.ids import derived_id
from pmem.values.records import (
    Conversation,
    Event,
    EventKind,
    Fact,
    Message,
    Standing,
    Status,
)


def take_in(
    workspace: Workspace,
    external_id: str,
    incoming: Sequence[Message],
    known: Conversation | None,
    told: Callable[[int], None],
) -> tuple[int, int]:
    """Add a transcript's messages to its conversation, each once, inside a transaction.

    Returns:
        How many messages were added, and how many were there with another text.
    """
    conversation = known or conversation_of(workspace, external_id, incoming, MESSAGES)
    kept = {message.id: message for message in unfold(workspace, conversation).messages}
    fresh = [message for message in incoming if message.id not in kept]
    edited = {
        message.id: message
        for message in incoming
        if message.id in kept
        and not kept[message.id].removed
        and kept[message.id].content != message.content
    }
    if edited:
        conversation = replace_messages(workspace, conversation, edited)
    if fresh:
        conversation = noted(workspace, conversation, fresh)
        before = tuple(kept.values())
        conversation = noticed_at_import(workspace, conversation, before, fresh)
        append(workspace, conversation, fresh, told)
    return len(fresh), len(edited)


def append(
    workspace: Workspace,
    conversation: Conversation,
    fresh: Sequence[Message],
    told: Callable[[int], None] = lambda count: None,
) -> None:
    """Put a conversation with further messages of its transcript, inside a transaction."""
    latest = max(message.created_at for message in fresh)
    if conversation.status is Status.ENDED:
        conversation = replace(conversation, ended_at=max(latest, conversation.ended_at or latest))
    grown = extend(workspace, conversation, fresh, latest, _imported_chunk_id, told)
    workspace.conversations.put(grown)


def conversation_of(
    workspace: Workspace, external_id: str, incoming: Sequence[Message], source: str
) -> Conversation:
    """Return the record of a transcript; the same transcript makes the same one everywhere.

    One that is there already, under another external id, goes on.
    """
    begun = min(message.created_at for message in incoming)
    made = Conversation(
        id=derived_id(begun, "conversation", external_id),
        external_id=external_id,
        status=Status.ENDED,
        started_at=begun,
        updated_at=begun,
        history=(Event(event=EventKind.ADD, at=begun, source=source),),
    )
    try:
        return workspace.conversations.get(made.id)
    except NotFound:
        return made


def _imported_chunk_id(conversation: Conversation, number: int, first: Message) -> str:
    """Make the id of an imported chunk, the same on every machine."""
    return derived_id(first.created_at, "chunk", conversation.id, str(number), first.id)


def replace_messages(
    workspace: Workspace, conversation: Conversation, edited: dict[str, Message]
) -> Conversation:
    """Put new texts in the place of old ones, wherever the messages are kept.

    Summaries are made again, the merged ones too; these merge again when the conversation grows.
    A title that was the first words of an old text goes.
    """
    turn, done, title = 0, 0, conversation.title
    is_quoted = False
    for place, identifier in enumerate(conversation.chunks):
        chunk = workspace.chunks.get(identifier)
        in_merged = place <= conversation.merged_chunks > 0
        if in_merged or any(message.id in edited for message in chunk.messages):
            cleared = max(0, conversation.cleared_turns - turn)
            is_quoted = is_quoted or _quotes(title, chunk.messages, edited)
            fresh = replace(
                chunk,
                merged_into=None,
                messages=tuple(edited.get(old.id, old) for old in chunk.messages),
                facts=_facts_after(workspace, chunk.facts, chunk.messages, edited, title),
            )
            workspace.chunks.put(summarised(workspace, fresh, cleared))
        turn += len(chunk.messages)
        done = place + 1 if turn <= conversation.cleared_turns else done
    is_quoted = is_quoted or _quotes(title, conversation.recent_messages, edited)
    renewed = replace(
        conversation,
        title=None if is_quoted else title,
        recent_messages=tuple(edited.get(old.id, old) for old in conversation.recent_messages),
        facts=_facts_after(
            workspace, conversation.facts, conversation.recent_messages, edited, title
        ),
        merged_chunks=done,
    )
    return workspace.conversations.put(merged(workspace, renewed))


def _quotes(title: str | None, held: Sequence[Message], edited: dict[str, Message]) -> bool:
    return title is not None and title in (first_words([old]) for old in held if old.id in edited)


def _facts_after(
    workspace: Workspace,
    facts: Sequence[Fact],
    held: Sequence[Message],
    edited: dict[str, Message],
    title: str | None,
) -> tuple[Fact, ...]:
    """Return the facts of messages, those of edited ones as these state them now.

    Of one whose text was removed, none is left.
    """
    kept = [
        fact
        for fact in facts
        if fact.message not in edited
        or (fact.standing is not Standing.PENDING and not edited[fact.message].removed)
    ]
    new = [edited[old.id] for old in held if old.id in edited]
    return (*kept, *stated(workspace, new, kept, title))


def with_unread(conversation: Conversation, fresh: Sequence[Message]) -> Conversation:
    """Return a conversation that knows from which message on it has not been read for facts."""
    return replace(conversation, unread_from=conversation.unread_from or fresh[0].id)


def from_unread(conversation: Conversation, messages: Iterable[Message]) -> Iterable[Message]:
    """Return the messages from the first one on that was not read; none where all were."""
    first = conversation.unread_from
    return () if first is None else dropwhile(lambda message: message.id != first, messages)


def read_unread(
    workspace: Workspace, conversation: Conversation, since: datetime | None = None
) -> tuple[Conversation, int]:
    """Note the facts and key moments of what was not read, inside a transaction.

    What was said before `since` stays unread.

    Returns:
        The conversation as it is kept now, and how many facts were noted.
    """
    if conversation.unread_from is None:
        return conversation, 0
    transcript = unfold(workspace, conversation)
    unread = tuple(from_unread(conversation, transcript.messages))
    wanted = tuple(one for one in unread if since is None or one.created_at >= since)
    known = tuple(fact for chunk in transcript.chunks for fact in chunk.facts)
    whole = replace(conversation, recent_messages=(), facts=(*known, *conversation.facts))
    read = noted(workspace, whole, wanted)
    before = transcript.messages[: len(transcript.messages) - len(wanted)]
    noticed = noticed_at_import(workspace, replace(conversation, turns=len(before)), before, wanted)
    by_message: dict[str, list[Fact]] = {}
    for fact in new_facts(read, whole):
        by_message.setdefault(fact.message, []).append(fact)
    for chunk in transcript.chunks:
        new = _of(chunk.messages, by_message)
        if new:
            held = workspace.chunks.get(chunk.id)
            workspace.chunks.put(replace(held, facts=(*held.facts, *new)))
    recent = conversation.recent_messages
    kept = replace(
        conversation,
        facts=(*conversation.facts, *_of(recent, by_message)),
        milestones=noticed.milestones,
        unread_from=None if len(wanted) == len(unread) else conversation.unread_from,
    )
    return workspace.conversations.put(kept), sum(map(len, by_message.values()))


def _of(messages: Iterable[Message], facts: dict[str, list[Fact]]) -> list[Fact]:
    return [fact for message in messages for fact in facts.get(message.id, ())]
