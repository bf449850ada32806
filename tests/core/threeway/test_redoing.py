"""What is right and what is wrong with the merge of one record."""

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pmem.core.threeway.record import merged
from pmem.core.threeway.redoing import Mismatch, Mistake, mismatch
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


LOST, RESURRECTED, DIFFERS = Mistake.LOST, Mistake.RESURRECTED, Mistake.DIFFERS


def judged(result: Json | None, *, base: Json | None = TAGGED, **both: Any) -> Mismatch | None:
    parents = both.get("ours", OURS), both.get("theirs", THEIRS)
    return mismatch(base, parents, result, MEMORY)


@on_every_store
def test_what_the_driver_makes_is_right(store: str, seed: int) -> None:
    base, ours, theirs, _ = sides(seed, store)
    shape = SHAPES[store]
    for start in (base, None):
        result = merged(start, ours, theirs, shape).result
        assert result is not None
        assert mismatch(start, (ours, theirs), result, shape) is None


@on_every_store
def test_a_side_that_is_taken_whole_has_dropped_the_other(store: str, seed: int) -> None:
    base, ours, theirs, _ = sides(seed, store)
    for number, (side, other) in enumerate(((ours, theirs), (theirs, ours))):
        found = mismatch(base, (ours, theirs), side, SHAPES[store])
        assert found in (None, Mismatch(DIFFERS, 1 - number))
        if any(event not in side.get("history", []) for event in other.get("history", [])):
            assert found is not None


@settings(max_examples=examples(60))
@given(seed=st.integers(0, 2**32))
def test_nothing_in_the_result_makes_it_stumble(seed: int) -> None:
    base, ours, theirs, other = sides(seed, "conversations")
    for result in (other, {}, {"id": ours["id"]}, {**ours, "facts": 7}, {**ours, "history": [1]}):
        mismatch(base, (ours, theirs), result, SHAPES["conversations"])


def test_a_field_that_is_a_list_in_some_versions_only_is_compared_as_a_value() -> None:
    base = {**sides(1, "conversations")[0], "new": 1.0}
    changed = {**base, "new": ["a"]}
    assert mismatch(base, (changed, base), changed, SHAPES["conversations"]) is None
    found = mismatch(base, (changed, base), {**base, "new": ["b"]}, SHAPES["conversations"])
    assert found == Mismatch(DIFFERS, 0, ("new",))


def test_what_a_side_removed_or_changed_is_missed_in_a_conversation_that_goes_on_too() -> None:
    shape = SHAPES["conversations"]
    one, two, more = ({"id": f"f-0000000{n}", "standing": "pending"} for n in (1, 2, 3))
    base = {**sides(1, "conversations")[0], "facts": [one, two]}
    ours = {**base, "facts": [{**one, "standing": "rejected"}]}
    right = merged(base, ours, base, shape).result
    assert right is not None
    assert [fact["id"] for fact in right["facts"]] == [one["id"]]
    later = {**right, shape.time: "2027-01-01T00:00:00Z"}
    for facts, wanted in (
        ([*right["facts"], more], None),
        ([*right["facts"], two], Mismatch(DIFFERS, 0, ("facts",))),
        ([one], Mismatch(DIFFERS, 0, ("facts",))),
    ):
        assert mismatch(base, (ours, base), {**later, "facts": facts}, shape) == wanted


@pytest.mark.parametrize(
    ("change", "wanted"),
    [
        (lambda r: r, None),
        (lambda r: {**r, "tags": r["tags"][::-1], "later_list": []}, None),
        (lambda r: {**r, "importance": 0.5}, Mismatch(DIFFERS, 0, ("importance",))),
        (lambda r: {**r, "tags": ["b"]}, Mismatch(DIFFERS, None, ("tags",))),
        (lambda r: {**r, "tags": ["a", "b", "c"]}, Mismatch(DIFFERS, None, ("tags",))),
        (lambda r: {**r, "tags": ["b", "c", "x"]}, Mismatch(DIFFERS, None, ("tags",))),
        (lambda r: {**r, "relationships": []}, Mismatch(DIFFERS, 0, ("relationships",))),
        (
            lambda r: {**r, "history": [e for e in r["history"] if e["at"] != day(2)]},
            Mismatch(DIFFERS, None, ("history",)),
        ),
        (lambda r: {**r, "later_key": 2}, Mismatch(DIFFERS, 0, ("later_key",))),
        (lambda r: {**r, "id": "b-00000001"}, Mismatch(DIFFERS, 0, ("id",))),
        (lambda r: OURS, Mismatch(DIFFERS, 1)),
        (lambda r: THEIRS, Mismatch(DIFFERS, 0)),
        (lambda r: TAGGED, Mismatch(DIFFERS, 0)),
        (lambda r: None, Mismatch(LOST, 0)),
        (lambda r: {**r, "tags": 7}, Mismatch(LOST, None, ("tags is no list of str",))),
        # what was changed with pmem since the merge
        (lambda r: edited(r, 9, content="third", tags=["x"], importance=0.1), None),
        (lambda r: {**r, "access": {"count": 3, "last_at": day(9)}}, None),
        (
            lambda r: {**edited(r, 9, content="third"), "importance": 0.5},
            Mismatch(DIFFERS, 0, ("importance",)),
        ),
    ],
)
def test_every_mistake_is_found_and_what_was_edited_since_is_right(
    change: Callable[[Json], Json | None], wanted: Mismatch | None
) -> None:
    assert judged(change(dict(RIGHT or {}))) == wanted


def test_a_contradiction_is_kept_in_the_history_and_not_dropped() -> None:
    rival = edited(TAGGED, 4, content="third")
    kept = merged(TAGGED, THEIRS, rival, MEMORY).result
    assert kept is not None
    assert judged(kept, ours=rival) is None
    bare = {**kept, "history": kept["history"][:-1]}
    assert judged(bare, ours=rival) == Mismatch(DIFFERS, None, ("history",))


CHANGED = edited(BASE, 2, importance=0.9)


@pytest.mark.parametrize(
    ("base", "ours", "theirs", "result", "wanted"),
    [
        (BASE, None, BASE, None, None),
        (BASE, None, BASE, BASE, Mismatch(RESURRECTED, 0)),
        (BASE, None, None, BASE, Mismatch(RESURRECTED, 0)),
        (BASE, None, CHANGED, None, Mismatch(LOST, 1)),
        (BASE, None, CHANGED, CHANGED, None),
        (
            BASE,
            None,
            CHANGED,
            {**CHANGED, "importance": 0.5},
            Mismatch(DIFFERS, 1, ("importance",)),
        ),
        (None, BASE, None, BASE, None),
        (None, BASE, None, None, Mismatch(LOST, 0)),
        (None, None, None, BASE, None),
        (BASE, BASE, BASE, None, Mismatch(LOST, 0)),
    ],
)
def test_records_come_and_go_as_their_sides_say(
    base: Json | None,
    ours: Json | None,
    theirs: Json | None,
    result: Json | None,
    wanted: Mismatch | None,
) -> None:
    assert judged(result, base=base, ours=ours, theirs=theirs) == wanted


def test_a_parent_that_is_no_record_cannot_be_held_to_anything() -> None:
    with pytest.raises(Doubt):
        judged(RIGHT, ours={"id": "x"})
