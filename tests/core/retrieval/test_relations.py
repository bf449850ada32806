"""What links do: a small boost by the strongest one, and memories that are brought along."""

import random
from collections.abc import Collection

import pytest
from hypothesis import strategies as st
from msgspec.structs import replace

from pmem.core.retrieval.collection import (
    LinkedMemory,
    Links,
    MemoryStatistics,
    SeenLink,
    boosts,
    brought_along,
)
from pmem.core.retrieval.factors import DEFAULTS
from pmem.core.retrieval.ranked import total
from pmem.core.retrieval.ranking import rank
from pmem.values.records import JUDGEMENTS
from tests.core.retrieval.stores import NOW, QUESTIONS, add, random_store

strengths = st.sampled_from([0.0, 0.25, 0.5, 0.75, 1.0])
ids = st.sampled_from("abcdefgh")
types = st.sampled_from(["related_to", "depends_on", *sorted(JUDGEMENTS)])
ties = st.lists(st.builds(LinkedMemory, ids, ids, types, strengths), max_size=12)
scores = st.dictionaries(ids, st.sampled_from([0.2, 0.4, 0.8, 1.0]), max_size=5)
links = st.lists(st.builds(SeenLink, st.integers(0, 5), st.integers(0, 5), types, strengths))


def linked(*found: SeenLink) -> Links:
    return lambda numbers: [link for link in found if link.near in numbers]


def test_a_memory_is_as_linked_as_its_strongest_link() -> None:
    found = [
        SeenLink(1, 2, "x", 0.3),
        SeenLink(1, 3, "y", 0.9),
        SeenLink(1, 4, "x", 0.5),
        SeenLink(2, 1, "x", 0.3),
    ]
    assert boosts(found) == {1: 0.9, 2: 0.3}


@pytest.mark.parametrize("question", QUESTIONS)
def test_links_add_their_share_of_the_priors_at_the_most(question: str) -> None:
    store = random_store(1)
    known = linked(*(SeenLink(number, 0, "x", number % 5 / 4) for number in range(120)))
    settings = replace(DEFAULTS, repeat=1.0)
    bare = {hit.number: hit for hit in rank(question, store, settings, now=NOW).hits}
    boosted = rank(question, store, settings, now=NOW, links=known).hits
    most = settings.prior * settings.merits[3] / sum(settings.merits)
    assert bare.keys() == {hit.number for hit in boosted}
    for hit in boosted:
        assert hit.score == total(hit.signals)
        gain = hit.signals.get("prior", 1.0) - bare[hit.number].signals.get("prior", 1.0)
        assert gain == pytest.approx(most * (hit.number % 5 / 4))


@pytest.mark.some(7)
@pytest.mark.parametrize("question", QUESTIONS)
@pytest.mark.parametrize("prior", [0.02, 0.5, 1.0])
def test_fewer_hits_are_the_first_of_more_however_they_are_linked(
    question: str, prior: float
) -> None:
    settings = replace(DEFAULTS, prior=prior, merits=(0.3, 0.4, 0.0, 0.5))
    for seed in range(3):
        store = random_store(seed)
        chance = random.Random(seed)
        known = linked(
            *(SeenLink(n, 0, "x", chance.random()) for n in chance.sample(range(120), 60))
        )
        everything = rank(question, store, settings, now=NOW, links=known)
        for limit in (1, 3, 10):
            found = rank(question, store, settings, now=NOW, links=known, limit=limit)
            assert everything.hits[:limit] == found.hits
            assert everything.total == found.total


def test_links_are_looked_at_only_for_what_may_be_among_the_best() -> None:
    asked: list[int] = []

    def known(numbers: Collection[int]) -> list[SeenLink]:
        asked.extend(numbers)
        return []

    store = MemoryStatistics()
    for number in range(500):
        add(store, number, "apple " + "river " * (number % 50), importance=number % 7 / 7)
    assert len(rank("apple", store, now=NOW, limit=5, links=known).hits) == 5
    assert len(asked) < 50


def test_equals_are_brought_along_by_id_and_each_once() -> None:
    found = [
        LinkedMemory("h", "b", "x", 0.5),
        LinkedMemory("h", "a", "y", 0.5),
        LinkedMemory("h", "a", "x", 0.5),
    ]
    brought = brought_along({"h": 1.0}, found, 9).values()
    assert [one._replace(value=0.0) for one in brought] == [found[2], found[0]]


def test_a_link_of_no_strength_brings_nothing_along() -> None:
    assert brought_along({"h": 1.0}, [LinkedMemory("h", "a", "x", 0.0)], 2) == {}
