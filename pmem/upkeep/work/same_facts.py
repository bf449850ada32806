"""Memories that are alike, of which rules cannot tell whether they say the same."""

from collections.abc import Iterator
from datetime import timedelta
from hashlib import blake2b
from itertools import islice
from typing import Final

from msgspec.structs import asdict, replace

from pmem.core.duplicates import Relation, pairs
from pmem.core.filters import Filter
from pmem.core.lifecycle.consolidation import is_insight
from pmem.core.lifecycle.merging import absorbed, absorbing, obstacle, rank, redirected, similar
from pmem.core.lifecycle.presence import said_at
from pmem.core.retention import age_in_days, linked, valid_at
from pmem.errors import Damaged, NotFound, Refused
from pmem.memory.proposals import needs_leave
from pmem.model.tasks import GivenPair, PairsAnswer, PairsGiven
from pmem.project.workspace import Workspace
from pmem.upkeep.work.kinds import Changed
from pmem.values.ids import short
from pmem.values.records import Memory, Origin, Relationship, State

MOST_PAIRS_A_DAY: Final = 50
"""Pairs that a model compares on one day."""
TOGETHER = 8
"""Pairs of one question."""
LEAST_SCORE = 0.6
MOST_DAYS = 90
FRESH = timedelta(hours=72)
IMPORTANT = 0.6
"""A pair is looked at if one of both is young enough, and one fresh or important."""
UPDATES = "updates"
_PREFIX = "same_fact "
_WHY = "a model took them for the same"


def waiting(workspace: Workspace, about: str | None) -> Iterator[str]:
    """Yield the pairs that wait, eight together, as many as the day has left.

    Args:
        about: Of a conversation, which has no such work.
    """
    if about is not None:
        return
    judged = workspace.own.judged(workspace.now())
    known = judged.known()
    left = MOST_PAIRS_A_DAY - judged.noted_today(_PREFIX)
    fresh = (both for both in _alike(workspace) if _fingerprint(both) not in known)
    found = map(_pair_name, islice(fresh, max(0, left)))
    while batch := list(islice(found, TOGETHER)):
        yield ",".join(batch)


def given(workspace: Workspace, name: str) -> PairsGiven | None:
    """Return the pairs with what they say; None where one of them is gone.

    Args:
        name: The pairs, each two short ids.
    """
    made: list[GivenPair] = []
    for pair in name.split(","):
        both = _pair_named(workspace, pair)
        if both is None:
            return None
        older, newer = both
        made.append(GivenPair(id=pair, older=older.content, newer=newer.content))
    return PairsGiven(pairs=tuple(made))


def apply(workspace: Workspace, name: str, answer: PairsAnswer, made_by: Origin) -> Changed:  # noqa: ARG001
    """Merge what says the same, link what takes another's place, and ask about none again.

    Args:
        name: The pairs.
        answer: The verdicts.
        made_by: Whose they are.

    Raises:
        Refused: An agent would merge what a person wrote.
    """
    changed: dict[str, None] = {}
    judged: list[str] = []
    for told in answer.pairs:
        both = _pair_named(workspace, told.id)
        if both is None:  # one of both went into a third
            continue
        judged.append(_fingerprint(both))
        if told.verdict == "same" and not obstacle(*both):
            changed |= dict.fromkeys(_merge(workspace, both, made_by))
        elif told.verdict == "update":
            changed |= dict.fromkeys(_link(workspace, both))
    workspace.own.judged(workspace.now()).note(judged)
    return tuple(changed)


def split(name: str) -> list[str]:
    """Return the pairs of a question one by one, for those that an answer left out.

    Args:
        name: The pairs.
    """
    return name.split(",")


def _alike(workspace: Workspace) -> Iterator[tuple[Memory, Memory]]:
    """Yield the pairs that are alike and of which rules say no more, the nearest first."""
    now = workspace.now()
    held = [
        one
        for one in workspace.memories.find(Filter())
        if valid_at(one, now) and not is_insight(one) and one.scope.app is None
    ]
    known = similar(sorted(held, key=lambda one: (said_at(one), one.id)))
    near = pairs(known.claims, known.scopes, link_min=LEAST_SCORE)
    neighbours = [pair for pair in near if pair.verdict.relation is Relation.NEIGHBOUR]
    for pair in sorted(neighbours, key=lambda one: (-one.verdict.score, one[:2])):
        both = known.memories[pair.first], known.memories[pair.second]
        if _is_worth_it(workspace, both) and not obstacle(*both):
            yield both


def _pair_name(both: tuple[Memory, Memory]) -> str:
    return "-".join(short(one.id) for one in both)


def _fingerprint(both: tuple[Memory, Memory]) -> str:
    """Return what tells a pair, as both are written, from all others."""
    said = "\0".join(one.content for one in both)
    return f"{_PREFIX}{_pair_name(both)} {blake2b(said.encode(), digest_size=8).hexdigest()}"


def _is_worth_it(workspace: Workspace, both: tuple[Memory, Memory]) -> bool:
    now = workspace.now()
    is_young = any(age_in_days(one.updated_at, now) <= MOST_DAYS for one in both)
    matters = any(now - one.updated_at < FRESH or one.importance >= IMPORTANT for one in both)
    return is_young and matters


def _pair_named(workspace: Workspace, pair: str) -> tuple[Memory, Memory] | None:
    older, _, newer = pair.partition("-")
    try:
        found = [_memory_named(workspace, name) for name in (older, newer)]
    except (NotFound, Damaged):
        return None
    active = [one for one in found if one is not None and one.state is State.ACTIVE]
    return (active[0], active[1]) if len(active) == 2 and active[0] != active[1] else None


def _memory_named(workspace: Workspace, name: str) -> Memory | None:
    fits = [one for one in workspace.memories.ids(name) if short(one) == name]
    return workspace.memories.get(fits[0]) if len(fits) == 1 else None


def _merge(workspace: Workspace, both: tuple[Memory, Memory], made_by: Origin) -> Iterator[str]:
    if any(needs_leave(workspace, one) for one in both):
        raise Refused("a person wrote one of both", "let a person do this work")
    survivor, other = sorted(both, key=rank)
    at, actor = workspace.now(), workspace.actor
    whole = _signed(absorbing(survivor, [other], actor, at, _WHY), made_by)
    gone = _signed(absorbed(other, survivor.id, actor, at, _WHY), made_by)
    for memory in (whole, gone):
        workspace.memories.put(memory)
        yield memory.id
    for memory in workspace.memories.find(Filter()):
        new = redirected(memory, other.id, survivor.id, actor, at)
        if new is not memory and memory.id != survivor.id:
            workspace.memories.put(new)


def _signed(memory: Memory, made_by: Origin) -> Memory:
    """Say in the last event of a history whose verdict it was."""
    *earlier, last = memory.history
    told = replace(last, detail={**last.detail, **asdict(made_by)})
    return replace(memory, history=(*earlier, told))


def _link(workspace: Workspace, both: tuple[Memory, Memory]) -> Iterator[str]:
    older, newer = both
    at = workspace.now()
    link = Relationship(target=older.id, type=UPDATES, strength=LEAST_SCORE, created_at=at)
    workspace.memories.put(linked(newer, link, workspace.actor, at))
    yield newer.id
