"""Work on memories: which an app lets go, which say the same, and what they show together."""

from collections.abc import Iterator, Mapping
from datetime import timedelta
from hashlib import blake2b
from itertools import islice
from typing import Final

from msgspec.structs import asdict, astuple, replace

from pmem.core.duplicates import Relation, claim_of, pairs
from pmem.core.filters import Filter
from pmem.core.lifecycle.consolidation import CATEGORY, PAUSE, is_insight
from pmem.core.lifecycle.merging import absorbed, absorbing, obstacle, rank, redirected
from pmem.core.lifecycle.plan import SOURCE
from pmem.core.lifecycle.presence import said_at
from pmem.core.retention import age_in_days, linked, valid_at
from pmem.core.trust import inherited
from pmem.errors import Damaged, NotFound, Refused
from pmem.memory.app_limit import carry_out
from pmem.memory.app_memories import members
from pmem.memory.app_questions import crowd_given, decision_of
from pmem.model import tasks
from pmem.project.caller import needs_leave
from pmem.project.workspace import Workspace
from pmem.upkeep.work.of_talk import Changed, WorkKind
from pmem.values import records
from pmem.values.defaults import DEFAULT_IMPORTANCE
from pmem.values.ids import derived_id, short
from pmem.values.times import iso

MOST_PAIRS_A_DAY: Final = 50  # pairs that a model compares on one day
TOGETHER: Final = 8  # pairs of one question
LEAST_SCORE: Final = 0.6
MOST_DAYS: Final = 90
FRESH: Final = timedelta(hours=72)
IMPORTANT: Final = 0.6
"""A pair is looked at if one of both is young enough, and one fresh or important."""
_PREFIX: Final = "same_fact "
_WHY: Final = "a model took them for the same"
LATEST: Final = "latest"  # the name of the one work on insights that there may be
MOST_ACTIVITY: Final = 5
MOST_MEMORIES: Final = 3
MOST_SAID: Final = 1000
PERIOD: Final = timedelta(days=30)  # how far back insights look

_Pair = tuple[records.Memory, records.Memory]


# what apps let go that have more memories than they may; a name is an app's


def _apps(workspace: Workspace, about: str | None) -> list[str]:
    if about is not None:
        return []
    found = {memory.scope.app for memory in workspace.memories.find(Filter())}
    return sorted(filter(None, found))


def _crowd(workspace: Workspace, name: str) -> tasks.CompactionGiven | None:
    kept = members(workspace, name)
    return crowd_given(workspace, name, kept) if len(kept) > workspace.settings.apps.limit else None


def _let_go(
    workspace: Workspace, name: str, answer: tasks.CompactionAnswer, made_by: records.Origin
) -> Changed:
    kept = members(workspace, name)
    decision = decision_of(answer, kept, " ".join(astuple(made_by)))
    named = [one for one in kept if one.id in (decision.target, decision.merged)]
    if any(needs_leave(workspace, memory) for memory in named):
        raise Refused("a person wrote what would go", "let a person do this work")
    carry_out(workspace, kept, decision)
    return tuple(memory.id for memory in named)


# pairs of which rules cannot tell whether they say the same; a name is some pairs of short ids


def _pairs(workspace: Workspace, about: str | None) -> Iterator[str]:
    """Yield the pairs that wait, eight together, as many as the day has left."""
    if about is not None:
        return
    judged = workspace.own.judged(workspace.now())
    known = judged.known()
    left = MOST_PAIRS_A_DAY - judged.noted_today(_PREFIX)
    fresh = (both for both in _alike(workspace) if _fingerprint(both) not in known)
    found = map(_pair_name, islice(fresh, max(0, left)))
    while batch := list(islice(found, TOGETHER)):
        yield ",".join(batch)


def _pairs_given(workspace: Workspace, name: str) -> tasks.PairsGiven:
    named = ((pair, *_pair_named(workspace, pair)) for pair in name.split(","))
    made = (tasks.GivenPair(id=pair, older=a.content, newer=b.content) for pair, a, b in named)
    return tasks.PairsGiven(pairs=tuple(made))


def _judge_pairs(
    workspace: Workspace,
    name: str,  # noqa: ARG001
    answer: tasks.PairsAnswer,
    made_by: records.Origin,
) -> Changed:
    """Merge what says the same, link what takes another's place, and ask about none again."""
    changed: dict[str, None] = {}
    judged: list[str] = []
    for told in answer.pairs:
        try:
            both = _pair_named(workspace, told.id)
        except (NotFound, Damaged):  # one of both went into a third
            continue
        judged.append(_fingerprint(both))
        if told.verdict == "same" and not obstacle(*both):
            changed |= dict.fromkeys(_merge(workspace, both, made_by))
        elif told.verdict == "update":
            older, newer = both
            at = workspace.now()
            link = records.Relationship(
                target=older.id, type="updates", strength=LEAST_SCORE, created_at=at
            )
            workspace.memories.put(linked(newer, link, workspace.actor, at))
            changed[newer.id] = None
    workspace.own.judged(workspace.now()).note(judged)
    return tuple(changed)


