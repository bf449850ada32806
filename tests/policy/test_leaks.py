"""What an agent with an allowlist could once learn of what lies beyond it, each way by itself."""

import json
import subprocess
from datetime import timedelta
from typing import Any

import pytest
from msgspec.structs import replace

from pmem import Project
from pmem.core.lifecycle.candidates import word_keys
from pmem.errors import PmemError, Refused
from pmem.project.setup import write_setting
from pmem.search.hits import Expectation
from pmem.storage.backend import Backend
from pmem.values.records import KINDS, STORES, Memory
from tests.conftest import NOW
from tests.faults.console import bytes_of, pmem
from tests.once import Once

DAY = timedelta(days=1)


def opened(root: str, agent: str | None = None, days: float = 0) -> Project:
    """Open the memory so many days later; agents change what people wrote."""
    now = NOW + days * DAY
    return Project(root, actor="ada", now=now, agent=agent, consent={"changes": False})


def allow(root: str, **lists: list[str]) -> None:
    for agent, names in lists.items():
        write_setting(f"{root}/config.toml", f"allowlists.{agent}", names)


@pytest.fixture
def ids(root: str, once: Once) -> dict[str, str]:
    """Keep a memory that a planner may see, one that it may not, and one that is moved away."""
    return once(lambda: _build(root))


def _build(root: str) -> dict[str, str]:
    project = opened(root)
    texts = {
        "open": ("The gear opentoken turns", "goals"),
        "hidden": ("The gear secrettoken turns", "profile"),
        "moved": ("The gear movedtoken turns", "goals"),
    }
    found = {
        name: project.add(text, category=category, force=True).memory.id
        for name, (text, category) in texts.items()
    }
    allow(root, planner=["goals", "tasks"], boss=["goals", "profile"])
    return found


def commit() -> None:
    """Make a repository of the current folder, with one commit."""
    name = ("-c", "user.name=Ada", "-c", "user.email=ada@example.org")
    for line in (["init", "-q"], ["add", "-A"], ["commit", "-qm", "Before"]):
        subprocess.run(["git", *name, *line], check=True, capture_output=True)


def answers(project: Project, agent: str | None = None) -> str:
    return repr(project.query({"query": "gear", "agent": agent, "top_k": 50}))


def test_a_view_of_the_past_asked_by_an_agent_holds_nothing_that_was_moved_away(
    root: str, ids: dict[str, str]
) -> None:
    opened(root, days=1).edit(ids["moved"], category="profile")
    before = opened(root, days=2).at(NOW + DAY / 2)
    assert "movedtoken" in answers(before)
    assert "movedtoken" not in answers(before, "planner")
    assert "opentoken" in answers(before, "planner")


def test_a_view_of_a_commit_is_asked_within_todays_allowlists(
    root: str, ids: dict[str, str]
) -> None:
    allow(root, planner=["goals", "profile"])
    commit()
    allow(root, planner=["goals"])
    opened(root, days=1).edit(ids["moved"], category="profile")
    for view in (opened(root).at("HEAD"), opened(root).at("HEAD").at(NOW + 2 * DAY)):
        found = answers(view, "planner")
        assert "opentoken" in found
        assert "secrettoken" not in found
        assert "movedtoken" not in found


@pytest.mark.parametrize("when", ["HEAD", NOW + DAY])
def test_who_asks_a_view_cannot_ask_it_as_another_agent(
    when: Any, root: str, ids: dict[str, str]
) -> None:
    commit()
    view = opened(root, "planner", 2).at(when)
    assert view.workspace.caller.agent == "planner"
    with pytest.raises(Refused, match="planner may not ask as boss"):
        answers(view, "boss")


def test_the_log_of_what_ran_tells_an_agent_of_its_own_records_only(
    root: str, ids: dict[str, str]
) -> None:
    opened(root, days=1).edit(ids["moved"], category="profile")
    opened(root).add_episode("The gear broke")
    opened(root).search("gear")
    ran = opened(root, "planner").operations(limit=0)
    assert [(item.op, item.memory) for item in ran.items] == [
        ("create", ids["open"]),
        ("search", None),
    ]
    assert ran.total == 2
    counted = {item.op: item.count for item in opened(root, "planner", 1).stats().operations}
    assert counted == {"create": 1, "search": 1}
    assert opened(root).operations(limit=0).total == 6


def damage(root: str, identifier: str) -> None:
    """Give a memory's file a value that no record has."""
    path = f"{root}/long-term-memory/{identifier}.json"
    with open(path, encoding="utf-8") as file:
        value = json.load(file)
    with open(path, "w", encoding="utf-8") as file:
        json.dump({**value, "type": "secrettoken"}, file)


