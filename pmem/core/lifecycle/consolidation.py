"""What consolidation does: archive what has faded, merge what says the same, link the rest.

Planning looks only at its arguments: the same memories and the same moment give the same plan.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import datetime
from typing import Final

import msgspec

from pmem.core.duplicates import Pair, Verdict, pairs
from pmem.core.lifecycle import linking, merging
from pmem.core.lifecycle.draft import Draft, Links
from pmem.core.lifecycle.episodes import archive_beyond, merge_overlapping
from pmem.core.lifecycle.fading import FadingRules, half_life_of
from pmem.core.lifecycle.insights import is_insight, note_insights
from pmem.core.lifecycle.linking import relationship
from pmem.core.lifecycle.neighbours import advice
from pmem.core.lifecycle.plan import Action, Kept, Notice, UpkeepPlan, named
from pmem.core.lifecycle.presence import last_use, presence, said_at
from pmem.core.lifecycle.similar import (
    Similar,
    crowded,
    gathered,
    left_alone,
    similar,
    texts_of,
)
from pmem.core.lifecycle.states import closed, moved
from pmem.core.retention import age_in_days, linked, valid_at
from pmem.values.records import EventKind, Memory, State

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


def plan(
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
    judged = merge_duplicates(draft, rules, known)
    known = as_planned(draft, known.without(judged.merged))
    concerns = known.concerns
    related = pairs(known.claims, concerns, link_min=linking.LINK_AT, most_links=linking.MOST_LINKS)
    waiting = judged.waiting
    if not waiting:
        waiting = link_similar(draft, known, related, rules.max_pairs - len(judged.merged))
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


def comparable(draft: Draft) -> Similar:
    """Return the active memories that hold now, with their claims, the longest said first.

    Insights are not among them: they are made of what the others say.
    """
    held = [
        memory
        for memory in draft.active()
        if valid_at(memory, draft.now) and not is_insight(memory)
    ]
    return similar(sorted(held, key=lambda memory: (said_at(memory), memory.id)))


class PairJudgement(msgspec.Struct, frozen=True):
    """The ids of what was merged, and how many more wait for the next run."""

    merged: set[str]
    waiting: int


def merge_duplicates(draft: Draft, rules: ConsolidationRules, known: Similar) -> PairJudgement:
    """Merge the memories that say the same, each into the first by rank that it equals."""
    merged: set[str] = set()
    waiting = 0
    links = draft.leading_to()
    while known.memories and not waiting:
        before = len(merged)
        for survivor, others in gathered(known, texts_of(known)):
            free = rules.max_pairs - len(merged)
            waiting += len(others[free:])
            if others[:free]:
                merged.update(memory.id for memory, _ in others[:free])
                _merge(draft, survivor, others[:free], links)
        if len(merged) == before:
            break
        known = as_planned(draft, crowded(known.without(merged)))
    return PairJudgement(merged, waiting)


def as_planned(draft: Draft, known: Similar) -> Similar:
    """Return memories as they stand in the plan so far."""
    return Similar([draft.memory(memory.id) for memory in known.memories], known.claims)


def link_similar(draft: Draft, known: Similar, related: Iterable[Pair], left: int) -> int:
    """Link the memories that belong together: newer ones to the older ones that they are like.

    Returns:
        How many links are left for the next run.
    """
    waiting = 0
    for pair in related:
        older, newer = (draft.memory(known.memories[place].id) for place in pair[:2])
        if _is_linked(newer, older) or _was_cut(newer, older):
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


def _near(draft: Draft, known: Similar, related: Iterable[Pair]) -> Iterator[Notice]:
    """Yield what a person may merge, as rules do not tell whether it says the same."""
    for pair in related:
        one, other = (draft.memory(known.memories[place].id) for place in pair[:2])
        if linking.say_nearly_the_same(one, other):
            yield Notice(
                records=(one.id, other.id),
                texts=(one.content, other.content),
                score=pair.verdict.score,
                why="they say nearly the same: `pmem inbox --kind duplicate` asks which to keep",
            )


def _is_linked(one: Memory, other: Memory) -> bool:
    return any(link.target == other.id for link in one.relationships) or any(
        link.target == one.id for link in other.relationships
    )


def _was_cut(one: Memory, other: Memory) -> bool:
    return merging.was_cut(one, other.id) or merging.was_cut(other, one.id)
