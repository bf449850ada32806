"""The application: the guard, the routes that the table of endpoints makes, what lives along."""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterable, Mapping
from contextlib import asynccontextmanager
from functools import cached_property, partial
from typing import Any, Final

import msgspec
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import BaseRoute, Route
from starlette.types import ASGIApp

from pmem.operations.operation import json_line
from pmem.project.workspace import Workspace
from pmem.server.http import event_stream, memory_api, operation_api
from pmem.server.http.changes import ChangeWatch
from pmem.server.http.endpoints import JSON, AnswerDesk, Endpoint, HttpRefusal, refused
from pmem.server.http.guard import (
    HEALTH,
    HOLDER,
    PAGE,
    Guard,
    GuardRules,
    read_json_body,
    response_to,
)
from pmem.server.http.mcp_endpoint import PATH as MCP
from pmem.server.http.mcp_endpoint import McpEndpoint, McpOffer
from pmem.server.http.openapi import describe
from pmem.server.http.tokens import Tokens

OPENAPI: Final = "/openapi.json"
_NO_PAGE: Final = (
    "The page needs the extra `report`: pip install 'pmem-cli[report]', and start `pmem serve`"
    " again.\n"
)


def all_endpoints() -> list[Endpoint]:
    """Return the whole table of endpoints."""
    return [*memory_api.ENDPOINTS, *operation_api.endpoints()]


class HttpServer:
    """Everything that one server is made of."""

    def __init__(
        self,
        opened: Callable[[], Workspace],
        tokens: Tokens,
        rules: GuardRules,
        offer: McpOffer,
    ) -> None:
        self.endpoints = all_endpoints()
        self._rules = rules
        self._desk = AnswerDesk(opened)
        self._watch = ChangeWatch(opened, partial(self._desk.run, writes=False))
        self._streams = event_stream.EventStreams(self._desk, self._watch, tokens)
        self._mcp = McpEndpoint(self._desk, offer, rules)
        self._desk.on_write = self._watch.nudge
        application = Starlette(
            routes=list(self._routes()),
            lifespan=self._life,
            exception_handlers={HTTPException: _no_route, Exception: self._bug},
        )
        application.router.redirect_slashes = False
        self.application: ASGIApp = Guard(application, tokens, rules)

    def end_streams(self) -> None:
        """End what would go on for as long as its client stays."""
        self._streams.close()

    @asynccontextmanager
    async def _life(self, _: Starlette) -> AsyncIterator[None]:
        async with self._mcp.running():
            watching = asyncio.create_task(self._watch.run())
            try:
                yield
            finally:
                self.end_streams()
                watching.cancel()
                self._watch.close()
                self._desk.close()

    def _routes(self) -> Iterable[BaseRoute]:
        """Yield one route for each path, with all of its methods."""
        yield Route(HEALTH, _health)
        yield Route(PAGE, _page)
        yield Route(OPENAPI, self._describe)
        yield Route(event_stream.PATH, self._streams.answer)
        yield Route(MCP, self._mcp, methods=["POST"])
        by_path: dict[str, dict[str, Endpoint]] = {}
        for endpoint in self.endpoints:
            by_path.setdefault(endpoint.path, {})[endpoint.method] = endpoint
        for path, methods in by_path.items():
            yield Route(path, partial(self._answer, methods), methods=list(methods))

    async def _answer(self, methods: Mapping[str, Endpoint], request: Request) -> Response:
        endpoint = methods["GET" if request.method == "HEAD" else request.method]
        try:
            body = await read_json_body(request, self._rules, is_needed=endpoint.body is not None)
        except HttpRefusal as error:
            return response_to(refused(error))
        reply = await self._desk.answer(
            endpoint,
            request.scope["state"][HOLDER],
            path=dict(request.path_params),
            query=request.query_params.multi_items(),
            body=body,
        )
        return response_to(reply)

    async def _bug(self, _: Request, error: Exception) -> Response:
        return response_to(await self._desk.run(partial(self._desk.note, error), writes=False))

    @cached_property
    def _description(self) -> bytes:
        return msgspec.json.encode(describe(self.endpoints))

    async def _describe(self, _: Request) -> Response:
        return Response(self._description, media_type=JSON)


async def _health(_: Request) -> Response:
    return Response(json_line({"status": "ok"}), media_type=JSON)


def has_page() -> bool:
    """Tell whether what draws the page for people is there."""
    try:
        import pmem.report.page  # noqa: F401
    except ImportError:
        return False
    return True


async def _page(_: Request) -> Response:
    """Answer with the shell of `pmem report`'s page, which asks for everything with a token."""
    if not has_page():
        return Response(_NO_PAGE, 501, media_type="text/plain")
    from pmem.report.page import live_policy, render_live_page

    policy = f"{live_policy()}; frame-ancestors 'none'"  # which a page cannot say itself
    shell = render_live_page(operation_api.PREFIX, event_stream.PATH)
    return HTMLResponse(shell, headers={"Content-Security-Policy": policy})


async def _no_route(_: Request, error: Exception) -> Response:
    """Say in the envelope that there is no such address, or no such method."""
    assert isinstance(error, HTTPException)
    headers: dict[str, Any] = dict(error.headers or {})
    if error.status_code == 405:
        allowed = ", ".join(sorted(filter(None, headers.get("Allow", "").split(", "))))
        headers["Allow"] = allowed
        refusal = HttpRefusal(405, "method", f"this address takes {allowed} alone")
    else:
        refusal = HttpRefusal(
            error.status_code,
            "no_address",
            "there is no such address",
            f"GET {OPENAPI} has them all",
        )
    reply = refused(refusal)
    return Response(reply.body, reply.status, headers, JSON)
