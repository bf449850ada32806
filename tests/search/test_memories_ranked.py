"""What makes one memory come before another, and what is shown where none answers."""

from datetime import UTC, datetime, timedelta
from typing import Any, Final

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pmem.conversation.conversations import SayRequest, StartRequest
from pmem.core.filters import Filter
from pmem.core.retrieval.factors import MEMORIES
from pmem.core.retrieval.ranking import rank
from pmem.core.text.terms import terms
from pmem.memory.requests import AddAllRequest, AddRequest
from pmem.operations import table
from pmem.project.workspace import Workspace
from pmem.search.context_request import ContextRequest
from pmem.search.hits import SearchKind
from pmem.search.search import FILL
from pmem.values.records import Source
from tests.asking import ask
from tests.conftest import NOW
from tests.core.retrieval.stores import add, store_of
from tests.effort import examples
from tests.search.test_search import crowd, find, in_memory, keep, texts
from tests.storage.in_memory import InMemory


def at(workspace: Workspace, moment: datetime) -> Workspace:
    return Workspace("nowhere", actor="tester", now=moment, backend=workspace.backend)


def test_a_memory_is_found_by_the_date_on_which_it_was_written() -> None:
    workspace = in_memory()
    for month in (3, 5, 7):
        keep(at(workspace, datetime(2023, month, 2, tzinfo=UTC)), f"Rented hall number {month}")
    assert texts(find(workspace, "Which hall did we rent in May 2023?"))[0].endswith("5")


def test_a_memory_is_found_by_the_date_that_it_speaks_of() -> None:
    workspace = in_memory()
    for day in (2, 20):
        moment = datetime(2023, 5, day, tzinfo=UTC)
        keep(at(workspace, moment), "The hall was cleaned yesterday")
    found = find(workspace, "hall 1 May 2023").hits
    assert found[0].created_at.day == 2


@pytest.mark.parametrize("name", ["Mira", "the harbour office"])
def test_of_equal_memories_those_on_the_subject_that_is_named_come_first(name: str) -> None:
    workspace = in_memory()
    for place, subject in enumerate(("Jonas", name, "Ada")):
        source = Source(conversation=f"talk {place}")
        keep(workspace, f"{name} or Jonas or Ada pays the invoice", subject=subject, source=source)
    best, *others = find(workspace, f"Which invoice does {name} pay?").hits
    assert best.signals.get("speaker", 1.0) == 1.0
    assert all(hit.signals["speaker"] < 1.0 for hit in others)


NEAR: Final = st.lists(st.sampled_from(["database", "orders", "starts", "test"]), min_size=1)
SUBJECTS: Final = st.sampled_from([None, "database", "the orders' database", "tests", "orders"])


@given(
    st.lists(st.tuples(NEAR, SUBJECTS), min_size=2, max_size=6),
    st.sampled_from(
        ["which database", "database", "database orders", "tests?", "the database xyz"]
    ),
)
@settings(max_examples=examples(200))
def test_a_memory_on_the_subject_comes_before_what_has_its_word_by_accident(
    drawn: list[tuple[list[str], str | None]], query: str
) -> None:
    workspace = in_memory()
    for number, (words, subject) in enumerate(drawn):
        keep(workspace, " ".join([*words, f"note{number}"]), subject=subject)
    subjects = [f"{number}" for number, (_, about) in enumerate(drawn) if on(about, query)]
    if subjects:
        assert texts(find(workspace, query))[0].rpartition("note")[2] in subjects


def on(subject: str | None, query: str) -> bool:
    """Tell whether a subject has every word of a query that a memory could have."""
    return set(terms(query)) - {"xyz"} <= set(terms(subject or ""))


def test_a_memory_without_a_subject_is_about_its_user() -> None:
    workspace = in_memory()
    keep(workspace, "Prefers tea", user="jonas")
    keep(workspace, "Prefers coffee", user="mira")
    assert texts(find(workspace, "mira")) == ["Prefers coffee"]


@pytest.mark.parametrize("by", ["the hour", "the conversation"])
def test_of_equal_memories_the_one_in_fitting_company_comes_first(by: str) -> None:
    workspace = in_memory()
    for place, other in enumerate(("The cat sleeps", "The boat leaks", "Lunch is at noon")):
        moment = NOW - timedelta(hours=2 * place if by == "the hour" else 0)
        source = Source(conversation=None if by == "the hour" else f"talk {place}")
        ask(
            at(workspace, moment),
            table.ADD_ALL,
            AddAllRequest(
                memories=(
                    AddRequest(content=other, source=source, force=True),
                    AddRequest(content=f"It was repaired, bill {place}", source=source, force=True),
                )
            ),
        )
    assert texts(find(workspace, "was the boat repaired")).index("It was repaired, bill 1") < min(
        texts(find(workspace, "was the boat repaired")).index(f"It was repaired, bill {place}")
        for place in (0, 2)
    )


def test_company_alone_finds_no_memory() -> None:
    workspace = in_memory()
    for text in ("The boat leaks", "Lunch is at noon"):
        keep(workspace, text)
    assert texts(find(workspace, "boat")) == ["The boat leaks"]


