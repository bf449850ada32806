"""The acceptance lines of S1's sections 3, 5, 6, 6.1, 11 and 12, each by its section."""

import json
from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pmem import Project
from pmem.core.filters import Filter
from pmem.core.queries import line_of, parse
from pmem.errors import InvalidValue, Refused
from pmem.project.setup import write_setting
from pmem.values.defaults import grade, lowest
from pmem.values.records import Memory, MemoryType, Scope
from tests.conftest import NOW
from tests.faults.console import added, pmem
from tests.spec.test_s1_details import S1_ALLOWLISTS
from tests.work import WITHIN, calls

S1_REQUEST: dict[str, Any] = {
    "agent": "planner",
    "query": "deployment plan context",
    "categories": ["tasks", "projects"],
    "filters": {
        "user_id": "mira",
        "agent_id": "planner",
        "run_id": "r1",
        "actor_id": "ada",
        "role": "assistant",
        "pinned": False,
        "importance_min": 1,
        "importance_max": 5,
        "updated_after": "2025-07-01",
        "updated_before": None,
    },
    "top_k": 3,
    "return": "bullets",
    "budget_tokens": 512,
}


@pytest.fixture
def project(root: str) -> Project:
    """Return a project with an allowlist for the planner, and memories in several categories."""
    found = Project(
        root, actor="ada", now=NOW, allowlists={"planner": ("goals", "tasks", "procedural")}
    )
    for text, category in (
        ("The deployment plan begins on Monday", "tasks"),
        ("The deployment goal is one outage less", "goals"),
        ("The deployment mood is tense", "profile"),
    ):
        found.add(text, category=category, force=True)
    found.add("To deploy, press the deployment button", "procedure", force=True)
    return found


def ask(project: Project, query: str = "deployment", **request: Any) -> list[str]:
    return [item.category for item in project.query({"query": query, **request})]


@pytest.mark.row("S1.3.6")
def test_s1_3_an_insight_counts_half_of_what_was_said(project: Project) -> None:
    project.add("The zebra budget shrinks", force=True)
    project.add("The zebra budget grows", MemoryType.INSIGHT, force=True)
    said, concluded = project.search("zebra budget").hits
    assert concluded.signals["insight"] == 0.5
    assert concluded.score < 0.6 * said.score


def test_s1_3_an_insight_that_counts_half_is_in_contexts_all_the_same(project: Project) -> None:
    """Low weight, and not absence: no threshold keeps it out."""
    insight = project.add(
        "The zebra budget grows each spring", MemoryType.INSIGHT, importance=0, force=True
    ).memory
    built = project.build_context("zebra budget lion giraffe hippo")
    assert [found.id for found in built.retrieval_results] == [insight.id]
    assert insight.content in built.text


def test_s1_12_what_the_mode_leaves_out_of_contexts_is_told(project: Project, root: str) -> None:
    (procedure,) = project.list(Filter(types=("procedure",))).items
    project = Project(root, now=NOW, categories={"context": {"procedural": "none"}})
    for query in (None, "deployment"):
        omitted = project.build_context(query).omitted
        assert [item.id for item in omitted if item.reason == "mode_none"] == [procedure.id]


@pytest.mark.row("S1.3.1", "S1.3.3", "S1.3.5")
def test_s1_3_insights_are_few_short_and_not_made_where_somebody_waits(root: str) -> None:
    def opened(days: float) -> Project:
        return Project(root, actor="ada", now=NOW + timedelta(days=days))

    def insights(days: float) -> list[Memory]:
        return list(opened(days).list(Filter(types=("insight",))).items)

    project = opened(0)
    assert not project.consolidate().steps
    for number in range(5):
        subject = f"Subject {number} " + "s" * 180
        memory = project.add(f"Wheel {number} turns", subject=subject, force=True).memory
        for times in range(4):
            project.edit(memory.id, f"Wheel {number} turns {times} times")
    assert insights(0) == []
    project.consolidate()
    made = insights(0)
    assert len(made) == 3
    assert all(0 < len(memory.content) <= 280 and not memory.pinned for memory in made)
    opened(0.9).consolidate()
    assert insights(0.9) == made
    opened(1.1).consolidate()
    assert len(insights(1.1)) == 5


