"""Which memories are worth a comparison, by their words alone."""

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pmem.core.lifecycle.candidates import (
    MOST_HOLDERS,
    MOST_WORDS,
    asked_keys,
    likeliest,
    promising,
    word_keys,
    words_of,
)
from pmem.core.lifecycle.neighbours import advice, may_meet
from pmem.values.records import Scope, State
from tests.conftest import NOW
from tests.storage.folders import memory

words = st.sampled_from(("alpha", "beta", "gamma", "delta"))
ids = st.lists(st.sampled_from("abcdefgh"), unique=True, max_size=8).map(sorted)


@given(st.text(max_size=80))
def test_words_are_few_and_the_same_whatever_the_case(text: str) -> None:
    found = words_of(text)
    assert len(found) <= MOST_WORDS
    assert not any(word.isdecimal() for word in found)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("The builds are kept for 30 days", {"build", "keep", "day"}),
        ("", set()),
        ("12 34", set()),
        ("It is what it is", set()),
        ("猫は台所", {"猫は", "は台", "台所"}),
    ],
)
def test_words_are_stems_without_numbers(text: str, found: set[str]) -> None:
    assert found == words_of(text)


def test_of_a_long_text_the_longest_words_count() -> None:
    text = " ".join("x" * length for length in range(2, 40))
    assert {"x" * length for length in range(40 - MOST_WORDS, 40)} == words_of(text)


def test_a_megabyte_of_anything_is_read_in_part() -> None:
    for piece in ("a", "a ", "猫", "a1-", "́", "{"):
        assert len(words_of(piece * 1_000_000)) <= MOST_WORDS


names = st.none() | st.sampled_from(("mira", "jonas", ""))
scopes = st.builds(Scope, app=names, user=names, agent=names, role=names)


@given(scopes, scopes)
def test_keys_lead_to_the_words_of_all_that_may_meet_and_to_no_others(
    one: Scope, other: Scope
) -> None:
    asked = set(asked_keys("alpha beta", one))
    found = asked & set(word_keys("alpha beta", other))
    assert bool(found) == may_meet(scope_of_words(one), scope_of_words(other))


def scope_of_words(scope: Scope) -> Scope:
    """Return what of a scope an index knows."""
    return Scope(app=scope.app, user=scope.user)


@given(scopes, scopes)
def test_who_meets_whom_is_mutual_and_does_not_ask_who_noted_it(one: Scope, other: Scope) -> None:
    assert may_meet(one, other) == may_meet(other, one)
    noted = msgspec.structs.replace(other, agent="somebody", actor="else", run="7")
    assert may_meet(one, noted) == may_meet(one, other)


@given(st.dictionaries(words, ids), st.integers(0, 5))
def test_who_shares_more_words_is_never_behind(holders: dict[str, list[str]], limit: int) -> None:
    found = likeliest(holders, limit)
    held = {id_: {word for word in holders if id_ in holders[word]} for id_ in "abcdefgh"}
    assert len(found) == min(limit, sum(map(bool, held.values())))
    for place, first in enumerate(found):
        assert not any(held[first] < held[later] for later in found[place + 1 :])


def test_rare_words_count_more_and_very_common_ones_nothing() -> None:
    many = [f"{number:03}" for number in range(MOST_HOLDERS)]
    assert likeliest({"rare": ["a"], "often": many}, 1) == ["a"]
    assert likeliest({"everywhere": [*many, "x"]}, 9) == []


def test_of_equals_the_newest_comes_first() -> None:
    assert likeliest({"word": ["a", "b", "c"]}, 2) == ["c", "b"]


def test_only_what_holds_now_for_the_same_people_is_promising() -> None:
    text = "The ledger keeps its entries"
    new = memory("9-aaaaaaaa", text)
    fine = memory("1-aaaaaaaa", text)
    others = [
        fine,
        new,
        memory("2-aaaaaaaa", text, state=State.ARCHIVED),
        memory("3-aaaaaaaa", text, scope=Scope(app="mail")),
        memory("4-aaaaaaaa", text, valid_until=NOW),
        memory("5-aaaaaaaa", "Something about a ledger, cats, dogs, birds and whales"),
    ]
    assert promising(new, others, NOW) == [fine]


@pytest.mark.parametrize("type_", ["updates", "contradicts"])
def test_there_is_advice_where_one_of_two_may_not_hold(type_: str) -> None:
    told = advice(type_, "1-aaaaaaaa", "2-bbbbbbbb")
    assert "`pmem edit aaaaaaaa --superseded-by bbbbbbbb`" in told
    assert not advice("related_to", "1-aaaaaaaa", "2-bbbbbbbb")
