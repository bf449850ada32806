"""Figures about the memory: what is in it, how it grew, what is used, what ends next."""

from collections import Counter
from collections.abc import Iterable, Iterator
from datetime import datetime
from itertools import chain
from typing import Any, Final, Literal

import msgspec

from pmem.apps.figures import AppFigures, figures_of
from pmem.core.chunking import each_once
from pmem.core.histogram import Period, by_age, growth
from pmem.core.journal import one_line
from pmem.core.lifecycle.consolidation import faded
from pmem.core.lifecycle.similar import duplicates
from pmem.core.operations import LoggedOperation, OperationCount, counts
from pmem.memory import recalls
from pmem.memory.journal import ran
from pmem.project.workspace import Workspace
from pmem.upkeep.consolidation import rules_of
from pmem.values.records import Access, Chunk, Conversation, Episode, Memory, State
from pmem.values.requests import AtRequest

LISTED: Final = 5
"""Entries in each list."""
_TEXT: Final = 120


class Used(msgspec.Struct, frozen=True, kw_only=True):
    """A memory and how often it was recalled."""

    id: str
    count: int
    last_at: datetime | None
    text: str


What = Literal["expires", "purge"]


class Ending(msgspec.Struct, frozen=True, kw_only=True):
    """What becomes of a record and when: it expires, or what was removed may be purged."""

    id: str
    what: What
    when: datetime
    text: str


class MemoryFigures(msgspec.Struct, frozen=True, kw_only=True):
    """Figures about a project's memory.

    Those by type, category and age, the tokens and the uses are of active memories;
    `by_state` and the growth are of all that are kept. `budget` is a context's, `budget_share`
    the tokens' share of it. `overdue` counts records that have expired or may be purged.
    `duplicates` are active memories that say what another one says already. `operations` counts
    what ran in this clone on each of the last days.
    """

    memories: int
    by_type: dict[str, int]
    by_category: dict[str, int]
    by_state: dict[str, int]
    pinned: int
    due: int
    tokens: int
    episodes: int
    episodes_limit: int
    conversations: int
    by_status: dict[str, int]
    messages: int
    chunks: int
    message_tokens: int
    oldest: datetime | None
    newest: datetime | None
    damaged: int
    by_age: dict[str, int]
    growth_per: str
    growth: tuple[Period, ...]
    expiring: tuple[Ending, ...]
    overdue: int
    most_used: tuple[Used, ...]
    least_used: tuple[Used, ...]
    duplicates: int
    budget: int
    budget_share: float
    apps: AppFigures
    operations: tuple[OperationCount, ...]


def statistics(workspace: Workspace, request: AtRequest) -> MemoryFigures:  # noqa: ARG001
    """Count what the memory holds. Nothing is changed."""
    memories = recalls.counted(workspace, workspace.memories.find())
    episodes = list(workspace.episodes.find())
    conversations = list(workspace.conversations.find())
    chunks = list(workspace.chunks.find())
    return MemoryFigures(
        **_of_memories(workspace, memories),
        **_of_use([memory for memory in memories if memory.state is State.ACTIVE]),
        **_of_endings([*memories, *episodes], workspace.now()),
        **_of_talk(conversations, chunks),
        episodes=sum(episode.state is State.ACTIVE for episode in episodes),
        episodes_limit=workspace.settings.max_episodic_memories,
        apps=figures_of(workspace, memories, conversations),
        damaged=len(workspace.problems),
        operations=counts(_ran(workspace), workspace.now()),
    )


def _of_memories(workspace: Workspace, memories: list[Memory]) -> dict[str, Any]:
    active = [memory for memory in memories if memory.state is State.ACTIVE]
    times = sorted(memory.created_at for memory in memories)
    tokens = sum(memory.tokens for memory in active)
    budget = workspace.settings.default_budget
    grown = growth(times, workspace.now())
    return {
        "memories": len(memories),
        "by_type": _counts(memory.type for memory in active),
        "by_category": _counts(memory.category for memory in active),
        "by_state": _counts(memory.state for memory in memories),
        "by_age": by_age((memory.created_at for memory in active), workspace.now()),
        "pinned": sum(memory.pinned for memory in active),
        "due": len(faded(active, workspace.now(), rules_of(workspace))),
        "duplicates": duplicates(active),
        "tokens": tokens,
        "budget": budget,
        "budget_share": round(tokens / budget, 4) if budget else 0.0,
        "oldest": times[0] if times else None,
        "newest": times[-1] if times else None,
        "growth_per": grown.per,
        "growth": grown.periods,
    }


def _of_use(active: list[Memory]) -> dict[str, Any]:
    """List the memories that are recalled most, and of the others those recalled least."""
    uses = [(memory.access, memory) for memory in active]
    order = sorted(uses, key=lambda use: (use[0].count, _last(*use), use[1].id))
    most = [use for use in order[-LISTED:] if use[0].count][::-1]
    least = order[: max(0, min(LISTED, len(order) - len(most)))]
    return {
        "most_used": tuple(_use_of(*use) for use in most),
        "least_used": tuple(_use_of(*use) for use in least),
    }


def _ran(workspace: Workspace) -> Iterable[LoggedOperation]:
    """Return what ran in this clone, as far as that is known."""
    return ran(workspace) if workspace.own.is_ours and not workspace.is_past else ()


def _last(access: Access, memory: Memory) -> datetime:
    return access.last_at or memory.created_at


def _use_of(access: Access, memory: Memory) -> Used:
    text = one_line(memory.content, _TEXT)
    return Used(id=memory.id, count=access.count, last_at=access.last_at, text=text)


def _of_endings(records: list[Memory | Episode], now: datetime) -> dict[str, Any]:
    """List what expires or may be purged next, and count what is past that."""
    endings = [ending for record in records for ending in _endings(record)]
    coming = sorted(
        (ending for ending in endings if ending.when > now),
        key=lambda ending: (ending.when, ending.id),
    )
    return {"expiring": tuple(coming[:LISTED]), "overdue": len(endings) - len(coming)}


def _endings(record: Memory | Episode) -> Iterator[Ending]:
    if record.state is State.SOFT_DELETED and record.purge_at:
        yield _ending(record, "purge", record.purge_at)
    elif record.state is State.ACTIVE and isinstance(record, Memory) and record.valid_until:
        yield _ending(record, "expires", record.valid_until)


def _ending(record: Memory | Episode, what: What, when: datetime) -> Ending:
    text = record.content if isinstance(record, Memory) else record.title
    return Ending(id=record.id, what=what, when=when, text=one_line(text, _TEXT))


def _of_talk(conversations: list[Conversation], chunks: list[Chunk]) -> dict[str, Any]:
    parts = chain((each.recent_messages for each in conversations), (it.messages for it in chunks))
    said = list(each_once(chain.from_iterable(parts)))
    return {
        "conversations": len(conversations),
        "by_status": _counts(conversation.status for conversation in conversations),
        "messages": len(said),
        "chunks": len(chunks),
        "message_tokens": sum(message.tokens for message in said),
    }


def _counts(values: Iterable[Any]) -> dict[str, int]:
    return dict(sorted(Counter(str(value) for value in values).items()))
