"""Episodes that tell of the same moment become one, and only so many stay."""

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Final

from pmem.core.duplicates import Relation, claim_of, compare
from pmem.core.lifecycle.draft import Draft
from pmem.core.lifecycle.merging import was_undone
from pmem.core.lifecycle.plan import Action
from pmem.core.lifecycle.presence import last_use
from pmem.core.lifecycle.states import moved
from pmem.core.retention import age_in_days, changed
from pmem.core.text.sentences import split_sentences
from pmem.core.trust import doubt, peers
from pmem.values.records import Episode, EventKind, State, TurnRange

OVERLAP: Final = 0.5
"""Share of the turns of two episodes together that both must tell of."""
_ENDS: Final = " ."
_JOINTS: Final = (", and ", ", so ", ", because ")
"""What stands behind a statement that goes on, and holds as it is."""


def merge_overlapping(draft: Draft, most_characters: int) -> None:
    """Merge the episodes of one kind that tell of the same turns of a conversation (S2).

    What is too long for a summary of so many characters stays in the merged episode only.
    """
    alike: dict[tuple[str, str], list[Episode]] = defaultdict(list)
    for episode in draft.active_episodes():
        if episode.conversation and episode.turns:
            alike[episode.conversation, episode.type].append(episode)
    for same_kind in alike.values():
        left = same_kind
        while len(left) > 1 and _merge_once(draft, left, most_characters):
            found = (draft.records[episode.id] for episode in left)
            left = [e for e in found if isinstance(e, Episode) and e.state is State.ACTIVE]


def _merge_once(draft: Draft, episodes: list[Episode], most_characters: int) -> bool:
    """Merge what overlaps as it is; a survivor tells of more turns, and may overlap with more."""
    starts = sorted((_turns(episode).start, place) for place, episode in enumerate(episodes))
    gone: set[str] = set()
    for first in sorted(episodes, key=_rank):
        if first.id in gone:
            continue
        turns = _turns(first)
        length = turns.end - turns.start + 1
        near = slice(
            bisect_left(starts, (turns.start - 2 * length, 0)),
            bisect_left(starts, (turns.end + 1, 0)),
        )
        same = [
            episode
            for episode in (episodes[place] for _, place in starts[near])
            if episode.id != first.id
            and episode.id not in gone
            and overlap(first, episode) >= OVERLAP
            and not was_undone(first, episode)
        ]
        if same:
            gone.update((first.id, *(episode.id for episode in same)))
            _merge(draft, first, sorted(same, key=_rank), most_characters)
    return bool(gone)


def _turns(episode: Episode) -> TurnRange:
    assert episode.turns is not None
    return episode.turns


def overlap(one: Episode, other: Episode) -> float:
    """Return the share of the turns of two episodes that both tell of, from 0 to 1."""
    if one.turns is None or other.turns is None:
        return 0.0
    start, end = max(one.turns.start, other.turns.start), min(one.turns.end, other.turns.end)
    first, last = min(one.turns.start, other.turns.start), max(one.turns.end, other.turns.end)
    return max(0, end - start + 1) / max(1, last - first + 1)


def archive_beyond(draft: Draft, most: int, half_life_days: float) -> None:
    """Archive the least present episodes of those that are too many (S2).

    Pinned ones stay in any case.
    """
    episodes = draft.active_episodes()
    free = sorted(
        (episode for episode in episodes if not episode.pinned),
        key=lambda episode: (_weight(episode, draft.now, half_life_days), episode.id),
    )
    for episode in free[: max(0, len(episodes) - most)]:
        weight = _weight(episode, draft.now, half_life_days)
        why = (
            f"one of the least present of {len(episodes)} episodes, and {most} stay:"
            f" significance {episode.significance:g}, with its age {weight:.2f}"
        )
        event = draft.event(EventKind.ARCHIVE, reason=why)
        draft.take(Action.ARCHIVE, why, moved(episode, event))


def _weight(episode: Episode, now: datetime, half_life_days: float) -> float:
    faded: float = 0.5 ** (age_in_days(last_use(episode), now) / half_life_days)
    return episode.significance * faded


def _rank(episode: Episode) -> tuple[int, bool, float, datetime, str]:
    worth = (not episode.pinned, -episode.significance, episode.created_at, episode.id)
    return (doubt(episode), *worth)


def _merge(draft: Draft, first: Episode, others: list[Episode], most: int) -> None:
    trusted = (first, *peers(first, others))  # only what is trusted as far is told by one
    ranges = [episode.turns for episode in (first, *others) if episode.turns]
    summary = _told_together(first, trusted[1:], most)
    survivor = changed(
        first,
        draft.event(EventKind.MERGE, merged=[episode.id for episode in others]),
        summary=summary,
        tokens=draft.count(summary),
        participants=_union(episode.participants for episode in trusted),
        linked_memories=_union(episode.linked_memories for episode in trusted),
        tags=_union(episode.tags for episode in trusted),
        outcome=next((episode.outcome for episode in trusted if episode.outcome), None),
        pinned=any(episode.pinned for episode in trusted),
        turns=TurnRange(
            start=min(turns.start for turns in ranges), end=max(turns.end for turns in ranges)
        ),
    )
    gone = [moved(other, draft.event(EventKind.MERGE, into=first.id)) for other in others]
    draft.take(Action.MERGE, "they tell of the same turns of a conversation", survivor, *gone)


def _told_together(first: Episode, others: Sequence[Episode], most: int) -> str:
    """Return a summary with what the others add to it."""
    told = {first.summary: claim_of(first.summary)}
    for other in others:
        text, claim = other.summary, claim_of(other.summary)
        known = any(
            _holds(one, text) or compare(claim, said).relation is Relation.DUPLICATE
            for one, said in told.items()
        )
        grown = {one: said for one, said in told.items() if not _holds(text, one)} | {text: claim}
        if not known and len(" ".join(grown)) <= most:
            told = grown
    return " ".join(told)


def _holds(longer: str, text: str) -> bool:
    """Tell whether each sentence of a text is one of another text, or goes on there."""
    known = _statements(longer)
    return all(
        said in known
        or any(one.startswith(tuple(said + joint for joint in _JOINTS)) for one in known)
        for said in _statements(text)
    )


def _statements(text: str) -> list[str]:
    return [sentence.strip(_ENDS).casefold() for sentence in split_sentences(text)]


def _union(lists: Iterable[tuple[str, ...]]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(item for items in lists for item in items))
