"""Whatever comes in, the server answers on, and what goes out is one JSON object a line."""

import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any, Final
from unittest import mock

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pmem import Project
from pmem.project.workspace import Workspace
from pmem.server.greeting import HANDSHAKE, greetings
from tests.conftest import NOW
from tests.faults.console import PROGRAM
from tests.mcp.talking import HELLO, MODERN, request, talk

PROBE = {"jsonrpc": "2.0", "id": "probe", "method": "ping"}
METHODS = (
    "initialize ping tools/list tools/call resources/read prompts/get server/discover nothing"
    " notifications/initialized notifications/cancelled"
).split()

texts = st.text(max_size=8)
values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=6,
)
params = st.fixed_dictionaries(
    {},
    optional={
        "name": st.sampled_from(("search", "show", "update", "recall")) | values,
        "arguments": st.dictionaries(st.sampled_from(("query", "id", "limit", "x")), values),
        "uri": st.sampled_from(("pmem://context", "pmem://memory/x")) | values,
        "requestId": values,
        "protocolVersion": st.sampled_from(("2025-06-18", "2024-11-05")) | values,
        "capabilities": st.just({}) | values,
        "clientInfo": st.just({"name": "x", "version": "1"}) | values,
        "_meta": st.just(MODERN) | values,
    },
)
messages = st.fixed_dictionaries(
    {},
    optional={
        "jsonrpc": st.just("2.0") | values,
        "id": st.integers(0, 9) | values,
        "method": st.sampled_from(METHODS) | values,
        "params": params | values,
        "result": values,
        "error": values,
    },
)
lines = st.binary(max_size=60) | st.one_of(messages, values, st.lists(messages, max_size=2)).map(
    lambda value: json.dumps(value).encode()
)


@pytest.mark.parametrize("start", [HELLO, request("server/discover")], ids=["2025", "2026"])
@given(given_lines=st.lists(lines, max_size=5))
def test_any_bytes_leave_the_server_answering(
    start: dict[str, Any], given_lines: list[bytes], root: str
) -> None:
    ended = [line.replace(b"\n", b" ") + b"\n" for line in given_lines]
    answers = talk(root, start, *ended, PROBE, is_patient=False, grace=1.0)
    assert [answer for answer in answers if answer["id"] == "probe"]
    for answer in answers:
        assert answer["jsonrpc"] == "2.0"
        assert ("result" in answer) != ("error" in answer)


LISTS: Final = [name for name in greetings()[HANDSHAKE[-1]] if name.endswith("/list")]
GREETINGS: Final = [
    HELLO,
    {"jsonrpc": "2.0", "method": "notifications/initialized"},
    *(
        request(method, is_modern)
        for method in ("server/discover", "ping", *LISTS)
        for is_modern in (True, False)
    ),
]


@pytest.mark.parametrize("tools", ["agent", "read"])
@given(said=st.lists(st.sampled_from(GREETINGS), max_size=5))
def test_what_is_kept_of_the_sdk_is_what_it_answers(
    said: list[dict[str, Any]], tools: str, root: str
) -> None:
    numbered = [
        {**one, "id": number} if "id" in one else one for number, one in enumerate([*said, PROBE])
    ]
    answers = talk(root, *numbered, tools=tools)
    with mock.patch("pmem.server.greeting._greeting", return_value=("", None)):
        assert answers == talk(root, *numbered, tools=tools)


def test_who_only_greets_is_answered_without_the_sdk(root: str, tmp_path: Path) -> None:
    (tmp_path / "mcp.py").write_text("raise SystemError")
    said = [HELLO, GREETINGS[1], *(request(method, is_modern=False) for method in LISTS)]
    done = subprocess.run(
        [PROGRAM, "mcp"],
        input=b"".join(json.dumps(one).encode() + b"\n" for one in said),
        capture_output=True,
        cwd=os.path.dirname(root),
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(tmp_path), *sys.path])},
        check=True,
    )
    assert len(done.stdout.splitlines()) == len(said) - 1


@given(data=st.binary(max_size=200))
def test_bytes_without_an_end_of_line_end_the_server_in_peace(data: bytes, root: str) -> None:
    talk(root, data or b"\n", is_patient=False, grace=1.0)


@pytest.mark.parametrize(
    "line",
    [
        b"[" * 100_000 + b"\n",
        b'{"a":' * 100_000 + b"\n",
        b'"' + b"x" * 10_000_000 + b'"\n',
        b'{"jsonrpc":"2.0","method":"x","id":null,"params":{"n":' + b"9" * 5000 + b"}}\n",
        b"\xff\xfe\n",
    ],
    ids=["deep lists", "deep objects", "ten megabytes", "an endless number", "no UTF-8"],
)
def test_a_monstrous_line_is_passed_over_and_the_next_one_answered(line: bytes, root: str) -> None:
    _, answered = talk(root, HELLO, line, PROBE)
    assert answered["id"] == "probe"


