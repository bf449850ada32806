"""Whole numbers of any size come in as they stand, and go out so: never as others."""

import json
import os
from datetime import timedelta
from pathlib import Path
from typing import Any

import msgspec
from hypothesis import example, given, settings

from pmem import Project
from pmem.conversation.exchange import ExportRequest, MessagesRequest
from pmem.interchange import arrays
from pmem.memory.conversations import LookRequest
from pmem.operations import table
from pmem.project.workspace import Workspace
from pmem.values.records import Memory, dump
from tests.asking import ask
from tests.conftest import NOW
from tests.core.test_exactjson import NUMBERS, VALUES
from tests.storage.in_memory import InMemory


def imported(line: str) -> Workspace:
    workspace = Workspace("/memory", actor="ada", now=NOW, backend=InMemory())
    ask(
        workspace,
        table.IMPORT_MESSAGES,
        MessagesRequest(lines=[line.encode()], name="talk", progress=lambda done, total: None),
    )
    return workspace


@settings(max_examples=40)
@given(number=NUMBERS, value=VALUES)
@example(number=2**64, value={"a": [2**64, -(2**70)]})
def test_a_transcript_keeps_them(number: int, value: Any) -> None:
    workspace = imported(json.dumps({"content": "Hi", "id": number, "tool_call": {"x": value}}))
    (said,) = ask(workspace, table.TRANSCRIPT, LookRequest(conversation="talk")).messages
    assert said.external_id == str(number)
    assert said.tool_call == {"x": value}
    files = ask(workspace, table.EXPORT_ARRAYS, ExportRequest()).files
    assert json.loads(files["conversations.json"])[0]["recent_messages"][0]["tool_call"] == {
        "x": value
    }
    assert arrays.write(arrays.parse(files).records) == files


@settings(max_examples=40)
@given(value=VALUES)
@example(value=10**30)
def test_array_files_keep_them(value: Any) -> None:
    made = Project(backend=InMemory(), now=NOW).add("We use Go").memory
    stored = json.loads(dump(made))
    stored["history"][0]["before"] = {"x": value}
    parsed = arrays.parse({"long-term-memory.json": json.dumps([stored]).encode()})
    (memory,) = parsed.records[Memory]
    assert isinstance(memory, Memory)
    assert memory.history[0].before == {"x": value}
    assert not parsed.skipped


def test_a_number_beyond_all_reason_is_reported_not_changed() -> None:
    why = _skipped(b'{"content": "Hi", "tool_call": 1%s}' % (b"0" * 5000))
    assert why == "is not JSON: it has a number too large to be kept"


def _skipped(line: bytes) -> str:
    workspace = Workspace("/memory", actor="ada", now=NOW, backend=InMemory())
    done = ask(
        workspace,
        table.IMPORT_MESSAGES,
        MessagesRequest(
            lines=[line, b'{"content": "Yes"}'], name="talk", progress=lambda done, total: None
        ),
    )
    assert done.added == 1
    return done.skipped[0].why


def test_the_past_and_one_document_keep_them(tmp_path: Path) -> None:
    folder = str(tmp_path / ".project-memory")
    project = Project(folder, now=NOW, actor="ada")
    project.import_messages([b'{"content": "Hi", "tool_call": [%d]}' % 2**70], "talk")
    memory = project.add("We use Go").memory
    path = os.path.join(folder, "long-term-memory", f"{memory.id}.json")
    begun = msgspec.structs.replace(memory.history[0], before={"x": 2**70})
    Path(path).write_bytes(dump(msgspec.structs.replace(memory, history=(begun,))))
    later = Project(folder, now=NOW + timedelta(days=1), actor="ada")
    later.edit(memory.id, "We use Rust")
    then = later.at(NOW).show(memory.id)
    assert isinstance(then, Memory)
    assert then.content == "We use Go"
    assert then.history[0].before == {"x": 2**70}
    assert str(2**70) in Path(path).read_text()
