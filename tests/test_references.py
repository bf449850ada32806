"""What records lead to is there, or `check` says so and `repair` mends it."""

import json
from pathlib import Path
from typing import Any

import msgspec
import pytest

from pmem import Project
from pmem.conversation.episodes import EpisodeRequest
from pmem.errors import NotFound
from pmem.operations import table
from pmem.values.records import STORES, Memory, Relationship, State
from tests.asking import ask
from tests.faults.console import pmem

GONE = "mlk2nzzz-00000000"


@pytest.fixture
def project(root: str) -> Project:
    return Project(root, actor="ada")


def codes(project: Project) -> list[str]:
    return [finding.code for finding in Project(project.workspace.root).check().findings]


def path_of(project: Project, identifier: str, store: str = STORES[Memory]) -> Path:
    return Path(project.workspace.root, store, f"{identifier}.json")


def by_hand(path: Path, **fields: Any) -> None:
    """Change a record's file as an editor or an older version would."""
    path.write_text(json.dumps({**json.loads(path.read_text()), **fields}, indent=2))


def with_a_link_to_nothing(project: Project) -> str:
    identifier = project.add("The cache is kept in memory").memory.id
    link = {"target": GONE, "type": "related_to", "strength": 0.5}
    by_hand(path_of(project, identifier), relationships=[link])
    return identifier


def test_a_commit_refuses_to_leave_a_link_to_nothing(project: Project) -> None:
    workspace = project.workspace
    memory = project.add("The cache is kept in memory").memory
    link = Relationship(target=GONE, type="related_to")
    gone = pytest.raises(NotFound, match=f"would lead to memory {GONE}, which is gone")
    with gone, workspace.transaction():
        workspace.memories.put(msgspec.structs.replace(memory, relationships=(link,)))
    assert codes(project) == []


def test_a_commit_cuts_what_leads_to_a_record_that_it_removes(project: Project) -> None:
    workspace = project.workspace
    one, other = (project.add(text).memory.id for text in ("Ada bakes", "Bo cooks"))
    project.link(one, other)
    episode = ask(
        workspace, table.ADD_EPISODE, EpisodeRequest(summary="The oven broke", memories=(other,))
    )
    with workspace.transaction():
        workspace.memories.remove(other)
    assert workspace.memories.get(one).relationships == ()
    assert workspace.episodes.get(episode.id).linked_memories == ()
    assert codes(project) == []


def test_a_record_that_led_to_nothing_before_can_still_be_changed(project: Project) -> None:
    identifier = with_a_link_to_nothing(project)
    assert project.edit(identifier, "The cache is kept on disk").relationships
    assert codes(project) == ["dangling"]


def test_a_successor_takes_no_link_to_nothing_over(project: Project) -> None:
    identifier = with_a_link_to_nothing(project)
    new = project.supersede(identifier, "The cache is kept on disk").memory
    assert [link.target for link in new.relationships] == [identifier]
    assert codes(project) == ["dangling"]


def test_merging_takes_no_link_to_nothing_over(project: Project) -> None:
    with_a_link_to_nothing(project)
    project.add("the cache is kept in memory.", force=True)
    assert project.consolidate().counts["merge"]
    assert len(codes(project)) <= 1


def test_an_import_leaves_out_what_leads_to_nothing(project: Project, tmp_path: Path) -> None:
    identifier = with_a_link_to_nothing(project)
    for name, data in project.export_arrays().items():
        (tmp_path / name).write_bytes(data)
    project.purge(identifier, force=True)
    done = project.import_arrays(str(tmp_path))
    assert (done.added, [item.why for item in done.skipped]) == (
        1,
        ["leads to what is not there: that is left out"],
    )
    assert codes(project) == []


@pytest.mark.parametrize("command", [("resolve",), ("check", "setup", "--fix")])
def test_links_to_nothing_are_cut_by_repair(project: Project, command: tuple[str, ...]) -> None:
    identifier = with_a_link_to_nothing(project)
    assert codes(project) == ["dangling"]
    assert pmem("resolve", "--dry-run").code == 0
    assert codes(project) == ["dangling"]
    assert pmem(*command).code == 0
    assert codes(project) == []
    last = project.history(identifier)[-1]
    assert (last.event, last.detail["removed"][0]["target"]) == ("UNLINK", GONE)


def test_a_chunk_whose_conversation_is_gone_gets_one_again(root: str) -> None:
    project = Project(root, max_recent_messages=2, chunk_size=1)
    talk = project.start_conversation().id
    for number in range(5):
        project.add_message("user", f"Point {number}")
    path_of(project, talk, "conversations").unlink()
    assert set(codes(project)) == {"dangling"}
    project.repair()
    assert codes(project) == []
    assert [item.content for item in project.transcript(talk).messages] == [
        "Point 0",
        "Point 1",
        "Point 2",
    ]


def test_purging_a_conversation_takes_chunks_that_it_does_not_name(root: str) -> None:
    project = Project(root, max_recent_messages=2, chunk_size=1)
    talk = project.start_conversation().id
    for number in range(5):
        project.add_message("user", f"Point {number}")
    by_hand(path_of(project, talk, "conversations"), chunks=[])
    project.purge(talk, force=True)
    assert project.stats().messages == 0


# Successors


def replaced(project: Project) -> tuple[str, str]:
    old = project.add("The cache is kept in memory").memory.id
    return old, project.supersede(old, "The cache is kept on disk").memory.id


def test_a_successor_that_was_removed_knowingly_brings_nothing_back(project: Project) -> None:
    old, new = replaced(project)
    project.remove(new)
    assert codes(project) == []
    project.purge(new)
    assert codes(project) == []
    assert project.repair().repaired == ()
    assert project.history(old)[-1].detail == {"successor": new}


def test_a_successor_that_was_purged_at_once_brings_nothing_back(project: Project) -> None:
    old, new = replaced(project)
    project.purge(new, force=True)
    assert codes(project) == []
    assert project.workspace.memories.get(old).state is State.SUPERSEDED


def test_a_memory_whose_successor_lost_its_file_is_told_of_and_can_come_back(
    project: Project,
) -> None:
    old, new = replaced(project)
    path_of(project, new).unlink()
    assert codes(project) == ["forsaken"]
    assert Project(project.workspace.root).repair().repaired == ()
    project.restore(old)
    assert codes(project) == []
    assert [memory.id for memory in project.list().items] == [old]


def test_a_memory_whose_successor_cannot_be_read_waits(project: Project) -> None:
    _, new = replaced(project)
    path_of(project, new).write_text("{")
    assert codes(project) == ["damaged"]


@pytest.mark.parametrize("deed", ["superseded", "merged"])
def test_a_successor_that_left_recall_before_it_was_one_is_told_of(
    project: Project, deed: str
) -> None:
    """As merges by versions before this one have left it."""
    one = project.add("The cache is kept in memory", importance=0.9).memory.id
    other = project.add("the cache is kept in memory.", force=True).memory.id
    project.remove(one)  # as the other branch does, who keeps the second one
    removal = json.loads(path_of(project, one).read_text())
    project.restore(one)
    if deed == "merged":
        project.consolidate()
    else:
        project.supersede_by(other, one)
    held = json.loads(path_of(project, one).read_text())
    state = {name: removal[name] for name in ("state", "purge_at")}
    history = [held["history"][0], removal["history"][-1], *held["history"][3:]]
    by_hand(path_of(project, one), **state, history=history)
    assert codes(project) == ["forsaken"]
    Project(project.workspace.root).purge(one)
    assert codes(project) == ["forsaken"]
    project.restore(other)
    assert codes(project) == []