@pytest.mark.parametrize(
    "line",
    [
        ["list"],
        ["list", "--at", "HEAD"],
        ["list", "--at", "2999-01-01"],
        ["search", "gear"],
        ["query"],
        ["context"],
        ["stats"],
        ["log"],
        ["export", "arrays"],
    ],
    ids=" ".join,
)
def test_why_a_file_cannot_be_used_is_told_to_nobody_with_an_allowlist(
    line: list[str], root: str, ids: dict[str, str]
) -> None:
    damage(root, ids["hidden"])
    commit()
    person = pmem(*line, stdin=b'{"query": "gear"}')
    agent = pmem(*line, stdin=b'{"query": "gear"}', environment={"PMEM_AGENT": "planner"})
    assert "secrettoken" in person.err
    assert agent.code == person.code
    assert "secrettoken" not in agent.err
    assert f"{ids['hidden']}.json cannot be used" in agent.err


@pytest.mark.parametrize("type_", STORES, ids=KINDS.get)
def test_reading_a_damaged_record_says_no_more_than_that_it_is(type_: Any, root: str) -> None:
    allow(root, planner=["goals", "event", "activity"])
    identifier = "mwr00000-aaaaaaaa"
    with open(f"{root}/{STORES[type_]}/{identifier}.json", "w", encoding="utf-8") as file:
        json.dump({"id": identifier, "state": "secrettoken", "status": "secrettoken"}, file)
    backend: Backend = opened(root, "planner").workspace.backend
    with pytest.raises(PmemError) as caught:
        backend.read(type_, identifier)
    assert "secrettoken" not in f"{caught.value.message} {caught.value.hint}"


def test_what_something_hidden_refers_to_is_not_deleted_for_good(
    root: str, ids: dict[str, str]
) -> None:
    opened(root).link(ids["hidden"], ids["open"])
    opened(root).add_episode("The gear turned", memories=(ids["moved"],))
    for name in ("open", "moved"):
        with pytest.raises(Refused, match=r"planner may not delete .* for good"):
            opened(root, "planner").purge(ids[name], force=True)
    assert opened(root, "boss").purge(ids["open"], force=True)
    assert opened(root).check().findings == ()


def test_what_nothing_hidden_refers_to_is_deleted_with_the_links_to_it(
    root: str, ids: dict[str, str]
) -> None:
    opened(root).link(ids["open"], ids["moved"])
    assert opened(root, "planner").purge(ids["moved"], force=True)
    left = opened(root).show(ids["open"])
    assert isinstance(left, Memory)
    assert left.relationships == ()
    assert opened(root).check().findings == ()


def test_an_empty_name_in_the_environment_is_not_everybody(ids: dict[str, str]) -> None:
    for line in (["list"], ["search", "gear"], ["query"], ["stats"]):
        done = pmem(*line, stdin=b'{"query": "gear"}', environment={"PMEM_AGENT": ""})
        assert (done.code, done.out) == (3, b"")
        assert "the agent's name is empty" in done.err


@pytest.mark.parametrize(
    "line",
    [
        ["list", "--category", "profile"],
        ["list", "--category", "goals", "--category", "profile"],
        ["search", "gear", "--category", "profile"],
        ["search", "gear", "--kind", "message"],
        ["search", "gear", "--kind", "chunk"],
        ["search", "gear", "--kind", "episode"],
        ["log", "--kind", "episode"],
        ["log", "--kind", "conversation"],
    ],
    ids=" ".join,
)
def test_asking_for_what_lies_beyond_is_refused_and_no_empty_answer(
    line: list[str], ids: dict[str, str]
) -> None:
    done = pmem(*line, environment={"PMEM_AGENT": "planner"})
    assert (done.code, done.out) == (7, b"")
    assert "planner may not see the category " in done.err
    assert pmem(*line).code == 0


def test_a_message_is_kept_where_what_would_follow_from_it_may_not_be_written(root: str) -> None:
    allow(root, talker=["activity"])
    for day, agent in enumerate(("talker", None)):
        project = Project(root, now=NOW + day * DAY, agent=agent, promotion_threshold=0.1)
        project.start_conversation()
        heard = project.add_message("user", "We decided to use blue paint for every door.")
        assert heard.facts
        assert bool(heard.promoted) == bool(heard.episodes) == (agent is None)


def test_procedures_wait_for_their_name_in_an_earlier_commit_too(root: str) -> None:
    opened(root).add("To turn the gear, push it", "procedure", force=True)
    opened(root).add("The gear turns", category="tasks", force=True)
    commit()
    for view in (opened(root).at("HEAD"), opened(root, days=2).at(NOW + DAY)):
        assert [item.category for item in view.query({"query": "gear"})] == ["tasks"]
        named = view.query({"query": "gear", "categories": ["procedural"]})
        assert [item.category for item in named] == ["procedural"]


def test_what_git_has_is_told_to_nobody_with_an_allowlist(ids: dict[str, str]) -> None:
    commit()
    done = pmem("log", ids["open"], "--git", environment={"PMEM_AGENT": "planner"})
    assert (done.code, done.out) == (7, b"")
    assert "that takes in every category" in done.err


