"""A server for tests: the live page, and every operation of the table as JSON."""

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any, Final, get_type_hints

import msgspec

from pmem.errors import PmemError
from pmem.operations import table
from pmem.operations.pipeline import function_of, run
from pmem.project.workspace import Workspace
from pmem.report.page import live_policy, render_live_page
from pmem.values.records import dump_line

TOKEN: Final = "a-token-for-tests"
_PREFIX: Final = "/pmem/1/"


@contextmanager
def served(opened: Callable[[], Workspace]) -> Iterator[str]:
    """Serve a memory on a free port, and yield the address of its page."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self._send(200, render_live_page(_PREFIX).encode(), "text/html; charset=utf-8")

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            if self.headers.get("Authorization") != f"Bearer {TOKEN}":
                self._send(401, dump_line({"error": {"message": "no such token", "hint": ""}}))
                return
            try:
                answer = _asked(opened(), self.path.removeprefix(_PREFIX), json.loads(body))
            except PmemError as error:
                said = {"error": {"message": error.message, "hint": error.hint}}
                self._send(409, dump_line(said))
                return
            self._send(200, dump_line({"schema": "pmem/1", "data": answer}))

        def _send(self, status: int, data: bytes, kind: str = "application/json") -> None:
            self.send_response(status)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Security-Policy", live_policy())
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *_: Any) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def _asked(workspace: Workspace, name: str, body: Any) -> Any:
    operation = table.TABLE[name]
    hints = get_type_hints(function_of(operation))
    hints.pop("return")
    request = msgspec.convert(body, list(hints.values())[1])
    return run(workspace, operation, request).plain