@pytest.mark.row("S1.5.3")
@pytest.mark.parametrize("agent", S1_ALLOWLISTS)
def test_s1_5_each_agent_gets_its_categories_and_no_other(agent: str, root: str) -> None:
    lists = {name: tuple(named.split()) for name, named in S1_ALLOWLISTS.items()}
    project = Project(root, now=NOW, allowlists=lists)
    every = sorted({name for names in lists.values() for name in names})
    for category in every:
        project.add(f"The wheel of {category} turns", category=category, force=True)
    assert sorted(ask(project, "wheel", agent=agent, top_k=50)) == sorted(lists[agent])
    for category in every:
        if category in lists[agent]:
            assert ask(project, "wheel", agent=agent, categories=[category]) == [category]
        else:
            with pytest.raises(Refused):
                ask(project, "wheel", agent=agent, categories=[*lists[agent], category])


@pytest.mark.row("S1.5.1")
@pytest.mark.parametrize(
    ("mode", "quiet", "asked", "beside"),
    [("all", 60, 60, 60), ("rag", 0, 50, 0), ("none", 0, 0, 0)],
)
def test_s1_5_every_mode_shows_what_it_says(
    mode: str, quiet: int, asked: int, beside: int, root: str
) -> None:
    write_setting(f"{root}/config.toml", "categories.context.activity", mode)
    project = Project(root, now=NOW, retrieval_top_k=100)
    for number in range(60):
        project.add(f"The launch step {number} ended", category="activity", force=True)
    assert project.build_context().text.count("launch step") == quiet
    assert project.build_context("launch step").text.count("launch step") == asked
    assert project.build_context("paint the door").text.count("launch step") == beside


@pytest.mark.row("S1.5.3", "S1.6.3")
def test_s1_5_a_disallowed_category_is_rejected(project: Project) -> None:
    with pytest.raises(Refused, match="planner may not see the category profile"):
        ask(project, agent="planner", categories=["tasks", "profile"])
    with pytest.raises(Refused):
        ask(project, agent="planner", filters={"category": "profile"})
    with pytest.raises(Refused):
        ask(project, agent="stranger")
    assert set(ask(project, agent="planner")) == {"tasks", "goals"}


@pytest.mark.row("S1.5.1", "S1.5.2")
def test_s1_5_the_context_mode_is_respected(root: str) -> None:
    for number in range(40):
        added(f"The launch event {number} went well", "--category", "event", "--force")
    added("Ana owns the launch", "--category", "profile")
    quiet = pmem("context").out
    assert b"Ana owns" in quiet
    assert b"launch event" not in quiet
    assert pmem("context", "launch event").out.count(b"launch event") == 30
    assert pmem("config", "set", "categories.context.event", "all").code == 0
    assert pmem("context").out.count(b"launch event") == 40


@pytest.mark.row("S1.6.1")
def test_s1_6_the_request_is_read_to_the_letter() -> None:
    request = parse(S1_REQUEST)
    assert (request.agent, request.form, request.top_k, request.budget_tokens) == (
        "planner",
        "bullets",
        3,
        512,
    )
    assert request.categories == ("tasks", "projects")


@pytest.mark.row("S1.6.2")
def test_s1_6_bullets_are_answered_to_the_letter(root: str) -> None:
    added("The deployment plan begins on Monday", "--category", "tasks")
    done = pmem("query", "--json", stdin=b'{"query": "deployment plan"}')
    (bullet,) = done.data
    assert list(bullet) == ["id", "category", "text"]
    assert bullet["text"] == "[tasks] The deployment plan begins on Monday"
    asked = b'{"query": "deployment plan", "return": "full"}'
    (full,) = pmem("query", "--json", stdin=asked).data
    assert full["summary"] == "The deployment plan begins on Monday"
    assert full["metadata"]["importance"] == 3


@pytest.mark.row("S1.6.6")
@given(budget=st.integers(1, 60))
def test_s1_6_the_budget_is_respected(budget: int, root: str) -> None:
    project = Project(root, now=NOW)
    if not project.list().items:
        for number in range(5):
            project.add(f"The deployment {'step ' * number}number {number}", force=True)
    found = project.query({"query": "deployment", "budget_tokens": budget})
    text = "".join(f"{item.text}\n" for item in found if hasattr(item, "text"))
    assert project.workspace.count(text) <= budget


@pytest.mark.row("S1.6.6")
@given(budget=st.integers(1, 900))
def test_s1_6_the_budget_of_full_answers_is_respected(budget: int, root: str) -> None:
    project = Project(root, now=NOW)
    if not project.list().items:
        for number in range(4):
            project.add(f"The deployment {'step ' * number}number {number}", force=True)
    asked = {"query": "deployment", "return": "full", "budget_tokens": budget}
    found = project.query(asked)
    text = "".join(f"{line_of(item)}\n" for item in found)
    assert project.workspace.count(text) <= budget
    assert found or budget < 250


