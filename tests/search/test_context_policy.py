"""Which memories a context for a task shows: the policy, through the operation."""

import re
from datetime import timedelta
from typing import Any

import pytest

from pmem.conversation.conversations import EndRequest, SayRequest, StartRequest
from pmem.core.context.parts import Context
from pmem.memory.requests import LinkRequest, PinRequest
from pmem.operations import table
from pmem.project.workspace import Workspace
from pmem.search.context_request import ContextRequest
from pmem.values.records import MemoryType
from tests.asking import ask
from tests.conftest import NOW
from tests.search.test_search import crowd, in_memory, keep, later

TASK = "Fix the parser of query strings"


def context(workspace: Workspace, query: str | None = TASK, **fields: Any) -> Context:
    return ask(workspace, table.CONTEXT, ContextRequest(query=query, **fields))


def section(built: Context, name: str) -> list[str]:
    return [item.text for part in built.sections if part.name == name for item in part.items]


def why(built: Context) -> dict[str, str]:
    return {item.text: item.why for part in built.sections for item in part.items}


@pytest.fixture
def project() -> Workspace:
    """Return a memory with something for every rule, and what no task needs."""
    workspace = in_memory()
    earlier = later(workspace, days=-2)
    keep(earlier, "Escapes are percent signs", subject="Parser")
    keep(workspace, "The parser reads query strings", subject="parser")
    keep(workspace, "Every change of code has a test", type=MemoryType.CONSTRAINT)
    keep(workspace, "Never log card numbers", importance=0.9)
    keep(workspace, "Release: tag, build, upload", type=MemoryType.PROCEDURE)
    keep(workspace, "The parser is rebuilt by make grammar", type=MemoryType.PROCEDURE)
    keep(workspace, "Lunch is at noon")
    ask(workspace, table.PIN, PinRequest(reference=keep(workspace, "Mira decides").id))
    return workspace


@pytest.mark.row("S2.6.8")
def test_every_memory_is_shown_for_a_reason(project: Workspace) -> None:
    built = context(project, budget=160)
    assert section(built, "memory") == [
        "Every change of code has a test",
        "Never log card numbers",
        "Mira decides",
    ]
    assert why(built) == {
        "Every change of code has a test": "rule",
        "Never log card numbers": "lifted",
        "Mira decides": "pinned",
        "The parser reads query strings": "answers",
        "The parser is rebuilt by make grammar": "answers",
        "Escapes are percent signs": "kin",
    }
    assert {left.reason for left in built.omitted} == {"no_match"}


def test_a_task_that_nothing_answers_gets_what_every_task_needs_and_is_told(
    project: Workspace,
) -> None:
    built = context(project, "Recommend a restaurant", budget=160)
    assert section(built, "recalled") == []
    assert len(section(built, "memory")) == 3
    assert "no good match" in built.text
    assert "no good match" not in context(project, budget=600).text


def test_a_word_that_many_memories_have_is_no_answer() -> None:
    workspace = in_memory(**{"context.standing": ""})
    for number in range(50):
        keep(workspace, f"Write down case {number} of {number * 7}")
    assert "no good match" in context(workspace, "write a poem on spring").text
    keep(workspace, "Poems are set in italics")
    assert section(context(workspace, "write a poem on spring"), "recalled") != []


def test_what_does_not_hold_is_never_shown(project: Workspace) -> None:
    keep(project, "The parser is in C", valid_until=NOW + timedelta(seconds=1))
    keep(project, "The parser is in Rust", valid_from=NOW + timedelta(days=9))
    later = Workspace("nowhere", now=NOW + timedelta(days=1), backend=project.backend)
    text = context(later, "parser in C or Rust", budget=2000).text
    assert "in C" not in text
    assert "in Rust" not in text


def test_memories_that_answer_come_before_what_was_said_elsewhere(project: Workspace) -> None:
    ask(project, table.START, StartRequest(title="Before"))
    for number in range(12):
        said = f"{number}: the parser of query strings fails at word {number} again"
        ask(project, table.SAY, SayRequest(content=said))
    ask(project, table.END, EndRequest())
    built = context(project, budget=400)
    known = why(context(project, only="memories", budget=400))
    assert {"The parser reads query strings", "Escapes are percent signs"} <= set(known)
    assert set(known) <= set(why(built))
    tokens = {part.name: part.tokens for part in built.sections}
    assert 0 < tokens["earlier"] <= 0.25 * 400
    assert section(context(project, only="memories", budget=400), "earlier") == []
    assert set(why(context(project, only="conversation", budget=400)).values()) == {"answers"}


def test_ids_are_shown_where_they_are_asked_for(project: Workspace) -> None:
    named = re.compile(r"^- \[[a-z0-9]{8}\] ", re.MULTILINE)
    assert not named.findall(context(project).text)
    assert len(named.findall(context(project, budget=2000, ids=True).text)) == 8


def test_a_subject_is_shown_where_the_text_does_not_have_it(project: Workspace) -> None:
    text = context(project).text
    assert "- The parser reads query strings" in text
    assert "- [Parser] Escapes are percent signs" in text


