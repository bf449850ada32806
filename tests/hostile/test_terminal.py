"""Nothing that is kept, named or typed reaches a terminal or a pipe as more than text."""

import io
import json
import os
import re
import subprocess
from collections.abc import Sequence
from contextlib import redirect_stderr, redirect_stdout
from typing import Any
from unittest import mock

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pmem.cli.app import run
from pmem.core.visible import escaped
from pmem.values.records import dump
from tests.faults.console import pmem
from tests.hostile.projects import GOOD, OTHER, STORE, memory, write
from tests.policy.paths import MATRIX
from tests.storage.searches import conversation, message

PAYLOADS = {
    "escape": "\x1b[2J",
    "title": "\x1b]0;owned\x07",
    "clipboard": "\x1b]52;c;cHduZWQ=\x07",
    "link": "\x1b]8;;http://x.example\x1b\\here\x1b]8;;\x1b\\",
    "C1": "\x9b2J\x90q\x9c",
    "bell": "\x07",
    "return": "first\rsecond",
    "back": "ab\b\b\x7f",
    "directions": "\u202e\u2066\u2069",
    "zero width": "\u200b\u200c\u200d\u2060\ufeff",
    "tags": "\U000e0049\U000e0067\U000e007f",
    "lines": "\u2028\u2029\x0b\x0c\x85",
    "markup": "[/x][bold][/] [link=http://x]",
}
EVERYTHING = " ".join(PAYLOADS.values())
HIDDEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff"
    "\U000e0000-\U000e0fff]"
)
COLOUR = re.compile(r"\x1b\[[0-9;]*m")
FINDS_IT = ("list", "show", "search", "context", "query", "log")


class Terminal(io.TextIOWrapper):
    """A stream that says it is a terminal."""

    def isatty(self) -> bool:
        return True


def on_terminal(arguments: Sequence[str], stdin: bytes) -> tuple[str, str]:
    """Run a command as on a terminal; return what both streams got, without the colours."""
    out, err = io.BytesIO(), io.BytesIO()
    streams = [Terminal(raw, encoding="utf-8", write_through=True) for raw in (out, err)]
    with (
        mock.patch("sys.stdin", io.TextIOWrapper(io.BytesIO(stdin))),
        mock.patch.dict(os.environ, {"TERM": "xterm-256color", "COLUMNS": "200"}),
        redirect_stdout(streams[0]),
        redirect_stderr(streams[1]),
    ):
        run(arguments)
        for stream in streams:
            stream.flush()
    progress = re.compile(r"\r(?=[a-z]+: \d)")  # pmem's own line of progress
    said = [COLOUR.sub("", raw.getvalue().decode()) for raw in (out, err)]
    return said[0], progress.sub("", said[1])


