"""Searches over memories and conversations: what answers comes first, and no question answers."""

from typing import Final

import pytest

from pmem.conversation.conversations import SayRequest, StartRequest
from pmem.operations import table
from pmem.project.workspace import Workspace
from pmem.search.hits import SearchKind
from pmem.values.records import Role
from tests.asking import ask
from tests.search.test_search import find, in_memory, keep, texts

RULE: Final = "Refunds: a buyer gets the money back within 14 days"
ASKED: Final = "Why do we retry three times, and what is the refund rule?"
SAID: Final = "The refund rule is written in docs/refunds.md"


def talking() -> Workspace:
    """Return a memory in which a conversation is held."""
    workspace = in_memory()
    ask(workspace, table.START, StartRequest(title="Work"))
    return workspace


def say(workspace: Workspace, content: str, role: Role = Role.USER) -> None:
    ask(workspace, table.SAY, SayRequest(content=content, role=role))


@pytest.fixture
def shop() -> Workspace:
    """Return memories, and a talk on the same thing."""
    workspace = talking()
    keep(workspace, RULE)
    keep(workspace, "The API answers in JSON")
    for _ in range(12):
        say(workspace, ASKED)
        say(workspace, SAID, Role.ASSISTANT)
    return workspace


def test_a_memory_that_answers_comes_before_what_was_said(shop: Workspace) -> None:
    found = find(shop, "refund rule", top_k=5)
    assert [hit.kind for hit in found.hits] == [SearchKind.MEMORY, *[SearchKind.MESSAGE] * 4]
    messages = find(shop, "refund rule", kinds=(SearchKind.MESSAGE, SearchKind.MEMORY))
    assert messages.hits[0].kind is SearchKind.MESSAGE


def test_a_memory_that_hardly_answers_stays_behind_what_does(shop: Workspace) -> None:
    keep(shop, "A form is sent by mail, by fax or by hand to the desk in the second office")
    say(shop, "The hamster in the office is called Biscuit, and he eats seeds and carrots")
    found = texts(find(shop, "which seeds does the hamster Biscuit eat in the office?"))
    assert "Biscuit" in found[0]


@pytest.mark.parametrize("greeting", ["", "Hi! ", "And now? "])
def test_a_question_of_a_person_is_no_answer_to_itself(greeting: str) -> None:
    workspace = talking()
    say(workspace, greeting + ASKED)
    say(workspace, SAID, Role.ASSISTANT)
    say(workspace, "We log refund requests; the rule is old", Role.USER)
    for query in ("refund rule", ASKED):
        assert texts(find(workspace, query, kinds=(SearchKind.MESSAGE,)))[-1].endswith(ASKED)


def test_what_says_more_than_a_question_still_answers() -> None:
    workspace = talking()
    say(workspace, "The test database listens on port 5434. Shall I write that down?")
    say(workspace, "Is the database port open?", Role.USER)
    found = texts(find(workspace, "database port"))
    assert found[0].startswith("The test database")
