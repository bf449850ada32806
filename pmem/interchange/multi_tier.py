"""The four array files with the multi-tier design's own field names, for programs of that design.

What it has no field for is left out: histories, scopes, citations. So is what is out of recall,
as that design has no states, and all that is in its files is taken for known.
"""

import re
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
    Relationship,
    State,
    dump,
    plain,
)

Fields = dict[str, Any]
_CAPITAL: Final = re.compile("_([a-z])")
_TYPES: Final = {MemoryType.INSIGHT: MemoryType.FACT, MemoryType.DEAD_END: MemoryType.FACT}
"""What stands for the types that the design does not have."""
_NAMES: Final[Mapping[type[Any], Mapping[str, str]]] = {
    Relationship: {"target": "targetId"},
    Episode: {
        "kind": "type", "type": "episodeType", "valence": "emotionalValence",
        "conversation": "conversationRef",
    },
    Conversation: {"turns": "totalTurns"},
    Chunk: {"conversation": "conversationId", "number": "chunkNumber", "tokens": "tokenCount"},
    Message: {"created_at": "timestamp"},
}  # fmt: skip
"""The design's names of fields that it does not call as this project does, in camel case."""


def write(
    records: Mapping[RecordType, Sequence[Record]], project: str, now: datetime, half_life: float
) -> dict[str, bytes]:
    """Return the four files' contents by name.

    `half_life` are days without use that halve how present a memory still is `now`.
    """
    chunks = {item.id: _chunk(item) for item in records[Chunk] if isinstance(item, Chunk)}
    episodes = {item.id: item for item in records[Episode] if isinstance(item, Episode)}
    entries: dict[RecordType, list[Fields]] = {
        Memory: [_memory(each, now, half_life) for each in _recalled(records[Memory])],
        Episode: [_episode(each) for each in _recalled(records[Episode])],
        Conversation: [
            _conversation(each, project, chunks, episodes)
            for each in records[Conversation]
            if isinstance(each, Conversation)
        ],
        Chunk: list(chunks.values()),
    }
    return {name: dump(entries[type_]) for name, type_ in FILES.items()}


def _recalled(records: Sequence[Record]) -> Iterator[Any]:
    return (one for one in records if getattr(one, "state", None) is State.ACTIVE)


def _fields(part: Any, names: str, **values: Any) -> Fields:
    """Return fields by the design's names, some with other values, without those not known."""
    own = _NAMES.get(type(part), {})
    found = {
        name: values[name] if name in values else getattr(part, name) for name in names.split()
    }
    return {
        own.get(name) or _CAPITAL.sub(lambda word: word[1].upper(), name): value
        for name, value in found.items()
        if value is not None
    }


def _memory(memory: Memory, now: datetime, half_life: float) -> Fields:
    used = memory.access.last_at or memory.created_at
    source = memory.source
    told = {"type": source.kind, "conversationId": source.conversation, "messageId": source.message}
    return _fields(
        memory,
        "id type content category tags relationships valid_from valid_until created_at updated_at"
        " metadata",
        type=_TYPES.get(memory.type, memory.type),
        relationships=[
            _fields(
                link, "target type strength created_at",
                created_at=link.created_at or memory.created_at,
            )
            for link in memory.relationships
        ],
        metadata={
            "source": {name: value for name, value in told.items() if value is not None},
            "importance": memory.importance,
            "accessCount": memory.access.count,
            "lastAccessedAt": used,
            "decayFactor": round(decay(used, memory.access.count, now, half_life), 4),
            "tokens": memory.tokens,
        },
    )  # fmt: skip


def _episode(episode: Episode) -> Fields:
    turns = None if episode.turns is None else plain(episode.turns)
    where = {"conversationId": episode.conversation, "turnRange": turns}
    return _fields(
        episode,
        "id kind type title summary context participants outcome valence significance"
        " linked_memories conversation tags created_at updated_at metadata",
        kind="episode",
        conversation=where if episode.conversation else None,
        metadata={
            "source": {"type": "conversation" if episode.conversation else "user"},
            "importance": episode.significance,
            "accessCount": episode.access.count,
            "lastAccessedAt": episode.access.last_at or episode.created_at,
            "tokens": episode.tokens,
        },
    )


def _conversation(
    conversation: Conversation,
    project: str,
    chunks: Mapping[str, Fields],
    episodes: Mapping[str, Episode],
) -> Fields:
    milestones = [episodes[each] for each in conversation.milestones if each in episodes]
    return _fields(
        conversation,
        "id project_id title started_at ended_at updated_at status turns chunks recent_messages"
        " active_facts milestones",
        project_id=project,
        chunks=[chunks[each] for each in conversation.chunks if each in chunks],
        recent_messages=list(map(_message, conversation.recent_messages)),
        milestones=[
            {"id": each.id, "type": each.type, "title": each.title, "turn": each.turns.start}
            for each in milestones
            if each.turns is not None
        ],
    )


def _chunk(chunk: Chunk) -> Fields:
    return _fields(
        chunk,
        "id conversation number messages summary key_topics tokens created_at",
        messages=list(map(_message, chunk.messages)),
    )


def _message(message: Message) -> Fields:
    return _fields(
        message,
        "id role content created_at speaker tool_call tool_result importance metadata",
        metadata={"tokens": message.tokens},
    )
