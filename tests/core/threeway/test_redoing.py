"""What is right and what is wrong with the merge of one record."""

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pmem.core.threeway.record import merged
from pmem.core.threeway.redoing import Mismatch, Mistake, differences, redone
from pmem.core.threeway.shapes import SHAPES
from pmem.core.threeway.values import Doubt
from tests.core.threeway.sides import Json, on_every_store, sides
from tests.core.threeway.test_rules import BASE, LINK, day, edited, memory
from tests.effort import examples

MEMORY = SHAPES["long-term-memory"]

TAGGED = memory(tags=["a", "b"], relationships=[LINK], later_key=1)
OURS = edited(TAGGED, 2, importance=0.9, tags=["a", "b", "c"])
THEIRS = edited(TAGGED, 3, content="second", tags=["b"])
RIGHT = merged(TAGGED, OURS, THEIRS, MEMORY).result
assert RIGHT is not None


def judged(result: Json | None, *, base: Json | None = TAGGED, **both: Any) -> list[Mismatch]:
    parents = [both.get("ours", OURS), both.get("theirs", THEIRS)]
    return differences([base], parents, result, MEMORY)


@on_every_store
def test_what_the_driver_makes_is_right(store: str, seed: int) -> None:
    base, ours, theirs, _ = sides(seed, store)
    shape = SHAPES[store]
    for start in (base, None):
        result = merged(start, ours, theirs, shape).result
        assert result is not None
        assert differences([start], [ours, theirs], result, shape) == []


@on_every_store
def test_a_side_that_is_taken_whole_has_dropped_the_other(store: str, seed: int) -> None:
    base, ours, theirs, _ = sides(seed, store)
    for number, (side, other) in enumerate(((ours, theirs), (theirs, ours))):
        found = differences([base], [ours, theirs], side, SHAPES[store])
        assert found in ([], [Mismatch(Mistake.DROPPED_SIDE, 1 - number)])
        if any(event not in side.get("history", []) for event in other.get("history", [])):
            assert found != []


@settings(max_examples=examples(60))
@given(seed=st.integers(0, 2**32))
def test_nothing_in_the_result_makes_it_stumble(seed: int) -> None:
    base, ours, theirs, other = sides(seed, "conversations")
    for result in (other, {}, {"id": ours["id"]}, {**ours, "facts": 7}, {**ours, "history": [1]}):
        differences([base], [ours, theirs], result, SHAPES["conversations"])


def test_a_field_that_is_a_list_in_some_versions_only_is_compared_as_a_value() -> None:
    base = {**sides(1, "conversations")[0], "new": 1.0}
    changed = {**base, "new": ["a"]}
    assert differences([base], [changed, base], changed, SHAPES["conversations"]) == []
    found = differences([base], [changed, base], {**base, "new": ["b"]}, SHAPES["conversations"])
    assert [each.what for each in found] == [("new",)]


@pytest.mark.parametrize(
    ("change", "wanted"),
    [
        (lambda r: r, []),
        (
            lambda r: {**r, "importance": 0.5},
            [Mismatch(Mistake.DROPPED_FIELD, 0, ("importance",))],
        ),
        (
            lambda r: {**r, "tags": ["b"]},
            [Mismatch(Mistake.DROPPED_ITEMS, 0, ("tags 'c'",))],
        ),
        (
            lambda r: {**r, "tags": ["a", "b", "c"]},
            [Mismatch(Mistake.RESURRECTED_ITEMS, 1, ("tags 'a'",))],
        ),
        (
            lambda r: {**r, "tags": ["b", "c", "x"]},
            [Mismatch(Mistake.MIXED_RECORD, None, ("tags 'x'",))],
        ),
        (
            lambda r: {**r, "relationships": []},
            [Mismatch(Mistake.DROPPED_ITEMS, None, ("relationships 'b-00000001 updates'",))],
        ),
        (
            lambda r: {**r, "history": [e for e in r["history"] if e["at"] != day(2)]},
            [Mismatch(Mistake.DROPPED_ITEMS, 0, (f"history 'UPDATE of {day(2)}'",))],
        ),
        (
            lambda r: {**r, "later_key": 2},
            [Mismatch(Mistake.MIXED_RECORD, None, ("later_key",))],
        ),
        (
            lambda r: {**r, "id": "b-00000001"},
            [Mismatch(Mistake.MIXED_RECORD, None, ("id",))],
        ),
        (lambda r: OURS, [Mismatch(Mistake.DROPPED_SIDE, 1)]),
        (lambda r: THEIRS, [Mismatch(Mistake.DROPPED_SIDE, 0)]),
        (
            lambda r: TAGGED,
            [Mismatch(Mistake.DROPPED_SIDE, 0), Mismatch(Mistake.DROPPED_SIDE, 1)],
        ),
        (lambda r: None, [Mismatch(Mistake.LOST_RECORD, 0)]),
        (
            lambda r: {**r, "tags": 7},
            [Mismatch(Mistake.UNREADABLE_MERGE, None, ("tags is no list of str",))],
        ),
    ],
)
def test_every_mistake_has_its_name(
    change: Callable[[Json], Json | None], wanted: list[Mismatch]
) -> None:
    assert judged(change(dict(RIGHT or {}))) == wanted


