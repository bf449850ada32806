"""What people decide in a conversation: whom it names, and by what it is found."""

import json
import os
import re

import msgspec
import pytest

from pmem import Project
from pmem.core.extraction.facts import extract
from pmem.values.records import MemoryType
from tests.cli.shell import pmem
from tests.conftest import NOW
from tests.core.extraction.scores import DIALOGUES, MESSAGES, labelled_dialogues, labelled_messages

TITLE = "Choosing how to print receipts"
OTHERS_DECIDED = re.compile(
    r"and others (?:have |are |will )?"
    r"(?:decided|agreed|settled|chose|chosen|opted|went with|going with|ended up|stay with|go with)"
)


@pytest.fixture
def talk(root: str, monkeypatch: pytest.MonkeyPatch) -> str:
    """The memory folder of the current folder, with an open conversation."""
    monkeypatch.chdir(os.path.dirname(root))
    assert pmem("conversation", "start", TITLE).code == 0
    return root


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ("We decided to print plain text.", "Ben decided to print plain text"),
        ("We have settled on plain text.", "Ben has settled on plain text"),
        (
            "After the test we chose the small printer.",
            "After the test Ben chose the small printer",
        ),
        ("Let's go with the small printer.", "Ben wants to go with the small printer"),
        ("We have all agreed on plain text.", "We have all agreed on plain text"),
    ],
)
def test_what_one_person_says_was_decided_names_that_person_alone(
    talk: str, said: str, told: str
) -> None:
    assert pmem("conversation", "say", said, "--speaker", "Ben").code == 0
    listed = json.loads(pmem("inbox", "facts", "--all", "--json").text)["data"]["items"]
    assert [(one["content"], one["subject"]) for one in listed] == [(told, TITLE)]


def test_no_labelled_message_of_one_person_makes_others_decide() -> None:
    said = [one.message for name in MESSAGES for one in labelled_messages(name)]
    said += [one for name in DIALOGUES for each in labelled_dialogues(name) for one in each.said]
    named = [msgspec.structs.replace(one, speaker="Mira") for one in said if one.role == "user"]
    facts = [fact for one in named for fact in extract(one) if fact.type is MemoryType.DECISION]
    assert len(facts) > 50
    assert not [fact.content for fact in facts if OTHERS_DECIDED.search(fact.content)]


def test_a_decision_is_found_by_the_title_of_its_conversation(talk: str) -> None:
    assert pmem("conversation", "say", "We decided on plain text.", "--speaker", "Ben").code == 0
    (memory,) = Project(talk, now=NOW).list().items
    assert memory.subject == TITLE
    best = json.loads(pmem("search", "receipt", "--json").text)["data"]["hits"][0]
    assert best["id"] == memory.id


def test_what_is_no_decision_has_no_title_for_a_subject(talk: str) -> None:
    said = "We decided on plain text. The printer must not block the desk."
    assert pmem("conversation", "say", said).code == 0
    listed = json.loads(pmem("inbox", "facts", "--all", "--json").text)["data"]["items"]
    assert {one["type"]: one["subject"] for one in listed} == {
        "decision": TITLE,
        "constraint": None,
    }
