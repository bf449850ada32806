"""The Model Context Protocol over HTTP, in every revision that its SDK speaks.

Each request stands for itself, so that nothing has to be remembered between two of them. Whoever
calls is an agent: the one that the token is for, else one of a name that stands for any.
"""

from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from typing import Any, Final, TypeVar

import msgspec
from mcp.server.context import ServerRequestContext
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from starlette.requests import Request
from starlette.types import Message, Receive, Scope, Send

from pmem.project.caller import Caller, asked_by
from pmem.server.calls import ToolCalls
from pmem.server.http.endpoints import AnswerDesk, HttpRefusal, refused
from pmem.server.http.guard import HOLDER, GuardRules, read_json_body, response_to
from pmem.server.http.tokens import TokenHolder
from pmem.server.mcp import ProtocolDesk
from pmem.server.tools import ModelTool

T = TypeVar("T")
PATH: Final = "/mcp"


class McpOffer(msgspec.Struct, frozen=True, kw_only=True):
    """What clients of the protocol are offered.

    `agent` is who calls where the token is for no agent; `session` returns the thread of a call,
    from the metadata of its request.
    """

    tools: Mapping[str, ModelTool]
    agent: str
    session: Callable[[Mapping[str, Any]], str | None]


class McpEndpoint:
    """Answers `POST /mcp`."""

    def __init__(self, desk: AnswerDesk, offer: McpOffer, rules: GuardRules) -> None:
        self._desk, self._offer, self._rules = desk, offer, rules
        self._calls: dict[TokenHolder, ToolCalls] = {}
        protocol = ProtocolDesk(self._run, offer.tools, offer.session)
        self._manager = StreamableHTTPSessionManager(
            protocol.server(),
            json_response=True,
            stateless=True,
            max_request_body_size=rules.body_bytes,
        )

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Answer for as long as this is open."""
        async with self._manager.run():
            yield

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request as ASGI has it; bodies are let in as everywhere else."""
        try:
            body = await read_json_body(Request(scope, receive), self._rules, is_needed=True)
        except HttpRefusal as error:
            await response_to(refused(error))(scope, receive, send)
            return
        told: list[Message] = [{"type": "http.request", "body": body}]

        async def again() -> Message:
            return told.pop() if told else await receive()

        await self._manager.handle_request(scope, again, send)

    async def _run(
        self,
        asked: ServerRequestContext[Any, Any] | None,
        work: Callable[[ToolCalls], T],
        *,
        writes: bool,
    ) -> T:
        assert asked is not None
        assert asked.request is not None
        calls = self._calls_of(asked.request.scope["state"][HOLDER])
        return await self._desk.run(lambda: work(calls), writes=writes)

    def _calls_of(self, holder: TokenHolder) -> ToolCalls:
        """Return what answers the calls of whoever has a token."""
        known = self._calls.get(holder)
        if known is None:
            agent = holder.caller.agent or self._offer.agent
            app = Caller(app=holder.caller.app)
            opened = lambda: asked_by(self._desk.opened(), app)  # noqa: E731
            known = ToolCalls(opened, agent, self._offer.tools)
            self._calls[holder] = known
        return known
