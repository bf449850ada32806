"""What a person wrote stays as it is until a person agrees, whatever an agent calls itself."""

from collections.abc import Callable

import pytest

from pmem import Project
from pmem.errors import NotFound, Refused
from pmem.memory.proposals import Withheld
from pmem.memory.requests import AddRequest
from pmem.values.records import Memory, State
from tests.conftest import NOW
from tests.faults.console import pmem

TEXT = "The release is on Monday."
NEW = "The release is on Tuesday."


def opened(root: str, agent: str | None = None) -> Project:
    return Project(root, actor="kim", now=NOW, agent=agent)


@pytest.fixture
def memory(root: str) -> Memory:
    """Keep what a person wrote."""
    return opened(root).add(TEXT, subject="release").memory


def kept(root: str) -> list[tuple[str, State]]:
    return [(item.content, item.state) for item in opened(root).list().items]


@pytest.mark.row("S1.10.6")
def test_an_agents_change_waits_and_is_made_once_a_person_agrees(root: str, memory: Memory) -> None:
    with pytest.raises(Withheld, match="a person wrote this: its change waits") as caught:
        opened(root, "bot").edit(memory.id, NEW)
    assert kept(root) == [(TEXT, State.ACTIVE)]
    (item,) = opened(root).waiting().items
    assert (item.kind, item.target, item.content, item.agent) == ("change", memory.id, NEW, "bot")
    (agreed,) = opened(root).approve(caught.value.held.id)
    assert (agreed.memory.content, agreed.memory.history[-1].source) == (NEW, "consent")
    assert opened(root).waiting().total == 0


def test_what_an_agent_would_change_is_told_in_words(root: str, memory: Memory) -> None:
    agent = opened(root, "bot")
    with pytest.raises(Withheld):
        agent.edit(
            memory.id, pinned=True, add_tags=["mail", "team"], valid_until="2027-01-01T00:00:00Z"
        )
    with pytest.raises(Withheld):
        agent.outcome(memory.id, "good", "nobody waited")
    assert {item.content for item in opened(root).waiting().items} == {
        "valid until: 2027-01-01T00:00:00Z; pinned: yes; tags: mail, team",
        f"outcomes: good {NOW:%Y-%m-%d}: nobody waited",
    }


def test_an_agents_removal_waits_and_is_made_once_a_person_agrees(
    root: str, memory: Memory
) -> None:
    with pytest.raises(Withheld, match="its removal waits") as caught:
        opened(root, "bot").remove(memory.id)
    assert kept(root) == [(TEXT, State.ACTIVE)]
    opened(root).approve(caught.value.held.id)
    assert kept(root) == []
    assert opened(root).restore(memory.id)
    assert kept(root) == [(TEXT, State.ACTIVE)]


def test_what_a_person_rejected_is_not_asked_again(root: str, memory: Memory) -> None:
    for change in (
        lambda: opened(root, "bot").remove(memory.id),
        lambda: opened(root, "bot").edit(memory.id, NEW),
    ):
        with pytest.raises(Withheld) as caught:
            change()
        opened(root).reject(caught.value.held.id)
        with pytest.raises(Withheld, match="a person has rejected this before"):
            change()
    assert opened(root).waiting().total == 0
    assert kept(root) == [(TEXT, State.ACTIVE)]


def test_a_removal_of_what_is_gone_meanwhile_says_so(root: str, memory: Memory) -> None:
    with pytest.raises(Withheld) as caught:
        opened(root, "bot").remove(memory.id)
    opened(root).purge(memory.id, force=True)
    with pytest.raises(NotFound):
        opened(root).approve(caught.value.held.id)


def test_an_agent_changes_and_removes_what_agents_wrote(root: str) -> None:
    memory = opened(root, "bot").add(TEXT).memory
    assert opened(root, "other").edit(memory.id, NEW).content == NEW
    assert opened(root, "other").remove(memory.id)
    assert kept(root) == []


def test_what_a_person_changed_or_agreed_to_is_the_persons(root: str) -> None:
    memory = opened(root, "bot").add(TEXT).memory
    opened(root).edit(memory.id, NEW)
    with pytest.raises(Withheld):
        opened(root, "bot").remove(memory.id)


