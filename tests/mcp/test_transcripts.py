"""What is said in the protocol: each `NAME.jsonl` is answered by the lines of `NAME.out.jsonl`.

`<id1>` stands for the short id of the first memory, in both. `UPDATE_TRANSCRIPTS=1` rewrites the
answers.
"""

import json
import os
from itertools import count
from pathlib import Path
from typing import Any, Final
from unittest import mock

import pytest
from mcp_types import methods
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS

from pmem import Project, __version__
from pmem.values import ids
from tests.conftest import NOW
from tests.mcp.talking import talk

FILES: Final = sorted(Path(__file__).with_name("transcripts").glob("*.jsonl"))
ASKED: Final = [path for path in FILES if not path.stem.endswith(".out")]
UPDATE: Final = "UPDATE_TRANSCRIPTS" in os.environ
RELEASED: Final = (*HANDSHAKE_PROTOCOL_VERSIONS, "2026-07-28")


@pytest.fixture
def names(root: str, monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """Keep a memory of a person, and return the ids to come by what stands for them."""
    made, numbers = ids.make_id, count(1)
    monkeypatch.setattr(ids, "make_id", lambda at, _: made(at, next(numbers) * 2**24 + 7))
    Project(root, actor="ada", now=NOW).add("The queue is RabbitMQ.", subject="queue")
    with mock.patch.object(ids, "make_id", made):
        shorts = [ids.short(made(0, number * 2**24 + 7)) for number in range(1, 9)]
    return {f"<id{number}>": short for number, short in enumerate(shorts, start=1)}


@pytest.mark.parametrize("path", ASKED, ids=[path.stem for path in ASKED])
def test_what_is_said_is_answered_as_it_is_written(
    path: Path, root: str, names: dict[str, str]
) -> None:
    said = path.read_text(encoding="utf-8")
    for name, short in names.items():
        said = said.replace(name, short)
    lines = [line.encode() + b"\n" for line in said.splitlines()]
    more = "" if path.stem.startswith("methods") else ",forget,memory_query"
    answers = talk(root, *lines, tools=f"agent{more}")
    check_answers(lines, answers)
    text = "".join(json.dumps(answer, ensure_ascii=False) + "\n" for answer in answers)
    for name, short in names.items():
        text = text.replace(short, name)
    text = text.replace(f'"version": "{__version__}"', '"version": "<version>"')
    expected = path.with_suffix(".out.jsonl")
    if UPDATE:
        expected.write_text(text, encoding="utf-8")
    assert text.splitlines() == expected.read_text(encoding="utf-8").splitlines()


def check_answers(lines: list[bytes], answers: list[dict[str, Any]]) -> None:
    """See that every result is one that its revision of the protocol has, by the SDK's types."""
    version = "2026-07-28"
    asked: dict[Any, dict[str, Any]] = {}
    for line in lines:
        try:
            value = json.loads(line)
        except ValueError:
            continue
        if isinstance(value, dict) and isinstance(value.get("id"), str | int):
            asked[value["id"]] = value
            if value.get("method") == "initialize" and "_meta" not in value["params"]:
                wanted = value["params"]["protocolVersion"]
                version = wanted if not _is_modern(lines) else version
    for answer in answers:
        assert answer["jsonrpc"] == "2.0"
        assert answer.keys() in ({"jsonrpc", "id", "result"}, {"jsonrpc", "id", "error"})
        if "error" in answer:
            assert isinstance(answer["error"]["code"], int)
            assert answer["error"]["message"]
        else:
            method = asked[answer["id"]]["method"]
            methods.validate_server_result(method, version, answer["result"])


def _is_modern(lines: list[bytes]) -> bool:
    return b"protocolVersion" in lines[0] and b"_meta" in lines[0]


def test_every_method_and_every_revision_is_in_a_transcript() -> None:
    said = "".join(path.read_text(encoding="utf-8") for path in ASKED)
    wanted = (
        "server/discover initialize ping tools/list tools/call resources/list"
        " resources/templates/list resources/read prompts/list prompts/get"
    ).split()
    assert [method for method in wanted if f'"{method}"' not in said] == []


@pytest.mark.parametrize("version", RELEASED[:-1])
def test_every_older_revision_is_answered_in_itself(version: str, root: str) -> None:
    hello = {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "initialize",
        "params": {
            "protocolVersion": version,
            "capabilities": {},
            "clientInfo": {"name": "tests", "version": "1"},
        },
    }
    listing = {"jsonrpc": "2.0", "id": 2, "method": "tools/list"}
    first, second = talk(root, hello, listing)
    assert first["result"]["protocolVersion"] == version
    methods.validate_server_result("tools/list", version, second["result"])
