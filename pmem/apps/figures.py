"""Figures about apps' memories: how fast they come and go, who has some, what models cost."""

from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import Final

import msgspec

from pmem.core.filters import EVERYTHING
from pmem.errors import PmemError
from pmem.memory.app_limit import SOURCE
from pmem.memory.app_memories import state_of
from pmem.project.workspace import Workspace
from pmem.values.fields import AtRequest, NoArguments
from pmem.values.records import Conversation, EventKind, Memory, State
from pmem.values.times import shifted

RATE_HOURS: Final = 24
"""Over how many hours the rate of creation is counted."""
FREQUENCY_DAYS: Final = 7
"""Over how many days compactions are counted."""


class Energy(msgspec.Struct, frozen=True, kw_only=True):
    """What models may spend, and what they have spent.

    Attributes:
        units: Units that there are.
        capacity: Units at the most.
        spent: Units spent in all.
        since_last_poll: Units spent since somebody last polled.
        waiting: Pieces of work that wait for energy.
    """

    units: float
    capacity: float
    spent: float
    since_last_poll: float
    waiting: int


class AppFigures(msgspec.Struct, frozen=True, kw_only=True):
    """Figures about apps.

    Attributes:
        apps: Apps that have left a memory or a conversation and are not uninstalled.
        with_memories: Those of them with active memories.
        utilisation: Their share.
        memories: Active memories of apps.
        created_per_hour: Memories of apps made in the last 24 hours, per hour.
        compactions_per_app_per_day: Decisions of the last 7 days, per app and day.
        conversations: Conversations held in apps.
        with_context: Those whose context had memories of their app, as this clone has seen it.
        injection_rate: Their share.
        energy: What models may spend; None where it cannot be read.
    """

    apps: int
    with_memories: int
    utilisation: float
    memories: int
    created_per_hour: float
    compactions_per_app_per_day: float
    conversations: int
    with_context: int
    injection_rate: float
    energy: Energy | None


class Polled(msgspec.Struct, frozen=True, kw_only=True):
    """The units that models have spent since this was last asked."""

    spent: float


def statistics(workspace: Workspace, request: AtRequest) -> AppFigures:  # noqa: ARG001
    """Count what apps remember. Nothing is changed."""
    return figures_of(
        workspace, workspace.memories.find(EVERYTHING), workspace.conversations.find()
    )


def figures_of(
    workspace: Workspace, memories: Iterable[Memory], conversations: Iterable[Conversation]
) -> AppFigures:
    """Count what apps remember, of all memories and conversations, which are read already."""
    theirs = [memory for memory in memories if memory.scope.app]
    held = [item for item in conversations if item.app]
    gone, shown = _seen_apps(workspace)
    names = {m.scope.app for m in theirs} | {item.app for item in held}
    used = {m.scope.app for m in theirs if m.state is State.ACTIVE}
    apps = names - gone
    with_context = sum(item.id in shown for item in held)
    day, week = _made_since(theirs, workspace.now())
    return AppFigures(
        apps=len(apps),
        with_memories=len(apps & used),
        utilisation=_ratio(len(apps & used), len(apps)),
        memories=sum(m.state is State.ACTIVE for m in theirs),
        created_per_hour=_ratio(day, RATE_HOURS),
        compactions_per_app_per_day=_ratio(week, FREQUENCY_DAYS * len(apps)),
        conversations=len(held),
        with_context=with_context,
        injection_rate=_ratio(with_context, len(held)),
        energy=_energy(workspace),
    )


def _energy(workspace: Workspace) -> Energy | None:
    """Return what models may spend, and have spent; None where that cannot be read.

    It is this clone's own, and of today in a view of the past as well.
    """
    rules, state = workspace.settings.apps, state_of(workspace)
    try:
        level = state.level(workspace.now(), rules)
        waiting = len(state.waiting())
    except PmemError:
        return None
    return Energy(
        units=round(level.units, 2),
        capacity=rules.energy,
        spent=round(level.spent, 2),
        since_last_poll=round(level.unpolled, 2),
        waiting=waiting,
    )


def poll_energy(workspace: Workspace, request: NoArguments) -> Polled:  # noqa: ARG001
    """Return the units that models have spent since this was last asked.

    Raises:
        Damaged, Locked, StorageRefused: See `LocalState.writing`.
    """
    return Polled(spent=state_of(workspace).poll(workspace.now(), workspace.settings.apps))


def _seen_apps(workspace: Workspace) -> tuple[set[str], set[str]]:
    """Return the apps that are gone, and the conversations whose contexts had memories."""
    if workspace.is_past:
        return set(), set()
    state = state_of(workspace)
    try:
        return state.gone(), state.with_context()
    except PmemError:
        return set(), set()


def _made_since(memories: Iterable[Memory], now: datetime) -> tuple[int, int]:
    """Count the memories made of late, and the decisions of late: each took one memory away."""
    day = shifted(now, -timedelta(hours=RATE_HOURS))
    week = shifted(now, -timedelta(days=FREQUENCY_DAYS))
    made = decided = 0
    for memory in memories:
        made += day < memory.created_at <= now
        decided += sum(
            event.source == SOURCE
            and week < event.at <= now
            and (event.event is EventKind.DELETE or "into" in event.detail)
            for event in memory.history
        )
    return made, decided


def _ratio(part: int, whole: int) -> float:
    return round(part / whole, 4) if whole else 0.0
