"""Every write leaves an event: in the log, and in the audit trail."""

import json
import os
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pmem import Project
from pmem.cli.commands import COMMANDS, GROUPS
from pmem.conversation import exchange
from pmem.core.journal import Historic, JournalKind, digest
from pmem.core.style_rules import lints
from pmem.errors import Ambiguous, InvalidValue, NotFound
from pmem.memory.journal import AuditRequest, EventsRequest
from pmem.operations import table
from pmem.project.setup import write_setting
from pmem.project.workspace import Workspace
from pmem.storage.backend import Change
from pmem.values.records import Chunk, EventKind
from tests.asking import ask
from tests.conftest import NOW
from tests.core.test_journal import historic
from tests.effort import examples
from tests.faults.console import bytes_of, pmem
from tests.faults.test_locked import READING, WRITING
from tests.faults.world import DECISION
from tests.model.scripted import data_of
from tests.once import Once
from tests.policy.paths import PARTS
from tests.storage.folders import contradict
from tests.storage.in_memory import InMemory

LEAVES_EVENTS: dict[str, tuple[tuple[str, ...], list[str]]] = {
    "add": (("One more",), ["ADD"]),
    "share": (("MINE",), ["ADD"]),
    "edit": (("MEMORY", "Another text"), ["UPDATE"]),
    "rm": (("MEMORY", "EPISODE"), ["DELETE", "DELETE"]),
    "restore": (("REMOVED",), ["RESTORE"]),
    "undo": (("REMOVED",), ["RESTORE"]),
    "resolve": (("CONTRADICTED", "--other"), ["UPDATE"]),
    "outcome": (("MEMORY", "bad", "Nobody came"), ["UPDATE"]),
    "tried": (
        ("bake without yeast", "--failed", "flat", "--worked", "Use yeast"),
        ["ADD", "ADD", "LINK"],
    ),
    "check citations": (("--fix",), ["UPDATE"]),
    "app remember": (("calendar", "Lunch at noon"), ["ADD"]),
    "app compact": (("calendar",), []),
    "app delete": (("calendar", "OFAPP"), ["DELETE"]),
    "app purge": (("calendar", "--yes"), []),
    "app uninstall": (("calendar",), []),
    "app stats": (("--poll",), []),
    "work apply": (("ANSWER",), ["ADD"]),
    "purge": (("PINNED", "--force"), ["UNLINK", "UNLINK"]),
    "episode add": (("The kitchen was painted",), ["ADD"]),
    "inbox accept": (("--above", "0.5"), ["ADD"]),
    "conversation say": (
        ("We decided to use RabbitMQ because it routes by topic.", "--conversation", "talk"),
        ["ADD", "ADD"],
    ),
    "conversation end": (("Painted", "--conversation", "talk"), ["ADD"]),
    "consolidate": (("--now", "2027-03-01"), ["ARCHIVE", "ARCHIVE"]),
    "import arrays": (("../arrays",), ["ADD", "UPDATE"]),
    "import notes": (("RULES.md",), ["ADD"]),
    "import adr": (("0001-bake.md",), ["ADD"]),
}
"""Commands that write memories or episodes, what they are given, and the events they leave."""

DELETES = {"purge": "PINNED", "consolidate": "REMOVED", "app purge": "OFAPP"}
"""Commands that delete a record for good, and which."""


def ran(*words: str) -> str:
    """Run a command line and return the id that it answers with."""
    done = pmem(*words, "--json")
    assert done.code == 0, done
    data = done.data
    return str(data.get("memory", data).get("id", "")) if isinstance(data, dict) else ""


@pytest.fixture
def ids(root: str, once: Once) -> dict[str, str]:
    """Keep a removed memory, a pinned one that is linked to, an episode and a talk."""
    mine = ran("add", "--mine", "I prefer small commits.")
    return {**once(lambda: _build(root)), "MINE": mine}


