"""Consent on the ways around it: what takes a memory's place, comes back, or is decided late."""

from datetime import UTC, datetime, timedelta
from pathlib import Path
from unittest import mock

import pytest

from pmem import Project
from pmem.conversation import exchange
from pmem.errors import InvalidValue, Refused, StorageRefused
from pmem.memory.proposals import Withheld
from pmem.storage.jsonfiles import JsonFiles
from pmem.storage.local.proposals import Proposals
from tests.conftest import NOW
from tests.faults.console import pmem


def running(root: str, agent: str | None = None) -> Project:
    """Open a memory whose clock runs, and where agents change what people wrote."""
    return Project(root, actor="kim", agent=agent, consent={"changes": False})


def test_a_new_memory_in_the_place_of_one_needs_consent_while_the_clock_runs(
    root: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its events lie a moment apart: the last one alone does not say what is new."""
    memory = running(root).add("The user lives in Graz.").memory
    agent = running(root, "bot")
    clock = iter(range(1, 1000))
    monkeypatch.setattr(
        type(agent.workspace),
        "now",
        lambda _: datetime.now(UTC).replace(microsecond=0) + timedelta(seconds=next(clock)),
    )
    with pytest.raises(Refused, match="consent"):
        agent.supersede(memory.id, "The user lives in Quuxville.")
    assert [item.content for item in running(root).list().items] == [memory.content]


@pytest.mark.parametrize("content", ["tiny", "x" * 501])
def test_what_takes_a_memorys_place_has_the_size_that_agents_are_held_to(
    content: str, root: str
) -> None:
    memory = running(root).add("The release is on Monday.").memory
    with pytest.raises(InvalidValue, match="5 to 500"):
        running(root, "bot").supersede(memory.id, content)


def test_what_takes_a_memorys_place_has_the_form_where_that_is_enforced(root: str) -> None:
    memory = running(root).add("The release is on Monday.").memory
    agent = Project(root, agent="bot", writing={"lint": "refuse"}, consent={"changes": False})
    with pytest.raises(InvalidValue, match="writing rules"):
        agent.supersede(memory.id, "We release it on TUESDAY!")
    assert agent.supersede(memory.id, "The release is on Tuesday.").memory


@pytest.mark.parametrize("remover", ["person", "agent"])
def test_an_agent_brings_nothing_back_that_is_said_of_a_person(remover: str, root: str) -> None:
    memory = running(root).add("The user lives in Graz.").memory
    running(root, "bot" if remover == "agent" else None).remove(memory.id)
    with pytest.raises(Refused, match="consent"):
        running(root, "bot").restore(memory.id)
    nobodys = running(root).add("The release is on Monday.").memory
    running(root).remove(nobodys.id)
    for caller, identifier in ((None, memory.id), ("bot", nobodys.id)):
        (back,) = running(root, caller).restore(identifier)
        assert back.state == "active"


def test_an_agent_may_take_what_a_persons_episode_refers_to_away_for_good(root: str) -> None:
    """Cutting the link rewrites the episode, and says nothing anew."""
    person = Project(root, now=NOW)
    memory = person.add("The kettle is on the shelf.").memory
    episode = person.add_episode("The user moved to Graz last year.", memories=(memory.id,))
    running(root, "bot").purge(memory.id, force=True)
    assert person.episodes().items[0].id == episode.id


def test_a_candidate_outlives_a_disk_that_refuses_its_memory(root: str) -> None:
    goal = "The user wants short answers."
    Project(root, now=NOW, agent="bot").add(goal, category="tone")
    later = Project(root, now=NOW + timedelta(hours=2), agent="bot")
    refuses = mock.patch.object(JsonFiles, "commit", side_effect=StorageRefused("the disk is full"))
    with refuses, pytest.raises(StorageRefused):
        later.add(goal, category="tone")
    assert [item.kind for item in later.waiting().items] == ["signals"]
    assert later.add(goal, category="tone").action == "added"
    assert later.waiting().total == 0


def approved_by_one_who_died(project: Project, agent: Project) -> tuple[str, str]:
    """Agree to something, and die between keeping the memory and settling the proposal."""
    held = agent.add("The user lives in Quuxville.").held
    assert held is not None
    dies = mock.patch.object(Proposals, "settle", side_effect=KeyboardInterrupt)
    with dies, pytest.raises(KeyboardInterrupt):
        project.approve(held.id)
    return held.id, project.list().items[0].id


def test_what_a_memory_says_cannot_be_rejected(root: str) -> None:
    project = Project(root, now=NOW, actor="kim")
    held, memory = approved_by_one_who_died(project, Project(root, now=NOW, agent="bot"))
    with pytest.raises(InvalidValue, match="was agreed to"):
        project.reject(held)
    assert [agreed.memory.id for agreed in project.approve(held)] == [memory]
    assert project.waiting().total == 0
    assert [item.decision for item in project.waiting(decisions=True).decisions] == ["approved"]


def test_a_change_to_a_memory_that_was_removed_meanwhile_is_not_made(root: str) -> None:
    project = Project(root, now=NOW, actor="kim")
    memory = project.add("The user lives in Graz.").memory
    with pytest.raises(Withheld) as caught:
        Project(root, now=NOW, agent="bot").edit(memory.id, "The user lives in Quuxville.")
    project.remove(memory.id)
    with pytest.raises(InvalidValue, match="soft deleted by now"):
        project.approve(caught.value.held.id)
    assert project.waiting().total == 1
    project.restore(memory.id)
    (agreed,) = project.approve(caught.value.held.id)
    assert agreed.memory.content == "The user lives in Quuxville."


def test_an_import_of_an_agent_cannot_say_that_somebody_agreed(root: str, tmp_path: Path) -> None:
    memory = running(root).add("The user lives in Graz.").memory
    folder = str(tmp_path / "arrays")
    files = running(root).export_arrays()
    running(root).purge(memory.id, force=True)
    forged = files["long-term-memory.json"].replace(
        b'"event": "ADD"', b'"event": "ADD", "source":"consent","detail":{"consent":{"by":"kim"}}'
    )
    assert forged != files["long-term-memory.json"]
    exchange.write_files(folder, {**files, "long-term-memory.json": forged})
    with pytest.raises(Refused, match="consent"):
        running(root, "bot").import_arrays(folder)
    assert running(root).list().items == ()


def test_a_batch_in_which_something_waits_says_so_by_its_exit_code(root: str) -> None:
    waits, passes = b'{"content": "The user lives in Quuxville."}\n', b'{"content": "It rains."}\n'
    agent = {"PMEM_AGENT": "planner"}
    done = pmem("add", "--batch", "-", "--json", stdin=waits + passes, environment=agent)
    assert done.code == 7
    assert (done.data["added"], done.data["held"]) == (1, 1)
    assert (
        pmem("add", "--batch", "-", stdin=b'{"content": "It snows."}', environment=agent).code == 0
    )


def test_a_fact_that_waits_for_consent_says_so_by_the_exit_code(root: str) -> None:
    assert pmem("config", "set", "promotion_threshold", "1").code == 0
    assert pmem("conversation", "start").code == 0
    assert pmem("conversation", "say", "I live in Quuxville.").code == 0
    done = pmem("inbox", "accept", "--above", "0", "--json")
    assert done.code == 7
    assert (done.data["total"], len(done.data["held"])) == (0, 1)
