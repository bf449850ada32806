"""Transcripts in JSON Lines: what can be used is taken verbatim, once; the rest is reported."""

import fcntl
import json
import os
import pty
import struct
import subprocess
import termios
from codecs import BOM_UTF8
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pmem.conversation.exchange import Imported, MessagesRequest
from pmem.errors import Damaged
from pmem.interchange.messages import parse
from pmem.memory.conversations import LookRequest, Transcript
from pmem.operations import table
from pmem.project.setup import initialise
from pmem.project.workspace import Workspace
from pmem.values.records import Role
from tests import strategies
from tests.asking import ask
from tests.conftest import NOW
from tests.effort import examples
from tests.faults.console import PROGRAM, bytes_of, pmem
from tests.storage.in_memory import InMemory

Line = dict[str, Any]


def lines_of(values: list[Line]) -> list[bytes]:
    return [json.dumps(value).encode() for value in values]


def talk(count: int, name: str = "standup", start: int = 0) -> list[Line]:
    begun = datetime(2026, 3, 1, 9, 0, tzinfo=UTC)
    return [
        {
            "conversation": name,
            "id": f"m{n}",
            "role": ("user", "assistant")[n % 2],
            "speaker": ("Ada", "Bo")[n % 2],
            "content": f"Point {n}: the build takes {n} minutes. Nobody likes that.",
            "timestamp": (begun + timedelta(minutes=n)).isoformat(),
        }
        for n in range(start, start + count)
    ]


def take(workspace: Workspace, values: list[Line] | list[bytes], name: str = "talk") -> Imported:
    lines = [item if isinstance(item, bytes) else json.dumps(item).encode() for item in values]
    return ask(
        workspace,
        table.IMPORT_MESSAGES,
        MessagesRequest(lines=lines, name=name, progress=lambda done, total: None),
    )


def kept(workspace: Workspace, name: str = "standup") -> Transcript:
    return ask(workspace, table.TRANSCRIPT, LookRequest(conversation=name))


def figures(done: Imported) -> tuple[int, int, int, int]:
    return (done.added, done.updated, done.unchanged, len(done.skipped))


def in_memory(**overrides: Any) -> Workspace:
    return Workspace("nowhere", actor="tester", now=NOW, backend=InMemory(), overrides=overrides)


def test_importing_twice_adds_nothing_and_changes_no_byte(workspace: Workspace, root: str) -> None:
    assert figures(take(workspace, talk(45))) == (45, 0, 0, 0)
    before = bytes_of(root)
    assert figures(take(workspace, talk(45))) == (0, 0, 45, 0)
    assert before == bytes_of(root)


def test_an_extended_transcript_adds_only_what_is_new(workspace: Workspace, root: str) -> None:
    take(workspace, talk(33))
    before = bytes_of(root)
    assert figures(take(workspace, talk(45))) == (12, 0, 33, 0)
    after = bytes_of(root)
    chunks = {name for name in before if name.startswith("conversation-chunks")}
    assert {name: before[name] for name in chunks} == {name: after[name] for name in chunks}
    said = [message.content for message in kept(workspace).messages]
    assert [line["content"] for line in talk(45)] == said


def test_a_transcript_in_parts_equals_the_whole(workspace: Workspace, tmp_path: Path) -> None:
    for part in (talk(7), talk(20, start=7), talk(64, start=27)):
        take(workspace, part)
    other = str(tmp_path / "other")
    initialise(other)
    take(Workspace(other, actor="other", now=NOW), talk(91))
    assert bytes_of(other) == bytes_of(workspace.root)


@pytest.mark.row("S2.12.1")
def test_250_messages_leave_20_recent_and_chunks_of_10(workspace: Workspace) -> None:
    take(workspace, talk(250))
    found = kept(workspace)
    assert len(found.conversation.recent_messages) == 20
    assert [len(chunk.messages) for chunk in found.chunks] == [10] * 23
    assert list(range(1, 24)) == [chunk.number for chunk in found.chunks]
    assert found.conversation.turns == 250
    assert all(chunk.summary and chunk.key_topics for chunk in found.chunks)
    assert [f"m{n}" for n in range(250)] == [message.external_id for message in found.messages]


def test_the_fields_of_a_line_are_kept(workspace: Workspace) -> None:
    take(workspace, talk(1))
    message = kept(workspace).messages[0]
    assert (message.external_id, message.role, message.speaker) == ("m0", Role.USER, "Ada")
    assert datetime(2026, 3, 1, 9, 0, tzinfo=UTC) == message.created_at
    assert workspace.count(message.content) == message.tokens > 0