@pytest.mark.row("S1.6.7")
def test_s1_6_an_answer_takes_less_than_150_ms(project: Project) -> None:
    ask(project)
    assert calls(lambda: ask(project, agent="planner", budget_tokens=512, top_k=3)) < WITHIN * 150


@pytest.mark.row("S1.6.5")
def test_s1_6_the_threshold_drops_what_fits_badly(project: Project) -> None:
    assert len(ask(project, "deployment goal outage", threshold=0.8)) < len(ask(project))


WRONG: Mapping[str, tuple[Any, str]] = {
    "no object": ([], "a query is a JSON object"),
    "no query": ({}, "this is no query: it has no `query`"),
    "an unknown key": ({"query": "x", "topk": 3}, "it has the unknown key `topk`"),
    "an unknown filter": (
        {"query": "x", "filters": {"user": "m"}},
        "filters has the unknown key `user`",
    ),
    "a number as text": ({"query": "x", "top_k": "3"}, "top_k must be a whole number, not text"),
    "text as a list": ({"query": "x", "categories": "tasks"}, "categories must be a list"),
    "a part of a list": ({"query": "x", "categories": ["a", 1]}, "categories[1] must be text"),
    "another form": ({"query": "x", "return": "all"}, "return must be one of bullets, full"),
    "a grade": (
        {"query": "x", "filters": {"importance_min": 6}},
        "importance_min must be at most 5",
    ),
    "a threshold": ({"query": "x", "threshold": 2}, "threshold must be at most 1"),
    "no answers": ({"query": "x", "top_k": 0}, "top_k must be at least 1"),
}


@pytest.mark.row("S1.6.8")
@pytest.mark.parametrize("name", WRONG)
def test_s1_6_a_wrong_request_gets_one_clear_sentence(name: str) -> None:
    value, says = WRONG[name]
    with pytest.raises(InvalidValue) as caught:
        parse(value)
    assert says in caught.value.message


@pytest.mark.row("S1.6.10")
@given(importance=st.floats(0, 1), bound=st.integers(1, 5))
def test_s1_6_grades_and_their_filters_agree(importance: float, bound: int) -> None:
    assert (importance >= lowest(bound)) == (grade(importance) >= bound)
    assert (importance <= bound / 5) == (grade(importance) <= bound)


FILTERS: Mapping[str, tuple[Any, Any]] = {
    "user_id": ("mira", "noor"),
    "agent_id": ("planner", "critic"),
    "run_id": ("r1", "r2"),
    "actor_id": ("ada", "bob"),
    "role": ("assistant", "user"),
    "pinned": (True, False),
    "importance_min": (4, 5),
    "importance_max": (4, 3),
    "updated_after": ("2026-11-01", "2026-12-01"),
    "updated_before": ("2026-12-01", "2026-11-01"),
}


@pytest.mark.row("S1.6.9")
@pytest.mark.parametrize("read_only", [False, True])
@pytest.mark.parametrize("name", FILTERS)
def test_s1_6_1_a_query_is_filtered_where_it_is_stored(
    name: str, read_only: bool, root: str
) -> None:
    project = Project(root, now=datetime.fromisoformat("2026-11-21T00:00:00+00:00"))
    scope = Scope(user="mira", agent="planner", run="r1", actor="ada", role="assistant")
    memory = project.add("The wheel turns", pinned=True, importance=0.8, agent="planner").memory
    workspace = project.workspace
    with workspace.transaction():
        kept = workspace.memories.get(memory.id)
        workspace.memories.put(msgspec.structs.replace(kept, scope=scope))
    asked = Project(root, now=NOW, read_only=read_only)
    passing, failing = FILTERS[name]
    assert len(ask(asked, "wheel", filters={name: passing})) == 1
    assert ask(asked, "wheel", filters={name: failing}) == []


_TOPICS = (
    "billing deploy login search upload invoice tenant backup webhook search-index export audit"
    " quota cache mailer scheduler report session gateway image"
).split()


