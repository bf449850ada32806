"""What left recall is found by whoever asks for it, and an empty answer speaks of it."""

import pytest

from pmem import Project
from pmem.core.filters import Filter
from pmem.operations import table
from pmem.search.hits import SearchRequest
from pmem.search.search import SearchResult
from pmem.values.records import State
from tests.asking import ask
from tests.conftest import NOW
from tests.core.lifecycle.makers import DAY

ALL = Filter(states=())


@pytest.fixture
def project(root: str) -> Project:
    """Return a project with an archived, a superseded, a removed and an expired memory."""
    early = Project(root, actor="ada", now=NOW - 300 * DAY, decay="s2")
    early.add("The zebra command is make release")
    early.add("The zebra gate is closed", valid_until=NOW - 200 * DAY, pinned=True)
    old = early.add("The heron lives in the old pond", pinned=True).memory.id
    removed = early.add("The otter sleeps", pinned=True).memory.id
    early.remove(removed)
    now = Project(root, actor="ada", now=NOW, decay="s2")
    now.supersede(old, "The crane lives by the lake")
    now.consolidate()
    return now


def found(project: Project, query: str, wanted: Filter | None = None) -> SearchResult:
    request = SearchRequest(query=query, wanted=wanted or Filter())
    return ask(project.workspace, table.SEARCH, request)


@pytest.mark.row("S1.7.6")
@pytest.mark.parametrize(
    ("query", "state"), [("zebra", State.ARCHIVED), ("heron", State.SUPERSEDED)]
)
def test_states_that_are_asked_for_are_found_though_their_validity_is_closed(
    project: Project, query: str, state: State
) -> None:
    for wanted in (Filter(states=(state,)), ALL):
        assert [hit.state for hit in found(project, query, wanted).hits] == [state]


def test_what_expired_in_recall_stays_hidden_by_its_validity(project: Project) -> None:
    gate = found(project, "gate", ALL)
    assert (gate.hits, gate.removed["validity"]) == ((), 1)


@pytest.mark.parametrize(
    ("query", "matches"),
    [
        ("zebra", {"archived": 1}),
        ("heron", {"superseded": 1}),
        ("zebra heron", {"archived": 1, "superseded": 1}),
        ("otter", {}),
        ("walrus", {}),
    ],
)
def test_an_empty_answer_counts_what_matches_out_of_recall(
    project: Project, query: str, matches: dict[str, int]
) -> None:
    empty = found(project, query)
    assert (empty.hits, empty.out_of_recall) == ((), matches)


def test_an_answer_does_not_speak_of_it_and_filters_hold_for_it_too(project: Project) -> None:
    project.add("The zebra sings")
    assert found(project, "zebra").out_of_recall == {}
    assert found(project, "heron", Filter(tags=("x",))).out_of_recall == {}


def test_the_tool_of_agents_says_it_as_well(project: Project) -> None:
    from pmem.core.queries import parse

    told = ask(project.workspace, table.QUERY, parse({"query": "zebra"}))
    assert told.reason == "nothing found; 1 archived memory matches"


def test_what_was_archived_is_offered_for_restoring_and_what_was_superseded_is_news(
    project: Project,
) -> None:
    again = project.add("the zebra command is  make release")
    assert (again.action, again.is_archived) == ("suggested", True)
    assert again.next_step == f"bring it back with `pmem restore {again.memory.id[-8:]}`"
    assert project.add("The zebra command is make release", user="mira").action == "added"
    assert project.add("The heron lives in the old pond").action == "added"
    project.restore(again.memory.id)
    assert "update it" in project.add("The zebra command is make release").next_step


def test_a_block_for_a_prompt_leaves_out_what_does_not_hold(project: Project) -> None:
    project.add("The ferry starts later", valid_from=NOW + DAY)
    block = project.block()
    assert "crane" in block
    assert "gate" not in block
    assert "ferry" not in block
    assert project.list().total == 3
