"""Who gets in: what stands between the network and every endpoint, and before all routing.

In this order: the name that the client thinks this server has, the page that asks, and the token.
Nothing here says whether an address exists.
"""

import asyncio
import re
from typing import Final

import msgspec
from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from pmem.errors import PmemError
from pmem.server.http.endpoints import JSON, HttpRefusal, Reply, refused
from pmem.server.http.tokens import TokenHolder, Tokens
from pmem.values.bounds import BODY_BYTES

LOOPBACK: Final = ("127.0.0.1", "localhost", "::1")
HOLDER: Final = "holder"
"""Where the scope's state says whose token came with a request."""
HEALTH: Final = "/healthz"
"""Says no more than that somebody is there."""
PAGE: Final = "/"
"""The page for people, which holds nothing of the memory until somebody gives it a token."""
_OPEN: Final = frozenset({HEALTH, PAGE})
"""The addresses that need no token."""
_NAME: Final = re.compile(r"(\[[^\[\]]+\]|[^\[\]:]+)(?::\d+)?")
"""A host, without the port of `[::1]:7636`."""
_HEADERS: Final = {
    "cache-control": "no-store",
    "x-content-type-options": "nosniff",
    "content-security-policy": "default-src 'none'; frame-ancestors 'none'",
    "referrer-policy": "no-referrer",
    "cross-origin-resource-policy": "same-origin",
}
"""What every answer says; one that says otherwise itself is left as it is."""


class GuardRules(msgspec.Struct, frozen=True, kw_only=True):
    """What is let in: names of this server without a port, and bodies so large and so quick."""

    hosts: tuple[str, ...] = LOOPBACK
    body_bytes: int = BODY_BYTES
    body_seconds: float = 20.0


class Guard:
    """Lets requests through to an application, or refuses them."""

    def __init__(self, application: ASGIApp, tokens: Tokens, rules: GuardRules) -> None:
        self._application, self._tokens, self._rules = application, tokens, rules
        self._hosts = {f"[{one}]" if ":" in one else one for one in map(str.lower, rules.hosts)}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request as ASGI has it."""
        if scope["type"] != "http":
            await self._application(scope, receive, send)
            return

        async def sending(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in _HEADERS.items():
                    headers.setdefault(name, value)
            await send(message)

        try:
            headers = Headers(scope=scope)
            self._check_names(headers)
            if scope["path"] not in _OPEN:
                scope.setdefault("state", {})[HOLDER] = self._holder_in(headers)
        except PmemError as error:
            await response_to(refused(error))(scope, receive, sending)
            return
        await self._application(scope, receive, sending)

    def _check_names(self, headers: Headers) -> None:
        """See that the client means this server, and that no page of another one asks."""
        hosts = [one.lower() for one in headers.getlist("host")]
        name = _NAME.fullmatch(hosts[0]) if len(hosts) == 1 else None
        if name is None or name[1] not in self._hosts:
            raise HttpRefusal(
                421, "host", f"this server is not called {', '.join(hosts) or 'nothing'}",
                f"it is {', '.join(self._rules.hosts)}; `pmem serve --allow-host` adds a name",
            )  # fmt: skip
        for origin in headers.getlist("origin"):
            scheme, _, host = origin.lower().partition("://")
            if scheme not in ("http", "https") or host != hosts[0]:
                raise HttpRefusal(403, "origin", f"no page of {origin} may ask here")

    def _holder_in(self, headers: Headers) -> TokenHolder:
        """Return whose token came with a request.

        What is wrong with the tokens' file is told to its owner alone.
        """
        given = headers.getlist("authorization")
        kind, _, secret = (given[0] if len(given) == 1 else "").partition(" ")
        try:
            found = self._tokens.holder_of(secret.strip()) if kind.lower() == "bearer" else None
        except PmemError:
            found = None
        if found is None:
            raise HttpRefusal(
                401, "token", "a token is missing, or it does not count",
                "send `Authorization: Bearer TOKEN`; `pmem serve --token person` prints one",
            )  # fmt: skip
        return found


def response_to(reply: Reply) -> Response:
    """Return the response that a reply is."""
    return Response(reply.body, reply.status, dict(reply.headers), JSON)


async def read_json_body(request: Request, rules: GuardRules, *, is_needed: bool) -> bytes:
    """Return the whole body of a request, which says that it is JSON: no form of a page can."""
    named = request.headers.getlist("content-type")
    is_json = len(named) == 1 and named[0].partition(";")[0].strip().lower() == JSON
    if (named or is_needed) and not is_json:
        hint = f"send `Content-Type: {JSON}`"
        told = f"the body must be JSON, not {', '.join(named) or 'unnamed'}"
        raise HttpRefusal(415, "content_type", told, hint)
    parts: list[bytes] = []
    size = 0
    try:
        async with asyncio.timeout(rules.body_seconds):
            async for part in request.stream():  # to its end, so that clients get to read why
                size += len(part)
                parts += [part] * (size <= rules.body_bytes)
    except TimeoutError:
        told = f"the body took more than {rules.body_seconds:g} s to arrive"
        raise HttpRefusal(408, "too_slow", told) from None
    except ClientDisconnect:
        raise HttpRefusal(400, "gone", "the client left before its body was whole") from None
    if size > rules.body_bytes:
        raise HttpRefusal(413, "too_large", f"a body has more than {rules.body_bytes} bytes")
    return b"".join(parts)
