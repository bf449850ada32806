"""What two memories are to each other: on labelled pairs, and on any text."""

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pmem.core.duplicates import Relation, claim_of, compare
from tests.core.duplicates.labelled import LOOKALIKES, SETS, Labelled, is_same

ALL = [each for labelled in SETS.values() for each in labelled]
TEXTS = sorted({text for each in ALL for text in (each.one, each.other)})
written = (
    st.sampled_from(TEXTS) | st.text(max_size=60) | st.text("aBs1-'’`\"./,:@_ ?不三nt", max_size=20)
)
by_set = pytest.mark.parametrize("labelled", SETS.values(), ids=SETS)


def relation(each: Labelled) -> Relation:
    """Return what a labelled pair is found to be."""
    return compare(claim_of(each.one), claim_of(each.other)).relation


@by_set
def test_nothing_else_is_taken_for_a_duplicate(labelled: list[Labelled]) -> None:
    merged = [each for each in labelled if relation(each) is Relation.DUPLICATE]
    assert [each for each in merged if not is_same(each.kind)] == []


@pytest.mark.parametrize("lookalike", LOOKALIKES, ids=lambda each: each.one)
def test_lookalikes_are_told_apart(lookalike: Labelled) -> None:
    assert relation(lookalike) is not Relation.DUPLICATE


@by_set
def test_most_of_what_says_the_same_is_a_duplicate(labelled: list[Labelled]) -> None:
    same = [each for each in labelled if is_same(each.kind)]
    found = sum(relation(each) is Relation.DUPLICATE for each in same)
    assert found / len(same) >= 0.7


@pytest.mark.parametrize(
    ("kind", "expected", "least"),
    [
        ("update", Relation.UPDATE, 0.95),
        ("contradiction", Relation.CONTRADICTION, 0.9),
        ("neighbour", Relation.NEIGHBOUR, 0.95),
        ("unrelated", Relation.DISTINCT, 1.0),
    ],
)
def test_most_of_each_kind_is_recognised(kind: str, expected: Relation, least: float) -> None:
    found = Counter(relation(each) for each in ALL if each.kind == kind)
    assert found[expected] / found.total() >= least


@pytest.mark.parametrize(
    ("one", "other", "reason"),
    [
        ("We use Redis.", "we use redis", "the same words"),
        (
            "For sessions we use Redis.",
            "We use Redis for sessions.",
            "the same words in another order",
        ),
        ("Docs are kept in Git.", "We store the documentation in Git.", "the same in other words"),
        ("The limit is 10.", "The limit is 20.", "10 became 20"),
        ("We use Redis for sessions.", "We use Memcached for sessions.", "redis became memcached"),
        ("超时是十秒", "超时是三十秒", "十 became 三十"),
        ("Guests can vote.", "Guests cannot vote.", "one says not"),
        ("Guests can vote.", "Guests must vote.", "both on guest and vote"),
        ("Dogs may travel on deck", "Dogs must not travel on deck", "one says not"),
        ("Bicycles board first", "Bicycles board last", "first became last"),
        ("We print boards with cairo", "We print boards with skia", "cairo became skia"),
        ("The API is public.", "The API is private.", "public against private"),
        ("Kafka topics have owners.", "Kafka topics are named by team.", "both on kafka and topic"),
        ("We use Redis.", "Lunch is late.", "nothing in common"),
    ],
)
def test_a_reason_is_given_in_plain_words(one: str, other: str, reason: str) -> None:
    assert compare(claim_of(one), claim_of(other)).reason == reason


@pytest.mark.row("S1.4.5")
@given(st.integers(0, 23), st.integers(0, 59), st.integers(0, 23), st.integers(0, 59))
def test_f68_a_time_of_day_is_one_whether_it_counts_to_12_or_to_24(
    hour: int, minute: int, other: int, later: int
) -> None:
    half, short = ("am", "pm")[hour >= 12], hour % 12 or 12
    told = claim_of(f"The sync runs at {short}:{minute:02d} {half}.")
    wanted = Relation.DUPLICATE if (hour, minute) == (other, later) else Relation.UPDATE
    assert compare(told, claim_of(f"The sync runs at {hour:02d}:{minute:02d}.")).relation == (
        Relation.DUPLICATE
    )
    assert compare(told, claim_of(f"The sync runs at {other}:{later:02d}.")).relation == wanted


def test_scores_fall_from_duplicates_to_strangers() -> None:
    first = claim_of("The cache of the login service keeps tokens for 10 minutes.")
    others = (
        "The cache of the login service keeps tokens for 10 minutes!",
        "The cache of the login service never keeps tokens for 10 minutes.",
        "The cache of the login service keeps tokens for 20 minutes.",
        "The login service keeps a cache of sessions.",
        "Login is slow.",
        "The office is in Vienna.",
    )
    scores = [compare(first, claim_of(other)).score for other in others]
    assert scores == sorted(scores, reverse=True)
    assert scores[0] == 1.0
    assert scores[-1] == 0.0


@given(written)
def test_a_text_is_a_duplicate_of_itself(text: str) -> None:
    verdict = compare(claim_of(text), claim_of(text))
    assert (verdict.relation, verdict.score) == (Relation.DUPLICATE, 1.0)


@given(written, written)
def test_the_order_of_two_does_not_matter(one: str, other: str) -> None:
    there, back = compare(claim_of(one), claim_of(other)), compare(claim_of(other), claim_of(one))
    assert (there.relation, there.score) == (back.relation, back.score)
    assert 0 <= there.score <= 1


@given(written)
def test_case_space_and_a_full_stop_do_not_matter(text: str) -> None:
    plain = " ".join(text.split()).rstrip(".!")
    if plain and "`" not in plain and plain.isascii() and plain.islower():
        assert compare(claim_of(plain), claim_of(f"  {plain}.")).relation is Relation.DUPLICATE