@pytest.mark.parametrize(("size", "counts"), [(50, True), (51, False)])
def test_memories_that_were_imported_by_the_hundred_are_no_company(size: int, counts: bool) -> None:
    store = store_of(())
    for number in range(size):
        add(store, number, f"apple {number}", kind="memory", session=1)
    hits = rank("apple", store, MEMORIES, now=None).hits
    assert any(hit.signals["neighbours"] > 0 for hit in hits) is counts


@pytest.mark.parametrize(("hidden", "first"), [((), 0), ((1,), 2)])
def test_what_may_not_be_seen_keeps_nothing_company(hidden: tuple[int, ...], first: int) -> None:
    store = store_of(())
    for number, text in enumerate(("boat repaired", "boat boat", "boat repaired")):
        add(store, number, text, kind="memory", session=number // 2)
    hits = rank("boat", store, MEMORIES, accept={0, 2}.intersection, hidden=hidden).hits
    assert hits[0].number == first


def test_a_word_that_the_question_says_twice_counts_twice() -> None:
    store = store_of(["apple river", "apple stone"])
    assert [hit.number for hit in rank("stone stone river", store, MEMORIES).hits] == [1, 0]
    assert [hit.number for hit in rank("river stone river", store, MEMORIES).hits] == [0, 1]


def test_answers_do_not_end_at_two_hundred() -> None:
    store = store_of([f"apple {number}" for number in range(250)])
    assert len(rank("apple", store, MEMORIES, limit=300).hits) == 250
    assert len(rank("apple", store, MEMORIES).hits) == 250
    assert rank("apple", store, MEMORIES, limit=5).total == 250


def talk(**overrides: Any) -> Workspace:
    """Return a memory of a conversation of which the first messages stand in a chunk."""
    workspace = in_memory(max_recent_messages=4, chunk_size=2, **overrides)
    ask(workspace, table.START, StartRequest(title="Live"))
    for number in range(6):
        speaker = "Ada" if number % 2 else "Bo"
        content = f"Message {number} on the parser"
        ask(workspace, table.SAY, SayRequest(content=content, speaker=speaker))
    return workspace


def test_a_summary_takes_no_place_of_a_message_unless_summaries_are_asked_for() -> None:
    workspace = talk()
    assert {hit.kind for hit in find(workspace, "parser", top_k=6).hits} == {SearchKind.MESSAGE}
    assert find(workspace, "parser").hits[-1].kind is SearchKind.CHUNK
    asked = find(workspace, "parser", kinds=(SearchKind.CHUNK,), top_k=1)
    assert [hit.kind for hit in asked.hits] == [SearchKind.CHUNK]


def test_where_nothing_answers_the_newest_are_shown_apart_from_the_hits() -> None:
    workspace = in_memory()
    for day in range(FILL + 2):
        keep(at(workspace, NOW - timedelta(days=day)), f"Note number {day}")
    found = find(workspace, "zebra")
    assert (found.hits, found.total, found.recalled) == ((), 0, [])
    assert [hit.text for hit in found.fill] == [f"Note number {day}" for day in range(FILL)]
    assert not any(hit.score for hit in found.fill)
    assert [hit.text for hit in find(workspace, "zebra", top_k=1).fill] == ["Note number 0"]
    assert find(workspace, "note").fill == ()


def test_where_nothing_answers_the_person_who_is_named_is_shown() -> None:
    assert {hit.speaker for hit in find(talk(), "What zebra does Ada have?").fill} == {"Ada"}


def test_what_filters_take_away_is_not_shown_instead() -> None:
    workspace = in_memory()
    keep(workspace, "The boat leaks", category="goals")
    keep(workspace, "Lunch is at noon", category="knowledge")
    found = find(workspace, "boat", wanted=Filter(categories=("knowledge",)))
    assert [hit.text for hit in found.fill] == ["Lunch is at noon"]
    assert found.removed == {"category": 1}


@pytest.mark.parametrize("query", ["", "the of"])
def test_a_query_without_a_word_that_counts_shows_nothing(query: str) -> None:
    workspace = in_memory()
    keep(workspace, "The boat leaks")
    assert find(workspace, query).fill == ()


def test_what_a_threshold_takes_away_is_not_filled_up() -> None:
    workspace = in_memory()
    keep(workspace, "The boat leaks")
    assert find(workspace, "boat or anything else in the whole world", threshold=1.0).fill == ()


def test_what_is_only_recent_does_not_enter_a_context() -> None:
    workspace = Workspace("nowhere", actor="tester", now=NOW, backend=InMemory())
    keep(workspace, "Lunch is at noon", type="fact")
    crowd(workspace)
    shown = ask(workspace, table.CONTEXT, ContextRequest(query="zebra", budget=500))
    assert {(left.reason, left.score) for left in shown.omitted} == {("no_match", None)}
    assert "0 shown" in shown.text


@pytest.mark.parametrize(("apart", "together"), [("work out", "workout"), ("log in", "login")])
def test_a_word_is_found_however_it_is_written(apart: str, together: str) -> None:
    workspace = in_memory()
    keep(workspace, f"Do not {apart} before noon")
    keep(workspace, f"Each {together} takes a minute")
    assert len(find(workspace, together).hits) == len(find(workspace, apart).hits) == 2
