"""Which words make which type of fact, and how sure it is."""

import pytest

from pmem import Project
from pmem.values.records import Fact
from tests.conftest import NOW
from tests.storage.in_memory import InMemory


def stated(text: str) -> tuple[Fact, ...]:
    made = Project(actor="ada", now=NOW, backend=InMemory())
    made.start_conversation("Plans")
    return made.add_message("user", text).facts


@pytest.mark.row("S2.8.1")
@pytest.mark.parametrize("words", ["decided to use", "chose", "went with"])
def test_decisions_are_told_by_their_words(words: str) -> None:
    (fact,) = stated(f"We {words} PostgreSQL.")
    assert fact.type == "decision"
    assert fact.confidence >= 0.8


@pytest.mark.row("S2.8.2")
def test_preferences_are_told_by_their_words() -> None:
    (fact,) = stated("I prefer tabs over spaces.")
    assert fact.type == "preference"
    assert fact.confidence >= 0.7


@pytest.mark.row("S2.8.9")
@pytest.mark.parametrize(
    "text",
    ["I want the tests to run now.", "We need a staging environment.", "I like short functions."],
)
def test_wishes_state_nothing_that_lasts(text: str) -> None:
    assert stated(text) == ()


@pytest.mark.row("S2.8.3")
@pytest.mark.parametrize(
    ("text", "least"),
    [
        ("The service must never log card numbers.", 0.7),
        ("We cannot use libraries under the GPL.", 0.7),
        ("You should always run the linter.", 0.6),
    ],
)
def test_constraints_are_told_by_their_words(text: str, least: float) -> None:
    (fact,) = stated(text)
    assert fact.type == "constraint"
    assert fact.confidence >= least


@pytest.mark.row("S2.8.10")
@pytest.mark.parametrize(
    ("text", "types"),
    [
        ("The client needs to retry three times.", ["constraint"]),
        ("We need to support Python 3.11.", ["constraint"]),
        ("We need to look at the log first.", []),
        ("I need to leave early.", []),
    ],
)
def test_need_to_is_a_constraint_where_it_asks_for_what_lasts(text: str, types: list[str]) -> None:
    assert [fact.type for fact in stated(text)] == types


def test_a_change_of_plan_is_no_goal() -> None:
    assert stated("Change of plan: Redis is too slow for the queue.") == ()
    (fact,) = stated("Change of plan: we drop S3 and go with MinIO instead.")
    assert (fact.type, fact.content) == ("decision", "we drop S3 and go with MinIO instead")


@pytest.mark.row("S2.8.4")
@pytest.mark.parametrize("word", ["goal", "objective", "aim", "target"])
def test_goals_are_told_by_their_words(word: str) -> None:
    (fact,) = stated(f"Our {word} is to halve the build time.")
    assert fact.type == "goal"
    assert fact.confidence == 0.8
