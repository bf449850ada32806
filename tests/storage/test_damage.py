"""Files that cannot be used: each gets one sentence, none stands in another's way."""

import json
import os
from collections.abc import Callable
from typing import Any
from unittest import mock

import pytest

from pmem.conversation.exchange import ArraysRequest
from pmem.errors import Damaged, NewerSchema, NotFound, PmemError, TooLarge, Unresolved
from pmem.memory.changes import RecordsRequest
from pmem.memory.lifecycle import PurgeRequest
from pmem.memory.requests import AddRequest, EditRequest
from pmem.operations import table
from pmem.project.workspace import Workspace
from pmem.storage.backend import Change
from pmem.storage.files import durable
from pmem.values.bounds import RECORD_BYTES
from pmem.values.records import Conversation, Memory, dump, dump_line
from tests.asking import ask
from tests.conftest import NOW
from tests.storage.folders import contents, json_files, memory, opened, path_of, write

BAD = "mjwaid1q-00000bad"
GOOD = "mjwaid1q-0000good"
VALID = dump(memory(BAD))
Make = Callable[[str], None]


def _with(**fields: Any) -> bytes:
    return json.dumps(json.loads(dump_line(memory(BAD))) | fields).encode()


def _deep(depth: int, key: str = "new_key") -> bytes:
    return _with(**{key: "HERE"}).replace(b'"HERE"', b"[" * depth + b"]" * depth)


