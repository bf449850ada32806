"""Short and technical questions: whoever says the word itself comes before its neighbours."""

import json
from pathlib import Path
from typing import Final

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pmem.core.retrieval.collection import MemoryStatistics
from pmem.core.retrieval.question import plan_question
from pmem.core.retrieval.ranking import rank
from pmem.core.text.terms import terms
from tests.core.retrieval.stores import add
from tests.effort import examples

_LINES: Final = Path(__file__).with_name("technical.jsonl").read_text(encoding="utf-8").split("\n")
_ROWS: Final = [json.loads(line) for line in _LINES if line]
SPOKEN: Final = ("invoices", "maps", "exports", "sensors")
ASKED: Final = [(row["talk"], row["question"], row["wanted"]) for row in _ROWS if "question" in row]


def spoken(*names: str) -> tuple[MemoryStatistics, list[str]]:
    """Return conversations as one collection, and the keys of their messages by number."""
    store = MemoryStatistics()
    keys: list[str] = []
    for session, name in enumerate(names):
        for row in _ROWS:
            if row["talk"] == name and "text" in row:
                add(store, len(keys), row["text"], session=session)
                keys.append(f"{name}: {row['key']}")
    return store, keys


@pytest.mark.some(60)
@pytest.mark.parametrize("together", [False, True])
@pytest.mark.parametrize(("name", "question", "wanted"), ASKED)
def test_the_message_that_says_it_comes_first(
    name: str, question: str, wanted: str, together: bool
) -> None:
    store, keys = spoken(*SPOKEN) if together else spoken(name)
    found = [keys[hit.number] for hit in rank(question, store, limit=5).hits]
    assert found[0] == f"{name}: {wanted}", found


TALK: Final = "thumbnails py memory error queue worker cache slow is it".split()
KEYS: Final = {
    "thumbnails.py": ("thumbnails.py",),
    "what did we change in src/thumbnails.py": ("src/thumbnails.py",),
    "MemoryError": ("MemoryError",),
    "why did the worker raise MemoryError": ("MemoryError",),
    "free_space": ("free_space",),
    "is it slow at 512 MB": ("512 MB",),
    "queue worker": ("queue", "worker"),
    "cache": ("cache",),
}
SAID: Final = st.lists(
    st.tuples(
        st.lists(st.sampled_from(TALK), min_size=1, max_size=30),
        st.sampled_from((1, 1, 1, 20)),  # a log says it over and over
        st.integers(0, 2),
    ),
    min_size=1,
    max_size=40,
)


@settings(max_examples=examples(60))
@given(
    said=SAID, question=st.sampled_from(sorted(KEYS)), at=st.sets(st.integers(0, 39), max_size=4)
)
def test_no_neighbour_comes_before_a_message_that_says_it(
    said: list[tuple[list[str], int, int]], question: str, at: set[int]
) -> None:
    store, holders = MemoryStatistics(), set()
    for number, (words, times, session) in enumerate(said):
        held = [*words * times, *(KEYS[question] if number in at else ())]
        add(store, number, " ".join(held), session=session)
        if set(KEYS[question]) <= set(held):
            holders.add(number)
    found = [hit.number for hit in rank(question, store).hits]
    assert set(found[: len(holders)]) == holders


@pytest.mark.parametrize(
    ("question", "keys"),
    [
        ("what changed in src/app/main.py today", ["src/app/main.py"]),
        ("why does useEffect run twice here", ["useeffect"]),
        ("who saw the ValueError in the log", ["valueerror"]),
        ("what did we say about max_rows and INV-22", ["max_rows", "inv-22"]),
        ("was the limit at 256 MiB before", ["256"]),
        ('what did he mean with "brittle" in there', ["brittl"]),
        ("what did she post on YouTube in May", []),
        ("did Ann go there on 7 May 2023 at 3pm and/or later", []),
        ("queue worker", ["queue", "worker"]),
        ("the red bicycle of Ann", []),
        ("", []),
        ("猫" * 40_000, []),
        ("a_" * 50_000 + "b", []),
    ],
)
def test_keys_are_what_only_the_message_itself_can_say(question: str, keys: list[str]) -> None:
    plan = plan_question(question, {"ann": ["Ann"]}, 0.3)
    assert {key.whole[0] for key in plan.keys} == {terms(key)[0] for key in keys}
