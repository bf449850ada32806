"""Sessions of coding assistants, made in the form that their programs write."""

import json
from collections.abc import Iterable
from typing import Any

Line = dict[str, Any]
HOOK = "PMEM-CONTEXT: we use PostgreSQL"
SESSION = "6f2c1a90-7d5e-4f8e-9b51-0a3f6f0c2b11"


def written(lines: Iterable[Line | str]) -> bytes:
    """Return lines as a file has them; a text stands as it is."""
    return b"".join(
        (line if isinstance(line, str) else json.dumps(line)).encode() + b"\n" for line in lines
    )


class ClaudeCode:
    """A session as Claude Code writes it, record after record."""

    def __init__(self, cwd: str = "/w/shop", session: str = SESSION) -> None:
        self.lines: list[Line | str] = []
        self.last: str | None = None
        self._cwd = cwd
        self._session = session
        self._count = 0

    def put(self, type_: str, parent: str | None = "", **fields: Any) -> str:
        """Add a record behind the last one, or behind another, and return its id."""
        self._count += 1
        name = f"record-{self._count:04}"
        self.lines.append(
            {
                "parentUuid": self.last if parent == "" else parent,
                "isSidechain": False,
                "type": type_,
                "uuid": name,
                "timestamp": f"2026-11-22T19:{self._count // 60:02}:{self._count % 60:02}.500Z",
                "cwd": self._cwd,
                "sessionId": self._session,
                "version": "2.1.330",
                **fields,
            }
        )
        self.last = name
        return name

    def ask(self, text: str, **fields: Any) -> str:
        """Add what a person writes."""
        return self.put("user", message={"role": "user", "content": text}, **fields)

    def say(self, text: str, message: str | None = None, **fields: Any) -> str:
        """Add what the model says."""
        return self._answer({"type": "text", "text": text}, message, **fields)

    def call(self, tool: str, id_: str, message: str | None = None, **given: Any) -> str:
        """Add a call of a tool."""
        return self._answer({"type": "tool_use", "id": id_, "name": tool, "input": given}, message)

    def result(self, id_: str, text: str, **fields: Any) -> str:
        """Add what a tool answered."""
        item = {"type": "tool_result", "tool_use_id": id_, "content": text}
        return self.put("user", message={"role": "user", "content": [item]}, **fields)

    def bytes(self) -> bytes:
        """Return the file."""
        return written(self.lines)

    def _answer(self, item: Line, message: str | None, **fields: Any) -> str:
        whole = message or f"msg_{self._count}"
        body = {"id": whole, "role": "assistant", "model": "fake", "content": [item]}
        return self.put("assistant", message=body, **fields)


class Codex:
    """A session as Codex writes it."""

    def __init__(self, cwd: str = "/w/shop", session: str = SESSION, **meta: Any) -> None:
        self.lines: list[Line | str] = []
        self.put("session_meta", id=session, session_id=session, cwd=cwd, source="exec", **meta)

    def put(self, type_: str, **payload: Any) -> None:
        """Add a record."""
        count = len(self.lines)
        at = f"2026-11-22T19:29:{count:02}.824Z"
        self.lines.append({"timestamp": at, "ordinal": count, "type": type_, "payload": payload})

    def message(self, role: str, *texts: str) -> None:
        """Add a message."""
        kind = "output_text" if role == "assistant" else "input_text"
        content = [{"type": kind, "text": text} for text in texts]
        self.put(
            "response_item",
            type="message",
            id=f"msg_{len(self.lines)}",
            role=role,
            content=content,
        )

    def call(self, id_: str, name: str, given: Any, **fields: Any) -> None:
        """Add a call of a tool; what it is given stands as JSON in a text."""
        self.put(
            "response_item",
            type="function_call",
            id=f"fc_{id_}",
            name=name,
            arguments=json.dumps(given),
            call_id=id_,
            **fields,
        )

    def result(self, id_: str, output: Any) -> None:
        """Add what a tool answered."""
        self.put("response_item", type="function_call_output", call_id=id_, output=output)

    def bytes(self) -> bytes:
        """Return the file."""
        return written(self.lines)


class Gemini:
    """A session as Gemini CLI writes it."""

    def __init__(self, digest: str = "95d7", session: str = SESSION, kind: str = "main") -> None:
        self.lines: list[Line | str] = [
            {"sessionId": session, "projectHash": digest, "kind": kind},
        ]

    def put(self, name: str, type_: str, content: Any, **fields: Any) -> None:
        """Add a message, or write it anew."""
        at = f"2026-11-22T19:27:{len(self.lines):02}.398Z"
        self.lines.append(
            {"id": name, "timestamp": at, "type": type_, "content": content, **fields}
        )

    def bytes(self) -> bytes:
        """Return the file."""
        return written(self.lines)
