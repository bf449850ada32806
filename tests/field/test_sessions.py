"""Sessions of assistants are found by what they say, in every form that their programs wrote."""

import gzip
import json
import os
import shutil
import subprocess
import sys
from hashlib import sha256
from pathlib import Path
from types import SimpleNamespace

import pytest

from tests.faults.console import Done, pmem
from tests.field.repositories import begin

SAID = "We decided on Kafka because of its replay."


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home, and a memory in `project` beside it."""
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    begin(tmp_path / "project")
    return tmp_path / "home"


def _claude(session: str, folder: str) -> str:
    return json.dumps(
        {
            "type": "user",
            "uuid": f"{session}-1",
            "parentUuid": None,
            "sessionId": session,
            "cwd": folder,
            "timestamp": "2026-11-20T10:00:00.000Z",
            "version": "2.1.330",
            "message": {"role": "user", "content": SAID},
        }
    )


def _codex(session: str, folder: str) -> str:
    at = "2026-11-10T10:00:00.000Z"
    head = {"id": session, "timestamp": at, "cwd": folder, "originator": "codex_cli_rs"}
    content = [{"type": "input_text", "text": SAID}]
    said = {"type": "message", "role": "user", "content": content}
    return "\n".join(
        json.dumps({"timestamp": at, "type": kind, "payload": payload})
        for kind, payload in (("session_meta", head), ("response_item", said))
    )


def _keep(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"{text}\n", encoding="utf-8")
    return path


def _took(done: Done, sessions: int = 1) -> None:
    assert done.code == 0, done
    assert done.out.startswith(f"{sessions} session".encode()), done


@pytest.mark.parametrize("folder", ["cafe\u0301", "caf\u00e9", "r🚀x", "/".join(["d" * 60] * 4)])
@pytest.mark.parametrize("name", ["anything", "-some-other-place"])
def test_a_session_is_found_whatever_its_folder_is_called(
    home: Path, tmp_path: Path, folder: str, name: str
) -> None:
    project = tmp_path / "places" / folder
    project.mkdir(parents=True)
    os.chdir(project)
    assert pmem("init").code == 0
    _keep(home / ".claude/projects" / name / "s.jsonl", _claude("s", str(project)))
    _keep(home / ".claude/projects/other/t.jsonl", _claude("t", "/elsewhere"))
    _took(pmem("import", "claude-code"))


def test_a_session_says_its_folder_in_another_spelling(home: Path, tmp_path: Path) -> None:
    project = tmp_path / "cafe\u0301"
    project.mkdir()
    os.chdir(project)
    assert pmem("init").code == 0
    _keep(home / ".claude/projects/x/s.jsonl", _claude("s", str(tmp_path / "caf\u00e9")))
    _took(pmem("import", "claude-code"))


def test_a_folder_of_a_project_that_has_moved_is_taken_where_it_is_named(home: Path) -> None:
    folder = home / ".claude/projects/-old-place-shop"
    _keep(folder / "s.jsonl", _claude("s", "/old/place/shop"))
    assert pmem("import", "claude-code").code == 3
    _took(pmem("import", "claude-code", str(folder)))


def test_sessions_of_other_projects_are_named_and_left_alone(home: Path, tmp_path: Path) -> None:
    projects = home / ".claude/projects"
    (tmp_path / "other").mkdir()
    _keep(projects / "a" / "s.jsonl", _claude("s", str(tmp_path / "other")))
    done = pmem("import", "claude-code", str(projects))
    assert done.code == 3
    assert f"are of other projects: {tmp_path / 'other'} (1)" in done.err
    _keep(projects / "b" / "t.jsonl", _claude("t", "/gone"))
    assert "/gone (1)" in pmem("import", "claude-code", str(projects)).err


PLACE = ".codex/sessions/2026/11/10/rollout-s.jsonl"


def _took_compressed(path: Path) -> None:
    _took(pmem("import", "codex"))
    assert b"1 unchanged" in pmem("import", "codex", str(path)).out


def _compress(path: Path) -> Path:
    """Compress a session as Python 3.14 reads it, with another compression in its place."""
    found = path.with_name(f"{path.name}.zst")
    found.write_bytes(gzip.compress(path.read_bytes()))
    path.unlink()
    return found


@pytest.fixture
def new_python(monkeypatch: pytest.MonkeyPatch) -> None:
    zstd = SimpleNamespace(open=gzip.open, ZstdError=gzip.BadGzipFile)
    monkeypatch.setitem(sys.modules, "compression.zstd", zstd)


@pytest.fixture
def old_python(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "compression.zstd", None)


@pytest.mark.usefixtures("new_python")
def test_a_compressed_session_is_read_by_what_python_has(home: Path) -> None:
    _took_compressed(_compress(_keep(home / PLACE, _codex("s", os.getcwd()))))


@pytest.mark.outside
@pytest.mark.usefixtures("old_python")
def test_a_compressed_session_is_read_by_the_program_zstd(home: Path) -> None:
    path = _keep(home / PLACE, _codex("s", os.getcwd()))
    subprocess.run(["zstd", "--quiet", "--rm", str(path)], check=True)
    _took_compressed(path.with_name(f"{path.name}.zst"))


def _zstd_that(does: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = folder / "zstd"
    program.write_text(f"#!/bin/sh\n{does}\n")
    program.chmod(0o755)
    monkeypatch.setattr(shutil, "which", lambda *_: str(program))


@pytest.mark.parametrize("how", ["new_python", "old_python"])
@pytest.mark.parametrize("cut", ["all", "half"])
def test_a_damaged_compressed_session_is_told(
    home: Path, how: str, cut: str, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = _compress(_keep(home / PLACE, _codex("s", os.getcwd())))
    data = path.read_bytes()
    path.write_bytes(b"no compression" if cut == "all" else data[: len(data) // 2])
    _zstd_that('exec gzip -cd "$5" 2>/dev/null', home, monkeypatch)
    request.getfixturevalue(how)
    done = pmem("import", "codex", str(path))
    assert done.code == 74
    assert f"{path} cannot be decompressed" in done.err
    assert b"Kafka" not in pmem("search", "Kafka").out


@pytest.mark.usefixtures("old_python")
def test_compressed_sessions_are_counted_where_nothing_reads_them(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = home / ".codex/archived_sessions/rollout-s.jsonl.zst"
    path.parent.mkdir(parents=True)
    path.write_bytes(b"\x28\xb5\x2f\xfd")
    monkeypatch.setattr("shutil.which", lambda *_: None)
    done = pmem("import", "codex")
    assert done.code == 0
    assert "left out: compressed sessions, as there is no zstd (1)" in done.out.decode()
    named = pmem("import", "codex", str(path))
    assert named.code == 74
    assert "is compressed" in named.err


def test_older_and_nested_sessions_of_gemini_are_found(home: Path) -> None:
    digest = sha256(os.fsencode(os.getcwd())).hexdigest()
    chats = home / ".gemini/tmp/p/chats"
    message = {"id": "m1", "timestamp": "2026-04-21T10:00:01.000Z", "type": "user", "content": SAID}
    older = {"sessionId": "old", "projectHash": digest, "messages": [message]}
    _keep(chats / "session-old.json", json.dumps(older, indent=2))
    head = {"sessionId": "sub", "projectHash": digest, "kind": "subagent"}
    lines = [head, {**message, "id": "m2"}]
    _keep(chats / "9e43d548/06fhku.jsonl", "\n".join(map(json.dumps, lines)))
    _took(pmem("import", "gemini"))
    _took(pmem("import", "gemini", "--sub-agents"), 2)


def test_gemini_may_have_another_home(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    digest = sha256(os.fsencode(os.getcwd())).hexdigest()
    monkeypatch.setenv("GEMINI_CLI_HOME", str(tmp_path / "g"))
    lines = [
        {"sessionId": "s", "projectHash": digest},
        {"id": "m", "timestamp": "2026-11-20T10:00:00Z", "type": "user", "content": SAID},
    ]
    _keep(tmp_path / "g/.gemini/tmp/p/chats/a.jsonl", "\n".join(map(json.dumps, lines)))
    _took(pmem("import", "gemini"))