@pytest.mark.row("S1.11.1")
def test_s1_11_under_a_tenth_of_the_turns_need_a_recall_on_demand(root: str) -> None:
    """Of 40 questions the context answers all, those about procedures too."""
    project = Project(root, actor="ada", now=NOW)
    for number, topic in enumerate(_TOPICS):
        owner, limit = f"Owner{number}", 100 + number
        project.add(f"The {topic} service is owned by {owner}.", force=True)
        project.add(f"The {topic} service takes {limit} requests a second.", force=True)
    for step in range(3):
        project.add(f"To restart the {_TOPICS[step]} service, run step{step}.", "procedure")
    asked = [(f"Who owns the {topic} service?", f"Owner{n}.") for n, topic in enumerate(_TOPICS)]
    asked += [
        (f"How many requests does the {topic} service take?", f"takes {100 + n} requests")
        for n, topic in enumerate(_TOPICS[3:], start=3)
    ]
    asked += [
        (f"How to restart the {topic} service?", f"step{n}") for n, topic in enumerate(_TOPICS[:3])
    ]
    project.start_conversation()
    needed = []
    for question, answer in asked:
        project.add_message("user", question)
        if answer not in project.build_context(question, budget=800).text:
            needed.append(question)
        project.add_message("assistant", "Noted.")
    assert len(asked) == 40
    assert needed == []


@pytest.mark.row("S1.11.2")
def test_s1_11_a_recall_on_demand_takes_less_than_200_ms_beyond_the_start(root: str) -> None:
    added("The deployment plan begins on Monday", "--category", "tasks")
    asked = json.dumps({"query": "plan", "return": "bullets", "top_k": 3, "budget_tokens": 99})
    assert calls(lambda: pmem("query", stdin=asked.encode())) < WITHIN * 200


@pytest.mark.row("S1.12.3", "S1.12.6")
def test_s1_12_procedures_are_in_no_stable_block(project: Project) -> None:
    assert "press the deployment button" not in project.build_context().text
    asked = project.build_context("deploy button")
    held = {part.name: [item.text for item in part.items] for part in asked.sections}
    assert "press the deployment button" in " ".join(held["recalled"])
    assert "press the deployment button" not in " ".join(held.get("memory", []))


@pytest.mark.row("S1.12.2")
def test_s1_12_a_procedure_is_made_only_when_somebody_says_so(project: Project) -> None:
    project.start_conversation()
    steps = "First open the valve, then press the start button, and finally close the lid."
    heard = project.add_message("user", steps)
    assert [(fact.type, fact.standing) for fact in heard.facts] == [("procedure", "pending")]
    assert (heard.promoted, heard.episodes) == ((), ())
    assert "valve" not in repr([*project.list().items, *project.episodes().items])
    (promoted,) = project.promote_facts(heard.facts[0].id)
    assert promoted.memory.category == "procedural"
    project.end_conversation()
    assert "valve" not in project.build_context().text


@pytest.mark.row("S1.12.4")
def test_s1_12_procedures_answer_only_where_their_category_is_named(project: Project) -> None:
    assert "procedural" not in ask(project, "deployment button")
    assert ask(project, "deployment button", categories=["procedural"]) == ["procedural"]
    asked = {"agent": "planner", "categories": ["procedural"]}
    assert ask(project, "deployment button", **asked) == ["procedural"]


@pytest.mark.row("S1.12.1", "S1.12.2")
def test_s1_12_procedures_are_made_where_they_are_asked_for_or_sure(root: str) -> None:
    project = Project(root, actor="ada", now=NOW, promotion_threshold=0.9)
    project.add("To deploy, press the button and wait")
    project.start_conversation()
    for text in ("I pressed the button, then I waited.", "You could press the button first."):
        project.add_message("user", text)
    procedures = Filter(types=("procedure",))
    assert project.list(procedures).items == ()
    asked = project.add("To deploy, press the button", "procedure", force=True).memory
    assert [memory.id for memory in project.list(procedures).items] == [asked.id]
    assert asked.category == "procedural"


def test_s1_12_a_procedure_of_another_category_waits_for_both_names(project: Project) -> None:
    project.add("To roll back, pull the red lever", "procedure", category="tasks", force=True)
    assert ask(project, "red lever", categories=["tasks"]) == []
    assert ask(project, "red lever", categories=["tasks", "procedural"]) == ["tasks"]
    assert "red lever" not in project.build_context().text
    assert "red lever" in project.build_context("red lever").text


@pytest.mark.row("S1.6.3")
def test_s1_6_a_category_must_be_in_the_list_and_in_the_filter(project: Project) -> None:
    for named in ("tasks", "goals"):
        asked: dict[str, Any] = {"categories": ["tasks"], "filters": {"category": named}}
        assert ask(project, **asked) == ["tasks"] * (named == "tasks")


@pytest.mark.row("S1.5.2")
def test_s1_5_a_query_gives_so_many_of_a_category_shown_by_rag(root: str) -> None:
    project = Project(root, now=NOW)
    for number in range(35):
        project.add(f"The launch step {number} ended", category="event", force=True)
    assert len(ask(project, "launch step", top_k=100)) == 30
