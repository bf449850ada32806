"""Files and names as disks, editors and other systems write them."""

import codecs
import errno
import json
import os
import shutil
import sqlite3
from pathlib import Path
from typing import Any

import pytest

from tests.faults.console import pmem
from tests.field.repositories import begin, commit, git

COMPOSED, APART = "caf\u00e9", "cafe\u0301"
READS = (
    ("context", "orders", "--budget", "200"),
    ("search", "orders"),
    ("list",),
    ("check", "records"),
    ("why", "orders.py"),
    ("check", "citations"),
    ("inbox", "--list"),
    ("conversation", "list"),
)
HOOKS: dict[str, dict[str, Any]] = {
    "session-start": {"hook_event_name": "SessionStart", "source": "startup"},
    "prompt": {"hook_event_name": "UserPromptSubmit", "prompt": "which database do orders use?"},
    "pre-tool": {
        "hook_event_name": "PreToolUse",
        "tool_name": "Read",
        "tool_input": {"file_path": "orders.py"},
    },
    "post-tool": {
        "hook_event_name": "PostToolUseFailure",
        "tool_name": "Bash",
        "tool_input": {"command": "pytest"},
        "error": "ValueError: an order is negative",
    },
}


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A repository with a memory of orders."""
    folder = begin(tmp_path / "project", "We use PostgreSQL as the database of orders")
    Path("orders.py").write_text("LIMIT = 3\n", encoding="utf-8")
    error = "ValueError: an order is negative"
    assert pmem("add", "Orders never use floats", "--for", "orders.py").code == 0
    assert pmem("tried", "Round the orders", "--failed", "wrong", "--error", error).code == 0
    commit()
    return folder


def _answers(folder: Path) -> dict[str, Any]:
    """Return what every command that reads, and every hook, answers in a folder."""
    os.chdir(folder)
    found: dict[str, Any] = {" ".join(words): pmem(*words).out for words in READS}
    for event, told in HOOKS.items():
        data = json.dumps({"session_id": event, "cwd": str(folder), **told}).encode()
        done = pmem("hook", event, "--harness", "claude-code", stdin=data)
        assert b"additionalContext" in done.out, event
        found[event] = done.out
    return {name: out.replace(os.fsencode(folder), b"") for name, out in found.items()}


def _refuse(kind: int) -> Any:
    """Return what stands in the place of a call that writes, on a disk that refuses it."""

    def fail(*_: Any, **__: Any) -> Any:
        raise OSError(kind, os.strerror(kind))

    return fail


@pytest.mark.parametrize("has_state", [True, False])
def test_a_read_only_memory_reads_as_any_other(
    project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, has_state: bool
) -> None:
    if not has_state:
        shutil.rmtree(project / ".project-memory" / "local")
    closed = tmp_path / "closed" / project.name
    shutil.copytree(project, closed, symlinks=True)
    expected = _answers(project)
    opened, connected = os.open, sqlite3.connect

    def open_to_read(path: Any, flags: int, *more: Any, **named: Any) -> int:
        if flags & (os.O_WRONLY | os.O_RDWR | os.O_CREAT):
            raise OSError(errno.EROFS, os.strerror(errno.EROFS), path)
        return opened(path, flags, *more, **named)

    def connect_to_read(address: Any, *more: Any, **named: Any) -> Any:
        if "mode=rw" in str(address):
            refusal = sqlite3.OperationalError("attempt to write a readonly database")
            refusal.sqlite_errorcode = sqlite3.SQLITE_READONLY
            raise refusal
        return connected(address, *more, **named)

    monkeypatch.setattr(os, "open", open_to_read)
    monkeypatch.setattr(os, "mkdir", _refuse(errno.EROFS))
    monkeypatch.setattr(os, "replace", _refuse(errno.EROFS))
    monkeypatch.setattr(sqlite3, "connect", connect_to_read)
    assert _answers(closed) == expected


def test_a_byte_order_mark_is_read_past_and_the_next_write_drops_it(project: Path) -> None:
    records = [*Path(".project-memory/long-term-memory").iterdir()]
    for path in (Path(".project-memory/config.toml"), *records):
        path.write_bytes(codecs.BOM_UTF8 + path.read_bytes())
    before = pmem("list")
    assert (before.err, before.out.count(b"\n")) == ("", 3)
    assert pmem("check", "records").code == 0
    assert pmem("config", "set", "retrieval_top_k", "5").code == 0
    for path in records:
        assert pmem("edit", path.stem, "--add-tag", "seen").code == 0
    for path in (Path(".project-memory/config.toml"), *records):
        assert not path.read_bytes().startswith(codecs.BOM_UTF8)


def test_a_settings_file_of_another_program_keeps_its_mark(project: Path) -> None:
    Path(".claude").mkdir()
    file = Path(".claude/settings.json")
    file.write_bytes(codecs.BOM_UTF8 + b'{\n  "theme": "dark"\n}\n')
    assert pmem("setup", "claude-code").code == 0
    assert file.read_bytes().startswith(codecs.BOM_UTF8)
    assert json.loads(file.read_text(encoding="utf-8-sig"))["theme"] == "dark"


def test_text_in_utf_16_is_named_by_its_encoding(project: Path) -> None:
    assert "standard input is UTF-16" in pmem("add", "-", stdin="Use tabs".encode("utf-16")).err
    Path(".project-memory/config.toml").write_bytes("a = 1\n".encode("utf-16"))
    done = pmem("add", "Use tabs")
    assert done.code == 5
    assert "config.toml is UTF-16, not UTF-8" in done.err


def test_line_ends_of_other_systems_change_nothing(project: Path) -> None:
    git("config", "core.autocrlf", "true")
    for path in Path(".project-memory").rglob("*.*"):
        if path.suffix in (".json", ".toml") and path.is_file():
            path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n"))
    assert pmem("list").out.count(b"\n") == 3
    assert pmem("check", "records").code == 0


def test_a_citation_takes_the_spelling_of_the_disk(project: Path) -> None:
    Path("src").mkdir()
    Path(f"src/{APART}.py").write_text("RETRIES = 3\n", encoding="utf-8")
    commit()
    done = pmem("add", "At most three tries", "--cite", f"src/{COMPOSED}.py:1", "--json")
    (citation,) = done.data["memory"]["citations"]
    assert citation["file"] == f"src/{APART}.py"
    assert pmem("check", "citations").code == 0
    assert "At most three tries" in pmem("why", f"src/{COMPOSED}.py").out.decode()


@pytest.mark.parametrize("spelling", [COMPOSED, APART])
def test_a_place_matches_a_file_in_both_spellings(project: Path, spelling: str) -> None:
    Path(f"{APART}.py").write_text("a = 1\n", encoding="utf-8")
    assert pmem("add", "The bakery is closed", "--for", f"{COMPOSED}.py").code == 0
    told = {
        "session_id": spelling,
        "cwd": str(project),
        "hook_event_name": "PreToolUse",
        "tool_name": "Read",
        "tool_input": {"file_path": str(project / f"{spelling}.py")},
    }
    done = pmem("hook", "pre-tool", "--harness", "claude-code", stdin=json.dumps(told).encode())
    assert "The bakery is closed" in done.out.decode()


NAMES = (
    ("--subject", ("list", "--subject")),
    ("--tag", ("list", "--tag")),
    ("--category", ("list", "--category")),
    ("--user", ("list", "--user")),
)


@pytest.mark.parametrize(("option", "listing"), NAMES)
@pytest.mark.parametrize(("kept", "asked"), [(COMPOSED, APART), (APART, COMPOSED)])
def test_a_name_is_found_in_its_other_spelling(
    project: Path, option: str, listing: tuple[str, ...], kept: str, asked: str
) -> None:
    assert pmem("add", "We meet at noon", option, kept).code == 0
    assert "We meet at noon" in pmem(*listing, asked).out.decode()


def test_a_subject_in_its_other_spelling_is_the_same_subject(project: Path) -> None:
    assert pmem("add", "It opens at seven", "--subject", COMPOSED).code == 0
    assert pmem("add", "It opens at nine", "--subject", APART).code == 9


def test_names_of_a_batch_and_of_a_transcript_are_in_the_same_form(project: Path) -> None:
    line = {"content": "We meet at noon", "tags": [APART]}
    Path("batch.jsonl").write_text(json.dumps(line), encoding="utf-8")
    assert pmem("add", "--batch", "batch.jsonl").code == 0
    assert "We meet at noon" in pmem("list", "--tag", COMPOSED).out.decode()
    message = {"role": "user", "speaker": f"Zo{APART}", "content": "We decided to use Kafka"}
    Path("chat.jsonl").write_text(json.dumps(message), encoding="utf-8")
    assert pmem("import", "messages", "chat.jsonl").code == 0
    kept = b"".join(path.read_bytes() for path in Path(".project-memory").rglob("*.json"))
    assert f"Zo{COMPOSED}".encode() in kept
    assert APART.encode() not in kept


def test_records_that_were_exported_come_in_as_they_were(project: Path, tmp_path: Path) -> None:
    """What another version kept in another form is kept in it: an import of records is a copy."""
    record = next(Path(".project-memory/long-term-memory").glob("*.json"))
    record.write_text(
        record.read_text("utf-8").replace('"tags": []', f'"tags": ["{APART}"]'), "utf-8"
    )
    assert pmem("export", "arrays", str(tmp_path / "out")).code == 0
    begin(tmp_path / "other")
    assert pmem("import", "arrays", str(tmp_path / "out")).code == 0
    kept = Path(".project-memory/long-term-memory", record.name).read_text("utf-8")
    assert kept == (project / record).read_text("utf-8")
    assert APART in kept
