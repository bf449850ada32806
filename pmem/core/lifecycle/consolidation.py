"""Archive what has faded, merge what says the same, link the rest; remove what nobody uses.

Insights are noted with it: what the histories of a project's memories say that no single memory
does. Planning looks only at its arguments: the same records and moment give the same plan.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import datetime, timedelta
from itertools import chain, islice
from typing import Final, NamedTuple

import msgspec

from pmem.core.duplicates import Pair, Verdict, pairs
from pmem.core.filters import fold
from pmem.core.lifecycle import linking, merging
from pmem.core.lifecycle.linking import relationship
from pmem.core.lifecycle.merging import (
    ReadMemory,
    archive_beyond,
    crowded,
    gathered,
    left_alone,
    merge_overlapping,
    with_claims,
)
from pmem.core.lifecycle.neighbours import advice, concern_of
from pmem.core.lifecycle.plan import (
    SOURCE,
    Action,
    Draft,
    Kept,
    Links,
    Notice,
    Touched,
    UpkeepPlan,
    UpkeepStep,
    named,
)
from pmem.core.lifecycle.presence import FadingRules, half_life_of, last_use, presence, said_at
from pmem.core.lifecycle.states import closed, moved
from pmem.core.lines import shortened
from pmem.core.retention import (
    TAKES_BACK,
    age_in_days,
    changed,
    linked,
    purge_time,
    unlinked,
    valid_at,
)
from pmem.core.text.terms import terms
from pmem.core.threeway.history import SETTLED
from pmem.core.trust import inherited
from pmem.values.defaults import DEFAULT_IMPORTANCE
from pmem.values.ids import derived_id
from pmem.values.records import (
    Episode,
    EpisodeType,
    Event,
    EventKind,
    Memory,
    MemoryType,
    Source,
    State,
)
from pmem.values.times import iso

ARCHIVE_BELOW: Final = 0.3
"""Importance times presence below which an old memory is archived."""
MOST_PAIRS: Final = 500
"""The most pairs that one consolidation merges or links."""


class ConsolidationRules(msgspec.Struct, frozen=True, kw_only=True):
    """What the settings say about consolidation; see `config.Settings`."""

    fading: FadingRules
    consolidation_threshold_days: int
    max_episodes: int
    most_characters: int
    insights: bool
    max_pairs: int


def plan_consolidation(
    records: Iterable[Kept],
    rules: ConsolidationRules,
    actor: str,
    now: datetime,
    count: Callable[[str], int],
) -> UpkeepPlan:
    """Plan a consolidation.

    `records` are all memories and episodes, whatever their state, their recalls folded in.
    """
    draft = Draft(records, actor, now, count)
    archive_faded(draft, rules)
    known = comparable(draft)
    merged, waiting = merge_duplicates(draft, rules, known)
    known = as_planned(draft, known, merged)
    related = pairs(
        [one.claim for one in known],
        [concern_of(one.memory.scope) for one in known],
        link_min=linking.LINK_AT,
        most_links=linking.MOST_LINKS,
    )
    if not waiting:
        waiting = link_similar(draft, known, related, rules.max_pairs - len(merged))
    merge_overlapping(draft, rules.most_characters)
    archive_beyond(draft, rules.max_episodes, rules.fading.episodes)
    if rules.insights:
        note_insights(draft)
    return UpkeepPlan(
        steps=tuple(draft.steps),
        notices=(*left_alone(known, related), *_near(draft, known, related)),
        waiting=waiting,
    )


def archive_faded(draft: Draft, rules: ConsolidationRules) -> None:
    """Archive the memories that have faded."""
    for memory, _ in faded(draft.active(), draft.now, rules):
        days = (draft.now - last_use(memory)).days
        why = f"not used for {days:,} days (importance {memory.importance:g})"
        event = draft.event(EventKind.ARCHIVE, reason=why)
        draft.take(Action.ARCHIVE, why, moved(memory, event, valid_until=closed(memory, draft.now)))


def faded(
    active: Sequence[Memory], now: datetime, rules: ConsolidationRules, many: int | None = None
) -> list[tuple[Memory, float]]:
    """Return the memories that are due to be archived, each with its presence, by id.

    They are old, fade, and are hardly present (S2). Where all of them would leave fewer than the
    rules want to stay, those that count least go.

    `active` are all active memories, or at least those that have faded; then `many` says how many
    there are.
    """
    found = []
    for memory in active:
        half_life = half_life_of(memory, rules.fading)
        if half_life is None:
            continue
        left = presence(memory, now, half_life)
        is_old = age_in_days(memory.created_at, now) >= rules.consolidation_threshold_days
        if is_old and memory.importance * left < ARCHIVE_BELOW:
            found.append((memory, left))
    found.sort(key=lambda one: (one[0].importance * one[1], one[0].id))
    most = max(0, (len(active) if many is None else many) - rules.fading.least)
    return sorted(found[:most], key=lambda one: one[0].id)


def comparable(draft: Draft) -> list[ReadMemory]:
    """Return the active memories that hold now, with their claims, the longest said first.

    Insights are not among them: they are made of what the others say.
    """
    held = [
        memory
        for memory in draft.active()
        if valid_at(memory, draft.now) and not is_insight(memory)
    ]
    return with_claims(sorted(held, key=lambda memory: (said_at(memory), memory.id)))


def merge_duplicates(
    draft: Draft, rules: ConsolidationRules, known: list[ReadMemory]
) -> tuple[set[str], int]:
    """Merge the memories that say the same, each into the first by rank that it equals.

    Return the ids of what was merged, and how many more wait for the next run.
    """
    merged: set[str] = set()
    waiting = 0
    links = draft.leading_to()
    while known and not waiting:
        before = len(merged)
        for survivor, others in gathered(known):
            free = rules.max_pairs - len(merged)
            waiting += len(others[free:])
            if others[:free]:
                merged.update(memory.id for memory, _ in others[:free])
                _merge(draft, survivor, others[:free], links)
        if len(merged) == before:
            break
        known = crowded(as_planned(draft, known, merged))
    return merged, waiting


def as_planned(draft: Draft, known: Iterable[ReadMemory], gone: set[str]) -> list[ReadMemory]:
    """Return memories as they stand in the plan so far, without those that are gone."""
    return [ReadMemory(draft.memory(m.id), claim) for m, claim in known if m.id not in gone]


def link_similar(
    draft: Draft, known: Sequence[ReadMemory], related: Iterable[Pair], left: int
) -> int:
    """Link the memories that belong together: newer ones to the older ones that they are like.

    Return how many links are left for the next run.
    """
    waiting = 0
    for pair in related:
        older, newer = (draft.memory(known[place].memory.id) for place in pair[:2])
        ends = ((newer, older), (older, newer))
        if any(
            merging.was_cut(start, end.id)
            or any(link.target == end.id for link in start.relationships)
            for start, end in ends
        ):
            continue
        if left <= 0:
            waiting += 1
            continue
        left -= 1
        _link(draft, newer, older, pair.verdict)
    return waiting


def _link(draft: Draft, newer: Memory, older: Memory, verdict: Verdict) -> None:
    link = relationship(newer, older, verdict, draft.now)
    draft.take(
        Action.LINK,
        f"{link.type.replace('_', ' ')} {named(older)}: {verdict.reason}",
        linked(newer, link, draft.actor, draft.now),
        advice=advice(link.type, older.id, newer.id),
        rests_on=(older,),
    )


def _merge(
    draft: Draft, survivor: Memory, others: Sequence[tuple[Memory, str]], links: Links
) -> None:
    memories = [draft.memory(memory.id) for memory, _ in others]
    reasons = ", ".join(dict.fromkeys(reason for _, reason in others))
    by, at = draft.actor, draft.now
    whole = merging.absorbing(draft.memory(survivor.id), memories, by, at, reasons)
    news: dict[str, Memory] = {survivor.id: whole}
    for memory, (_, reason) in zip(memories, others, strict=True):
        news[memory.id] = merging.absorbed(memory, survivor.id, by, at, reason)
    for memory in memories:
        for start in sorted(links.get(memory.id, ())):
            known = news.get(start) or draft.records[start]
            if isinstance(known, Memory) and known.state is State.ACTIVE and start != survivor.id:
                new = merging.redirected(known, memory.id, survivor.id, draft.actor, draft.now)
                if new is not known:
                    news[start] = new
                    links[survivor.id].add(start)
    for link in whole.relationships:
        links[link.target].add(survivor.id)
    draft.take(Action.MERGE, reasons, *news.values())


def _near(draft: Draft, known: Sequence[ReadMemory], related: Iterable[Pair]) -> Iterator[Notice]:
    """Yield what a person may merge, as rules do not tell whether it says the same."""
    for pair in related:
        one, other = (draft.memory(known[place].memory.id) for place in pair[:2])
        if linking.say_nearly_the_same(one, other):
            yield Notice(
                records=(one.id, other.id),
                texts=(one.content, other.content),
                score=pair.verdict.score,
                why="they say nearly the same: `pmem inbox --kind duplicate` asks which to keep",
            )


TTL_IMPORTANCE: Final = 0.3
"""Importance below which a sweep removes what is not used."""


class SweepRules(msgspec.Struct, frozen=True, kw_only=True):
    """What the settings say about sweeping; see `config.Settings`."""

    ttl_days: int
    purge_days: int
    fading: FadingRules


def plan_sweep(records: Iterable[Kept], rules: SweepRules, actor: str, now: datetime) -> UpkeepPlan:
    """Plan a sweep."""
    draft = Draft(records, actor, now)
    expire_unused(draft, rules)
    purge_due(draft)
    return UpkeepPlan(steps=tuple(draft.steps))


def expire_unused(draft: Draft, rules: SweepRules) -> None:
    """Remove what fades, is unimportant and was not used for long (S1); it can be restored."""
    for _, record in sorted(draft.records.items()):
        if record.state is State.SOFT_DELETED or not _may_expire(record, rules):
            continue
        weight = record.importance if isinstance(record, Memory) else record.significance
        used = last_use(record)
        if weight < TTL_IMPORTANCE and age_in_days(used, draft.now) > rules.ttl_days:
            purge_at = purge_time(draft.now, rules.purge_days)
            why = (
                f"importance {weight:g} is below {TTL_IMPORTANCE:g},"
                f" last used {used:%Y-%m-%d}; can be restored until {purge_at:%Y-%m-%d}"
            )
            event = draft.event(EventKind.TTL, reason=why)
            draft.take(Action.EXPIRE, why, moved(record, event, purge_at=purge_at))


def _may_expire(record: Kept, rules: SweepRules) -> bool:
    if isinstance(record, Memory):
        return half_life_of(record, rules.fading) is not None
    return not record.pinned


def purge_due(draft: Draft) -> None:
    """Delete for good what was removed and whose time to be restored is over.

    Every link to it goes in the same step.
    """
    due = [
        record
        for _, record in sorted(draft.records.items())
        if record.state is State.SOFT_DELETED
        and record.purge_at is not None
        and record.purge_at <= draft.now
    ]
    gone = {record.id for record in due}
    links = draft.leading_to()
    for record in due:
        assert record.purge_at is not None
        others = [draft.records[id_] for id_ in sorted(links[record.id] - gone)]
        cut = [Touched(old=other, new=_without_target(draft, other, record.id)) for other in others]
        draft.records.update((part.new.id, part.new) for part in cut if part.new)
        draft.steps.append(
            UpkeepStep(
                action=Action.PURGE,
                why=f"removed, and the time to restore it was over on {record.purge_at:%Y-%m-%d}",
                touched=(Touched(old=record, new=None), *cut),
            )
        )


def _without_target(draft: Draft, record: Kept, target: str) -> Kept:
    if isinstance(record, Episode):
        kept = tuple(id_ for id_ in record.linked_memories if id_ != target)
        return changed(record, draft.event(EventKind.UNLINK), linked_memories=kept)
    return unlinked(record, (target,), None, draft.actor, draft.now)


CATEGORY: Final = "relationship_dynamic"  # as S1 has it
MOST: Final = 3
"""Insights of one run."""
TIMES: Final = 3
"""How often something must have happened to say something."""
PERIOD: Final = timedelta(days=30)
"""How far back insights look."""
PAUSE: Final = timedelta(hours=24)
"""No insight follows another one sooner."""
_NAME_CHARACTERS: Final = 80
_QUOTED_CHARACTERS: Final = 160


class Insight(NamedTuple):
    """Something noticed: what kind, what about, in words, and in which records."""

    kind: str
    topic: str
    content: str
    seen_in: tuple[Memory | Episode, ...]


def note_insights(draft: Draft) -> None:
    """Add the insights that the draft's records give."""
    known = [
        record
        for record in draft.records.values()
        if isinstance(record, Memory)
        and is_insight(record)
        and draft.now - record.created_at < PERIOD
    ]
    if any(draft.now - memory.created_at < PAUSE for memory in known):
        return
    told = {memory.tags for memory in known}
    found = chain(_unsettled(draft), _recurring(draft))
    for insight in islice((new for new in found if (new.kind, new.topic) not in told), MOST):
        draft.take(Action.INSIGHT, _WHY[insight.kind], _make_insight_memory(draft, insight))


