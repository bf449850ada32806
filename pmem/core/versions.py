"""The versions of a memory: each text that it has had, as its history tells (S4)."""

from datetime import datetime
from typing import Any, Final

import msgspec

from pmem.values.records import Memory

CONVERSATION: Final = "conversation"
"""Where an event says from which conversation a change comes."""
_CONTENT: Final = "content"


class MemoryVersion(msgspec.Struct, frozen=True, kw_only=True):
    """One text that a memory has had: its number from 1 on, since when, by whom, and from where."""

    number: int
    content: str
    created_at: datetime
    actor: str
    conversation: str | None = None


def versions(memory: Memory) -> tuple[MemoryVersion, ...]:
    """Return all that a memory has said, the first version first."""
    changes = [event for event in memory.history if _CONTENT in event.before]
    texts = [*(event.before[_CONTENT] for event in changes), memory.content]
    first = memory.history[0].actor if memory.history else ""
    begun = (memory.created_at, first, memory.source.conversation)
    later = [(event.at, event.actor, event.detail.get(CONVERSATION)) for event in changes]
    return tuple(
        MemoryVersion(
            number=number,
            content=_as_text(text),
            created_at=at,
            actor=actor,
            conversation=conversation,
        )
        for number, (text, (at, actor, conversation)) in enumerate(
            zip(texts, [begun, *later], strict=True), start=1
        )
    )


def version_number(memory: Memory) -> int:
    """Return the number of a memory's version: 1 as long as its text was not changed."""
    return 1 + sum(_CONTENT in event.before for event in memory.history)


def _as_text(value: Any) -> str:
    return value if isinstance(value, str) else str(value)