def test_one_word_of_a_person_among_several_keeps_them_all(root: str, memory: Memory) -> None:
    own = opened(root, "bot").add("The kettle is on the shelf.").memory
    with pytest.raises(Withheld):
        opened(root, "bot").remove(own.id, memory.id)
    assert len(kept(root)) == 2


WAYS: dict[str, Callable[[Project, Memory], object]] = {
    "supersede": lambda agent, memory: agent.supersede(memory.id, NEW),
    "supersede_by": lambda agent, memory: agent.supersede_by(
        memory.id, agent.add("The kettle is on the shelf.").memory.id
    ),
    "purge": lambda agent, memory: agent.purge(memory.id, force=True),
    "pin": lambda agent, memory: agent.pin(memory.id),
    "another category": lambda agent, memory: agent.edit(memory.id, category="misc"),
    "importance": lambda agent, memory: agent.edit(memory.id, importance=0.0),
    "an end": lambda agent, memory: agent.edit(memory.id, valid_until=NOW),
}


@pytest.mark.parametrize("agent", ["bot", "kim", "person"])
@pytest.mark.parametrize("way", WAYS)
def test_no_other_way_and_no_other_name_leads_around_it(
    way: str, agent: str, root: str, memory: Memory
) -> None:
    with pytest.raises(Refused, match="a person wrote"):
        WAYS[way](opened(root, agent), memory)
    record = opened(root).show(memory.id)
    assert record == memory


def test_an_agent_removes_no_episode_that_a_person_wrote(root: str) -> None:
    episode = opened(root).add_episode("The audit is done", title="Audit")
    for change in (Project.remove, Project.pin):
        with pytest.raises(Refused, match="a person wrote"):
            change(opened(root, "bot"), episode.id)
    assert opened(root).episodes().items == (episode,)


def test_an_agent_takes_no_app_the_memories_of_a_person(root: str) -> None:
    opened(root).add("Meetings are after 2pm", app="calendar")
    with pytest.raises(Refused, match="a person wrote"):
        opened(root, "bot").apps.purge("calendar")
    assert len(kept(root)) == 1


def test_a_setting_lets_agents_change_what_people_wrote_and_no_agent_sets_it(
    root: str, memory: Memory
) -> None:
    line = ("config", "set", "consent.changes", "false")
    done = pmem(*line, environment={"PMEM_AGENT": "bot"})
    assert (done.code, "a person does" in done.err) == (7, True)
    assert pmem(*line).code == 0
    assert opened(root, "bot").edit(memory.id, NEW).content == NEW
    assert opened(root, "bot").remove(memory.id)


def test_the_command_line_says_what_waits_and_what_is_done(memory: Memory) -> None:
    done = pmem("rm", memory.id, "--agent", "bot")
    assert (done.code, done.out) == (7, b"")
    assert "a person wrote this: its removal waits for a person" in done.err
    assert "hint: a person decides: `pmem inbox accept " in done.err
    assert b"(to be removed)" in pmem("inbox", "proposals").out
    assert b"(to be removed)" not in pmem("inbox", "proposals", "--agent", "bot").out


def test_an_agent_named_by_add_is_held_to_its_allowlist(root: str) -> None:
    """F82: the option of `add` says whom a memory concerns, and who writes it."""
    pmem("config", "set", "allowlists.planner", "tasks")
    for agent, said in (("planner", "may not write in"), ("stranger", "no allowlist for")):
        line = ("add", TEXT, "--category", "knowledge", "--agent", agent)
        for environment in ({}, {"PMEM_AGENT": agent}):
            done = pmem(*line, environment=environment)
            assert (done.code, done.out) == (7, b"")
            assert said in done.err
    with pytest.raises(Refused, match="planner may not write in the category knowledge"):
        opened(root).add_all(
            [
                AddRequest(content=NEW),
                AddRequest(content=TEXT, agent="planner", category="knowledge"),
            ]
        )
    assert kept(root) == []
    assert pmem("add", TEXT, "--category", "tasks", "--agent", "planner").code == 0


def test_an_agent_writes_in_its_own_name(root: str) -> None:
    memory = opened(root, "bot").add(TEXT, agent="planner").memory
    assert (memory.scope.agent, memory.history[0].agent) == ("planner", "bot")