def _alike(workspace: Workspace) -> Iterator[_Pair]:
    """Yield the pairs that are alike and of which rules say no more, the nearest first."""
    now = workspace.now()
    held = [
        one
        for one in workspace.memories.find(Filter())
        if valid_at(one, now) and not is_insight(one) and one.scope.app is None
    ]
    held.sort(key=lambda one: (said_at(one), one.id))
    claims = [claim_of(one.content) for one in held]
    near = pairs(claims, [one.scope for one in held], link_min=LEAST_SCORE)
    neighbours = [pair for pair in near if pair.verdict.relation is Relation.NEIGHBOUR]
    for pair in sorted(neighbours, key=lambda one: (-one.verdict.score, one[:2])):
        both = held[pair.first], held[pair.second]
        is_young = any(age_in_days(one.updated_at, now) <= MOST_DAYS for one in both)
        matters = any(now - one.updated_at < FRESH or one.importance >= IMPORTANT for one in both)
        if is_young and matters and not obstacle(*both):
            yield both


def _pair_name(both: _Pair) -> str:
    return "-".join(short(one.id) for one in both)


def _fingerprint(both: _Pair) -> str:
    said = "\0".join(one.content for one in both)
    return f"{_PREFIX}{_pair_name(both)} {blake2b(said.encode(), digest_size=8).hexdigest()}"


def _pair_named(workspace: Workspace, pair: str) -> _Pair:
    """Return two active memories by their short ids; raise NotFound where one went."""
    found = [
        workspace.memories.get(identifier)
        for name in dict.fromkeys(pair.split("-"))
        for identifier in workspace.memories.ids(name)
        if short(identifier) == name
    ]
    active = [one for one in found if one.state is records.State.ACTIVE]
    if len(found) != 2 or len(active) != 2:
        raise NotFound(f"there are no two active memories {pair}", "look at what there is")
    return active[0], active[1]


def _merge(workspace: Workspace, both: _Pair, made_by: records.Origin) -> Iterator[str]:
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


def _signed(memory: records.Memory, made_by: records.Origin) -> records.Memory:
    *earlier, last = memory.history
    told = replace(last, detail={**last.detail, **asdict(made_by)})
    return replace(memory, history=(*earlier, told))


# insights of what happened lately, once in 24 hours


def _insights(workspace: Workspace, about: str | None) -> tuple[str, ...]:  # noqa: ARG001
    return (LATEST,) if about is None else ()


def _lately(workspace: Workspace, name: str) -> tasks.InsightGiven | None:
    """Return what happened lately; None where too little did, or insights are young."""
    now, active = workspace.now(), list(workspace.memories.find(Filter()))
    is_early = any(is_insight(one) and now - one.created_at < PAUSE for one in active)
    if name != LATEST or not workspace.settings.note_insights or is_early:
        return None
    activity, learned = _latest_episodes(workspace), _latest_memories(workspace)
    if len(activity) + len(learned) < 2:
        return None
    return tasks.InsightGiven(
        activity=tuple(f"{one.title}: {one.summary}" for one in activity),
        memories=tuple(one.content for one in learned),
        said=_said_last(workspace),
    )


def _add_insights(
    workspace: Workspace,
    name: str,  # noqa: ARG001
    answer: tasks.InsightsAnswer,
    made_by: records.Origin,
) -> Changed:
    seen_in: list[records.Memory | records.Episode] = [
        *_latest_episodes(workspace),
        *_latest_memories(workspace),
    ]
    made = [_insight(workspace, found, seen_in, made_by) for found in answer.insights]
    return tuple(workspace.memories.put(memory).id for memory in made)


def _insight(
    workspace: Workspace,
    found: tasks.FoundInsight,
    seen_in: list[records.Memory | records.Episode],
    made_by: records.Origin,
) -> records.Memory:
    now = workspace.now()
    detail = {**inherited(*seen_in), **asdict(made_by)}
    links = tuple(
        records.Relationship(target=one.id, type="derived_from", created_at=now)
        for one in seen_in
        if isinstance(one, records.Memory)
    )
    return records.Memory(
        id=derived_id(now, SOURCE, found.summary, iso(now)),
        type=records.MemoryType.INSIGHT,
        content=found.summary,
        category=CATEGORY,
        tags=tuple(dict.fromkeys(found.tags)),
        importance=DEFAULT_IMPORTANCE[records.MemoryType.INSIGHT],
        valid_from=now,
        relationships=links,
        source=records.Source(kind=SOURCE),
        created_at=now,
        updated_at=now,
        tokens=workspace.count(found.summary),
        history=(replace(workspace.event(records.EventKind.ADD, **detail), source=SOURCE),),
    )


def _latest_episodes(workspace: Workspace) -> list[records.Episode]:
    now, every = workspace.now(), workspace.episodes.find(Filter())
    found = [one for one in every if one.app is None and now - one.created_at < PERIOD]
    return sorted(found, key=lambda one: (one.created_at, one.id))[-MOST_ACTIVITY:]


def _latest_memories(workspace: Workspace) -> list[records.Memory]:
    now = workspace.now()
    found = [
        one
        for one in workspace.memories.find(Filter())
        if one.scope == records.Scope() and not is_insight(one) and now - one.created_at < PERIOD
    ]
    return sorted(found, key=lambda one: (one.created_at, one.id))[-MOST_MEMORIES:]


def _said_last(workspace: Workspace) -> str:
    for identifier in reversed(workspace.conversations.ids()):
        conversation = workspace.conversations.get(identifier)
        if conversation.app is None:
            every = conversation.recent_messages
            said = "\n".join(f"{one.speaker or one.role}: {one.content}" for one in every)
            return said[-MOST_SAID:]
    return ""


KINDS_OF_MEMORIES: Final[Mapping[tasks.TaskKind, WorkKind]] = {
    "compaction": WorkKind(_apps, _crowd, _let_go),
    "same_fact": WorkKind(_pairs, _pairs_given, _judge_pairs),
    "insight": WorkKind(_insights, _lately, _add_insights),
}
