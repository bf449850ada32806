"""What in the memory needs attention: how many there are of each kind, and what to do about it."""

from collections.abc import Iterable, Iterator
from contextlib import suppress
from typing import Final

import msgspec

from pmem.core.filters import Filter
from pmem.core.selection import Selection, ticks
from pmem.core.trust import LEVELS, Trust
from pmem.errors import PmemError
from pmem.memory.citations import find_broken_ids
from pmem.memory.consent import list_noted
from pmem.memory.facts import FactsRequest, Stated, list_facts
from pmem.memory.links import near_pairs
from pmem.project.workspace import Workspace
from pmem.storage.local.proposals import Proposal, without_expired
from pmem.upkeep.integrity import on_one_subject
from pmem.values.ids import short
from pmem.values.records import Memory, State
from pmem.vcs.doubts import pairs_on_one_subject

DISPUTED: Final = Selection(wanted=Filter(), least=(("disputed", 1),))
"""What two branches contradict each other about."""


_SINGLE: Final = {
    "damaged files": "damaged file",
    "proposals that wait for consent": "proposal that waits for consent",
    "facts to review": "fact to review",
}
"""How a need reads where there is one of it."""


class Need(msgspec.Struct, frozen=True, kw_only=True):
    """Something that needs attention: what it is, how many there are, and the command for it."""

    what: str
    count: int
    command: str


def list_needs(workspace: Workspace, *, due: int, rivals: int) -> tuple[Need, ...]:
    """Return what needs attention, the most urgent first; what nobody waits for is left out."""
    now, proposals = ticks(workspace.now()), list_proposals(workspace)
    facts = facts_to_review(workspace, proposals)
    open_ = (
        ("disputed between branches", _count_disputed(workspace), "contradiction"),
        ("citing what has changed or moved", _stale(workspace), "citation"),
        ("proposals that wait for consent", len(proposals), "proposal"),
        ("facts to review", len(facts), "fact"),
        ("noted by agents, not confirmed", len(list_noted(workspace)), "noted"),
        ("to look at again", _count(workspace, "review_at", now), "due"),
        ("expired", _count(workspace, "valid_until", now), "expired"),
        ("in disagreement on a subject", _on_one_subject(workspace), "subject"),
        ("nearly the same as another one", _near(workspace), "duplicate"),
        ("imported or merged, not reviewed", sum(1 for _ in untrusted(workspace)), "trust"),
        ("faded, to archive", due, "fading"),
    )
    return (
        *_to_check(workspace, rivals),
        *_open((what, count, f"pmem inbox --kind {kind}") for what, count, kind in open_),
        *_to_consolidate(workspace),
    )


def list_elsewhere(workspace: Workspace, *, rivals: int) -> tuple[Need, ...]:
    """Return what needs attention by other commands than the inbox; see `list_needs`."""
    return (*_to_check(workspace, rivals), *_to_consolidate(workspace))


def _to_check(workspace: Workspace, rivals: int) -> Iterator[Need]:
    needs = (("damaged files", len(workspace.problems)), ("replaced in two ways", rivals))
    return _open((what, count, "pmem check") for what, count in needs)


def _to_consolidate(workspace: Workspace) -> Iterator[Need]:
    removed = _purgeable(workspace, ticks(workspace.now()))
    needs = (("removed, to delete for good", removed),)
    return _open((what, count, "pmem consolidate --dry-run") for what, count in needs)


def _open(needs: Iterable[tuple[str, int, str]]) -> Iterator[Need]:
    """Yield what there is at least one of."""
    for what, count, command in needs:
        if count:
            said = _SINGLE.get(what, what) if count == 1 else what
            yield Need(what=said, count=count, command=command)


def _count_disputed(workspace: Workspace) -> int:
    return workspace.memories.count(DISPUTED) + workspace.episodes.count(DISPUTED)


def facts_to_review(workspace: Workspace, proposals: Iterable[Proposal]) -> list[Stated]:
    """Return the pending facts, without those that wait for consent: proposals tell of them."""
    proposed = {item.fact for item in proposals}
    found = list_facts(workspace, FactsRequest()).items
    return [item for item in found if short(item.fact.id) not in proposed]


def _on_one_subject(workspace: Workspace) -> int:
    return sum(1 for _ in pairs_on_one_subject(on_one_subject(workspace), workspace.now()))


def _near(workspace: Workspace) -> int:
    return sum(1 for _ in near_pairs(workspace))


def _stale(workspace: Workspace) -> int:
    """Count the memories whose citations do not hold in the project's files any more."""
    if workspace.is_past:
        return 0
    with suppress(PmemError):
        return len(find_broken_ids(workspace))
    return 0


def untrusted(workspace: Workspace) -> Iterator[Memory]:
    """Return what nobody vouches for; what two branches contradict each other about is told so."""
    disputed = {record.id for record in workspace.memories.select(DISPUTED)}
    low = Selection(wanted=Filter(), below=(("trust", LEVELS.index(Trust.LOW) + 1),))
    return (one for one in workspace.memories.select(low) if one.id not in disputed)


def _count(workspace: Workspace, column: str, now: int) -> int:
    """Count the active memories for which a moment has come."""
    return workspace.memories.count(Selection(wanted=Filter(), below=((column, now + 1),)))


def _purgeable(workspace: Workspace, now: int) -> int:
    gone = Selection(wanted=Filter(states=(State.SOFT_DELETED,)), below=(("purge_at", now + 1),))
    return workspace.memories.count(gone) + workspace.episodes.count(gone)


def list_proposals(workspace: Workspace) -> tuple[Proposal, ...]:
    """Return what waits for consent; a queue that cannot be read `check` tells of."""
    if workspace.is_past or not workspace.own.is_ours:
        return ()
    with suppress(PmemError):
        return without_expired(workspace.own.proposals.read(), workspace.now()).proposals
    return ()
