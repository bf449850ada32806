"""What a sweep does: remove what nobody uses, and delete what was removed long ago."""

from collections.abc import Iterable
from datetime import datetime
from typing import Final

import msgspec

from pmem.core.lifecycle.draft import Draft
from pmem.core.lifecycle.fading import FadingRules, half_life_of
from pmem.core.lifecycle.plan import Action, Kept, Touched, UpkeepPlan, UpkeepStep
from pmem.core.lifecycle.presence import last_use
from pmem.core.lifecycle.states import moved
from pmem.core.retention import age_in_days, changed, purge_time, unlinked
from pmem.values.records import Episode, EventKind, Memory, State

TTL_IMPORTANCE: Final = 0.3
"""Importance below which a sweep removes what is not used."""


class SweepRules(msgspec.Struct, frozen=True, kw_only=True):
    """What the settings say about sweeping; see `config.Settings`."""

    ttl_days: int
    purge_days: int
    fading: FadingRules


def plan(records: Iterable[Kept], rules: SweepRules, actor: str, now: datetime) -> UpkeepPlan:
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
