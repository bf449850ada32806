"""A server on loopback that completes chats as it is told to."""

import json
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import msgspec

from pmem.model.tasks import TASKS
from tests.model.scripted import data_of, kind_of, say
from tests.model.talks import Perfect


class ChatServer(ThreadingHTTPServer):
    """Answers in a mode, and keeps what it was asked."""

    daemon_threads = True
    block_on_close = False
    mode = "good"
    asked: list[tuple[dict[str, Any], dict[str, str]]]

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Say nothing of who hung up: it would be read in the output of a later test."""


class _Handler(BaseHTTPRequestHandler):
    server: ChatServer

    def log_message(self, *_arguments: Any) -> None:
        """Say nothing."""

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        self.server.asked.append((body, dict(self.headers)))
        mode = self.server.mode
        if mode == "hang":
            time.sleep(30)
        if mode == "crash":
            self.connection.close()
            return
        if mode == "overloaded" or (mode == "busy" and len(self.server.asked) == 1):
            self._send(429, b'{"error": "too many"}', {"Retry-After": "0"})
            return
        if mode == "plain" and "response_format" in body:
            self._send(400, b'{"error": "unknown field response_format"}')
            return
        prompt = body["messages"][0]["content"]
        kind = kind_of(prompt)
        said = say(mode, kind) if mode != "perfect" else json.dumps(answered(kind, prompt))
        answer = {"choices": [{"message": {"content": said}}], "usage": {"total_tokens": 321}}
        self._send(200, json.dumps(answer).encode())

    def _send(self, status: int, data: bytes, headers: dict[str, str] | None = None) -> None:
        self.send_response(status)
        for name, value in (headers or {}).items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        if self.server.mode == "drip":
            for place in range(len(data)):
                self.wfile.write(data[place : place + 1])
                self.wfile.flush()
                time.sleep(0.2)
        else:
            self.wfile.write(data)


def answered(kind: Any, prompt: str) -> Any:
    given = msgspec.convert(data_of(prompt), TASKS[kind].given)
    return getattr(Perfect(), kind)(given)


@contextmanager
def served() -> Iterator[ChatServer]:
    server = ChatServer(("127.0.0.1", 0), _Handler)
    server.asked = []
    threading.Thread(target=server.serve_forever, daemon=True, args=(0.05,)).start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()
