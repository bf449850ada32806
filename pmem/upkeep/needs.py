"""What in the memory needs somebody: how many there are of each kind, and what to do about it."""

from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from functools import partial
from typing import Final

import msgspec

from pmem.core.filters import Filter, fold
from pmem.core.selection import Selection, ticks
from pmem.errors import PmemError
from pmem.memory import recalls
from pmem.memory.consent import WaitingRequest, list_waiting
from pmem.memory.facts import FactsRequest, list_facts
from pmem.memory.reading import Staleness, disputed
from pmem.project.workspace import Workspace
from pmem.values.records import State

_ACTIVE: Final = Selection(wanted=Filter())


class Need(msgspec.Struct, frozen=True, kw_only=True):
    """Something that needs somebody: what it is, how many there are, and the command for it."""

    what: str
    count: int
    command: str


class _Doubtful(msgspec.Struct, frozen=True, kw_only=True):
    """What can be told of active memories without the clock and the project's files.

    Attributes:
        citing: The ids of those that cite something.
        disputed: How many branches contradict each other about.
        shared_subjects: How many subjects more than one of them holds.
    """

    citing: tuple[str, ...]
    disputed: int
    shared_subjects: int


def list_needs(workspace: Workspace, *, due: int, duplicates: int) -> tuple[Need, ...]:
    """Return what needs somebody, the most urgent first; what nobody waits for is left out.

    Args:
        due: Memories that have faded.
        duplicates: Memories that say what another one says.
    """
    known = workspace.memories.figure("doubtful", _Doubtful, partial(_doubtful, workspace))
    now = ticks(workspace.now())
    needs = (
        ("damaged files", len(workspace.problems), "pmem check"),
        ("disputed between branches", known.disputed, "pmem check"),
        ("stale, as what they cite has changed", _stale(workspace, known.citing), "pmem verify"),
        ("proposals that wait for consent", _proposals(workspace), "pmem consent list"),
        ("facts to review", list_facts(workspace, FactsRequest(limit=0)).total, "pmem facts list"),
        ("decisions to look at again", _count(workspace, "review_at", now), "pmem due"),
        ("expired", _count(workspace, "valid_until", now), "pmem list"),
        ("subjects held more than once", known.shared_subjects, "pmem subjects"),
        ("duplicates to merge", duplicates, "pmem consolidate --dry-run"),
        ("faded, to archive", due, "pmem consolidate --dry-run"),
        ("removed, to delete for good", _purgeable(workspace, now), "pmem sweep --dry-run"),
        ("uses not saved yet", _unsaved(workspace), "pmem consolidate"),
    )
    return tuple(
        Need(what=what, count=count, command=command) for what, count, command in needs if count
    )


def _doubtful(workspace: Workspace) -> _Doubtful:
    active = workspace.memories.select(_ACTIVE)
    subjects = Counter(fold(memory.subject) for memory in active if memory.subject)
    return _Doubtful(
        citing=tuple(memory.id for memory in active if memory.citations),
        disputed=sum(bool(disputed(memory)) for memory in active),
        shared_subjects=sum(many > 1 for many in subjects.values()),
    )


def _stale(workspace: Workspace, citing: tuple[str, ...]) -> int:
    """Count the memories whose citations do not hold in the project's files any more."""
    if not citing or workspace.is_past:
        return 0
    staleness = Staleness(workspace)
    return sum(bool(staleness(memory)) for memory in _chosen(workspace, citing))


def _chosen(workspace: Workspace, ids: tuple[str, ...]) -> Iterator[object]:
    yield from workspace.memories.select(Selection(wanted=Filter(), ids=ids))


def _count(workspace: Workspace, column: str, now: int) -> int:
    """Count the active memories for which a moment has come."""
    return workspace.memories.count(Selection(wanted=Filter(), below=((column, now + 1),)))


def _purgeable(workspace: Workspace, now: int) -> int:
    gone = Selection(wanted=Filter(states=(State.SOFT_DELETED,)), below=(("purge_at", now + 1),))
    return workspace.memories.count(gone) + workspace.episodes.count(gone)


def _proposals(workspace: Workspace) -> int:
    """Count what waits for consent; a queue that cannot be read `check` tells of."""
    if workspace.is_past or not workspace.own.is_ours:
        return 0
    with suppress(PmemError):
        return list_waiting(workspace, WaitingRequest()).total
    return 0


def _unsaved(workspace: Workspace) -> int:
    if workspace.is_past:
        return 0
    return sum(access.count for access in recalls.waiting(workspace).values())
