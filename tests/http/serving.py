"""A server within this process, asked as its clients ask it; or one that listens for real."""

import os
import socket
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime
from functools import partial
from typing import Any, Final

import uvicorn
from starlette.testclient import TestClient

from pmem.project.workspace import Workspace
from pmem.server.http import connections
from pmem.server.http.application import HttpServer
from pmem.server.http.guard import GuardRules
from pmem.server.http.mcp_endpoint import McpOffer
from pmem.server.http.tokens import PERSON, TokenHolder, Tokens
from pmem.server.tools import chosen
from pmem.storage.shared import Shared
from tests.conftest import NOW

PLANNER: Final = TokenHolder("agent", "planner")
CALENDAR: Final = TokenHolder("app", "calendar")
HOLDERS: Final = {"person": PERSON, "agent": PLANNER, "app": CALENDAR}


class Served:
    """What tests know of a server: its parts, and a token for each kind of holder."""

    def __init__(
        self,
        root: str,
        *,
        read_only: bool = False,
        now: datetime | None = NOW,
        opened: Callable[[], Workspace] | None = None,
        **rules: Any,
    ) -> None:
        shared = Shared()
        self.opened: Callable[[], Workspace] = opened or partial(
            Workspace, root, actor="kim", now=now, shared=shared, read_only=read_only,
            environment={},
        )  # fmt: skip
        self.tokens = Tokens(os.path.join(os.path.dirname(root), "state", "tokens.json"))
        self.secrets = {name: self.tokens.token_of(each).secret for name, each in HOLDERS.items()}
        offer = McpOffer(
            tools=chosen("agent", read_only=read_only), agent="assistant", session=lambda _: None
        )
        self.server = HttpServer(self.opened, self.tokens, GuardRules(**rules), offer)

    def headers(self, who: str = "person") -> dict[str, str]:
        """Return the header that says who asks."""
        return {"Authorization": f"Bearer {self.secrets[who]}"}


class Asked:
    """Asks a server within this process."""

    def __init__(self, served: Served, client: TestClient) -> None:
        self.served, self.client = served, client

    def __call__(
        self, method: str, path: str, body: Any = None, *, who: str = "person", **more: Any
    ) -> Any:
        """Return the response to a request."""
        headers = {**self.served.headers(who), **more.pop("headers", {})}
        given = {} if body is None else {"json": body}
        return self.client.request(method, path, headers=headers, **given, **more)

    def run(self, name: str, request: Mapping[str, Any] | None = None, who: str = "person") -> Any:
        """Return the data that an operation answers."""
        response = self("POST", f"/pmem/1/{name}", dict(request or {}), who=who)
        assert response.status_code == 200, response.text
        assert response.json()["schema"] == "pmem/1"
        return response.json()["data"]


@contextmanager
def asking(root: str, **options: Any) -> Iterator[Asked]:
    """Serve a folder within this process."""
    served = Served(root, **options)
    with TestClient(
        served.server.application, base_url="http://127.0.0.1:7636", raise_server_exceptions=False
    ) as client:
        yield Asked(served, client)


class Listening:
    """A server that listens at a free port, in a thread."""

    def __init__(self, served: Served, listener: socket.socket) -> None:
        self.served, self.port = served, listener.getsockname()[1]
        self.address = f"http://127.0.0.1:{self.port}"
        self.uvicorn = uvicorn.Server(connections.configuration(served.server.application))
        self._thread = threading.Thread(target=self.uvicorn.run, args=([listener],), daemon=True)

    def start(self) -> None:
        """Begin to answer."""
        self._thread.start()
        while not self.uvicorn.started:
            assert self._thread.is_alive()

    def stop(self) -> None:
        """End, as a signal would end it."""
        self.served.server.end_streams()
        self.uvicorn.should_exit = True
        self._thread.join(10)
        assert not self._thread.is_alive()

    def raw(self, data: bytes, seconds: float = 10.0) -> bytes:
        """Return all that is answered to bytes until the server hangs up."""
        with self.connect() as connection:
            connection.settimeout(seconds)
            connection.sendall(data)
            found = b""
            while part := connection.recv(65536):
                found += part
            return found

    def connect(self) -> socket.socket:
        """Return a new connection."""
        return socket.create_connection(("127.0.0.1", self.port), timeout=10)


@contextmanager
def listening(root: str, **options: Any) -> Iterator[Listening]:
    """Serve a folder at a free port of this machine."""
    served = Served(root, **options)
    listener = connections.listen(connections.ListeningPlace(port=0))
    server = Listening(served, listener)
    server.start()
    try:
        yield server
    finally:
        server.stop()
