"""Episodes that tell of the same turns become one, and only so many stay."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pmem.core.lifecycle.merging import archive_beyond, merge_overlapping, overlap
from pmem.core.lifecycle.plan import Action
from pmem.core.lifecycle.states import restored
from pmem.values.records import Episode, EpisodeType, EventKind, State, TurnRange
from tests.core.lifecycle.makers import crowds, draft_of, episode, event
from tests.work import WITHIN, calls


def merged(*episodes: Episode, most: int = 4000) -> list[Episode]:
    """Return episodes as they are after merging."""
    draft = draft_of(*episodes)
    merge_overlapping(draft, most)
    found = [draft.records[each.id] for each in episodes]
    return [each for each in found if isinstance(each, Episode)]


@pytest.mark.parametrize(
    ("one", "other", "share"),
    [
        ((1, 10), (1, 10), 1),
        ((1, 10), (11, 20), 0),
        ((1, 10), (6, 15), 5 / 15),
        ((1, 2), (2, 2), 0.5),
        ((1, 3), (5, 9), 0),
        ((4, 4), None, 0),
    ],
)
def test_overlap_is_the_share_of_turns_that_both_tell_of(
    one: tuple[int, int], other: tuple[int, int] | None, share: float
) -> None:
    assert overlap(episode(1, one), episode(2, other)) == share
    assert overlap(episode(2, other), episode(1, one)) == share


@pytest.mark.row("S2.9.2")
def test_what_the_merged_ones_held_is_in_the_survivor() -> None:
    first = episode(1, (1, 4), significance=0.9, tags=("a",), participants=("Ada",), summary="One.")
    second = episode(
        2, (2, 5), tags=("b", "a"), participants=("Bo",), summary="Two.", outcome="done"
    )
    third = episode(3, (1, 5), pinned=False, summary="One.", linked_memories=("m",))
    survivor, *others = merged(first, second, third)
    assert survivor.turns == TurnRange(start=1, end=5)
    assert (survivor.tags, survivor.participants) == (("a", "b"), ("Ada", "Bo"))
    assert (survivor.outcome, survivor.linked_memories) == ("done", ("m",))
    assert survivor.summary == "One. Two."
    assert [other.state for other in others] == [State.MERGED, State.MERGED]


@pytest.mark.row("S2.9.2")
@pytest.mark.parametrize(
    "more", [", and no wheat for the rolls", ", so we wait", ", because it lasts"]
)
def test_a_summary_that_another_one_holds_is_told_once(more: str) -> None:
    bread, more = "We chose rye bread", f"We chose rye bread{more}"
    for one, other in ((bread, more), (more, bread)):
        first = episode(1, (1, 4), significance=0.9, summary=one)
        survivor, _ = merged(first, episode(2, (2, 5), summary=other))
        assert survivor.summary == more


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("The deploy failed", "The deploy failed silently on one host"),
        ("The limit is 3", "The limit is 3.5 MB"),
        ("We use Kafka", "If Bo agrees, we use Kafka"),
        ("Tests were added", "No tests were added"),
        ("We cut the branch", "We cut the branch, or so we thought"),
    ],
)
def test_a_summary_whose_words_say_something_else_in_another_one_is_told(
    one: str, other: str
) -> None:
    for first, second in ((one, other), (other, one)):
        survivor, _ = merged(
            episode(1, (1, 4), significance=0.9, summary=first), episode(2, (2, 5), summary=second)
        )
        assert survivor.summary == f"{first} {second}"


def test_a_summary_that_would_grow_too_long_stays_where_it_was() -> None:
    parts = [episode(n, (1, 4), summary=chr(64 + n) * 10) for n in range(1, 5)]
    survivor, *others = merged(*parts, most=32)
    assert survivor.summary == "AAAAAAAAAA BBBBBBBBBB CCCCCCCCCC"
    assert others[-1].summary == "DDDDDDDDDD"


@pytest.mark.parametrize(
    "fields",
    [
        {"type": EpisodeType.PIVOT},
        {"conversation": "d-dddddddd"},
        {"conversation": None},
        {"turns": None},
        {"state": State.ARCHIVED},
        {"turns": TurnRange(start=4, end=9)},
    ],
)
def test_other_moments_stay_apart(fields: dict[str, Any]) -> None:
    other = episode(2, (1, 5))
    changed = episode(2, **{"turns": (1, 5), **fields}) if "turns" not in fields else None
    if changed is None:
        turns = fields["turns"]
        changed = episode(2, None if turns is None else (turns.start, turns.end))
    assert merged(episode(1, (1, 5)), changed) == [episode(1, (1, 5)), changed]
    assert merged(episode(1, (1, 5)), other)[1].state is State.MERGED


def test_a_survivor_takes_in_what_overlaps_with_all_that_it_tells_of_now() -> None:
    """The first and the third share too little until the second has joined them."""
    chain = [episode(1, (1, 10), significance=0.9), episode(2, (4, 13)), episode(3, (6, 16))]
    assert overlap(chain[0], chain[2]) < 0.5
    first, *others = merged(*chain)
    assert first.turns == TurnRange(start=1, end=16)
    assert {other.state for other in others} == {State.MERGED}


def test_what_was_brought_back_is_left_alone() -> None:
    first, gone = merged(episode(1, (1, 5)), episode(2, (1, 5)))
    back = restored(gone, event(EventKind.RESTORE))
    assert merged(first, back) == [first, back]


@given(crowds())
def test_merging_again_finds_nothing(crowd: list[Any]) -> None:
    once = merged(*(each for each in crowd if isinstance(each, Episode)))
    assert merged(*once) == once


@pytest.mark.row("S2.9.3")
@given(
    pinned=st.lists(st.booleans(), max_size=12),
    most=st.integers(1, 6),
)
def test_no_more_stay_than_may_but_for_the_pinned(pinned: list[bool], most: int) -> None:
    episodes = [
        episode(place, pinned=flag, significance=place / 20) for place, flag in enumerate(pinned)
    ]
    draft = draft_of(*episodes)
    archive_beyond(draft, most, 30)
    left = draft.active_episodes()
    assert len(left) == min(len(episodes), max(most, sum(pinned)))
    assert all(draft.records[each.id] == each for each in episodes if each.pinned)
    gone = [each for each in episodes if draft.records[each.id].state is State.ARCHIVED]
    free = [each for each in left if not each.pinned]
    assert all(out.significance < kept.significance for out in gone for kept in free)
    assert all(step.action is Action.ARCHIVE for step in draft.steps)


def test_thousands_of_episodes_of_one_conversation_take_no_time() -> None:
    episodes = [episode(n, (3 * n + 1, 3 * n + 3)) for n in range(3000)]
    assert merged(*episodes) == episodes
    assert calls(lambda: merged(*episodes)) < WITHIN * 300