NO_TIME = "has a timestamp that is no time"
BAD: dict[str, tuple[bytes, str]] = {
    "not JSON": (b"hello", "is not JSON"),
    "truncated": (b'{"conversation":"standup","content":"cut o', "is not JSON"),
    "a list": (b'["content"]', "is not a JSON object"),
    "a number": (b"12", "is not a JSON object"),
    "no content": (b'{"id":"x"}', "no text in `content`"),
    "empty content": (b'{"content":" \\n"}', "no text in `content`"),
    "content of another type": (b'{"content":[{"text":"x"}]}', "no text in `content`"),
    "unknown role": (b'{"content":"x","role":"wizard"}', "has the role 'wizard'"),
    "role of another type": (b'{"content":"x","role":["user"]}', "has the role"),
    "bad timestamp": (b'{"content":"x","timestamp":"yesterday"}', NO_TIME),
    "timestamp off the calendar": (b'{"content":"x","timestamp":"0001-01-01T00+10:00"}', NO_TIME),
    "a relative timestamp": (b'{"content":"x","timestamp":"3d"}', NO_TIME),
    "timestamp of another type": (b'{"content":"x","timestamp":{}}', NO_TIME),
    "id of another type": (b'{"content":"x","id":[1]}', "neither text nor a whole number"),
    "id true": (b'{"content":"x","id":true}', "neither text nor a whole number"),
    "conversation of another type": (b'{"content":"x","conversation":{}}', "neither text nor"),
    "not UTF-8": (b'{"content":"\xff"}', "is not JSON"),
    "a lone surrogate": (b'{"content":"\\ud800"}', "is not JSON"),
    "NaN": (b'{"content":"x","importance":NaN}', "is not JSON"),
    "too deep": (b'{"content":"x","more":' + b"[" * 3000 + b"]" * 3000 + b"}", "is not JSON"),
    "repeated id": (json.dumps(talk(1)[0]).encode(), "repeats an earlier message's id"),
}


@pytest.mark.parametrize("name", BAD)
def test_a_bad_line_is_reported_by_its_number_and_the_rest_is_taken(
    name: str, workspace: Workspace
) -> None:
    bad, why = BAD[name]
    lines: list[bytes] = lines_of(talk(3))
    done = take(workspace, [*lines[:2], b"", b"  ", bad, lines[2]])
    assert figures(done) == (3, 0, 0, 1)
    assert done.skipped[0].where == "line 5"
    assert why in done.skipped[0].why
    assert len(kept(workspace).messages) == 3


def test_a_byte_order_mark_costs_no_message(workspace: Workspace) -> None:
    lines: list[bytes] = lines_of(talk(3))
    done = take(workspace, [b"\xef\xbb\xbf" + lines[0], *lines[1:]])
    assert figures(done) == (3, 0, 0, 0)


def test_what_was_skipped_is_counted_and_named_by_the_command(root: str) -> None:
    stdin = b"\n".join([*lines_of(talk(2)), b"oops", b'{"role":"user"}', b'{"content":"cut'])
    done = pmem("import", "messages", "-", stdin=stdin)
    assert done.code == 0
    assert b"2 added, 0 updated, 0 unchanged, 3 skipped" in done.out
    assert [line[8:14] for line in done.err.splitlines()] == ["line 3", "line 4", "line 5"]
    data = pmem("import", "messages", "-", "--json", stdin=stdin).data
    assert (data["added"], data["updated"], data["unchanged"]) == (0, 0, 2)
    assert [item["where"] for item in data["skipped"]] == ["line 3", "line 4", "line 5"]


@pytest.mark.parametrize(("stdin", "code"), [(b"", 0), (b"\n\n", 0), (b"oops\n", 3)])
def test_nothing_usable_changes_nothing(stdin: bytes, code: int, root: str) -> None:
    before = bytes_of(root)
    assert pmem("import", "messages", "-", stdin=stdin).code == code
    assert before == bytes_of(root)


def test_a_missing_file_is_one_sentence() -> None:
    pmem("init")
    done = pmem("import", "messages", "nowhere.jsonl")
    assert (3, "nowhere.jsonl" in done.err) == (done.code, True)


@pytest.mark.parametrize("ending", [b"\n", b"\r\n", b""])
def test_line_ends_do_not_matter(ending: bytes, root: str) -> None:
    separator = ending or b"\n"
    Path("standup.jsonl").write_bytes(separator.join(lines_of(talk(4))) + ending)
    done = pmem("import", "messages", "standup.jsonl")
    assert b"4 added" in done.out
    assert done.err == "", "in a pipe it is silent"


