"""Who gets in: what stands between the network and every endpoint, and before all routing.

In this order: the name that the client thinks this server has, the page that asks, the token, the
kind of content, and the body's size and time. Nothing here says whether an address exists.
"""

import asyncio
from collections.abc import Mapping, Sequence
from http import HTTPStatus
from typing import Any, Final
from urllib.parse import urlsplit

import msgspec
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from pmem.errors import PmemError
from pmem.operations.envelope import error_line
from pmem.server.http.endpoints import JSON
from pmem.server.http.refusals import HttpRefusal, headers_of, status_of
from pmem.server.http.tokens import TokenHolder, Tokens
from pmem.values.bounds import BODY_BYTES, HEADER_BYTES

LOOPBACK: Final = ("127.0.0.1", "localhost", "::1")
HOLDER: Final = "holder"
"""Where the scope's state says whose token came with a request."""
HEALTH: Final = "/healthz"
"""Says no more than that somebody is there."""
PAGE: Final = "/"
"""The page for people, which holds nothing of the memory until somebody gives it a token."""
_OPEN: Final = frozenset({HEALTH, PAGE})
"""The addresses that need no token."""

_DRAINED_BYTES: Final = 16 * 1024 * 1024
_PORTS: Final = {"http": 80, "https": 443}
_HEADERS: Final = (
    (b"cache-control", b"no-store"),
    (b"x-content-type-options", b"nosniff"),
    (b"content-security-policy", b"default-src 'none'; frame-ancestors 'none'"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-resource-policy", b"same-origin"),
)
"""What every answer says; one that says otherwise itself is left as it is."""


class GuardRules(msgspec.Struct, frozen=True, kw_only=True):
    """What the guard lets in.

    Attributes:
        hosts: The names that clients may use for this server, without a port.
        body_bytes: Bytes of a body at the most.
        body_seconds: How long a body may take to arrive.
    """

    hosts: tuple[str, ...] = LOOPBACK
    body_bytes: int = BODY_BYTES
    body_seconds: float = 20.0


class Guard:
    """Lets requests through to an application, or refuses them."""

    def __init__(self, application: ASGIApp, tokens: Tokens, rules: GuardRules) -> None:
        self._application, self._tokens, self._rules = application, tokens, rules
        self._hosts = frozenset(map(str.lower, rules.hosts))

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request as ASGI has it."""
        if scope["type"] != "http":
            await self._application(scope, receive, send)
            return
        sending = _with_headers(send)
        try:
            self._check_size(scope)
            headers = _headers_in(scope)
            self._check_names(headers)
            self._identify(scope, headers)
            _check_content_type(headers)
            body = await self._body(headers, receive)
        except PmemError as error:
            await _refuse(sending, error)
            return
        await self._application(scope, _replayed(body, receive), sending)

    @staticmethod
    def _check_size(scope: Scope) -> None:
        """See that the address and the headers are no larger than they may be.

        Raises:
            HttpRefusal: They are.
        """
        size = len(scope.get("raw_path") or b"") + len(scope["query_string"])
        size += sum(len(name) + len(value) for name, value in scope["headers"])
        if size > HEADER_BYTES:
            raise HttpRefusal(431, "too_large", f"the headers have more than {HEADER_BYTES} bytes")

    def _check_names(self, headers: Mapping[str, Sequence[str]]) -> None:
        """See that the client means this server, and that no page of another one asks.

        Raises:
            HttpRefusal: Not so.
        """
        hosts = headers.get("host", ())
        name, port = _authority(hosts[0]) if len(hosts) == 1 else ("", 0)
        if name not in self._hosts:
            raise HttpRefusal(
                421, "host", f"this server is not called {', '.join(hosts) or 'nothing'}",
                f"it is {', '.join(self._rules.hosts)}; `pmem serve --allow-host` adds a name",
            )  # fmt: skip
        for origin in headers.get("origin", ()):
            if not _is_same(origin, name, port):
                raise HttpRefusal(403, "origin", f"no page of {origin} may ask here")

    def _identify(self, scope: Scope, headers: Mapping[str, Sequence[str]]) -> None:
        """Note whose token came with a request.

        Raises:
            HttpRefusal: None did, or none that counts.
        """
        if scope["path"] in _OPEN:
            return
        given = headers.get("authorization", ())
        kind, _, secret = (given[0] if len(given) == 1 else "").partition(" ")
        holder = self._holder_of(secret.strip()) if kind.lower() == "bearer" else None
        if holder is None:
            raise HttpRefusal(
                401, "token", "a token is missing, or it does not count",
                "send `Authorization: Bearer TOKEN`; `pmem serve --token person` prints one",
            )  # fmt: skip
        scope.setdefault("state", {})[HOLDER] = holder

    def _holder_of(self, secret: str) -> TokenHolder | None:
        """Return whom a token is for; what is wrong with their file is told to its owner alone."""
        try:
            return self._tokens.holder_of(secret)
        except PmemError:
            return None

    async def _body(self, headers: Mapping[str, Sequence[str]], receive: Receive) -> bytes:
        """Return the whole body.

        Raises:
            HttpRefusal: It is too large, or too slow.
        """
        most = self._rules.body_bytes
        try:
            async with asyncio.timeout(self._rules.body_seconds):
                body, size = await _read(receive, most, _length_in(headers))
        except TimeoutError:
            seconds = self._rules.body_seconds
            raise HttpRefusal(
                408, "too_slow", f"the body took more than {seconds:g} s to arrive"
            ) from None
        if size > most:
            raise HttpRefusal(413, "too_large", f"a body has more than {most} bytes")
        return body


def _with_headers(send: Send) -> Send:
    """Return what sends answers with the headers that every answer has."""

    async def sending(message: Message) -> None:
        if message["type"] == "http.response.start":
            own = list(message.get("headers", ()))
            said = {name.lower() for name, _ in own}
            more = [header for header in _HEADERS if header[0] not in said]
            message = {**message, "headers": [*own, *more]}
        await send(message)

    return sending


async def _refuse(send: Send, error: PmemError) -> None:
    body = error_line(error)
    own = [(b"content-type", JSON.encode()), (b"content-length", b"%d" % len(body))]
    own += [(name.lower().encode(), value.encode()) for name, value in headers_of(error).items()]
    status = status_of(error)
    if status in (HTTPStatus.REQUEST_ENTITY_TOO_LARGE, HTTPStatus.REQUEST_TIMEOUT):
        own.append((b"connection", b"close"))
    await send({"type": "http.response.start", "status": status, "headers": own})
    await send({"type": "http.response.body", "body": body})


def _headers_in(scope: Scope) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for name, value in scope["headers"]:
        found.setdefault(name.decode("latin-1").lower(), []).append(value.decode("latin-1"))
    return found


def _authority(text: str) -> tuple[str, int | None]:
    """Return the name, without brackets, and the port of `localhost:7636`; no name for nonsense."""
    try:
        parts = urlsplit(f"//{text.strip()}")
        port = parts.port
    except ValueError:
        return "", None
    is_plain = not (parts.path or parts.query or parts.fragment or "@" in parts.netloc)
    return (parts.hostname or "" if is_plain else ""), port


def _is_same(origin: str, name: str, port: int | None) -> bool:
    """Tell whether an origin is the very server that the client means."""
    scheme, _, rest = origin.partition("://")
    usual = _PORTS.get(scheme)
    if usual is None:
        return False
    own_name, own_port = _authority(rest)
    return own_name == name and (own_port or usual) == (port or usual)


def _check_content_type(headers: Mapping[str, Sequence[str]]) -> None:
    """See that what is sent is JSON, which no form of a page can be.

    Raises:
        HttpRefusal: It is something else.
    """
    given = headers.get("content-type", ())
    has_body = _length_in(headers) > 0 or "transfer-encoding" in headers
    if (given or has_body) and not is_json(given):
        raise no_json(given)


def is_json(given: Sequence[str]) -> bool:
    """Tell whether a header says that a body is JSON."""
    return len(given) == 1 and given[0].partition(";")[0].strip().lower() == JSON


def no_json(given: Sequence[str]) -> HttpRefusal:
    """Return what is said of a body that is something else than JSON."""
    named = ", ".join(given) or "unnamed"
    hint = f"send `Content-Type: {JSON}`"
    return HttpRefusal(415, "content_type", f"the body must be JSON, not {named}", hint)


def _length_in(headers: Mapping[str, Sequence[str]]) -> int:
    given = headers.get("content-length", ("0",))[0]
    return int(given) if given.isascii() and given.isdigit() else 0


async def _read(receive: Receive, most: int, announced: int) -> tuple[bytes, int]:
    """Return a body and its size; of one that is too large no more than its size so far.

    So much of what is too large is read and dropped that the client gets to read why.
    """
    parts: list[bytes] = []
    size = 0
    while size <= _DRAINED_BYTES and announced <= _DRAINED_BYTES:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise HttpRefusal(400, "gone", "the client left before its body was whole")
        size += len(message.get("body", b""))
        if size <= most:
            parts.append(message.get("body", b""))
        else:
            parts.clear()
        if not message.get("more_body", False):
            break
    return b"".join(parts), max(size, announced)


def _replayed(body: bytes, receive: Receive) -> Receive:
    """Return what gives a body that was read before, and then what else the client sends."""
    waiting: list[dict[str, Any]] = [{"type": "http.request", "body": body, "more_body": False}]

    async def again() -> Message:
        return waiting.pop() if waiting else await receive()

    return again
