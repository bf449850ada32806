"""Figures about the memory: what is in it, how it grew, what is used, what ends next."""

from collections import Counter
from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta
from functools import partial
from itertools import chain
from typing import Any, Final, Literal

import msgspec
from msgspec.structs import replace

from pmem.apps.figures import AppFigures, figures_of
from pmem.core.chunking import each_once
from pmem.core.filters import Filter
from pmem.core.histogram import Period, by_age, growth
from pmem.core.journal import one_line
from pmem.core.lifecycle.consolidation import faded
from pmem.core.lifecycle.presence import with_recalls
from pmem.core.lifecycle.similar import duplicates
from pmem.core.operations import LoggedOperation, OperationCount, counts
from pmem.core.retention import days_until
from pmem.core.selection import ALL, Selection, day_of, ticks
from pmem.memory import recalls
from pmem.memory.journal import ran
from pmem.project.workspace import Workspace
from pmem.storage.backend import Tally
from pmem.storage.store import Store
from pmem.upkeep.consolidation import rules_of
from pmem.values.records import Access, Chunk, Conversation, Episode, Memory, MemoryType, State
from pmem.values.requests import AtRequest
from pmem.values.times import shifted

LISTED: Final = 5
"""Entries in each list."""
_TEXT: Final = 120
_ACTIVE: Final = Selection(wanted=Filter())


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
    episodes = list(workspace.episodes.find())
    conversations = list(workspace.conversations.find())
    chunks = list(workspace.chunks.find())
    recalled = {} if workspace.is_past else recalls.waiting(workspace)
    of_apps = workspace.memories.select(Selection(least=(("app", ""),)))
    return MemoryFigures(
        **_of_memories(workspace, recalled),
        **_of_use(workspace, recalled),
        **_of_endings(workspace),
        **_of_talk(conversations, chunks),
        episodes=sum(episode.state is State.ACTIVE for episode in episodes),
        episodes_limit=workspace.settings.max_episodic_memories,
        apps=figures_of(workspace, of_apps, conversations),
        damaged=len(workspace.problems),
        operations=counts(_ran(workspace), workspace.now()),
    )


def _of_memories(workspace: Workspace, recalled: Mapping[str, Access]) -> dict[str, Any]:
    memories, now = workspace.memories, workspace.now()
    states = memories.tally(ALL, ("state",))
    active = memories.tally(_ACTIVE, ("type", "category", "pinned"))
    tally = memories.tally(_ACTIVE, ("tokens",))
    tokens = sum(tokens * many for (tokens,), many in tally.items())
    budget = workspace.settings.default_budget
    days = memories.tally(ALL, ("day",))
    grown = growth({day_of(day): many for (day,), many in days.items()}, now)
    ends = [memories.select(ALL, order, 1) for order in (("created",), ("-created",))]
    oldest, newest = [found[0].created_at if found else None for found in ends]
    return {
        "memories": sum(states.values()),
        "by_type": _summed(active, 0),
        "by_category": _summed(active, 1),
        "by_state": _summed(states, 0),
        "by_age": by_age(partial(_made_after, workspace), sum(active.values()), now),
        "pinned": sum(many for (_, _, is_pinned), many in active.items() if is_pinned),
        "due": _count_due(workspace, recalled, sum(active.values())),
        "duplicates": memories.figure("duplicates", partial(_count_duplicates, workspace)),
        "tokens": tokens,
        "budget": budget,
        "budget_share": round(tokens / budget, 4) if budget else 0.0,
        "oldest": oldest,
        "newest": newest,
        "growth_per": grown.per,
        "growth": grown.periods,
    }


def _made_after(workspace: Workspace, at: datetime) -> int:
    """Count the active memories that were made after a moment."""
    return workspace.memories.count(replace(_ACTIVE, least=(("created", ticks(at) + 1),)))


def _count_duplicates(workspace: Workspace) -> int:
    return duplicates(workspace.memories.select(_ACTIVE))


def _count_due(workspace: Workspace, recalled: Mapping[str, Access], many: int) -> int:
    """Count the memories that are due to be archived, of so many that are active.

    Of one importance those that nobody has used for long enough are looked at.
    """
    rules, now = rules_of(workspace), workspace.now()
    fading = Filter(types=tuple(rules.fading.half_lives), pinned=False)
    found: list[Memory] = []
    tally = workspace.memories.tally(Selection(wanted=fading), ("type", "importance"))
    for type_, importance in tally:
        half_life = rules.fading.half_lives[MemoryType(type_)]
        days = days_until(rules.archive_below, importance, half_life)
        wanted = replace(
            fading, types=(type_,), importance_min=importance, importance_max=importance
        )
        unused = (("used", ticks(shifted(now, -timedelta(days=days))) + 1),)
        found += workspace.memories.select(Selection(wanted=wanted, below=unused))
    return len(faded(_counted(found, recalled), now, rules, many))


def _counted(memories: Iterable[Memory], recalled: Mapping[str, Access]) -> list[Memory]:
    return [
        with_recalls(memory, recalled[memory.id]) if memory.id in recalled else memory
        for memory in memories
    ]


def _of_use(workspace: Workspace, recalled: Mapping[str, Access]) -> dict[str, Any]:
    """List the memories that are recalled most, and of the others those recalled least."""
    memories, order = workspace.memories, ("accesses", "touched", "id")
    upwards = memories.select(_ACTIVE, order, 2 * LISTED + len(recalled))
    downwards = memories.select(_ACTIVE, tuple(f"-{name}" for name in order), LISTED)
    noted = memories.select(replace(_ACTIVE, ids=tuple(recalled))) if recalled else []
    found = {memory.id: memory for memory in (*upwards, *downwards, *noted)}
    uses = [(memory.access, memory) for memory in _counted(found.values(), recalled)]
    uses.sort(key=lambda use: (use[0].count, _last(*use), use[1].id))
    most = [use for use in uses[-LISTED:] if use[0].count][::-1]
    least = uses[: max(0, min(LISTED, len(uses) - len(most)))]
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


def _of_endings(workspace: Workspace) -> dict[str, Any]:
    """List what expires or may be purged next, and count what is past that."""
    now = ticks(workspace.now())
    coming: list[Ending] = []
    overdue = 0
    kinds: tuple[tuple[Store[Any], What, State, str], ...] = (
        (workspace.memories, "purge", State.SOFT_DELETED, "purge_at"),
        (workspace.episodes, "purge", State.SOFT_DELETED, "purge_at"),
        (workspace.memories, "expires", State.ACTIVE, "valid_until"),
    )
    for store, what, state, column in kinds:
        ending = Selection(wanted=Filter(states=(state,)))
        later = replace(ending, least=((column, now + 1),))
        overdue += store.count(replace(ending, below=((column, now + 1),)))
        coming += [_ending(record, what) for record in store.select(later, (column,), LISTED)]
    coming.sort(key=lambda ending: (ending.when, ending.id))
    return {"expiring": tuple(coming[:LISTED]), "overdue": overdue}


def _ending(record: Memory | Episode, what: What) -> Ending:
    text = record.content if isinstance(record, Memory) else record.title
    when = record.purge_at if what == "purge" or isinstance(record, Episode) else record.valid_until
    assert when is not None
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


def _summed(tally: Tally, place: int) -> dict[str, int]:
    """Return how many there are by one of the columns of a tally."""
    found: Counter[str] = Counter()
    for values, many in tally.items():
        found[str(values[place])] += many
    return dict(sorted(found.items()))
