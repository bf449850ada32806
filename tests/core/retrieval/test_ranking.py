"""What a ranking promises: bounds, order, filters, priors, speakers, prefixes."""

import random
from collections.abc import Collection
from typing import Any

import pytest
from msgspec.structs import replace

from pmem.core.retrieval.collection import MemoryStatistics
from pmem.core.retrieval.evidence import Accept
from pmem.core.retrieval.factors import DEFAULTS, RankingSettings, Weights
from pmem.core.retrieval.ranked import RankedDocument, total
from pmem.core.retrieval.ranking import Ranking, rank, rank_by_sum
from pmem.core.retrieval.related_words import related
from pmem.core.text.terms import terms
from pmem.errors import InvalidValue
from tests.core.retrieval.stores import (
    NOW,
    QUESTIONS,
    add,
    random_documents,
    random_store,
    store_of,
)
from tests.work import STALLED, seconds

EVERY_QUESTION = pytest.mark.parametrize("question", QUESTIONS)


def numbers(hits: list[RankedDocument]) -> list[int]:
    return [hit.number for hit in hits]


def only(chosen: Collection[int]) -> Accept:
    allowed = set(chosen)
    return lambda found: [number for number in found if number in allowed]


@EVERY_QUESTION
def test_the_parts_shown_make_the_score_to_the_bit(question: str) -> None:
    for seed in range(4):
        for hit in rank(question, random_store(seed), now=NOW).hits:
            assert hit.score == total(hit.signals)
            assert 0.0 < hit.score <= 1.0
            assert all(0.0 <= value <= 1.0 for value in hit.signals.values())


@EVERY_QUESTION
def test_the_parts_of_a_weighted_sum_make_its_score(question: str) -> None:
    for seed in range(4):
        weights = Weights(*(random.Random(seed).random() for _ in Weights._fields))
        for hit in rank_by_sum(question, random_store(seed), weights, now=NOW).hits:
            assert hit.score == sum(hit.signals.values())
            assert 0.0 <= hit.score <= 1.0
            assert set(hit.signals) == set(Weights._fields)


@EVERY_QUESTION
def test_hits_fall_in_score_and_equal_ones_come_by_number(question: str) -> None:
    for seed in range(4):
        found = rank(question, random_store(seed), now=NOW)
        assert found.hits == sorted(found.hits, key=lambda hit: (-hit.score, hit.number))
        assert len(set(numbers(found.hits))) == len(found.hits) == found.total


@EVERY_QUESTION
def test_the_order_in_which_documents_came_changes_nothing(question: str) -> None:
    """Numbers tell documents apart; places tell their order within a session."""
    for seed in range(4):
        made = list(enumerate(random_documents(seed)))
        expected = rank(question, random_store(seed), now=NOW)
        random.Random(seed).shuffle(made)
        store = MemoryStatistics()
        for number, (text, facts) in made:
            add(store, number, text, **facts)
        found = rank(question, store, now=NOW)
        assert numbers(expected.hits) == numbers(found.hits)
        for hit, twin in zip(expected.hits, found.hits, strict=True):
            assert hit.score == pytest.approx(twin.score, abs=1e-9)


@pytest.mark.some(5)
@EVERY_QUESTION
def test_fewer_hits_are_the_first_of_more(question: str) -> None:
    """Also for questions about several things: their pool has 200 hits or all there are."""
    for seed in range(3):
        store = random_store(seed, 180)
        everything = rank(question, store, now=NOW)
        for limit in (1, 3, 10, 100):
            found = rank(question, store, now=NOW, limit=limit)
            assert everything.hits[:limit] == found.hits
            assert everything.total == found.total


@pytest.mark.parametrize("limit", [3, 60, 100])
def test_the_first_hundred_of_a_mixed_answer_do_not_depend_on_how_many_are_asked(
    limit: int,
) -> None:
    """Twice as many as asked are mixed, at least 200; so beyond 100 the mix may differ."""
    store = random_store(1, 600)
    many = rank("What apples has Ann seen by the river?", store, limit=100)
    assert many.total > 400
    found = rank("What apples has Ann seen by the river?", store, limit=limit)
    assert many.hits[:limit] == found.hits


@EVERY_QUESTION
@pytest.mark.parametrize("by_sum", [False, True])
def test_what_a_filter_rejects_is_never_found(question: str, by_sum: bool) -> None:
    for seed in range(4):
        store = random_store(seed)
        chosen = set(random.Random(seed).sample(range(120), 40))
        if by_sum:
            found = rank_by_sum(question, store, Weights(), now=NOW, accept=only(chosen))
        else:
            found = rank(question, store, now=NOW, accept=only(chosen))
        assert set(numbers(found.hits)) <= chosen
        assert found.total == len(found.hits)
        nothing = rank(question, store, accept=only(()))
        assert (nothing.hits, nothing.total) == ([], 0)


