"""Standard input and output as the Model Context Protocol has them: one JSON object a line.

Whatever comes in, something sensible happens: a message goes to the server, what is none is
answered with an error or passed over as JSON-RPC says, and only the end of the input is an end.
"""

import json
from typing import Any, BinaryIO, Final

import anyio
import anyio.to_thread
from anyio.abc import ObjectReceiveStream, ObjectSendStream
from mcp.shared.message import SessionMessage
from mcp_types import (
    INTERNAL_ERROR,
    INVALID_REQUEST,
    PARSE_ERROR,
    ErrorData,
    JSONRPCError,
    JSONRPCMessage,
    JSONRPCNotification,
    JSONRPCRequest,
    jsonrpc_message_adapter,
)
from pydantic import ValidationError
from pydantic_core import PydanticSerializationError

from pmem.values.bounds import LINE_BYTES

GRACE: Final = 1.0
"""How long calls that run when the input ends may take to be answered, in seconds."""

Identifier = str | int | None


class Lines:
    """Reads messages from one stream of bytes and writes them to another."""

    def __init__(self, source: BinaryIO, sink: BinaryIO) -> None:
        self._source, self._sink = source, sink
        self._writing = anyio.Lock()
        self._waiting: set[Identifier] = set()
        self._answered = anyio.Event()

    async def read(self, server: ObjectSendStream[SessionMessage | Exception]) -> None:
        """Hand every message to the server until the input ends, and what waits is answered.

        Raises:
            OSError: Nothing can be read, or nobody reads on.
        """
        async with server:
            while line := await self._line():
                message = await self._message(line)
                if message is None:
                    continue
                self._expect(message)
                await server.send(SessionMessage(message))
            with anyio.move_on_after(GRACE):
                while self._waiting:
                    await self._answered.wait()

    async def write(self, server: ObjectReceiveStream[SessionMessage]) -> None:
        """Write every message of the server until it has no more.

        Raises:
            OSError: Nobody reads on.
        """
        async with server:
            async for sent in server:
                await self._put(sent.message)
                self._settle(getattr(sent.message, "id", None))

    async def _line(self) -> bytes:
        """Return the next line; of one that is too long only that it is."""
        line = await self._read_once()
        if len(line) <= LINE_BYTES:
            return line
        while line and not line.endswith(b"\n"):
            line = await self._read_once()
        await self._refuse(INVALID_REQUEST, f"a line has more than {LINE_BYTES} bytes", None)
        return b"\n"

    async def _read_once(self) -> bytes:
        def read() -> bytes:
            return self._source.readline(LINE_BYTES + 1)

        return await anyio.to_thread.run_sync(read, abandon_on_cancel=True)

    async def _message(self, line: bytes) -> JSONRPCMessage | None:
        """Return the message that a line holds; what is none is answered, if it may be."""
        if not line.strip():
            return None
        try:
            message = jsonrpc_message_adapter.validate_json(line, by_name=False)
        except ValidationError:
            await self._refuse_line(line)
            return None
        if isinstance(message, JSONRPCNotification) and _names_no_id(line):
            await self._refuse(INVALID_REQUEST, "an id is a text or a whole number", None)
            return None
        return message

    async def _refuse_line(self, line: bytes) -> None:
        """Answer a line that is no message, as far as JSON-RPC lets it be answered."""
        try:
            value = json.loads(line)
        except (ValueError, RecursionError):
            await self._refuse(PARSE_ERROR, "this line is not valid JSON", None)
            return
        if isinstance(value, list):
            sentence = "several messages at once are not taken: send one a line"
            await self._refuse(INVALID_REQUEST, sentence, None)
            return
        if isinstance(value, dict) and _needs_no_answer(value):
            return
        name = value.get("id") if isinstance(value, dict) else None
        await self._refuse(INVALID_REQUEST, "this is no request of JSON-RPC 2.0", _identifier(name))

    async def _refuse(self, code: int, sentence: str, name: Identifier) -> None:
        error = ErrorData(code=code, message=sentence)
        await self._put(JSONRPCError(jsonrpc="2.0", id=name, error=error))

    async def _put(self, message: JSONRPCMessage) -> None:
        data = _encoded(message) + b"\n"

        def write() -> None:
            self._sink.write(data)
            self._sink.flush()

        async with self._writing:
            await anyio.to_thread.run_sync(write)

    def _expect(self, message: JSONRPCMessage) -> None:
        """Note which requests wait for an answer; one that is cancelled gets none."""
        if isinstance(message, JSONRPCRequest):
            self._waiting.add(message.id)
        elif isinstance(message, JSONRPCNotification) and message.method.endswith("/cancelled"):
            self._settle((message.params or {}).get("requestId"))

    def _settle(self, name: Any) -> None:
        self._waiting.discard(_identifier(name))
        self._answered.set()
        self._answered = anyio.Event()


def _encoded(message: JSONRPCMessage) -> bytes:
    """Return a message as one line; one that cannot be written says so in its place."""
    try:
        return message.model_dump_json(by_alias=True, exclude_unset=True).encode()
    except (PydanticSerializationError, UnicodeEncodeError):
        error = ErrorData(code=INTERNAL_ERROR, message="the answer is no text")
        name = _identifier(getattr(message, "id", None))
        failed = JSONRPCError(jsonrpc="2.0", id=name, error=error)
        return failed.model_dump_json(by_alias=True, exclude_unset=True).encode()


def _names_no_id(line: bytes) -> bool:
    """Tell whether what was read as a notification has an id, which can be none then."""
    if b"id" not in line and b"\\u" not in line:
        return False
    try:
        return "id" in json.loads(line)
    except (ValueError, RecursionError):  # a number beyond all reason
        return True


def _needs_no_answer(value: dict[str, Any]) -> bool:
    """Tell whether what is no message is a broken answer, or a notification."""
    if "method" not in value:
        return "result" in value or "error" in value
    return "id" not in value and value.get("jsonrpc") == "2.0"


def _identifier(name: Any) -> Identifier:
    """Return an id that can be written; None for anything else."""
    if isinstance(name, str):
        return (
            name if name.encode(errors="replace") == name.encode(errors="surrogatepass") else None
        )
    return name if type(name) is int else None
