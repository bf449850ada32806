"""The four array files with the multi-tier design's own field names, for programs of that design.

What it has no field for is left out: histories, scopes, citations. So is what is out of recall,
as that design has no states, and all that is in its files is taken for known.
"""

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any, Final

from pmem.core.retention import decay
from pmem.interchange.arrays import FILES
from pmem.values.records import (
    Chunk,
    Conversation,
    Episode,
    Memory,
    MemoryType,
    Message,
    Record,
    RecordType,
    State,
    dump,
    plain,
)

Fields = dict[str, Any]
_TYPES: Final = {MemoryType.INSIGHT: MemoryType.FACT, MemoryType.DEAD_END: MemoryType.FACT}
"""What stands for the types that the design does not have."""


def write(
    records: Mapping[RecordType, Sequence[Record]], project: str, now: datetime, half_life: float
) -> dict[str, bytes]:
    """Return the four files' contents by name.

    `half_life` are days without use that halve how present a memory still is `now`.
    """
    chunks = [item for item in records[Chunk] if isinstance(item, Chunk)]
    known = {chunk.id: chunk for chunk in chunks}
    episodes = {item.id: item for item in records[Episode] if isinstance(item, Episode)}
    entries: dict[RecordType, list[Fields]] = {
        Memory: [_memory(each, now, half_life) for each in _recalled(records[Memory])],
        Episode: [_episode(each) for each in _recalled(records[Episode])],
        Conversation: [
            _conversation(each, project, known, episodes)
            for each in records[Conversation]
            if isinstance(each, Conversation)
        ],
        Chunk: list(map(_chunk, chunks)),
    }
    return {
        name: dump([_without_none(entry) for entry in entries[type_]])
        for name, type_ in FILES.items()
    }


def _without_none(fields: Fields) -> Fields:
    """Leave out what is not known: the design's optional fields."""
    return {key: value for key, value in fields.items() if value is not None}


def _recalled(records: Sequence[Record]) -> Iterator[Any]:
    return (one for one in records if getattr(one, "state", None) is State.ACTIVE)


def _memory(memory: Memory, now: datetime, half_life: float) -> Fields:
    used = memory.access.last_at or memory.created_at
    links = [
        {
            "targetId": link.target,
            "type": link.type,
            "strength": link.strength,
            "createdAt": link.created_at or memory.created_at,
        }
        for link in memory.relationships
    ]
    return {
        "id": memory.id,
        "type": _TYPES.get(memory.type, memory.type),
        "content": memory.content,
        "category": memory.category,
        "tags": memory.tags,
        "relationships": links,
        "validFrom": memory.valid_from,
        "validUntil": memory.valid_until,
        "createdAt": memory.created_at,
        "updatedAt": memory.updated_at,
        "metadata": {
            "source": _without_none(
                {
                    "type": memory.source.kind,
                    "conversationId": memory.source.conversation,
                    "messageId": memory.source.message,
                }
            ),
            "importance": memory.importance,
            "accessCount": memory.access.count,
            "lastAccessedAt": used,
            "decayFactor": round(decay(used, memory.access.count, now, half_life), 4),
            "tokens": memory.tokens,
        },
    }


def _episode(episode: Episode) -> Fields:
    turns = None if episode.turns is None else plain(episode.turns)
    where = {"conversationId": episode.conversation, "turnRange": turns}
    return {
        "id": episode.id,
        "type": "episode",
        "episodeType": episode.type,
        "title": episode.title,
        "summary": episode.summary,
        "context": episode.context,
        "participants": episode.participants,
        "outcome": episode.outcome,
        "emotionalValence": episode.valence,
        "significance": episode.significance,
        "linkedMemories": episode.linked_memories,
        "conversationRef": where if episode.conversation else None,
        "tags": episode.tags,
        "createdAt": episode.created_at,
        "updatedAt": episode.updated_at,
        "metadata": {
            "source": {"type": "conversation" if episode.conversation else "user"},
            "importance": episode.significance,
            "accessCount": episode.access.count,
            "lastAccessedAt": episode.access.last_at or episode.created_at,
            "tokens": episode.tokens,
        },
    }


def _conversation(
    conversation: Conversation,
    project: str,
    chunks: Mapping[str, Chunk],
    episodes: Mapping[str, Episode],
) -> Fields:
    milestones = [episodes[each] for each in conversation.milestones if each in episodes]
    return {
        "id": conversation.id,
        "projectId": project,
        "title": conversation.title,
        "startedAt": conversation.started_at,
        "endedAt": conversation.ended_at,
        "updatedAt": conversation.updated_at,
        "status": conversation.status,
        "totalTurns": conversation.turns,
        "chunks": [_chunk(chunks[each]) for each in conversation.chunks if each in chunks],
        "recentMessages": list(map(_message, conversation.recent_messages)),
        "activeFacts": conversation.active_facts,
        "milestones": [
            {"id": each.id, "type": each.type, "title": each.title, "turn": each.turns.start}
            for each in milestones
            if each.turns is not None
        ],
    }


def _chunk(chunk: Chunk) -> Fields:
    return {
        "id": chunk.id,
        "conversationId": chunk.conversation,
        "chunkNumber": chunk.number,
        "messages": list(map(_message, chunk.messages)),
        "summary": chunk.summary,
        "keyTopics": chunk.key_topics,
        "tokenCount": chunk.tokens,
        "createdAt": chunk.created_at,
    }


def _message(message: Message) -> Fields:
    told = {
        "speaker": message.speaker,
        "toolCall": message.tool_call,
        "toolResult": message.tool_result,
        "importance": message.importance,
    }
    return {
        "id": message.id,
        "role": message.role,
        "content": message.content,
        "timestamp": message.created_at,
        **_without_none(told),
        "metadata": {"tokens": message.tokens},
    }