def test_a_line_needs_nothing_but_content(root: str) -> None:
    values = [{"content": "Hello"}, {"content": "Hello"}, {"content": "Bye", "role": "assistant"}]
    with open("chat.jsonl", "wb") as file:
        file.write(b"\n".join(lines_of(values)))
    for added in (3, 0):
        assert f"{added} added".encode() in pmem("import", "messages", "chat.jsonl").out
    shown = pmem("conversation", "show", "chat", "--json").data
    assert [message["content"] for message in shown["messages"]] == ["Hello", "Hello", "Bye"]
    assert [message["role"] for message in shown["messages"]] == ["user", "user", "assistant"]


def test_an_edited_line_replaces_its_message_wherever_it_is_kept(workspace: Workspace) -> None:
    take(workspace, talk(45))
    edited = talk(45)
    for place in (3, 40):
        edited[place] = {**edited[place], "content": f"Corrected {place}"}
    assert figures(take(workspace, edited)) == (0, 2, 43, 0)
    said = [message.content for message in kept(workspace).messages]
    assert [line["content"] for line in edited] == said
    assert "Corrected 3" in kept(workspace).chunks[0].summary
    assert figures(take(workspace, edited)) == (0, 0, 45, 0)


def test_a_message_over_the_limit_is_skipped_never_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pmem.conversation.exchange.MESSAGE_CHARACTERS", 10)
    workspace = in_memory()
    done = take(workspace, [{"content": "x" * 11}, {"content": "x" * 10}])
    assert figures(done) == (1, 0, 0, 1)
    assert done.skipped[0].why == "has 11 characters, and the limit is 10"


contents = strategies.filled
message_lines = st.fixed_dictionaries(
    {"content": contents},
    optional={
        "conversation": st.sampled_from(["a", "b", "日本", 7]),
        "role": st.sampled_from([*map(str, Role), None, ""]),
        "speaker": st.none() | strategies.words,
        "timestamp": st.none() | strategies.moments.map(datetime.isoformat),
        "unknown": strategies.json_values,
    },
)


def _with_ids(values: list[Line]) -> list[Line]:
    return [value | {"id": n} if n % 3 else value for n, value in enumerate(values)]


@settings(max_examples=examples(60))
@given(
    values=st.lists(message_lines, min_size=1, max_size=40).map(_with_ids),
    cut=st.integers(0, 40),
    most=st.integers(1, 6),
    size=st.integers(1, 6),
)
def test_any_transcript_is_kept_verbatim_once_and_in_order(
    values: list[Line], cut: int, most: int, size: int
) -> None:
    workspace = in_memory(max_recent_messages=most, chunk_size=size)
    take(workspace, values[:cut])
    done = take(workspace, values)
    assert len(values) == done.added + done.unchanged
    expected: dict[str, list[str]] = {}
    for value in values:
        name = str(value.get("conversation") or "talk")
        expected.setdefault(name, []).append(value["content"])
    for name, said in expected.items():
        found = kept(workspace, name)
        assert said == [message.content for message in found.messages]
        assert len(said) == found.conversation.turns
        assert len(found.conversation.recent_messages) <= most
        inside = [message for chunk in found.chunks for message in chunk.messages]
        assert said == [
            message.content for message in (*inside, *found.conversation.recent_messages)
        ]
        assert all(1 <= len(chunk.messages) <= size for chunk in found.chunks)
        is_split = any(message.role is Role.TOOL for message in found.messages)  # calls stay whole
        is_full = all(len(chunk.messages) == size for chunk in found.chunks)
        assert is_full or size > most or is_split
    before = {store.type: list(store.find()) for store in workspace.stores}
    assert (0, 0, len(values), 0) == figures(take(workspace, values))
    assert before == {store.type: list(store.find()) for store in workspace.stores}


@given(st.lists(st.binary(max_size=60) | message_lines.map(json.dumps).map(str.encode)))
def test_any_bytes_at_all_are_taken_or_reported(lines: list[bytes]) -> None:
    parsed = parse(lines, "talk", 1000)
    taken = sum(len(said) for said in parsed.conversations.values())
    bare = [line.removeprefix(BOM_UTF8) if not place else line for place, line in enumerate(lines)]
    assert sum(bool(line.strip()) for line in bare) == taken + len(parsed.skipped)