def _build(root: str) -> dict[str, str]:
    found = {name: ran("add", f"Text of {name}") for name in ("REMOVED", "PINNED", "MEMORY")}
    Path("RULES.md").write_text("- Never burn the pancakes\n")
    Path("0001-bake.md").write_text(DECISION)
    assert pmem("export", "arrays", "../arrays").code == 0
    with open("../arrays/long-term-memory.json", "r+", encoding="utf-8") as file:
        rows = json.load(file)
        later = (NOW + timedelta(days=900)).isoformat()
        rows[0] |= {"content": "Edited elsewhere", "updated_at": later}
        rows[1] = {**rows[1], "id": "mjwaid1q-00000009", "content": "Kept elsewhere"}
        file.seek(0)
        file.truncate()
        json.dump(rows, file)
    ran("edit", found["PINNED"], "--pin")
    ran("edit", found["MEMORY"], "--link", found["PINNED"])
    ran("rm", found["REMOVED"])
    found["CONTRADICTED"] = ran("add", "Said on one branch", "--pin")
    contradict(root, found["CONTRADICTED"])
    Path("port.py").write_text("PORT = 80\n", encoding="utf-8")
    found["CITING"] = ran("add", "The port is set", "--pin", "--cite", "port.py:1")
    Path("port.py").write_text("# The port:\nPORT = 80\n", encoding="utf-8")
    found["OFAPP"] = ran("app", "remember", "calendar", "Meetings after two", "--importance", "9")
    found["EPISODE"] = ran("episode", "add", "A turn", "--memory", found["PINNED"])
    found["talk"] = ran("conversation", "start", "talk")
    ran("conversation", "say", "We prefer small commits.", "--conversation", found["talk"])
    held = pmem("add", "The user lives in Graz.", "--agent", "planner", "--json")
    found["HELD"] = held.data["held"]["id"]
    return found


def trail() -> dict[str, Any]:
    rows = pmem("export", "audit", "--json").data["items"]
    return {row["id"]: row for row in rows if row["meta"]["kind"] in ("memory", "episode")}


def test_every_writing_command_is_known() -> None:
    grouped = {f"{group} {name}" for group, (_, entries) in GROUPS.items() for name in entries}
    writing = (COMMANDS.keys() | grouped | PARTS.keys()) - READING
    assert WRITING.keys() == writing >= LEAVES_EVENTS.keys()


@pytest.mark.some(12)
@pytest.mark.parametrize("command", LEAVES_EVENTS)
def test_every_write_to_memories_and_episodes_is_in_the_audit(
    command: str, ids: dict[str, str], root: str
) -> None:
    words, expected = LEAVES_EVENTS[command]
    write_setting(f"{root}/config.toml", "decay", "s2")  # so that a few old ones are archived
    ids = {**ids, **({"ANSWER": _answer_to_work()} if command == "work apply" else {})}
    before, files = trail(), _kept(root)
    done = pmem(*command.split(), *(ids.get(word, word) for word in words))
    assert done.code == 0, done
    after = trail()
    gone = ids.get(DELETES.get(command, ""))
    assert before.keys() - after.keys() == {
        id_ for id_, row in before.items() if row["memory_id"] == gone
    }
    new = [row for id_, row in after.items() if id_ not in before]
    assert sorted(expected) == sorted(row["event"] for row in new)
    written = {path for path, data in _kept(root).items() if files.get(path) != data}
    assert {os.path.basename(path).removesuffix(".json") for path in written} == {
        row["memory_id"] for row in new
    }


def _answer_to_work() -> str:
    """Answer what is asked for an insight, in the words of a record."""
    (piece,) = pmem("work", "next", "--kind", "insight", "--json").data["items"]
    records = data_of(piece["prompt"])
    said = next(text for text in records["memories"] if not lints(text))
    answer = {"insights": [{"summary": said, "tags": [], "importance": 3}]}
    return json.dumps({"id": piece["id"], "digest": piece["digest"], "answer": answer})


def _kept(root: str) -> dict[str, bytes]:
    folders = ("long-term-memory", "episodic-memory")
    return {path: data for path, data in bytes_of(root).items() if any(f in path for f in folders)}


def test_what_is_purged_leaves_no_trace_of_its_own(ids: dict[str, str]) -> None:
    assert pmem("purge", ids["REMOVED"]).code == 0
    assert ids["REMOVED"] not in {row["memory_id"] for row in trail().values()}
    assert pmem("log", ids["REMOVED"]).code == 3


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
