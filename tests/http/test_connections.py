"""A server that listens for real: slow clients, many of them, and those that leave."""

import json
import os
import socket
import stat
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import pytest

from pmem import Project
from pmem.errors import InvalidValue, Refused
from pmem.memory.requests import AddRequest
from pmem.project.workspace import Workspace
from pmem.server.http import connections
from pmem.server.http.connections import ListeningPlace, listen
from pmem.server.http.guard import LOOPBACK
from tests.http.serving import Listening, listening

JSON: Final = "Content-Type: application/json\r\n"


@pytest.fixture
def server(root: str) -> Iterator[Listening]:
    with listening(root, body_seconds=0.3) as served:
        yield served


def head(server: Listening, line: str, more: str = "", *, close: bool = True) -> bytes:
    """Return the beginning of a request."""
    end = "Connection: close\r\n" if close else ""
    secret = server.served.secrets["person"]
    return (
        f"{line} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {secret}\r\n{more}{end}\r\n"
    ).encode()


def post(server: Listening, name: str, body: bytes, *, close: bool = True) -> bytes:
    """Return a whole request for an operation."""
    more = f"{JSON}Content-Length: {len(body)}\r\n"
    return head(server, f"POST /pmem/1/{name}", more, close=close) + body


def test_a_body_that_trickles_is_told_so_too(server: Listening) -> None:
    with server.connect() as raw:
        raw.sendall(head(server, "POST /pmem/1/list", f"{JSON}Content-Length: 100\r\n"))
        try:
            for _ in range(50):
                raw.sendall(b" ")
                time.sleep(0.02)
        except OSError:
            pass
        assert raw.recv(12) == b"HTTP/1.1 408"


def test_who_asks_nothing_is_hung_up_on(root: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connections, "IDLE_SECONDS", 1)
    with listening(root) as server:
        for begun in (b"", b"GET /healthz HTTP/1.1\r\nHost: local"):
            assert server.raw(begun) == b""
        answer = server.raw(head(server, "GET /healthz", close=False))
        assert answer.startswith(b"HTTP/1.1 200")


def test_headers_may_be_so_large_and_no_larger(server: Listening) -> None:
    answer = server.raw(head(server, "GET /api/memory/", f"X-Large: {'x' * 15_000}\r\n"))
    assert answer.startswith(b"HTTP/1.1 200")
    assert server.raw(b"GET / HTTP/1.1\r\nX-Large: " + b"x" * 20_000).startswith(b"HTTP/1.1 400")


def test_a_body_of_ten_megabytes_is_refused_and_the_client_gets_to_read_why(
    server: Listening,
) -> None:
    answer = server.raw(post(server, "list", b" " * 10_000_000))
    assert answer.startswith(b"HTTP/1.1 413")
    assert b"too_large" in answer


def test_there_are_only_so_many_connections(root: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connections, "MOST_CONNECTIONS", 3)
    with listening(root) as server:
        only_so_many(server)


def only_so_many(server: Listening) -> None:
    kept = [server.connect() for _ in range(3)]
    wait_for(lambda: len(server.uvicorn.server_state.connections) == 3)
    assert server.raw(head(server, "GET /healthz")).startswith(b"HTTP/1.1 503")
    for raw in kept:
        raw.close()
    wait_for(lambda: not server.uvicorn.server_state.connections)
    assert server.raw(head(server, "GET /healthz")).startswith(b"HTTP/1.1 200")


def test_a_client_that_leaves_in_the_middle_harms_nobody(root: str, server: Listening) -> None:
    Project(root).add_all([AddRequest(content=f"Room {n} has {n * 7} chairs.") for n in range(50)])
    for data in (
        head(server, "GET /api/events"),
        post(server, "list", b"{}")[:-1],
        post(server, "add", b'{"content": "The queue is RabbitMQ."}'),
        head(server, "GET /api/memory/"),
    ):
        raw = server.connect()
        raw.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
        raw.sendall(data)
        raw.close()
    wait_for(lambda: not server.uvicorn.server_state.connections)
    wait_for(lambda: not server.uvicorn.server_state.tasks)
    wait_for(lambda: Project(root).list().total == 51)