@pytest.mark.long
def test_5000_messages_go_in_with_one_command_and_show_progress_on_a_terminal(root: str) -> None:
    Path("long.jsonl").write_bytes(b"\n".join(lines_of(talk(5000))))
    controller, terminal = pty.openpty()
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
    with subprocess.Popen(
        [PROGRAM, "import", "messages", "long.jsonl"],
        stdout=subprocess.PIPE,
        stderr=terminal,
        stdin=subprocess.DEVNULL,
    ) as process:
        os.close(terminal)
        seen = b""
        while True:
            try:
                part = os.read(controller, 65536)
            except OSError:  # the other end is closed
                break
            if not part:
                break
            seen += part
        os.close(controller)
        assert process.stdout is not None
        out = process.stdout.read()
    assert process.returncode == 0
    assert b"5000 added" in out
    steps = [step for step in seen.replace(b"\r", b"\n").split(b"\n") if b" of 5000" in step]
    assert len(steps) >= 10, "progress is more than one line at the end"
    assert steps[-1] == b"messages: 5000 of 5000"
    listed = pmem("conversation", "list", "--json").data["items"]
    assert [(item["turns"], item["chunks"]) for item in listed] == [(5000, 498)]


def test_a_tools_call_and_result_are_kept(workspace: Workspace) -> None:
    call, result = {"id": "c1", "name": "read"}, {"call_id": "c1", "lines": [1, 2]}
    line = talk(2)
    take(workspace, [line[0] | {"tool_call": call}, line[1] | {"tool_result": result}])
    first, second = kept(workspace).messages
    assert (first.tool_call, second.tool_result) == (call, result)


def test_a_tools_call_that_no_record_can_hold_is_skipped(workspace: Workspace) -> None:
    deep: Any = []
    for _ in range(40):
        deep = [deep]
    done = take(workspace, [*talk(1), talk(2)[1] | {"tool_call": deep}])
    assert [item.why for item in done.skipped] == [
        "has a `tool_call` that is nested deeper than 32 levels"
    ]


def test_a_transcript_comes_again_after_its_conversations_file_was_deleted(
    workspace: Workspace, root: str
) -> None:
    take(workspace, talk(40))
    before = kept(workspace).conversation
    os.unlink(os.path.join(root, "conversations", f"{before.id}.json"))
    fresh = Workspace(root, actor="tester", now=NOW)
    assert figures(take(fresh, talk(40))) == (40, 0, 0, 0)
    assert kept(fresh).conversation == before
    assert len(list(fresh.chunks.find())) == len(before.chunks)


@pytest.mark.parametrize("harm", ["held more", "is damaged"])
def test_a_chunk_left_behind_is_never_overwritten_with_less(
    harm: str, workspace: Workspace, root: str
) -> None:
    take(workspace, talk(40))
    before = kept(workspace)
    os.unlink(os.path.join(root, "conversations", f"{before.conversation.id}.json"))
    path = Path(root, "conversation-chunks", f"{before.chunks[0].id}.json")
    chunk = json.loads(path.read_text())
    chunk["messages"].append({**chunk["messages"][0], "id": "mjwaid1q-abcdefgh"})
    path.write_text(json.dumps(chunk) if harm == "held more" else "{")
    left = path.read_text()
    fresh = Workspace(root, actor="tester", now=NOW)
    assert figures(take(fresh, talk(40))) == (40, 0, 0, 0)
    assert path.read_text() == left
    again = kept(fresh)
    assert again.messages == before.messages
    assert again.chunks[0].id != before.chunks[0].id
    assert again.chunks[1:] == before.chunks[1:]


def test_a_transcript_goes_on_under_another_external_id(workspace: Workspace, root: str) -> None:
    take(workspace, talk(40))
    conversation = kept(workspace).conversation
    path = Path(root, "conversations", f"{conversation.id}.json")
    path.write_text(json.dumps({**json.loads(path.read_text()), "external_id": "renamed"}))
    fresh = Workspace(root, actor="tester", now=NOW)
    assert figures(take(fresh, talk(41))) == (1, 0, 40, 0)
    assert len(list(fresh.conversations.find())) == 1


def test_a_damaged_conversation_is_named_and_left_as_it_is(workspace: Workspace, root: str) -> None:
    take(workspace, talk(40))
    path = Path(root, "conversations", f"{kept(workspace).conversation.id}.json")
    path.write_text("{")
    with pytest.raises(Damaged, match=path.name):
        take(Workspace(root, actor="tester", now=NOW), talk(40))
    assert path.read_text() == "{"