def test_what_somebody_edits_after_the_merge_is_right() -> None:
    assert judged(edited(RIGHT or {}, 9, content="third", tags=["x"], importance=0.1)) == []


def test_recalls_after_the_merge_leave_no_event_and_are_right() -> None:
    last = {"access": {"count": 3, "last_at": day(9)}}
    assert judged({**(RIGHT or {}), **last}) == []


def test_an_edit_excuses_no_other_field() -> None:
    result = {**edited(RIGHT or {}, 9, content="third"), "importance": 0.5}
    assert judged(result) == [Mismatch(Mistake.DROPPED_FIELD, 0, ("importance",))]


def test_a_contradiction_is_kept_in_the_history_and_not_dropped() -> None:
    rival = edited(TAGGED, 4, content="third")
    kept = merged(TAGGED, THEIRS, rival, MEMORY).result
    assert kept is not None
    assert judged(kept, ours=rival) == []
    bare = {**kept, "history": kept["history"][:-1]}
    note = Mismatch(Mistake.DROPPED_ITEMS, None, (f"history 'MERGE of {day(4)}'",))
    assert judged(bare, ours=rival) == [note]


@pytest.mark.parametrize(
    ("base", "ours", "theirs", "result", "wanted"),
    [
        (BASE, None, BASE, None, []),
        (BASE, None, BASE, BASE, [Mismatch(Mistake.RESURRECTED_RECORD, 0)]),
        (BASE, None, None, BASE, [Mismatch(Mistake.RESURRECTED_RECORD, 0)]),
        (
            BASE,
            None,
            edited(BASE, 2, importance=0.9),
            None,
            [Mismatch(Mistake.LOST_RECORD, 1)],
        ),
        (BASE, None, edited(BASE, 2, importance=0.9), edited(BASE, 2, importance=0.9), []),
        (
            BASE,
            None,
            edited(BASE, 2, importance=0.9),
            {**edited(BASE, 2, importance=0.9), "importance": 0.5},
            [Mismatch(Mistake.DROPPED_FIELD, 1, ("importance",))],
        ),
        (None, BASE, None, BASE, []),
        (None, BASE, None, None, [Mismatch(Mistake.LOST_RECORD, 0)]),
        (None, None, None, BASE, []),
        (BASE, BASE, BASE, None, [Mismatch(Mistake.LOST_RECORD, 0)]),
    ],
)
def test_records_come_and_go_as_their_sides_say(
    base: Json | None,
    ours: Json | None,
    theirs: Json | None,
    result: Json | None,
    wanted: list[Mismatch],
) -> None:
    assert judged(result, base=base, ours=ours, theirs=theirs) == wanted


def test_more_than_two_branches_are_merged_one_after_the_other() -> None:
    third = edited(TAGGED, 5, category="elsewhere")
    whole = merged(TAGGED, RIGHT, third, MEMORY).result
    assert whole is not None
    bases = [TAGGED, TAGGED]
    assert differences(bases, [OURS, THEIRS, third], whole, MEMORY) == []
    assert differences(bases, [OURS, THEIRS, third], RIGHT, MEMORY) == [
        Mismatch(Mistake.DROPPED_FIELD, 2, ("category",)),
        Mismatch(Mistake.DROPPED_ITEMS, 2, (f"history 'UPDATE of {day(5)}'",)),
    ]


def test_where_branches_crossed_the_base_is_what_merging_their_bases_gives() -> None:
    one = edited(TAGGED, 2, importance=0.9)
    two = edited(TAGGED, 2, category="elsewhere")
    crossed = redone([TAGGED], [one, two], MEMORY)
    assert crossed is not None
    ours, theirs = (
        edited(crossed, 4, importance=0.5),
        edited(crossed, 5, category=TAGGED["category"]),
    )
    back = merged(crossed, ours, theirs, MEMORY).result
    assert differences([crossed], [ours, theirs], back, MEMORY) == []


def test_a_parent_that_is_no_record_cannot_be_held_to_anything() -> None:
    with pytest.raises(Doubt):
        judged(RIGHT, ours={"id": "x"})