BYTES: dict[str, tuple[bytes, str]] = {
    "truncated": (VALID[: len(VALID) // 2], "is not valid JSON"),
    "truncated in a text": (VALID[: VALID.index(b"something") + 3], "is not valid JSON"),
    "empty": (b"", "is empty"),
    "blank": (b" \n\t\n", "is empty"),
    "zeros": (b"\0" * 100, "is not valid JSON"),
    "UTF-16": (VALID.decode().encode("utf-16"), "is UTF-16, not UTF-8"),
    "a pointer of Git LFS": (
        b"version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 12\n",
        "is a pointer of Git LFS, not the file: run `git lfs pull`",
    ),
    "UTF-16 without a mark": (VALID.decode().encode("utf-16-le"), "is not valid JSON"),
    "Latin-1": (_with(content="X").replace(b'"X"', b'"\xe4"'), "is not UTF-8 at byte"),
    "nested 70 deep": (_deep(70), "is nested deeper than 64 levels"),
    "nested 70 deep in objects": (
        _with(new_key="HERE").replace(b'"HERE"', b'{"a":[' * 35 + b"]}" * 35),
        "is nested deeper than 64 levels",
    ),
    "nested 100,000 deep": (_deep(100_000), "is nested deeper than 64 levels"),
    "nested 100,000 deep and open": (b"[" * 100_000, "is nested deeper than 64 levels"),
    "a list": (b"[]", "holds a list, not an object"),
    "a text": (b'"text"', "holds a text, not an object"),
    "a number": (b"17", "holds a number, not an object"),
    "a truth": (b"true", "holds a boolean, not an object"),
    "null": (b"null", "holds null, not an object"),
    "NaN": (_with(importance=float("nan")), "is not valid JSON"),
    "Infinity": (_with(importance=float("inf")), "is not valid JSON"),
    "NaN in an unknown key": (_with(new_key=float("nan")), "is not valid JSON"),
    "an infinite number": (_with(importance=7).replace(b"7,", b"1e999,"), "is not valid JSON"),
    "another id": (dump(memory("mjwaid1q-0000else")), "holds the id 'mjwaid1q-0000else'"),
    "the id of another file": (dump(memory(GOOD)), f"holds the id '{GOOD}'"),
    "no id": (b"{}", "is not a record: it has no `id`"),
    "a text for a number": (
        _with(importance="high"),
        "is not a record: importance must be a number, not text",
    ),
    "a number for a text": (
        _with(content=5),
        "is not a record: content must be text, not a whole number",
    ),
    "a text for a list": (_with(tags="a"), "is not a record: tags must be a list, not text"),
    "null for a text": (_with(content=None), "is not a record: content must be text, not null"),
    "importance above 1": (_with(importance=1.01), "is not a record: importance must be at most 1"),
    "importance below 0": (
        _with(importance=-0.01),
        "is not a record: importance must be at least 0",
    ),
    "a negative count": (_with(tokens=-1), "is not a record: tokens must be at least 0"),
    "an unknown type": (_with(type="rumour"), "is not a record: type cannot be 'rumour'"),
    "no time": (_with(created_at="yesterday"), "is not a record: created_at must be a time"),
    "no date": (
        _with(created_at="2026-02-30T00:00:00Z"),
        "is not a record: created_at must be a time",
    ),
    "a time without zone": (
        _with(created_at="2026-11-21T00:00:00"),
        "is not a record: created_at must be a time",
    ),
    "schema 0": (_with(schema=0), "has the schema 0, which never existed"),
    "schema -1": (_with(schema=-1), "has the schema -1, which never existed"),
    "schema x": (_with(schema="x"), "has the schema 'x', which never existed"),
    "schema null": (_with(schema=None), "has the schema None, which never existed"),
    "two objects": (VALID + VALID, "is not valid JSON"),
    "a comment": (b"// mine\n" + VALID, "is not valid JSON"),
}
MARKED: dict[str, tuple[bytes, str]] = {
    "conflict markers": (
        b"<<<<<<< HEAD\n" + VALID + b"=======\n" + VALID + b">>>>>>> theirs\n",
        "has git's conflict markers",
    ),
    "conflict markers inside": (
        VALID.replace(
            b'  "importance": 0.5,\n',
            b'<<<<<<< HEAD\n  "importance": 0.5,\n=======\n  "importance": 1,\n>>>>>>> theirs\n',
        ),
        "has git's conflict markers",
    ),
}
NEWER: dict[str, bytes] = {
    "schema 2": _with(schema=2),
    "schema 2 of another shape": _with(schema=2, content=["a", "b"], importance="high"),
    "schema 2 without what was required": b'{"id": "mjwaid1q-00000bad", "schema": 2}',
    "schema 99": _with(schema=99, created_at="stardate 1"),
}


def _link(path: str) -> None:
    outside = os.path.join(os.path.dirname(path), "..", "outside.json")
    write(outside, VALID)
    os.symlink(outside, path)


def _huge(path: str) -> None:
    with open(path, "wb") as file:
        file.truncate(100 * 1024 * 1024)


OBJECTS: dict[str, tuple[Make, str]] = {
    "a link": (_link, "is a link, not a record"),
    "a link to nowhere": (lambda path: os.symlink("nowhere", path), "is a link, not a record"),
    "a folder": (os.mkdir, "is not a regular file"),
    "a pipe": (os.mkfifo, "is not a regular file"),
}


def _written(data: bytes) -> Make:
    return lambda path: write(path, data)


TOO_NEW = "and this pmem only knows schemas up to 1"
CASES: list[tuple[str, Make, str, type[PmemError]]] = [
    *((name, _written(data), says, Damaged) for name, (data, says) in BYTES.items()),
    *((name, _written(data), TOO_NEW, NewerSchema) for name, data in NEWER.items()),
    *((name, _written(data), says, Unresolved) for name, (data, says) in MARKED.items()),
    *((name, make, says, Damaged) for name, (make, says) in OBJECTS.items()),
    ("100 MB", _huge, f"has 104857600 bytes, more than {RECORD_BYTES}", TooLarge),
]
each_damage = pytest.mark.parametrize(
    ("make", "says", "error"), [case[1:] for case in CASES], ids=[case[0] for case in CASES]
)


def state_of(path: str) -> object:
    """Return what a path is, without following or opening what could block."""
    status = os.lstat(path)
    small = os.path.isfile(path) and status.st_size < 10**7
    data = contents(path) if small else b""
    return (status.st_mode, status.st_ino, status.st_size, status.st_mtime_ns, data)


@pytest.mark.some(16)
@each_damage
def test_a_damaged_file_is_named_and_left_alone(
    root: str, make: Make, says: str, error: type[PmemError]
) -> None:
    path = path_of(root, BAD)
    write(path_of(root, GOOD), dump(memory(GOOD, "good")))
    make(path)
    before = state_of(path)
    workspace = opened(root)

    with pytest.raises(error) as caught:
        workspace.memories.get(BAD)
    assert type(caught.value) is error
    assert caught.value.message.startswith(f"{path} ")
    assert says in caught.value.message
    assert "\n" not in caught.value.message
    assert caught.value.hint

    for _ in range(2):
        assert [record.id for record in workspace.memories.find()] == [GOOD]
    (problem,) = workspace.problems
    assert (path, error.code, caught.value.message) == (
        problem.path,
        problem.code,
        problem.message,
    )

    _write_around(workspace)
    _refuse_to_write(workspace, error)
    assert len(workspace.problems) == 1
    assert before == state_of(path)


def _write_around(workspace: Workspace) -> None:
    ask(workspace, table.EDIT, EditRequest(reference=GOOD, content="better"))
    assert ask(workspace, table.ADD, AddRequest(content="new")).action == "added"
    assert ask(workspace, table.ADD, AddRequest(content="better")).action == "suggested"
    ask(workspace, table.REMOVE, RecordsRequest(references=(GOOD,)))


def _refuse_to_write(workspace: Workspace, error: type[PmemError]) -> None:
    with pytest.raises(error):
        ask(workspace, table.EDIT, EditRequest(reference=BAD, content="over it"))
    with pytest.raises(error):
        ask(workspace, table.PURGE, PurgeRequest(references=(BAD,), force=True))
    with workspace.backend.lock(), pytest.raises(PmemError):
        workspace.backend.commit([Change(Memory, BAD, memory(BAD, "over it"))])
    with workspace.backend.lock():
        with pytest.raises(error):
            workspace.backend.read(Memory, BAD)
        with pytest.raises(error):
            workspace.backend.commit([Change(Memory, BAD, memory(BAD, "over it"))])


@pytest.mark.parametrize("data", [VALID[:50], NEWER["schema 2"]], ids=["damaged", "newer"])
def test_an_import_over_a_damaged_record_is_refused(root: str, data: bytes) -> None:
    write(path_of(root, BAD), data)
    write("arrays/long-term-memory.json", b"[" + dump_line(memory(BAD, "over it")) + b"]")
    with pytest.raises(Damaged):
        ask(
            opened(root),
            table.IMPORT_ARRAYS,
            ArraysRequest(folder="arrays", progress=lambda done, total: None),
        )
    assert data == contents(path_of(root, BAD))


@pytest.mark.parametrize("name", ["notes", "..", "a b", "mjwaid1q-00000bad (copy)", "ÄÖ-00000000"])
def test_a_name_that_is_no_id_is_a_problem_of_its_own(root: str, name: str) -> None:
    path = path_of(root, name)
    write(path, VALID)
    workspace = opened(root)
    if name == "..":  # a hidden file; editors leave such
        assert (list(workspace.memories.find()), workspace.problems) == ([], [])
        return
    assert list(workspace.memories.find()) == []
    assert list(workspace.memories.twins("content:something")) == []
    assert [(path, "damaged")] == [(found.path, found.code) for found in workspace.problems]
    assert "has a name that is no id" in workspace.problems[0].message
    assert ask(workspace, table.ADD, AddRequest(content="something")).action == "added"
    assert contents(path) == VALID


def test_a_record_that_this_version_reads_but_cannot_write_whole_is_not_rewritten(
    root: str,
) -> None:
    """The decoder skips unknown keys unread; writing them back needs them whole."""
    for extra, says in (
        (b'"\xff"', "is not UTF-8"),
        (b"1e999", "infinity"),
    ):
        data = _with(new_key="HERE").replace(b'"HERE"', extra)
        write(path_of(root, BAD), data)
        workspace = opened(root)
        with pytest.raises(Damaged, match=says):
            ask(workspace, table.EDIT, EditRequest(reference=BAD, content="new"))
        assert data == contents(path_of(root, BAD))


def test_brackets_in_a_text_are_no_nesting(root: str) -> None:
    content = "[{" * 5000 + '"' + "\\" + "[" * 100
    write(path_of(root, GOOD), dump(memory(GOOD, content)))
    assert content == opened(root).memories.get(GOOD).content
    truncated = dump(memory(GOOD, content))[:-20]
    write(path_of(root, GOOD), truncated)
    with pytest.raises(Damaged, match="is not valid JSON"):
        opened(root).memories.get(GOOD)


def test_a_store_that_is_a_file_is_refused(root: str) -> None:
    folder = os.path.dirname(path_of(root, GOOD))
    os.rmdir(folder)
    write(folder, b"")
    workspace = opened(root)
    with pytest.raises(Damaged, match="is a file, not a store"):
        list(workspace.memories.find())
    with pytest.raises(Damaged, match="is a file, not a store"):
        ask(workspace, table.ADD, AddRequest(content="new"))


def test_a_local_folder_that_is_a_link_is_read_around_and_never_written_through(root: str) -> None:
    write(path_of(root, GOOD), dump(memory(GOOD)))
    os.makedirs("outside/commit")
    write("outside/commit/plan.json", b'[{"path": "long-term-memory/x.json", "staged": null}]')
    os.symlink(os.path.abspath("outside"), os.path.join(root, "local"))
    workspace = opened(root)
    assert [record.id for record in workspace.memories.find()] == [GOOD]
    assert [record.id for record in workspace.memories.twins("content:something")] == [GOOD]
    with pytest.raises(Damaged, match="is a link, not a folder"):
        ask(workspace, table.ADD, AddRequest(content="new"))
    assert (os.listdir("outside"), os.listdir("outside/commit")) == (["commit"], ["plan.json"])


@pytest.mark.parametrize("target", ["nowhere", "there"])
def test_an_index_that_is_a_link_is_never_written_through(root: str, target: str) -> None:
    """git can bring such a link; an empty file is a valid database to SQLite."""
    os.mkdir(os.path.join(root, "local"))
    write("there", b"")
    os.symlink(os.path.abspath(target), os.path.join(root, "local", "index.sqlite3"))
    workspace = opened(root)
    assert ask(workspace, table.ADD, AddRequest(content="new")).action == "added"
    assert ask(workspace, table.ADD, AddRequest(content="new")).action == "suggested"
    assert not os.path.exists("nowhere")
    assert os.path.getsize("there") == 0


def test_a_conversation_cannot_name_files_outside_as_its_chunks(root: str) -> None:
    """Purging it must neither delete what it names nor leave a commit that nobody can finish."""
    identifier = "mjwaid1q-00000001"
    hostile = Conversation(
        id=identifier, started_at=NOW, updated_at=NOW, chunks=("../../victim", "/etc/victim")
    )
    write("victim.json", b"{}")
    write(path_of(root, identifier, Conversation), dump(hostile))
    with pytest.raises(Damaged, match="is no id of a chunk"):
        ask(opened(root), table.PURGE, PurgeRequest(references=(identifier,), force=True))
    assert contents("victim.json") == b"{}"
    assert not os.path.exists(os.path.join(root, "local", "commit"))
    assert ask(opened(root), table.ADD, AddRequest(content="new")).action == "added"


@pytest.mark.parametrize(
    "plan",
    [
        b"",
        b"{}",
        b"\xff",
        b'[{"path": "../victim.json", "staged": null}]',
        b'[{"path": "/victim.json", "staged": null}]',
        b'[{"path": "long-term-memory/x.json", "staged": "../../secret"}]',
        b'[{"path": "long-term-memory/x.json", "staged": ".."}]',
        b'[{"path": "", "staged": "0.json"}]',
        b'[{"path": "config.toml", "staged": "0.json"}]',
        b'[{"path": "local/lock", "staged": null}]',
        b'[{"path": "outside/victim.json", "staged": null}]',
    ],
)
def test_a_plan_that_is_not_ours_is_refused(root: str, plan: bytes) -> None:
    """A cloned project may bring a `local/commit`; it must reach nothing but records."""
    os.mkdir("target")
    write("target/victim.json", b"{}")
    write("victim.json", b"{}")
    os.symlink(os.path.abspath("target"), os.path.join(root, "outside"))
    staged = os.path.join(root, "local", "commit")
    write(os.path.join(staged, "plan.json"), plan)
    write(os.path.join(staged, "0.json"), b"evil")
    config = contents(os.path.join(root, "config.toml"))
    with pytest.raises(Damaged, match=r"plan\.json"):
        ask(opened(root), table.ADD, AddRequest(content="new"))
    assert contents("victim.json") == b"{}"
    assert contents("target/victim.json") == b"{}"
    assert config == contents(os.path.join(root, "config.toml"))


def test_a_reference_cannot_name_a_file(root: str) -> None:
    backend = json_files(root)
    for name in ("../config", "", ".", "../local/lock", "/etc/passwd", "a\0-00000000"):
        with pytest.raises(NotFound):
            backend.read(Memory, name)


def test_a_commit_that_is_finished_while_a_reader_looks_is_no_damage(root: str) -> None:
    """Another process may end its commit between two looks of a reader."""
    local = os.path.join(root, "local")
    assert durable.staged_files(root, local) == {}
    with mock.patch("pmem.storage.files.durable.pending", return_value=True):
        assert list(opened(root, read_only=True).memories.find()) == []