def talk(identifier: str, text: str) -> Any:
    said = message("mjwaid1q-00000008", text)
    return json.loads(dump(conversation(identifier, said))) | {"title": text, "external_id": text}


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Return files of a project with a payload in every field."""
    at = "2026-01-05T12:00:00.000Z"
    text = EVERYTHING
    fields: dict[str, Any] = {
        "content": f"gear {text}",
        "category": text,
        "subject": text,
        "tags": [text],
        "scope": dict.fromkeys(("app", "user", "agent", "run", "actor", "role"), text),
        "source": {"kind": text, "file": text, "conversation": text},
        "relationships": [{"target": OTHER, "type": text, "strength": 1}],
        "citations": [{"file": text, "digest": text}],
        "history": [
            {"event": "ADD", "at": at, "actor": text, "agent": text, "source": text},
            {"event": "UPDATE", "at": at, "actor": text, "before": {"content": text, text: text}},
            {"event": "MERGE", "at": at, "source": "git", "before": {"content": text},
             "detail": {"conflict": ["content"], text: text}},
        ],
    }  # fmt: skip
    episode = {
        "id": "mjwaid1q-00000006", "schema": 1, "type": "pivot", "title": text, "summary": text,
        "context": text, "participants": [text], "outcome": text, "tags": [text],
        "conversation": text, "created_at": at, "updated_at": at,
        "history": [{"event": "ADD", "at": at, "actor": text}],
    }  # fmt: skip
    whole = memory(GOOD, **fields)
    second = memory(OTHER, f"gear wheel {text}", subject=text, category="knowledge")
    return {
        f"{STORE}/{GOOD}.json": whole,
        f"{STORE}/{OTHER}.json": second,
        f"{STORE}/\x1b[2J\u202e.json": whole,
        f"{STORE}/mjwaid1q-00000004.json": memory("mjwaid1q-00000004", type=text),
        "episodic-memory/mjwaid1q-00000006.json": json.dumps(episode),
        "conversations/mjwaid1q-00000005.json": json.dumps(talk("mjwaid1q-00000005", text)),
        "golden.jsonl": json.dumps({"query": text, "expected": [GOOD]}) + "\n",
    }


@pytest.fixture
def project(made: dict[str, str], root: str) -> str:
    """Make that project, in a repository whose names are hostile, too."""
    name = f"user.name=Eve {PAYLOADS['escape']}{PAYLOADS['directions']}"
    commands = (
        ["init", "-q", "-b", "branch\u202e\u200b"],
        ["add", "-A"],
        ["-c", name, "-c", "user.email=e@example.org", "commit", "-qm", f"Add {EVERYTHING}"],
    )
    write(f"{root}/config.toml", f'project_name = "{as_toml(EVERYTHING)}"\n')
    for path, text in made.items():
        write(f"{root}/{path}", text)
    for words in commands:
        subprocess.run(["git", *words], check=True, capture_output=True)
    return root


def as_toml(text: str) -> str:
    return "".join(f"\\U{ord(letter):08x}" for letter in text)


def line_of(command: str) -> list[str]:
    given = {"TEXT": f"gear {EVERYTHING}", "REF": GOOD, "OTHER": OTHER, "calendar": EVERYTHING}
    more = {"search": ["--explain"], "context": ["--explain"]}
    words = [given.get(word, word) for word in MATRIX[command][1]]
    return [*command.split(), *words, *more.get(command, [])]


QUERY = json.dumps({"query": f"gear {EVERYTHING}", "return": "full"}).encode()


@pytest.mark.some(20)
@pytest.mark.parametrize("command", MATRIX)
def test_no_command_sends_a_payload(command: str, project: str) -> None:
    line = line_of(command)
    on_screen = on_terminal(line, QUERY)
    in_pipe = pmem(*line, stdin=QUERY)
    as_json = pmem(*line, "--json", stdin=QUERY)
    for text in (*on_screen, in_pipe.out.decode(), in_pipe.err, as_json.out.decode(), as_json.err):
        assert HIDDEN.findall(text) == [], (command, text)
    if command in FINDS_IT:
        assert "gear" in on_screen[0]
        assert "gear" in in_pipe.out.decode()
    if as_json.out:
        json.loads(as_json.out)


@pytest.mark.parametrize(
    "line",
    ["check setup", "check records", "check", "config list", "stats", "list", "context gear"],
)
def test_no_name_of_a_setting_sends_a_payload(line: str, project: str) -> None:
    name = as_toml(EVERYTHING)
    tables = f'[categories.context]\n"{name}" = "all"\n[allowlists]\n"{name}" = ["{name}"]\n'
    write(f"{project}/config.toml", f'{tables}[consent]\nfields = ["{name}"]\n')
    for text in (*on_terminal(line.split(), b""), pmem(*line.split(), "--json").out.decode()):
        assert HIDDEN.findall(text) == []


def test_json_is_exact(project: str) -> None:
    shown = pmem("show", GOOD, "--json").data
    assert shown["content"] == f"gear {EVERYTHING}"
    assert shown["history"][0]["actor"] == EVERYTHING
    raw = json.loads(pmem("export", "arrays").out)
    contents = {item["content"] for item in raw["long-term-memory"]}
    assert f"gear {EVERYTHING}" in contents


@pytest.mark.parametrize("line", [
    ["show", EVERYTHING], ["list", "--category", EVERYTHING], ["config", "get", EVERYTHING],
    ["config", "set", "project_name", EVERYTHING], ["app", "show", EVERYTHING, "x"],
    ["checkpoint", "load", EVERYTHING], ["-C", EVERYTHING, "list"], ["--actor", EVERYTHING, "list"],
    ["list", "--at", EVERYTHING], ["import", "arrays", EVERYTHING], ["eval", "run", EVERYTHING],
    [EVERYTHING], [f"--{EVERYTHING}"], ["list", f"--{EVERYTHING}"], ["list", "--state", EVERYTHING],
    ["conversation", "show", EVERYTHING], ["--now", EVERYTHING, "list"], ["log", EVERYTHING],
    ["log", f"{EVERYTHING}.."], ["--agent", EVERYTHING, "list"],
], ids=lambda line: line[0][:12].strip("\x1b"))  # fmt: skip
def test_no_error_repeats_a_payload(line: list[str], root: str) -> None:
    words = [word.replace("\x00", "") for word in line]
    done = pmem(*words)
    as_json = pmem(*words, "--json")
    for text in (*on_terminal(words, b""), done.out.decode(), done.err, as_json.err):
        assert HIDDEN.findall(text) == [], text
    assert "Traceback" not in done.err


@given(st.text())
def test_escaping_leaves_json_what_it_is(text: str) -> None:
    text = text.encode("utf-8", "replace").decode()
    written = escaped(json.dumps(text, ensure_ascii=False))
    assert json.loads(written) == text
    assert HIDDEN.findall(written) == []
