"""Talking to a server within this process: lines in, lines out, one after the other."""

import io
import json
import threading
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, BinaryIO, Final, cast
from unittest import mock

from pmem.cli.serve import thread_of
from pmem.project.workspace import Workspace
from pmem.server.calls import ToolCalls
from pmem.server.greeting import serve
from pmem.server.tools import chosen
from pmem.storage.shared import Shared
from tests.conftest import NOW

WAIT: Final = 30.0
"""How long an answer may take, in seconds."""
MODERN: Final = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientInfo": {"name": "tests", "version": "1"},
    "io.modelcontextprotocol/clientCapabilities": {},
}
"""What every request carries since 2026-07-28."""
HELLO: Final = {
    "jsonrpc": "2.0",
    "id": "hello",
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "tests", "version": "1"},
    },
}
"""The handshake until then."""


class Script(io.RawIOBase):
    """Gives lines one by one: each after the request before it was answered, if it waits."""

    def __init__(self, lines: Sequence[bytes], *, is_patient: bool) -> None:
        self.written = b""
        self._lines = list(lines)
        self._is_patient = is_patient
        self._waiting: Any = None
        self._answer = threading.Condition()

    def readline(self, size: int | None = -1, /) -> bytes:
        with self._answer:
            if self._waiting is not None:
                done = self._answer.wait_for(lambda: self._waiting is None, WAIT)
                assert done, f"no answer to {self._waiting}"
            if not self._lines:
                return b""
            most = len(self._lines[0]) if size is None or size < 0 else size
            line, rest = self._lines[0][:most], self._lines[0][most:]
            if rest:
                self._lines[0] = rest
            else:
                self._lines.pop(0)
                self._waiting = _awaited(line) if self._is_patient else None
            return line

    def write(self, data: Any, /) -> int:
        with self._answer:
            self.written += bytes(data)
            if self._waiting is not None and json.loads(bytes(data)).get("id") == self._waiting:
                self._waiting = None
                self._answer.notify_all()
        return len(data)

    @property
    def answers(self) -> list[dict[str, Any]]:
        """What was written: one JSON object a line."""
        return [_object(line) for line in self.written.splitlines()]


def talk(
    root: str,
    *lines: bytes | Mapping[str, Any],
    tools: str = "agent",
    agent: str = "assistant",
    read_only: bool = False,
    structured: bool = False,
    is_patient: bool = True,
    is_named: bool = True,
    environment: Mapping[str, str] | None = None,
    grace: float = WAIT,
) -> list[dict[str, Any]]:
    """Return what a server answers to lines, or messages, until they end."""
    given = [
        line if isinstance(line, bytes) else json.dumps(line).encode() + b"\n" for line in lines
    ]
    script = Script(given, is_patient=is_patient)
    shared = Shared()
    opened = partial(
        Workspace, root, actor="kim", now=NOW, shared=shared, read_only=read_only,
        environment=environment or {},
    )  # fmt: skip
    offered = chosen(tools, read_only=read_only)
    with mock.patch("pmem.server.mcp.GRACE", grace):
        serve(
            lambda: ToolCalls(opened, agent, offered, structured=structured, is_named=is_named),
            offered,
            cast(BinaryIO, script),
            cast(BinaryIO, script),
            partial(thread_of, "auto", environment or {}),
        )
    shared.close()
    return script.answers


def request(method: str, is_modern: bool = True, **params: Any) -> dict[str, Any]:
    """Return a request, as either era of the protocol has it."""
    meta = {"_meta": {**MODERN, **params.pop("_meta", {})}} if is_modern else {}
    return {"jsonrpc": "2.0", "id": 1, "method": method, "params": {**params, **meta}}


def called(root: str, name: str, **given: Any) -> dict[str, Any]:
    """Return the result of one call of a tool that the profile `all` has."""
    return called_as(root, name, given)


def called_as(root: str, name: str, given: Mapping[str, Any], **options: Any) -> dict[str, Any]:
    """Return the result of one call of a tool, of a server with options."""
    line = request("tools/call", name=name, arguments=dict(given))
    meta = options.pop("_meta", {})
    line["params"]["_meta"].update(meta)
    (answer,) = talk(root, line, **{"tools": "all", **options})
    result: dict[str, Any] = answer["result"]
    return result


def text_of(result: Mapping[str, Any]) -> str:
    """Return what a model reads of a result."""
    (content,) = result["content"]
    text: str = content["text"]
    return text


def _awaited(line: bytes) -> Any:
    """Return the id of a request; None for what nothing answers by its id."""
    try:
        value = json.loads(line)
    except (ValueError, RecursionError):
        return None
    if not isinstance(value, dict) or not isinstance(value.get("method"), str):
        return None
    name = value.get("id")
    is_id = isinstance(name, str) or type(name) is int
    return name if is_id and "\ud800" not in str(name) else None


def _object(line: bytes) -> dict[str, Any]:
    value = json.loads(line)
    assert isinstance(value, dict)
    return value