@EVERY_QUESTION
def test_a_filter_that_lets_everything_pass_changes_nothing(question: str) -> None:
    for seed in range(4):
        store = random_store(seed)
        assert rank(question, store) == rank(question, store, accept=lambda found: found)


@EVERY_QUESTION
def test_priors_take_away_their_share_at_the_most(question: str) -> None:
    for seed in range(4):
        store = random_store(seed)
        plain = {hit.number: hit.score for hit in rank(question, store).hits}
        bare = replace(DEFAULTS, prior=0.0, repeat=1.0)
        bound = 1.0 - DEFAULTS.prior
        without = {hit.number: hit.score for hit in rank(question, store, bare).hits}
        once = {
            hit.number: hit.score
            for hit in rank(question, store, replace(DEFAULTS, repeat=1.0), now=NOW).hits
        }
        assert plain.keys() == without.keys() == once.keys()
        for number, score in without.items():
            assert bound * score - 1e-12 <= once[number] <= score


def test_among_equals_the_important_the_recent_and_the_used_come_first() -> None:
    for field, worse, better in [
        ("importance", 0.1, 0.9),
        ("timestamp", NOW - 1e7, NOW),
        ("accesses", 0, 5),
    ]:
        store = MemoryStatistics()
        add(store, 0, "apple river", **{field: worse})
        add(store, 1, "apple river", **{field: better})
        add(store, 2, "apple river stone", importance=0.0)
        assert numbers(rank("apple river", store, now=NOW).hits)[:2] == [1, 0], field
        assert numbers(rank("stone apple river", store, now=NOW).hits) == [2, 1, 0], field


def test_of_equal_messages_those_of_the_named_person_come_first() -> None:
    for named, other in (("Ann", "Bob"), ("Bob", "Ann")):
        for seed in range(3):
            store = MemoryStatistics()
            speakers = ["Ann", "Bob"] * 4
            random.Random(seed).shuffle(speakers)
            for number, speaker in enumerate(speakers):
                add(store, number, "I bought a red bicycle", session=number, speaker=speaker)
                add(store, number + 100, "indeed", session=number, speaker=other)
            found = rank(f"What bicycle did {named} buy?", store).hits
            first = [hit for hit in found if hit.number < 100][:4]
            assert {speakers[hit.number] for hit in first} == {named}


def test_a_wrong_name_does_not_bury_the_answer() -> None:
    store = MemoryStatistics()
    add(store, 0, "I adopted a turtle named Shelly", session=0, speaker="Ann")
    for number in range(1, 12):
        add(store, number, "Rain and clouds again today", session=1, speaker="Bob")
    assert numbers(rank("What turtle did Bob adopt?", store).hits)[0] == 0


def test_a_name_is_a_word_where_nobody_speaks() -> None:
    store = MemoryStatistics()
    add(store, 0, "I am here", session=0, speaker="Ann")
    add(store, 1, "Bob prefers tea")
    add(store, 2, "Ann prefers tea")
    assert numbers(rank("what does Ann prefer", store).hits)[0] == 2


def test_a_collection_counts_what_was_added_and_what_somebody_said() -> None:
    store = MemoryStatistics()
    add(store, 0, "I am here", session=0, speaker="Ann")
    add(store, 1, "Ann prefers tea")
    assert (store.totals().documents, store.totals().said) == (2, 1)


def test_a_name_alone_finds_what_names_it() -> None:
    store = MemoryStatistics()
    add(store, 0, "Ann is on holiday", session=0, speaker="Bob")
    add(store, 1, "nothing new", session=0, speaker="Ann")
    assert 0 in numbers(rank("Ann", store).hits)


def test_the_reply_to_a_matching_question_is_found_without_a_word_of_it() -> None:
    store = MemoryStatistics()
    add(store, 0, "Which instrument do you play?", session=0, speaker="Ann")
    add(store, 1, "The cello, since school.", session=0, speaker="Bob")
    for number in range(2, 30):
        add(store, number, "Rain and clouds again today", session=1, speaker="Ann")
    assert 1 in numbers(rank("which instrument does Bob play", store).hits)[:2]


def test_a_phrase_beats_scattered_words() -> None:
    store = store_of(
        ["lock the door, then file a report", "the lock file is stale and deleted on start"]
    )
    assert numbers(rank('"lock file"', store).hits) == [1, 0]
    assert numbers(rank('"file a report"', store).hits)[0] == 0


def test_few_documents_are_ranked_like_many() -> None:
    assert rank("apple", MemoryStatistics()).hits == []
    assert numbers(rank("postgresql", store_of(["We use PostgreSQL for billing"])).hits) == [0]
    two = store_of(["We use PostgreSQL for billing", "We use SQLite for tests"])
    assert numbers(rank("which database for tests: sqlite?", two).hits)[0] == 1
    assert numbers(rank("we use what for billing", two).hits)[0] == 0


