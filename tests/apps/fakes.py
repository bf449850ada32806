"""Models that do their work, and models that fail or lie."""

import threading
from collections.abc import Callable
from datetime import timedelta
from typing import Any

from pmem import Project
from pmem.model.models import Models
from pmem.model.tasks import CompactionGiven, ConversationGiven
from tests.conftest import NOW

Decide = Callable[[CompactionGiven], Any]
Summarise = Callable[[ConversationGiven], Any]


def limited(
    root: str,
    hours: float = 0,
    of: str | None = None,
    models: Models | None = None,
    timeout: float = 30,
    **rules: float,
) -> Project:
    """Open a project some hours later, with other rules for apps.

    Args:
        root: Its folder.
        hours: How much later.
        of: The agent that opens it, if it is one.
        models: Who sums up and decides; the rules when None.
        timeout: Seconds that they may take.
        rules: Settings below `apps`.
    """
    settings: dict[str, Any] = {f"apps.{name}": value for name, value in rules.items()}
    settings["model.timeout"] = timeout
    now = NOW + timedelta(hours=hours)
    return Project(root, now=now, actor="ada", agent=of, models=models, **settings)


def raising(_given: Any) -> Any:
    """Fail."""
    raise ConnectionError("nobody is there")


def stammering(_given: Any) -> Any:
    """Fail with a sentence that no file can hold."""
    raise ValueError("half a character: \ud800")


def hanging(_given: Any) -> Any:
    """Answer never, or too late."""
    threading.Event().wait(5)
    return "too late"


def least(given: CompactionGiven) -> Any:
    """Let the memory go that counts least, neither the new one nor one that is pinned."""
    older = given.memories[:-1]
    loose = [memory for memory in older if not memory.pinned] or older
    target = min(loose, key=lambda memory: memory.worth).id
    return {"action": "delete", "targetMemoryId": target, "reason": "it counts least"}


def last_words(given: ConversationGiven) -> Any:
    """Sum a conversation up by what was said last."""
    return {"summary": f"A talk: {given.messages[-1].text}"}


def delete(place: int, reason: str = "it is the one") -> Decide:
    """Return what lets the memory at a place go, the oldest first."""
    return lambda given: {
        "action": "delete",
        "targetMemoryId": given.memories[place].id,
        "reason": reason,
    }


def merge(place: int, content: str, taken: int | None = None, reason: str = "one") -> Decide:
    """Return what lets the memory at a place take another one in, the newest when None."""
    return lambda given: {
        "action": "edit",
        "targetMemoryId": given.memories[place].id,
        "mergedMemoryId": None if taken is None else given.memories[taken].id,
        "newContent": content,
        "reason": reason,
    }


def model(decide: Decide = least, summarise: Summarise = last_words) -> Models:
    """Return models with these answers."""
    return Models("fake", compaction=decide, conversation_summary=summarise)
