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


STATED = [
    *(
        (f"We {words} PostgreSQL.", "decision", 0.8)
        for words in ("decided to use", "chose", "went with")
    ),
    ("I prefer tabs over spaces.", "preference", 0.7),
    ("The service must never log card numbers.", "constraint", 0.7),
    ("We cannot use libraries under the GPL.", "constraint", 0.7),
    ("You should always run the linter.", "constraint", 0.6),
    ("The client needs to retry three times.", "constraint", 0.6),
    ("We need to support Python 3.11.", "constraint", 0.6),
    *(
        (f"Our {word} is to halve the build time.", "goal", 0.8)
        for word in ("goal", "objective", "aim", "target")
    ),
]


@pytest.mark.row("S2.8.1", "S2.8.2", "S2.8.3", "S2.8.4", "S2.8.10")
@pytest.mark.parametrize(("text", "type_", "least"), STATED)
def test_types_are_told_by_their_words(text: str, type_: str, least: float) -> None:
    (fact,) = stated(text)
    assert fact.type == type_
    assert fact.confidence >= least


@pytest.mark.row("S2.8.9", "S2.8.10")
@pytest.mark.parametrize(
    "text",
    [
        "I want the tests to run now.",
        "We need a staging environment.",
        "I like short functions.",
        "We need to look at the log first.",
        "I need to leave early.",
        "Change of plan: Redis is too slow for the queue.",
    ],
)
def test_wishes_state_nothing_that_lasts(text: str) -> None:
    assert stated(text) == ()


def test_a_change_of_plan_is_no_goal() -> None:
    (fact,) = stated("Change of plan: we drop S3 and go with MinIO instead.")
    assert (fact.type, fact.content) == ("decision", "we drop S3 and go with MinIO instead")
