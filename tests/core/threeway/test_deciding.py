"""What becomes of a record whose merge was left unfinished."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pmem.core.rawjson import NotJson, dump
from pmem.core.threeway.deciding import Versions, decide, version
from pmem.core.threeway.record import merged
from pmem.core.threeway.shapes import SHAPES
from pmem.core.threeway.values import Doubt
from tests.core.threeway.sides import Json, keeps_all, sides
from tests.core.threeway.test_rules import BASE, MEMORY, edited
from tests.effort import examples

STORES = st.sampled_from(sorted(SHAPES))
SEEDS = st.integers(0, 10**6)


def around(ours: bytes, base: bytes | None, theirs: bytes) -> bytes:
    """Put whole versions between markers."""
    middle = b"" if base is None else b"||||||| base\n" + base
    return b"<<<<<<< ours\n" + ours + middle + b"=======\n" + theirs + b">>>>>>> theirs\n"


@settings(max_examples=examples(60), deadline=None)
@given(seed=SEEDS, store=STORES)
def test_a_record_is_decided_as_the_driver_merges_it(seed: int, store: str) -> None:
    base, ours, theirs, _ = sides(seed, store)
    shape = SHAPES[store]
    for versions in (Versions(base, ours, theirs), Versions(None, ours, theirs)):
        wanted = merged(*versions, shape)
        found = decide(versions, shape)
        assert (found.result, found.conflicts) == (wanted.result, wanted.conflicts)
        assert all(field in found.why for field in wanted.conflicts)
        assert found.decision in ("merged", "taken")


@pytest.mark.parametrize(
    ("ours", "theirs", "why"),
    [
        (BASE, edited(BASE, 2, importance=0.6), "one side alone changed it"),
        (BASE, dict(reversed(BASE.items())), "both sides are the same"),
        (
            edited(BASE, 2, importance=0.6),
            edited(BASE, 3, importance=0.7),
            "both sides changed it; the later importance holds, the other is in its history",
        ),
        (
            edited(BASE, 2, importance=0.6),
            edited(BASE, 3, category="work"),
            "both sides changed it",
        ),
    ],
)
def test_a_decision_says_what_it_rests_on(ours: Json, theirs: Json, why: str) -> None:
    assert decide(Versions(BASE, ours, theirs), MEMORY).why == why


@settings(max_examples=examples(60), deadline=None)
@given(seed=SEEDS, store=STORES)
def test_without_a_base_every_text_tag_and_event_of_both_sides_is_kept(
    seed: int, store: str
) -> None:
    _, ours, theirs, _ = sides(seed, store)
    result = decide(Versions(None, ours, theirs), SHAPES[store]).result
    assert result is not None
    told = ("content", "title", "summary", "tags", "chunks", "participants", "history")
    shape = SHAPES[store]._replace(fields=told)
    only = [{name: side[name] for name in told if name in side} for side in (ours, theirs)]
    assert keeps_all(result, Versions(None, *only), shape)


@settings(max_examples=examples(60), deadline=None)
@given(seed=SEEDS, store=STORES, shown=st.booleans())
def test_a_version_with_markers_is_what_its_sides_merge_into(
    seed: int, store: str, shown: bool
) -> None:
    base, ours, theirs, _ = sides(seed, store)
    data = around(dump(ours), dump(base) if shown else None, dump(theirs))
    wanted = merged(base if shown else None, ours, theirs, SHAPES[store]).result
    assert version(data, SHAPES[store]) == wanted
    assert version(dump(ours), SHAPES[store]) == ours


def test_a_base_that_cannot_be_read_is_none() -> None:
    _, ours, theirs, _ = sides(4, "long-term-memory")
    wanted = merged(None, ours, theirs, SHAPES["long-term-memory"]).result
    data = around(dump(ours), b"no JSON\n", dump(theirs))
    assert version(data, SHAPES["long-term-memory"]) == wanted


PURGES: list[tuple[tuple[str | None, str | None, str | None], str | None, str]] = [
    (("a", None, None), None, "purged"),
    (("a", "a", None), None, "purged"),
    (("a", None, "b"), "b", "kept"),
    (("a", "b", None), "b", "kept"),
    ((None, "b", None), "b", "added"),
    ((None, None, "b"), "b", "added"),
]


@pytest.mark.parametrize(("texts", "left", "decision"), PURGES)
def test_a_purge_holds_unless_the_other_side_changed_the_record(
    texts: tuple[str | None, str | None, str | None], left: str | None, decision: str
) -> None:
    versions = Versions(*(None if text is None else {"content": text} for text in texts))
    found = decide(versions, SHAPES["long-term-memory"])
    assert found.decision == decision
    assert found.result == (None if left is None else {"content": left})


@pytest.mark.parametrize(
    "data", [b"", b"[]", b"<<<<<<< ours\n", b"<<<<<<< a\n{\n=======\n>>>>>>> b\n"]
)
def test_what_is_no_version_is_refused(data: bytes) -> None:
    with pytest.raises(NotJson):
        version(data, SHAPES["long-term-memory"])


def test_two_records_are_no_two_versions() -> None:
    one, other = ({**sides(1, "episodic-memory")[0], "id": f"{name}-00000000"} for name in "ab")
    with pytest.raises(Doubt):
        version(around(dump(one), None, dump(other)), SHAPES["episodic-memory"])