def test_clones_of_the_same_texts_give_the_same_bytes() -> None:
    texts = []
    for _ in range(4):
        workspace = in_memory()
        for number in range(30):
            type_ = list(MemoryType)[number % 8]
            keep(workspace, f"The parser has rule {number}", type=type_, subject="rules")
        texts.append([context(workspace, budget=budget).text for budget in (150, 300, 600)])
    assert texts[0] == texts[1] == texts[2] == texts[3]


def test_pinned_memories_that_do_not_fit_the_block_come_first_in_what_is_left() -> None:
    workspace = in_memory()
    for number in range(8):
        kept = keep(workspace, f"Rule {number} on other things " + "words " * 8)
        ask(workspace, table.PIN, PinRequest(reference=kept.id))
    keep(workspace, "The parser reads query strings")
    built = context(workspace, budget=300)
    assert len(section(built, "memory")) < 8
    assert list(why(built).values()).count("pinned") == 8


@pytest.mark.parametrize("type_", ["fact", "entity", "goal", "insight", "dead_end"])
def test_what_only_informs_is_not_in_a_context_that_it_has_nothing_to_do_with(type_: str) -> None:
    workspace = in_memory()
    crowd(workspace)
    keep(workspace, "The dialling code of Rome is 06", type=MemoryType(type_))
    keep(workspace, "Lendery lends books to members")
    for budget in (300, None):
        built = context(workspace, "lend books to members", budget=budget)
        assert list(why(built)) == ["Lendery lends books to members"]


def test_a_memory_is_not_shown_for_agreeing_with_itself() -> None:
    workspace = in_memory()
    keep(workspace, "Receipts are printed as plain text", subject="receipts")
    keep(workspace, "Version 1.0 runs at five libraries by March", subject="roadmap")
    built = context(workspace, "print a receipt by March", budget=300)
    assert "kin" not in why(built).values()


@pytest.mark.parametrize("budget", [None, 24, 40, 60, 400])
def test_an_outdated_memory_never_stands_without_its_update(budget: int | None) -> None:
    workspace = in_memory()
    old = keep(workspace, "Members scan the QR code to lend books")
    new = keep(
        later(workspace, days=1), "Members hold the card to the reader, at any desk, day or night"
    )
    link = LinkRequest(start=new.id, end=old.id, type="updates")
    ask(later(workspace, days=1), table.LINK, link)
    shown = [*why(context(later(workspace, days=2), "scan the QR code", budget=budget))]
    assert old.content not in shown or new.content in shown
    assert budget != 400 or set(shown) == {new.content, old.content}


def test_a_context_without_a_budget_stops_where_little_speaks_for_more(project: Workspace) -> None:
    rules = {
        keep(project, f"Wear a hat of kind {n}", type=MemoryType.CONSTRAINT).content
        for n in range(5)
    }
    assert rules < why(context(project, budget=2000)).keys()
    stopped = context(project, omitted=True)
    assert not rules & why(stopped).keys()
    assert "Every change of code has a test" in why(stopped)
    assert "The parser reads query strings" in why(stopped)


@pytest.mark.parametrize("budget", [None, 500])
@pytest.mark.parametrize("query", ["lend books to members", "write a poem"])
def test_so_few_memories_that_all_have_room_are_all_shown(query: str, budget: int | None) -> None:
    workspace = in_memory()
    keep(workspace, "Money is never a float", type=MemoryType.CONSTRAINT)
    keep(workspace, "Run the tests with make test", type=MemoryType.PROCEDURE)
    keep(workspace, "Lendery lends books to members")
    built = context(workspace, query, budget=budget)
    assert ("3 shown, 0 left out" in built.text, len(why(built))) == (True, 3)
    if query == "lend books to members":
        assert section(built, "recalled")[0] == "Lendery lends books to members"
        assert why(built)["Run the tests with make test"] in ("few", "rule")


def test_a_memory_for_other_files_is_no_rule_for_every_task() -> None:
    workspace = in_memory()
    crowd(workspace)
    placed = {"type": MemoryType.CONSTRAINT, "importance": 0.9, "places": ("src/billing/**",)}
    keep(workspace, "Money is integer cents", **placed)
    assert why(context(workspace, "change the code and its test", budget=600)) == {}
    near = context(workspace, "round in src/billing/fees.py", budget=600)
    assert why(near) == {"Money is integer cents": "place"}


@pytest.mark.parametrize(
    ("task", "first"),
    [("Kundendaten entschlüsseln", "Verschlüsselt"), ("the Kundendaten that we decrypt", "In")],
)
def test_a_task_in_another_language_is_compared_by_its_letters(task: str, first: str) -> None:
    workspace = in_memory()
    keep(workspace, "In Bremen liegen Kundendaten")
    keep(workspace, "Verschlüsselt liegen Kundendaten")
    assert section(context(workspace, task, budget=400), "recalled")[0].split()[0] == first
