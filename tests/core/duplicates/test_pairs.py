"""Among many memories: all that relate, found without comparing all, quick on hostile ones too."""

import random
from itertools import combinations, permutations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pmem.core.duplicates import Pair, Relation, claim_of, compare, pairs
from tests.benchmarks.duplicates import hostile
from tests.core.duplicates.test_compare import TEXTS
from tests.effort import examples
from tests.work import STALLED, calls, seconds

some = st.lists(st.sampled_from(TEXTS), max_size=12)
TOLD = (Relation.DUPLICATE, Relation.UPDATE, Relation.CONTRADICTION)


def found(contents: list[str], link_min: float = 0.3, most_links: int = 3) -> list[Pair]:
    """Return what relates among contents of one group."""
    claims = [claim_of(content) for content in contents]
    return pairs(claims, [0] * len(claims), link_min=link_min, most_links=most_links)


def relations(contents: list[str]) -> dict[tuple[int, int], Relation]:
    """Return by places what relates among contents of one group."""
    return {(pair.first, pair.second): pair.verdict.relation for pair in found(contents)}


@pytest.mark.row("S1.4.2", "S1.4.10")
@settings(max_examples=examples(60))
@given(some)
def test_duplicates_are_those_that_comparing_all_finds(contents: list[str]) -> None:
    claims = [claim_of(content) for content in contents]
    places = combinations(range(len(claims)), 2)
    expected = {(a, b) for a, b in places if compare(claims[a], claims[b]).relation == "duplicate"}
    assert expected == {key for key, kind in relations(contents).items() if kind == "duplicate"}


@settings(max_examples=examples(60))
@given(some)
def test_every_pair_is_what_comparing_it_says(contents: list[str]) -> None:
    claims = [claim_of(content) for content in contents]
    for pair in found(contents, link_min=0.0):
        verdict = compare(claims[pair.first], claims[pair.second])
        assert pair.first < pair.second
        assert pair.verdict.score <= verdict.score
        if pair.verdict.relation in TOLD:
            assert pair.verdict == verdict


@settings(max_examples=examples(60))
@given(some, st.randoms(use_true_random=False))
def test_the_order_of_memories_does_not_matter(contents: list[str], drawn: random.Random) -> None:
    contents = sorted(set(contents))
    mixed = drawn.sample(contents, len(contents))

    def by_text(texts: list[str]) -> set[tuple[frozenset[str], Relation, float]]:
        return {
            (frozenset((texts[a], texts[b])), verdict.relation, verdict.score)
            for a, b, verdict in found(texts)
        }

    assert by_text(contents) == by_text(mixed)


@settings(max_examples=examples(60))
@given(st.lists(st.sampled_from(TEXTS), min_size=1, max_size=12), st.data())
def test_one_claim_has_the_same_pairs_where_only_that_matters(
    contents: list[str], data: st.DataObject
) -> None:
    claims = [claim_of(content) for content in contents]
    one = data.draw(st.integers(0, len(claims) - 1))
    every, only = (
        pairs(claims, [0] * len(claims), link_min=0.2, most_links=len(claims), only=only)
        for only in (None, one)
    )
    of_one = [pair for pair in every if one in (pair.first, pair.second)]
    assert [pair for pair in only if one in (pair.first, pair.second)] == of_one


def test_a_new_claim_among_many_alike_is_compared_with_these_alone() -> None:
    words = "worker queue ledger vendor cache order export invoice".split()
    drawn = random.Random(3)
    claims = [claim_of(f"The service {' '.join(drawn.choices(words, k=6))}") for _ in range(120)]

    def work(only: int | None) -> int:
        return calls(lambda: pairs(claims, [0] * 120, link_min=0.3, most_links=120, only=only))

    assert 3 * work(119) < work(None)


def test_only_claims_of_one_group_are_compared() -> None:
    claims = [claim_of("We use Redis.")] * 4
    related = pairs(claims, ["a", "b", "a", "b"], link_min=0.3)
    assert [(pair.first, pair.second) for pair in related] == [(0, 2), (1, 3)]


def test_a_few_values_are_updates_and_many_are_a_series() -> None:
    few = [f"The limit of the gateway is {number}." for number in (10, 20, 30)]
    assert set(relations(few).values()) == {Relation.UPDATE}
    many = [f"Service {number} listens on port {8000 + number}." for number in range(20)]
    assert relations(many) == {}


def test_a_contradiction_is_found_within_a_series() -> None:
    series = [f"Service {number} is enabled." for number in range(40)]
    assert relations([*series, "Service 7 is disabled."]) == {(7, 40): Relation.CONTRADICTION}


def test_no_memory_has_more_than_its_share_of_neighbours() -> None:
    contents = [
        f"The {word} of the billing parser." for word in "size name owner age colour".split()
    ]
    contents += [f"Billing parser: {word}, too." for word in "fast strange ready quiet".split()]
    for most in (0, 1, 2):
        related = [pair for pair in found(contents, 0.2, most) if pair.verdict.relation not in TOLD]
        ends = [end for pair in related for end in (pair.first, pair.second)]
        assert max(map(ends.count, ends), default=0) == most


def test_a_value_of_two_letters_can_be_updated_and_a_pair_of_characters_cannot() -> None:
    contents = ["The billing parser is in VB.", "The billing parser is in QT."]
    assert relations(contents) == {(0, 1): Relation.UPDATE}
    assert Relation.UPDATE not in relations(["数据库备份", "数据库恢复"]).values()


def test_of_many_copies_each_is_paired_with_the_first() -> None:
    related = found(["We use Redis."] * 50)
    assert [(pair.first, pair.second) for pair in related] == [(0, place) for place in range(1, 50)]


def test_of_many_texts_with_the_same_words_each_is_compared_with_the_next() -> None:
    orders = list(permutations("in Oslo, for Linux, with Docker, on Friday, by Helm".split(", ")))
    contents = [f"The build runs {' '.join(order)}." for order in orders]
    assert len(found(contents[:24])) > 24
    assert len(found(contents[:25])) <= 24


@pytest.mark.long
@pytest.mark.parametrize("shape", sorted(hostile(1)))
def test_hostile_shapes_are_paired_in_near_linear_time(shape: str) -> None:
    few, many = (hostile(number)[shape] for number in (200, 2000))
    assert calls(lambda: found(many)) < 20 * calls(lambda: found(few))
    assert seconds(lambda: found(many)) < STALLED


@pytest.mark.long
@pytest.mark.parametrize(
    "piece",
    [
        "a ",
        "`",
        '"',
        "-",
        "-1",
        "not ",
        "用不",
        "x-",
        "é",
        "http://",
        "'",
        "1,",
        "👍",
        "or newer ",
        "was raised to ",
        "use a instead of ",
    ],
)
def test_a_megabyte_is_read_in_linear_time(piece: str) -> None:
    text = piece * (1_000_000 // len(piece.encode()))
    claim = claim_of(text)
    assert compare(claim, claim_of(text + "x")).relation is not Relation.DUPLICATE
    assert seconds(lambda: compare(claim_of(text), claim_of(text + "x"))) < STALLED
