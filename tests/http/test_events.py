"""Changes as server-sent events: whoever makes them, told to whoever may see them."""

import json
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.client import HTTPConnection, HTTPResponse
from pathlib import Path
from typing import Any

import pytest

from pmem import Project
from pmem.server.http import changes, event_stream
from tests.conftest import NOW
from tests.http.serving import PLANNER, Listening, listening
from tests.http.test_recall_api import allow

Told = tuple[str, str, dict[str, Any]]


@pytest.fixture
def server(root: str) -> Iterator[Listening]:
    with listening(root) as served:
        yield served


@contextmanager
def events(server: Listening, who: str = "person", **headers: str) -> Iterator[Iterator[Told]]:
    """Listen to a server's changes."""
    connection = HTTPConnection("127.0.0.1", server.port, timeout=10)
    connection.request("GET", event_stream.PATH, headers={**server.served.headers(who), **headers})
    response = connection.getresponse()
    assert response.status == 200
    assert response.headers["Content-Type"].startswith("text/event-stream")
    try:
        yield told(response)
    finally:
        connection.close()


def told(response: HTTPResponse) -> Iterator[Told]:
    """Yield the kind, the id and the data of each event."""
    fields: dict[str, str] = {}
    while line := response.readline().decode():
        name, _, value = line.rstrip("\n").partition(": ")
        if name:
            fields[name] = value
        elif "event" in fields:
            yield fields["event"], fields["id"], json.loads(fields["data"])
            fields = {}


def test_each_change_is_told_whoever_makes_it(root: str, server: Listening) -> None:
    with events(server) as heard:
        assert next(heard)[0] == "hello"
        memory = Project(root, actor="ada", now=NOW).add("The queue is RabbitMQ.").memory
        kind, _, change = next(heard)
        assert kind == "change"
        assert change.pop("number") == 1
        assert change == {
            "id": memory.id, "short": memory.id[-8:], "kind": "memory", "change": "added",
            "event": "ADD", "at": "2026-11-21T14:30:00.250Z", "actor": "ada", "agent": "",
        }  # fmt: skip
        Project(root).remove(memory.id)
        assert next(heard)[2]["event"] == "DELETE"
        Project(root).purge(memory.id)
        assert next(heard)[2]["change"] == "gone"


def test_what_an_editor_rewrites_where_it_is_is_told_later(
    root: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(changes, "THOROUGH_SECONDS", 0.1)
    memory = Project(root).add("The queue is RabbitMQ.").memory
    (path,) = Path(root).glob(f"*/{memory.id}.json")
    with listening(root) as server, events(server) as heard:
        next(heard)
        with path.open("r+") as file:
            text = file.read().replace("RabbitMQ", "NATS")
            file.seek(0)
            file.write(text)
            file.truncate()
        assert next(heard)[2]["change"] == "changed"


def test_what_git_brings_is_told(root: str, server: Listening) -> None:
    folder = Path(root).parent

    def git(*words: str) -> None:
        name = ("-c", "user.name=Ada", "-c", "user.email=ada@example.org")
        subprocess.run(["git", *name, *words], cwd=folder, check=True, capture_output=True)

    git("init", "-q", "--template=")
    git("add", "-A")
    git("commit", "-qm", "Nothing yet", "--no-verify")
    memory = Project(root).add("The queue is RabbitMQ.").memory
    git("add", "-A")
    git("commit", "-qm", "A queue", "--no-verify")
    git("checkout", "-q", "HEAD~1")
    with events(server) as heard:
        next(heard)
        git("checkout", "-q", "-")
        assert next(heard)[2]["id"] == memory.id


def test_a_client_that_comes_back_is_told_what_it_has_missed(root: str, server: Listening) -> None:
    with events(server) as heard, events(server) as others:
        next(heard), next(others)
        Project(root).add("The queue is RabbitMQ.")
        _, known, first = next(heard)
        next(others)
        Project(root).add("The office is in Lisbon.")
        _, _, second = next(others)
    with events(server, **{"Last-Event-ID": known}) as heard:
        assert next(heard)[0] == "hello"
        assert next(heard)[2] == second != first


@pytest.mark.parametrize("known", ["nonsense", "other-3", "-", "x" * 5000, "0-999999999999999999"])
def test_a_client_whose_place_means_nothing_looks_at_everything_anew(
    known: str, server: Listening
) -> None:
    with events(server, **{"Last-Event-ID": known}) as heard:
        assert next(heard)[0] == "reset"


def test_a_client_that_fell_too_far_behind_looks_at_everything_anew(
    root: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(changes, "KEPT", 2)
    with listening(root) as server:
        with events(server) as heard:
            next(heard)
            Project(root).add("The queue is RabbitMQ.")
            _, known, _ = next(heard)
            for number in range(4):
                Project(root).add(f"The room number {number} is {number * 7} metres long.")
                next(heard)
        with events(server, **{"Last-Event-ID": known}) as heard:
            assert next(heard)[0] == "reset"


def test_an_agent_is_told_what_its_allowlist_names_alone(root: str, server: Listening) -> None:
    allow(root, "history")
    with events(server, "agent") as heard:
        next(heard)
        Project(root).add("The queue is RabbitMQ.", category="knowledge")
        seen = Project(root).add("The lab is closed.", category="history").memory
        assert next(heard)[2]["id"] == seen.id


def test_a_stream_ends_with_its_token(root: str, server: Listening) -> None:
    with events(server, "agent") as heard:
        next(heard)
        server.served.tokens.revoke(PLANNER)
        Project(root).add("The queue is RabbitMQ.")
        assert next(heard, None) is None


def test_a_silent_stream_says_that_it_is_there(root: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(event_stream, "SILENCE_SECONDS", 0.05)
    with listening(root) as server:
        raw = server.connect()
        raw.sendall(request_for(server))
        assert until(raw, b": keep-alive")
        raw.close()


def test_there_are_only_so_many_streams(root: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(event_stream, "MOST_STREAMS", 2)
    with listening(root) as server:
        with events(server) as one, events(server) as two:
            next(one), next(two)
            refused = server.raw(request_for(server, close=True))
            assert refused.startswith(b"HTTP/1.1 503")
            assert b"retry-after: 1" in refused.lower()
        for _ in range(50):  # those that have left make room
            with events_or_none(server) as heard:
                if heard is not None:
                    break
            threading.Event().wait(0.1)
        else:
            raise AssertionError("nobody made room")


@contextmanager
def events_or_none(server: Listening) -> Iterator[Any]:
    """Listen, or yield nothing where there is no room."""
    raw = server.connect()
    raw.sendall(request_for(server))
    yield raw if raw.recv(12) == b"HTTP/1.1 200" else None
    raw.close()


def request_for(server: Listening, *, close: bool = False) -> bytes:
    """Return the bytes that ask for changes."""
    end = "Connection: close\r\n" if close else ""
    secret = server.served.secrets["person"]
    return (
        f"GET {event_stream.PATH} HTTP/1.1\r\nHost: localhost\r\n{end}"
        f"Authorization: Bearer {secret}\r\n\r\n"
    ).encode()


def until(raw: Any, wanted: bytes) -> bool:
    """Read until some bytes have come."""
    found = b""
    while wanted not in found and (part := raw.recv(65536)):
        found += part
    return wanted in found
