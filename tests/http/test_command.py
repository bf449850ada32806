"""`pmem serve` as a process: where it listens, what it says, who it is, and how it ends."""

import json
import os
import pty
import signal
import socket
import stat
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from http.client import HTTPConnection
from pathlib import Path
from typing import Any
from unittest import mock

import pytest

from pmem import Project
from tests.faults.console import PROGRAM, pmem


@pytest.fixture(autouse=True)
def _here(root: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(Path(root).parent)


@contextmanager
def serving(*options: str, **environment: str) -> Iterator[tuple[subprocess.Popen[bytes], Any]]:
    """Run the command, and give what it says first."""
    process = subprocess.Popen(
        [PROGRAM, "serve", "--json", *options],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, env={**os.environ, **environment},
    )  # fmt: skip
    assert process.stdout is not None
    assert process.stderr is not None
    try:
        line = process.stdout.readline()
        assert line, process.stderr.read().decode()
        yield process, json.loads(line)["data"]
    finally:
        process.kill()
        process.communicate()


class UnixConnection(HTTPConnection):
    """A connection to a socket's file."""

    def __init__(self, path: str) -> None:
        super().__init__("localhost")
        self._path = path

    def connect(self) -> None:
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.connect(self._path)


def total(connection: HTTPConnection, token: str) -> int:
    """Return how many memories a server has."""
    connection.request("GET", "/api/memory/", headers={"Authorization": f"Bearer {token}"})
    found: int = json.loads(connection.getresponse().read())["total"]
    connection.close()
    return found


@pytest.mark.long
def test_it_serves_at_a_free_port_to_whoever_has_the_token_that_it_made(root: str) -> None:
    Project(root).add("The queue is RabbitMQ.")
    with serving("--port", "0") as (process, said):
        assert said["address"].startswith("http://127.0.0.1:")
        assert said["read_only"] is False
        assert stat.S_IMODE(os.stat(said["tokens"]).st_mode) == 0o600
        assert os.path.commonpath([said["tokens"], os.environ["HOME"]]) == os.environ["HOME"]
        token = pmem("serve", "--token", "person", "--json").data["token"]
        port = int(said["address"].rpartition(":")[2].strip("/"))
        assert total(HTTPConnection("127.0.0.1", port, timeout=10), token) == 1
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=15)
    assert process.returncode == 130
    assert out == b""
    assert token not in err.decode()
    assert "Traceback" not in err.decode()


def test_it_serves_at_a_socket_which_is_gone_when_it_ends(root: str) -> None:
    with serving("--socket", "s", PMEM_TOKEN="a-token-of-my-very-own") as (process, said):
        assert said["address"] == f"unix:{os.path.abspath('s')}"
        assert stat.S_IMODE(os.stat("s").st_mode) == 0o600
        assert total(UnixConnection("s"), "a-token-of-my-very-own") == 0
        assert not os.path.exists(said["tokens"])
        process.terminate()
        assert process.communicate(timeout=15)[0] == b""
    assert process.returncode == 0
    assert not os.path.exists("s")


@pytest.mark.long
def test_it_ends_as_usual_where_somebody_removed_its_socket() -> None:
    with serving("--socket", "s") as (process, _):
        os.unlink("s")
        process.terminate()
        told = process.communicate(timeout=15)[1].decode()
    assert process.returncode == 0
    assert "bug" not in told


@pytest.mark.long
def test_what_is_open_to_other_machines_says_so() -> None:
    with serving("--port", "0", "--host", "0.0.0.0", "--read-only") as (process, said):
        assert said["read_only"] is True
        connection = HTTPConnection("127.0.0.1", int(said["address"].rpartition(":")[2].strip("/")))
        assert total(connection, pmem("serve", "--token", "person").out.decode().strip()) == 0
        process.terminate()
        told = process.communicate(timeout=15)[1].decode()
    assert "warning: other machines can reach this" in told
    assert "may read the whole memory" in told


def test_the_tokens_of_an_agent_and_an_app_are_others() -> None:
    made = {
        who: pmem("serve", "--token", who, "--json").data["token"]
        for who in ("person", "agent:planner", "app:calendar")
    }
    assert len(set(made.values())) == 3
    assert pmem("serve", "--token", "person").out.decode().strip() == made["person"]
    assert pmem("serve", "--revoke", "agent:planner").code == 0
    assert (
        pmem("serve", "--token", "agent:planner", "--json").data["token"] != made["agent:planner"]
    )


@pytest.mark.parametrize("option", ["--token", "--revoke"])
@pytest.mark.parametrize("name", ["PMEM_AGENT", "PMEM_APP"])
def test_no_program_takes_a_persons_token(option: str, name: str) -> None:
    done = pmem("serve", option, "person", "--json", environment={name: "planner"})
    assert done.code == 7
    assert "planner may not" in done.error["message"]


def test_without_the_extra_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    gone = dict.fromkeys(("uvicorn", "starlette", "starlette.applications"))
    kept = {name: module for name, module in sys.modules.items() if "pmem.server.http" not in name}
    with mock.patch.dict(sys.modules, {**kept, **gone}, clear=True):
        done = pmem("serve", "--json")
        assert done.code == 3
        assert "needs the extra `server`" in done.error["message"]
        assert done.error["hint"] == "pip install 'pmem-cli[server]'"
        assert pmem("serve", "--token", "person").code == 0


@pytest.mark.long
def test_a_terminal_is_told_the_pages_address_with_its_owners_token_and_a_pipe_is_not() -> None:
    token = pmem("serve", "--token", "person").out.decode().strip()
    assert f"/#token={token}" in seen_on_terminal("serve", "--port", "0")
    with serving("--port", "0") as (process, said):
        process.terminate()
        out, err = process.communicate(timeout=15)
    assert token not in out.decode() + err.decode() + json.dumps(said)


@pytest.mark.long
def test_no_program_is_told_its_owners_token_even_on_a_terminal() -> None:
    seen = seen_on_terminal("serve", "--port", "0", PMEM_AGENT="planner")
    assert "serving http://127.0.0.1:" in seen
    assert "token=" not in seen


def seen_on_terminal(*arguments: str, **environment: str) -> str:
    """Return what a terminal shows until the command says how it is ended."""
    leader, follower = pty.openpty()
    process = subprocess.Popen(
        [PROGRAM, *arguments], stdout=follower, stderr=follower,
        env={**os.environ, "NO_COLOR": "1", **environment},
    )  # fmt: skip
    os.close(follower)
    seen = b""
    try:
        while b"Ctrl+C ends it" not in seen:
            seen += os.read(leader, 65536)
    finally:
        process.terminate()
        process.wait(15)
        os.close(leader)
    return seen.decode()
