"""Every write leaves an event: in the log, and in the audit trail."""

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pmem import Project
from pmem.conversation import exchange
from pmem.core.journal import Historic, JournalKind, digest
from pmem.errors import Ambiguous, InvalidValue, NotFound
from pmem.memory.journal import AuditRequest, EventsRequest
from pmem.operations import table
from pmem.project.workspace import Workspace
from pmem.storage.backend import Change
from pmem.values.records import Chunk, EventKind
from tests.asking import ask
from tests.conftest import NOW
from tests.core.test_journal import historic
from tests.effort import examples
from tests.faults import world
from tests.faults.console import added, pmem
from tests.storage.in_memory import InMemory

UNREAD: Final = ("resolve", "check setup --fix of a database")
"""Writes before which no trail can be read."""


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Make a project in which every writing command has something to do."""
    home, place = os.getcwd(), str(tmp_path_factory.mktemp("world") / "template")
    os.mkdir(place)
    world.build(place)
    os.chdir(home)
    return place


def trail() -> dict[str, Any]:
    rows = json.loads(world.ran("export", "audit", "--json").out)["data"]["items"]
    return {row["id"]: row for row in rows if row["meta"]["kind"] in ("memory", "episode")}


def kept() -> dict[str, Any]:
    """Return the memories and episodes, but for the recalls that upkeep folds in."""
    folders = ("long-term-memory", "episodic-memory")
    paths = [path for folder in folders for path in Path(world.ROOT, folder).glob("*.json")]
    return {path.stem: {**json.loads(path.read_bytes()), "access": None} for path in paths}


@pytest.mark.some(16)
@pytest.mark.parametrize("name", [name for name in world.WRITES if name not in UNREAD])
def test_every_write_to_memories_and_episodes_is_in_the_audit(
    name: str, template: str, tmp_path: Path
) -> None:
    write, here = world.WRITES[name], str(tmp_path / "here")
    with world.surroundings(here):
        world.copied(template, here)
        known = world.names()
        if write.prepare is not None:
            write.prepare()
        before, files = (trail(), kept()) if os.path.isdir(world.ROOT) else ({}, {})
        done = world.do(write, known)
        assert done.code in (0, 1, 7, 9), done
        after, now = trail(), kept()
    gone = files.keys() - now.keys()
    assert {row["memory_id"] for id_, row in before.items() if id_ not in after} <= gone
    new = {row["memory_id"] for id_, row in after.items() if id_ not in before}
    assert new == {id_ for id_, data in now.items() if files.get(id_) != data}


def test_what_is_purged_leaves_no_trace_of_its_own(root: str) -> None:
    memory = added("Text of a memory")
    assert pmem("purge", memory, "--force").code == 0
    assert memory not in {
        row["memory_id"] for row in pmem("export", "audit", "--json").data["items"]
    }
    assert pmem("log", memory).code == 3


def test_the_trail_is_one_users_where_that_is_asked(workspace: Workspace) -> None:
    memory = Project(workspace.root, actor="ada", now=NOW)
    mine = memory.add("Mira likes tea", user="mira").memory
    memory.add("Tom likes coffee", user="tom")
    memory.remove(mine.id)
    rows = list(memory.audit("mira"))
    assert [("ADD", mine.id), ("DELETE", mine.id)] == [(row.event, row.memory_id) for row in rows]
    assert [digest("Mira likes tea"), None] == [row.new_ref for row in rows]
    lines = exchange.json_lines(rows).splitlines()
    assert ["ADD", "DELETE"] == [json.loads(line)["event"] for line in lines]


def test_a_trail_is_not_written_through_a_link(root: str) -> None:
    with open("elsewhere", "w", encoding="utf-8") as file:
        file.write("precious")
    os.symlink("elsewhere", "trail.jsonl")
    assert pmem("add", "One").code == 0
    assert pmem("export", "audit", "trail.jsonl").code == 0
    with open("elsewhere", encoding="utf-8") as file:
        assert "precious" == file.read()
    assert not os.path.islink("trail.jsonl")


def test_events_of_a_project(workspace: Workspace) -> None:
    memory = Project(workspace.root, actor="ada", now=NOW)
    first, second = (memory.add(text).memory.id for text in ("One", "Two"))
    memory.edit(first, "One and a half")
    memory.start_conversation("Talk")
    assert 4 == memory.events().total
    assert [first] * 2 == [item.id for item in memory.events(reference=first).items]
    assert [second] == [item.id for item in memory.events(reference=second, limit=9).items]
    found = memory.events(limit=1, events=(EventKind.UPDATE,), kinds=(JournalKind.MEMORY,))
    assert [({"content": "One"}, {"content": "One and a half"})] == [
        (item.before, item.after) for item in found.items
    ]
    assert 1 == found.total


@pytest.mark.parametrize(
    ("wrong", "error"),
    [
        (lambda memory: memory.events(limit=-1), InvalidValue),
        (lambda memory: memory.events(reference="nothing"), NotFound),
        (lambda memory: memory.events(reference="c-"), InvalidValue),
        (lambda memory: memory.events(reference="m"), Ambiguous),
    ],
)
def test_what_cannot_be_told_is_refused_in_one_sentence(
    wrong: Callable[[Project], object], error: type[Exception], workspace: Workspace
) -> None:
    chunk = Chunk(
        id="c-00000001",
        conversation="t-00000001",
        number=1,
        summary="",
        created_at=NOW,
        messages=(),
    )
    with workspace.transaction():
        workspace.chunks.put(chunk)
    memory = Project(workspace.root, now=NOW)
    memory.add("One")
    memory.add("Two")
    with pytest.raises(error):
        wrong(memory)


@settings(max_examples=examples(20))
@given(st.lists(historic, max_size=6, unique_by=lambda record: record.id), st.integers(0, 9))
def test_the_newest_events_are_the_end_of_all_of_them(records: list[Historic], limit: int) -> None:
    backend = InMemory()
    backend.commit([Change(type(record), record.id, record) for record in records])
    memory = Workspace("/nowhere", now=NOW, backend=backend)
    everything = ask(memory, table.EVENTS, EventsRequest(limit=0)).items
    some = ask(memory, table.EVENTS, EventsRequest(limit=limit))
    assert len(everything) == some.total
    assert everything[max(0, len(everything) - limit) :] == some.items or limit == 0
    assert len(everything) == len(ask(memory, table.EXPORT_AUDIT, AuditRequest()).items)


@pytest.mark.parametrize("of", ["record", "all"])
def test_an_agent_s_write_does_not_look_like_a_person_s(of: str, root: str) -> None:
    agent = {"PMEM_AGENT": "planner"}
    person = "A person of a long name indeed"
    made = pmem("add", "The queue is slow", "--actor", person, "--json", environment=agent)
    identifier = made.data["memory"]["id"]
    pmem("edit", identifier, "--pin", "--actor", "Mira")
    looking = ["log", identifier] if of == "record" else ["log"]
    told = pmem(*looking).out.decode().splitlines()
    pinned, added = (line for line in told if line[10:11] == "T")
    assert "(planner)" in added
    assert "A person" in added
    assert "planner" not in pinned
    if of == "all":
        items = pmem("log", "--json").data["items"]
        assert [item["agent"] for item in items] == ["", "planner"]