@pytest.mark.parametrize(
    "line",
    [
        b'{"jsonrpc":"2.0","id":7,"method":"ping","params":[1]}\n',
        b'{"jsonrpc":"2.0","id":7,"method":3}\n',
        b'{"id":7,"method":"ping"}\n',
        b'{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"caf\xe9"}}\n',
        b'{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"\\ud800"}}\n',
    ],
    ids=["a list", "no method", "no version", "no UTF-8", "half a character"],
)
def test_who_waits_for_an_answer_gets_one_whatever_is_wrong(line: bytes, root: str) -> None:
    _, refused, answered = talk(root, HELLO, line, PROBE)
    assert (refused["id"], refused["error"]["code"]) == (7, -32600)
    assert answered["id"] == "probe"


def test_calls_that_run_when_the_input_ends_are_answered(root: str) -> None:
    Project(root, now=NOW).add("The queue is RabbitMQ.")
    line = request("tools/call", name="search", arguments={"query": "queue"})
    given_lines = [{**line, "id": number} for number in range(20)]
    answers = talk(root, *given_lines, is_patient=False)
    assert sorted(answer["id"] for answer in answers) == list(range(20))
    assert all("RabbitMQ" in str(answer["result"]) for answer in answers)


def test_what_is_cancelled_is_not_answered(root: str, monkeypatch: pytest.MonkeyPatch) -> None:
    search = Workspace.now

    def slow(workspace: Workspace) -> Any:
        time.sleep(1)
        return search(workspace)

    monkeypatch.setattr(Workspace, "now", slow)
    line = {**request("tools/call", name="search", arguments={"query": "x"}), "id": 5}
    cancel = {
        "jsonrpc": "2.0",
        "method": "notifications/cancelled",
        "params": {"requestId": 5},
    }
    probe = {**request("tools/list"), "id": "probe"}
    answers = talk(root, line, cancel, probe, is_patient=False, grace=3.0)
    assert [answer["id"] for answer in answers] == ["probe"]


def test_the_protocol_is_answered_while_a_call_waits_for_another_writer(root: str) -> None:
    environment = {"PMEM_LOCK_TIMEOUT": "1"}
    call = request("tools/call", name="remember", arguments={"content": "We use Go."})
    probe = {**request("tools/list"), "id": "probe"}
    with Workspace(root).backend.lock():
        answers = talk(root, call, probe, is_patient=False, environment=environment)
    assert [answer["id"] for answer in answers] == ["probe", 1]
    assert answers[1]["result"]["isError"]
    assert Project(root).list().total == 0


NOISY = """
import os, subprocess, sys
from pmem.server.calls import ToolCalls
call = ToolCalls.call
def noisy(self, *given):
    print("printed")
    os.write(1, b"written\\n")
    subprocess.run(["sh", "-c", "cat; echo from a child"], check=True)
    return call(self, *given)
ToolCalls.call = noisy
from pmem.cli import main
sys.argv = ["pmem", "mcp"]
main()
"""


def test_standard_output_has_the_protocol_alone_whatever_is_printed(root: str) -> None:
    line = request("tools/call", name="search", arguments={"query": "queue"})
    given_lines = [json.dumps({**line, "id": number}) for number in range(3)]
    done = subprocess.run(
        [sys.executable, "-c", NOISY],
        input="\n".join([*given_lines, ""]).encode(),
        capture_output=True,
        cwd=os.path.dirname(root),
        check=True,
        timeout=60,
    )
    assert [json.loads(one)["id"] for one in done.stdout.splitlines()] == [0, 1, 2]
    for noise in (b"printed", b"written", b"from a child"):
        assert done.stderr.count(noise) == 3


@pytest.mark.long
def test_it_ends_when_its_input_does_and_when_nobody_reads_on(root: str) -> None:
    probe = json.dumps(PROBE).encode() + b"\n"
    for close_first, said in (("stdin", b""), ("stdout", probe)):
        with subprocess.Popen(
            [PROGRAM, "mcp"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            cwd=os.path.dirname(root),
        ) as server:
            assert server.stdin is not None
            assert server.stdout is not None
            server.stdin.write(json.dumps(HELLO).encode() + b"\n")
            server.stdin.flush()
            assert json.loads(server.stdout.readline())["id"] == "hello"
            getattr(server, close_first).close()
            if close_first == "stdout":
                server.stdin.write(said)
                server.stdin.flush()
            assert server.wait(timeout=20) == 0


def test_without_the_extra_one_sentence_says_what_to_install(root: str) -> None:
    program = (
        "import sys; sys.modules['mcp'] = None; sys.argv = ['pmem', 'mcp']\n"
        "from pmem.cli import main; main()"
    )
    done = subprocess.run(
        [sys.executable, "-c", program],
        input=b"",
        capture_output=True,
        cwd=os.path.dirname(root),
        check=False,
    )
    assert (done.returncode, done.stdout) == (3, b"")
    assert b"needs the extra `mcp`" in done.stderr
    assert b"hint: pip install 'pmem-cli[mcp]'" in done.stderr
