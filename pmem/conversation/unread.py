"""Messages that were imported without being read for facts, and reading them later."""

from collections.abc import Iterable, Sequence
from datetime import datetime
from itertools import dropwhile
from typing import NamedTuple

from msgspec.structs import replace

from pmem.conversation.episodes import noticed_at_import
from pmem.memory.conversations import unfold
from pmem.memory.noted_facts import new_facts, noted
from pmem.project.workspace import Workspace
from pmem.values.records import Conversation, Fact, Message


class FactsRead(NamedTuple):
    """A conversation as it is kept after it was read, and how many facts were noted."""

    conversation: Conversation
    facts: int


def with_unread(conversation: Conversation, fresh: Sequence[Message]) -> Conversation:
    """Return a conversation that knows from which message on it has not been read for facts."""
    return replace(conversation, unread_from=conversation.unread_from or fresh[0].id)


def from_unread(conversation: Conversation, messages: Iterable[Message]) -> Iterable[Message]:
    """Return the messages from the first one on that was not read; none where all were."""
    first = conversation.unread_from
    return () if first is None else dropwhile(lambda message: message.id != first, messages)


def read_unread(
    workspace: Workspace, conversation: Conversation, since: datetime | None = None
) -> FactsRead:
    """Note the facts and key moments of what was not read, inside a transaction.

    What was said before `since` stays unread.
    """
    if conversation.unread_from is None:
        return FactsRead(conversation, 0)
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
    return FactsRead(workspace.conversations.put(kept), sum(map(len, by_message.values())))


def _of(messages: Iterable[Message], facts: dict[str, list[Fact]]) -> list[Fact]:
    return [fact for message in messages for fact in facts.get(message.id, ())]