@pytest.mark.parametrize(
    ("category", "sees", "misses"),
    [("event", "eventtoken", "saidtoken"), ("activity", "saidtoken", "eventtoken")],
)
def test_episodes_are_events_and_what_was_said_is_activity(
    category: str, sees: str, misses: str, root: str
) -> None:
    project = opened(root)
    project.start_conversation("saidtoken of the gear")
    for number in range(25):
        project.add_message("user", f"The gear saidtoken turns, wheel {number}")
    project.add_episode("The gear eventtoken broke")
    allow(root, reader=[category])
    agent = opened(root, "reader")
    lists = (agent.workspace.episodes, agent.workspace.conversations, agent.workspace.chunks)
    found = repr([list(store.find()) for store in lists])
    answers = (found, repr(agent.search("gear", top_k=99).hits), repr(agent.export_arrays()))
    for answer in answers:
        assert sees in answer
        assert misses not in answer


@pytest.mark.parametrize(
    ("content", "subject"),
    [
        ("The hidden pulley never squeaks in the cellar", "secret subject"),
        ("The hidden pulley squeaks in the cellar", None),
        ("In the cellar the hidden pulley squeaks", None),
    ],
    ids=["subject", "content", "words"],
)
def test_what_is_added_is_compared_with_nothing_hidden(
    content: str, subject: str | None, root: str, ids: dict[str, str]
) -> None:
    hidden = opened(root).add(
        "The hidden pulley squeaks in the cellar", subject="secret subject", category="profile"
    )
    told = opened(root, "planner").add(content, subject=subject, category="tasks")
    assert (told.action, told.shares_subject) == ("added", "")
    assert hidden.memory.id not in repr(told)
    opened(root).purge(told.memory.id, force=True)
    assert hidden.memory.id in repr(opened(root).add(content, subject=subject, category="tasks"))


def test_what_is_hidden_takes_no_place_among_the_answers(root: str, ids: dict[str, str]) -> None:
    for number in range(9):
        opened(root).add(f"secrettoken gear {number}", category="profile", force=True)
    agent = opened(root, "planner")
    found = agent.search("secrettoken gear", top_k=2)
    assert {hit.id for hit in found.hits} == {ids["open"], ids["moved"]}
    assert (found.total, found.removed) == (2, {})
    asked = agent.query({"query": "secrettoken gear", "top_k": 2})
    assert {item.id for item in asked} == {ids["open"], ids["moved"]}


def test_what_was_said_answers_a_query_only_where_it_is_named(root: str) -> None:
    allow(root, listener=["activity", "tasks"])
    project = opened(root)
    project.start_conversation()
    project.add_message("user", "The gear squeaks")
    project.add("The gear turns", category="tasks", force=True)
    for agent in (None, "listener"):
        asked = opened(root, agent)
        assert [item.category for item in asked.query({"query": "gear"})] == ["tasks"]
        named = asked.query({"query": "gear", "categories": ["activity"]})
        assert [item.category for item in named] == ["activity"]


def test_the_storage_itself_names_nothing_hidden(root: str, ids: dict[str, str]) -> None:
    workspace = opened(root, "planner").workspace
    hidden = workspace.whole.read(Memory, ids["hidden"])
    seen = {ids["open"], ids["moved"]}
    assert set(workspace.backend.ids(Memory)) == seen
    keys = word_keys(hidden.content, hidden.scope)
    held = workspace.backend.holders(Memory, keys, 99)
    assert {id_ for found in held.values() for id_ in found} == seen
    whole = workspace.whole.holders(Memory, keys, 99)
    assert ids["hidden"] in {id_ for found in whole.values() for id_ in found}


def test_what_was_moved_away_takes_no_place_in_an_earlier_commit(
    root: str, ids: dict[str, str]
) -> None:
    commit()
    opened(root, days=1).edit(ids["moved"], category="profile")
    found = opened(root, "planner", 2).at("HEAD").search("movedtoken gear", top_k=1)
    assert [hit.id for hit in found.hits] == [ids["open"]]
    assert found.total == 1


@pytest.mark.row("S1.5.4")
def test_nothing_is_written_beyond_the_allowlist(root: str, ids: dict[str, str]) -> None:
    before = bytes_of(root)
    agent = opened(root, "planner")
    for write in (
        lambda: agent.add("The lever lifts the crate", category="profile"),
        lambda: agent.edit(ids["open"], category="profile"),
        lambda: agent.supersede(ids["open"], "The gear stands still", category="profile"),
    ):
        with pytest.raises(Refused, match="planner may not write in the category profile"):
            write()
    assert bytes_of(root) == before


def expected(project: Project, query: str, reference: str) -> Expectation:
    found = project.search(query, expect=reference).expected
    assert found is not None
    return found


def test_what_an_agent_may_not_see_is_expected_as_if_it_did_not_exist(
    root: str, ids: dict[str, str]
) -> None:
    planner = opened(root, "planner")
    for words in ("gear", "secrettoken", "nothing at all"):
        hidden, absent = (
            expected(planner, words, reference) for reference in (ids["hidden"], "zzzzzzzz")
        )
        assert replace(hidden, reference="") == replace(absent, reference="")
    assert expected(planner, "gear", ids["open"]).is_met
    assert expected(opened(root), "gear", ids["hidden"]).is_met