_WHY: Final = {
    "unsettled": "what is known about it keeps changing",
    "recurring": "problems like this one keep coming up",
}
"""Why an insight is noted, by its kind."""


def is_insight(memory: Memory) -> bool:
    """Tell whether upkeep has noted a memory by itself."""
    return memory.type is MemoryType.INSIGHT and memory.source.kind == SOURCE


def _unsettled(draft: Draft) -> Iterator[Insight]:
    """Yield the subjects whose memories keep changing, those that change most first."""
    changes: dict[str, list[datetime]] = defaultdict(list)
    about: dict[str, list[Memory]] = defaultdict(list)
    for _, record in sorted(draft.records.items()):
        if isinstance(record, Memory) and record.subject:
            about[fold(record.subject)].append(record)
            changes[fold(record.subject)] += [
                event.at
                for event in record.history
                if _is_change(event) and draft.now - event.at < PERIOD
            ]
    for topic in sorted(changes, key=lambda topic: (-len(changes[topic]), topic)):
        if len(changes[topic]) >= TIMES:
            yield Insight(
                "unsettled",
                topic[:_NAME_CHARACTERS],
                f"{_quote_title(about[topic][-1].subject or '')} changed {len(changes[topic])}"
                f" times since {min(changes[topic]):%Y-%m-%d}; check which value holds.",
                tuple(about[topic]),
            )


