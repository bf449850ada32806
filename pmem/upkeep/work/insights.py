"""Insights of what happened lately, once in 24 hours."""

from collections.abc import Iterator
from datetime import timedelta

from msgspec.structs import asdict, replace

from pmem.core.filters import Filter
from pmem.core.lifecycle.consolidation import CATEGORY, PAUSE, is_insight
from pmem.core.lifecycle.plan import SOURCE
from pmem.core.trust import inherited
from pmem.model.tasks import FoundInsight, InsightGiven, InsightsAnswer
from pmem.project.events import event_of
from pmem.project.workspace import Workspace
from pmem.upkeep.work.kinds import Changed
from pmem.values.defaults import DEFAULT_IMPORTANCE
from pmem.values.ids import derived_id
from pmem.values.records import (
    Episode,
    EventKind,
    Memory,
    MemoryType,
    Origin,
    Relationship,
    Scope,
    Source,
)
from pmem.values.times import iso

LATEST = "latest"
"""The name of the one such work that there may be."""
MOST_ACTIVITY = 5
MOST_MEMORIES = 3
MOST_SAID = 1000
PERIOD = timedelta(days=30)
"""How far back it looks."""
FROM = "derived_from"
"""The type of an insight's links to the memories that it was made of."""


def waiting(workspace: Workspace, about: str | None) -> Iterator[str]:  # noqa: ARG001
    """Yield the one name, if it is time for insights.

    Args:
        about: Of a conversation, which has no such work.
    """
    if about is None:
        yield LATEST


def given(workspace: Workspace, name: str) -> InsightGiven | None:
    """Return what happened lately; None where too little did, or insights are young.

    Args:
        name: See `LATEST`.
    """
    if name != LATEST or not workspace.settings.note_insights:
        return None
    active = list(workspace.memories.find(Filter()))
    now = workspace.now()
    if any(is_insight(one) and now - one.created_at < PAUSE for one in active):
        return None
    activity, learned = _latest_episodes(workspace), _latest_memories(workspace, active)
    if len(activity) + len(learned) < 2:
        return None
    return InsightGiven(
        activity=tuple(f"{one.title}: {one.summary}" for one in activity),
        memories=tuple(one.content for one in learned),
        said=_said_last(workspace),
    )


def apply(workspace: Workspace, name: str, answer: InsightsAnswer, made_by: Origin) -> Changed:  # noqa: ARG001
    """Add the insights, linked to the memories that they were made of.

    Args:
        name: See `LATEST`.
        answer: The insights.
        made_by: Whose they are.
    """
    learned = _latest_memories(workspace, list(workspace.memories.find(Filter())))
    seen_in: list[Memory | Episode] = [*_latest_episodes(workspace), *learned]
    made = [_insight(workspace, found, seen_in, made_by) for found in answer.insights]
    return tuple(workspace.memories.put(memory).id for memory in made)


def _insight(
    workspace: Workspace, found: FoundInsight, seen_in: list[Memory | Episode], made_by: Origin
) -> Memory:
    now = workspace.now()
    detail = {**inherited(*seen_in), **asdict(made_by)}
    event = replace(event_of(workspace, EventKind.ADD, **detail), source=SOURCE)
    links = tuple(
        Relationship(target=one.id, type=FROM, created_at=now)
        for one in seen_in
        if isinstance(one, Memory)
    )
    return Memory(
        id=derived_id(now, SOURCE, found.summary, iso(now)),
        type=MemoryType.INSIGHT,
        content=found.summary,
        category=CATEGORY,
        tags=tuple(dict.fromkeys(found.tags)),
        importance=DEFAULT_IMPORTANCE[MemoryType.INSIGHT],
        valid_from=now,
        relationships=links,
        source=Source(kind=SOURCE),
        created_at=now,
        updated_at=now,
        tokens=workspace.count(found.summary),
        history=(event,),
    )


def _latest_episodes(workspace: Workspace) -> list[Episode]:
    """Return the latest episodes that are no app's."""
    now = workspace.now()
    found = [
        one
        for one in workspace.episodes.find(Filter())
        if one.app is None and now - one.created_at < PERIOD
    ]
    return sorted(found, key=lambda one: (one.created_at, one.id))[-MOST_ACTIVITY:]


def _latest_memories(workspace: Workspace, active: list[Memory]) -> list[Memory]:
    """Return the latest memories that concern everybody."""
    now = workspace.now()
    found = [
        one
        for one in active
        if one.scope == Scope() and not is_insight(one) and now - one.created_at < PERIOD
    ]
    return sorted(found, key=lambda one: (one.created_at, one.id))[-MOST_MEMORIES:]


def _said_last(workspace: Workspace) -> str:
    """Return the end of the latest conversation that is no app's."""
    for identifier in reversed(workspace.conversations.ids()):
        conversation = workspace.conversations.get(identifier)
        if conversation.app is None:
            said = (f"{one.speaker or one.role}: {one.content}"
                    for one in conversation.recent_messages)  # fmt: skip
            return "\n".join(said)[-MOST_SAID:]
    return ""