def test_thirty_writers_at_once_lose_nothing(root: str, server: Listening) -> None:
    answers: list[bytes] = []

    def write(number: int) -> None:
        body = json.dumps({"content": f"Room {number} has {number * 7} chairs."}).encode()
        answers.append(server.raw(post(server, "add", body)))

    together([lambda n=n: write(n) for n in range(30)])
    assert [answer for answer in answers if not answer.startswith(b"HTTP/1.1 200")] == []
    assert Project(root).list().total == 30


def test_reads_do_not_wait_for_a_writer(root: str, server: Listening) -> None:
    Project(root).add("The queue is RabbitMQ.")
    with Workspace(root).transaction():  # another process is in the middle of something
        waiting = [
            threading.Thread(
                target=server.raw, args=(post(server, "add", b'{"content": "It waits."}'),)
            )
            for _ in range(8)
        ]
        for thread in waiting:
            thread.start()
        for path in ("/api/memory/", "/healthz"):
            assert server.raw(head(server, f"GET {path}")).startswith(b"HTTP/1.1 200")
        assert server.raw(post(server, "search", b'{"query": "queue"}')).startswith(b"HTTP/1.1 200")
        assert all(thread.is_alive() for thread in waiting)
    for thread in waiting:
        thread.join(10)
    assert Project(root).list().total == 2  # the first was added, and the others say the same


def test_a_socket_is_for_its_owner_and_one_that_nobody_serves_is_replaced(tmp_path: Path) -> None:
    path = str(tmp_path / "s")
    first = listen(ListeningPlace(socket=path))
    first.listen()
    assert stat.S_IMODE(os.stat(path).st_mode) == 0o600
    with pytest.raises(Refused, match="already"):
        listen(ListeningPlace(socket=path))
    first.close()
    listen(ListeningPlace(socket=path)).close()
    os.unlink(path)
    Path(path).write_text("mine")
    with pytest.raises(Refused, match="no socket"):
        listen(ListeningPlace(socket=path))
    assert Path(path).read_text() == "mine"


def test_a_port_that_is_taken_is_told() -> None:
    first = listen(ListeningPlace(port=0))
    first.listen()
    with pytest.raises(InvalidValue, match="cannot be had"):
        listen(ListeningPlace(port=first.getsockname()[1]))
    first.close()
    with pytest.raises(InvalidValue, match="no port"):
        listen(ListeningPlace(port=70_000))
    with pytest.raises(InvalidValue, match="no host"):
        listen(ListeningPlace(host="no such host.invalid"))


@pytest.mark.skipif(not socket.has_dualstack_ipv6(), reason="the system serves one of the two")
@pytest.mark.parametrize("host", ["::", "0:0:0:0:0:0:0:0"])
def test_every_address_of_version_six_is_every_one_of_version_four_too(host: str) -> None:
    with listen(ListeningPlace(host=host, port=0)) as listener:
        socket.create_connection(("127.0.0.1", listener.getsockname()[1]), timeout=5).close()


@pytest.mark.parametrize(
    ("place", "is_open", "names"),
    [
        (ListeningPlace(), False, LOOPBACK),
        (ListeningPlace(host="localhost"), False, LOOPBACK),
        (ListeningPlace(host="::1"), False, LOOPBACK),
        (ListeningPlace(socket="s"), False, LOOPBACK),
        (ListeningPlace(host="0.0.0.0"), True, LOOPBACK),
        (ListeningPlace(host="::"), True, LOOPBACK),
        (ListeningPlace(host="192.168.1.5"), True, (*LOOPBACK, "192.168.1.5")),
    ],
)
def test_a_place_knows_whom_it_opens_to(
    place: ListeningPlace, is_open: bool, names: tuple[str, ...]
) -> None:
    assert (place.is_open, place.names) == (is_open, names)


def together(works: list[Any]) -> None:
    """Do several things at once."""
    threads = [threading.Thread(target=work) for work in works]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)


def wait_for(is_so: Any, seconds: float = 60) -> None:
    """Wait until something is so."""
    end = time.monotonic() + seconds
    while not is_so():
        assert time.monotonic() < end
        time.sleep(0.02)
