"""Who said it: people before assistants, talk before tools, unless output is asked for."""

from itertools import pairwise

import pytest

from pmem.core.retrieval.collection import MemoryStatistics
from pmem.core.retrieval.ranking import rank
from pmem.core.retrieval.signals import ASSISTANT, CALL, RESULT, asks_for_output
from tests.core.retrieval.stores import add

SAID = "The retry limit of the uploader is five"
BY_WORTH = (0, ASSISTANT, CALL, RESULT)


def told_by(*bits: int) -> MemoryStatistics:
    """Return one sentence as several said it, each in a session of its own."""
    store = MemoryStatistics()
    for number, bit in enumerate(bits):
        add(store, number, SAID, session=number, traits=bit)
    return store


@pytest.mark.parametrize(("better", "worse"), list(pairwise(BY_WORTH)))
def test_the_same_words_are_worth_more_from_people(better: int, worse: int) -> None:
    first, second = rank("retry limit of the uploader", told_by(worse, better)).hits
    assert (first.number, second.number) == (1, 0)
    assert first.score > second.score


@pytest.mark.parametrize("bit", [CALL, RESULT])
def test_what_tools_said_counts_in_full_where_output_is_asked_for(bit: int) -> None:
    hits = rank("What output names the retry limit of the uploader?", told_by(bit, 0)).hits
    assert hits[0].score == hits[1].score


def test_an_assistant_counts_less_where_output_is_asked_for_as_well() -> None:
    hits = rank("What output names the retry limit of the uploader?", told_by(ASSISTANT, 0)).hits
    assert [hit.number for hit in hits] == [1, 0]
    assert hits[0].score > hits[1].score


@pytest.mark.parametrize(("bit", "found"), [(0, [0, 1]), (CALL, [0]), (RESULT, [0])])
def test_a_tool_is_not_found_by_what_stands_beside_it_alone(bit: int, found: list[int]) -> None:
    store = MemoryStatistics()
    add(store, 0, SAID, session=1)
    add(store, 1, "Read the other file", session=1, traits=bit)
    add(store, 2, "Nothing to see", session=2)
    assert [hit.number for hit in rank("retry limit", store).hits] == found


@pytest.mark.parametrize(
    "question",
    [
        "What was printed at the end?",
        "show me the stack trace",
        "which command built the image",
        "what does the log say",
        "ConnectionError in the uploader",
        "ECONNRESET",
        "exit code of the linter",
        "what is in the output?",
    ],
)
def test_output_is_asked_for_by_its_words_and_by_the_names_of_errors(question: str) -> None:
    assert asks_for_output(question)


@pytest.mark.parametrize(
    "question", ["why did we choose Redis", "Where do debug logs go?", "How are outputs filtered?"]
)
def test_other_questions_ask_for_no_output(question: str) -> None:
    assert not asks_for_output(question)