def _recurring(draft: Draft) -> Iterator[Insight]:
    """Yield problems whose titles have a word in common; each problem counts once."""
    issues = [
        episode
        for episode in draft.active_episodes()
        if episode.type is EpisodeType.ISSUE_IDENTIFIED and draft.now - episode.created_at < PERIOD
    ]
    words = {episode.id: set(terms(episode.title)) for episode in issues}
    counts = Counter(word for found in words.values() for word in found if len(word) > 2)
    for topic, count in sorted(counts.items(), key=lambda item: (-item[1], item[0])):
        alike = [episode for episode in issues if topic in words[episode.id]]
        if count >= TIMES and len(alike) >= TIMES:
            issues = [episode for episode in issues if episode not in alike]
            first, *_, last = sorted(alike, key=lambda episode: (episode.created_at, episode.id))
            yield Insight(
                "recurring",
                topic[:_NAME_CHARACTERS],
                f'Problems such as "{_quote_title(last.title)}" came up {len(alike)} times'
                f" since {first.created_at:%Y-%m-%d}.",
                tuple(alike),
            )


def _quote_title(text: str) -> str:
    """Return a name or a title on one line, so short that the sentence around it has room."""
    return shortened(" ".join(text.split()), _QUOTED_CHARACTERS)


def _is_change(event: Event) -> bool:
    """Tell whether an event gave a text a new value; one that was undone or resolved had it."""
    if event.event is EventKind.UPDATE and "content" in event.before:
        return event.detail.keys().isdisjoint({TAKES_BACK, SETTLED})
    return event.event is EventKind.ADD and "supersedes" in event.detail


def _make_insight_memory(draft: Draft, insight: Insight) -> Memory:
    noted = draft.event(EventKind.ADD, **inherited(*insight.seen_in))
    return Memory(
        id=derived_id(draft.now, SOURCE, insight.kind, insight.topic, iso(draft.now)),
        type=MemoryType.INSIGHT,
        content=insight.content,
        category=CATEGORY,
        tags=(insight.kind, insight.topic),
        importance=DEFAULT_IMPORTANCE[MemoryType.INSIGHT],
        valid_from=draft.now,
        source=Source(kind=SOURCE),
        created_at=draft.now,
        updated_at=draft.now,
        tokens=draft.count(insight.content),
        history=(noted,),
    )