@pytest.mark.parametrize("question", ["", " ", "the of", '""', '" " “”', "?!", ".*(a|b)+$["])
def test_a_question_without_a_word_finds_nothing(question: str) -> None:
    assert rank(question, random_store(1)) == Ranking([], 0)
    assert rank_by_sum(question, random_store(1), Weights(), now=NOW) == Ranking([], 0)


def test_a_pasted_text_is_a_question_too() -> None:
    chance = random.Random(5)
    words = ["".join(chance.choices("abcdefghij", k=8)) for _ in range(11_000)]
    store = random_store(2)
    question = "apple " + " ".join(words)
    assert rank(question, store).hits
    assert seconds(lambda: rank(question, store)) < STALLED


def test_looking_at_fewer_sessions_keeps_the_best_hit() -> None:
    narrow = replace(DEFAULTS, constants=replace(DEFAULTS.constants, breadth=20))
    for seed in range(3):
        store = random_store(seed, 400)
        best = rank("apple river stone", store).hits[0].number
        assert best in numbers(rank("apple river stone", store, narrow, limit=10).hits)


def test_answers_from_several_sessions_are_mixed() -> None:
    store = MemoryStatistics()
    for number in range(4):
        add(store, number, "Ann read the novel Dune", session=0, speaker="Ann")
    add(store, 9, "Ann also read a novel by Woolf in the long summer", session=1, speaker="Ann")
    mixed = rank("What novels has Ann read?", store, RankingSettings(repeat=0.5)).hits
    assert 9 in numbers(mixed)[:3]
    assert numbers(mixed).index(9) <= numbers(rank("novels Ann read", store).hits).index(9)
    assert {name for hit in mixed for name in hit.signals} >= {"repeat"}


@pytest.mark.parametrize("weights", [Weights(0, 0, 0, 0, 0), Weights(1, -1, 0, 0, 0)])
def test_weights_must_make_sense(weights: Weights) -> None:
    with pytest.raises(InvalidValue, match="weights"):
        rank_by_sum("apple", random_store(1), weights, now=NOW)


@pytest.mark.row("S2.7.2")
def test_the_weighted_sum_follows_its_weights() -> None:
    store = MemoryStatistics()
    add(store, 0, "apple river stone", timestamp=0.0)
    add(store, 1, "apple", timestamp=NOW)
    assert numbers(rank_by_sum("apple river stone", store, Weights(), now=NOW).hits)[0] == 0
    recent = Weights(0, 0, 1, 0, 0)
    assert numbers(rank_by_sum("apple river stone", store, recent, now=NOW).hits)[0] == 1


def test_general_words_find_their_instances_and_synonyms_each_other() -> None:
    assert "dog" in related(*terms("pets"))
    assert not set(terms("pets")) & set(related(*terms("poodle")))
    assert "vacat" in related(*terms("trip"))
    assert "trip" in related(*terms("vacations"))
    assert related("zzz") == ()
    assert "s3" in related(*terms("storage"))
    assert not any(term.isdigit() for term in related(*terms("storage")))
    assert related("猫叫") == ("叫", "猫")
    assert related("猫") == ()


def test_related_words_are_worth_less_than_the_word_itself() -> None:
    store = store_of(["We walked the dog", "We saw a pet", *["nothing of that kind"] * 9])
    assert numbers(rank("pet", store).hits) == [1, 0]


@EVERY_QUESTION
def test_unknown_words_change_no_order(question: str) -> None:
    """They only say that less of the question was answered.

    Without keys: a third word makes a question in words of two words to look for.
    """
    store = random_store(3)
    worded = replace(DEFAULTS, exact=1.0)
    found = rank(question, store, worded).hits
    more = rank(f"{question} zyzzyva", store, worded).hits
    assert len(found) == len(more)
    assert all(hit.score >= twin.score - 1e-12 for hit, twin in zip(found, more, strict=True))


def bulk_of(length: float, **fields: Any) -> float | None:
    """Return the factor of a message beside a hundred of ten words, where `room` is 1."""
    store = MemoryStatistics()
    for number in range(101):
        add(store, number, "apple river", session=0, length=10.0 if number else length)
    constants = replace(DEFAULTS.constants, room=1.0)
    found = rank("apple", store, RankingSettings(constants=constants, **fields), limit=101).hits
    (hit,) = [hit for hit in found if hit.number == 0]
    return hit.signals.get("bulk")


def test_what_is_far_longer_than_others_counts_less_but_never_below_a_floor() -> None:
    assert bulk_of(10.0) is None
    assert bulk_of(20.0) == pytest.approx((1020 / 101 / 20) ** 0.5)
    assert bulk_of(1000.0) == DEFAULTS.bulk
    assert bulk_of(1000.0, bulk=0.8) == 0.8
