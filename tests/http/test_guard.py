"""Who gets in: the table of names, pages, tokens, methods and kinds of content, all of it tried."""

from collections.abc import Iterator
from itertools import product
from typing import Any, Final

import pytest

from pmem.server.http.guard import LOOPBACK
from tests.http.serving import Asked, asking

HOSTS: Final[dict[str | None, bool]] = {
    "127.0.0.1:7636": True,
    "localhost": True,
    "LOCALHOST:7636": True,
    "[::1]:7636": True,
    "[localhost]": False,
    "evil.example": False,
    "127.0.0.1.evil.example": False,
    "localhost@evil.example": False,
    "": False,
}
"""Names of the server, and whether it is called so."""

ORIGINS: Final[dict[str | None, bool]] = {
    None: True,
    "same": True,
    "null": False,
    "http://evil.example": False,
    "http://localhost:3000": False,
    "chrome-extension://localhost": False,
    "file://": False,
}
"""Pages that ask, and whether they are the server's own."""

TOKENS: Final[dict[str | None, bool]] = {
    "Bearer {}": True,
    "bearer {}": True,
    None: False,
    "Bearer": False,
    "Bearer wrong": False,
    "Basic {}": False,
    "Bearer {} {}": False,
}
"""Headers that should hold a token, and whether they do."""

REQUESTS: Final[dict[tuple[str, str], bool]] = {
    ("GET", ""): True,
    ("HEAD", ""): True,
    ("GET", "text/plain"): False,
    ("POST", "application/json"): True,
    ("POST", "application/json; charset=utf-8"): True,
    ("POST", ""): False,
    ("POST", "text/plain"): False,
    ("POST", "application/x-www-form-urlencoded"): False,
    ("POST", "multipart/form-data; boundary=x"): False,
}
"""Methods with kinds of content, and whether they may be."""


def expected(host: bool, origin: bool, token: bool, kind: bool) -> int:
    """Return the status of a request: what is looked at first decides."""
    for is_good, status in ((host, 421), (origin, 403), (token, 401), (kind, 415)):
        if not is_good:
            return status
    return 200


def requests(host: str) -> Iterator[tuple[Any, Any, tuple[str, str]]]:
    """Yield what is tried with a name: all of it with the first one, a part with the others."""
    every = host == next(iter(HOSTS))
    parts: tuple[list[Any], ...] = (list(ORIGINS), list(TOKENS), list(REQUESTS))
    yield from product(*(part if every else part[::3] for part in parts))


@pytest.mark.parametrize("host", list(HOSTS))
def test_only_what_should_get_in_gets_in(host: str, ask: Asked) -> None:
    secret = ask.served.secrets["person"]
    for origin, token, (method, kind) in requests(host):
        headers = {"Host": host}
        if kind:
            headers["Content-Type"] = kind
        if origin is not None:
            headers["Origin"] = f"http://{host}" if origin == "same" else origin
        if token is not None:
            headers["Authorization"] = token.replace("{}", secret)
        path, body = ("/pmem/1/list", b"{}") if method == "POST" else ("/api/memory/", None)
        answer = ask.client.request(method, path, headers=headers, content=body)
        status = expected(HOSTS[host], ORIGINS[origin], TOKENS[token], REQUESTS[method, kind])
        assert answer.status_code == status, (headers, method, answer.text)
        assert "access-control-allow-origin" not in answer.headers
        assert answer.headers["cache-control"] == "no-store"
        assert secret not in answer.text


@pytest.mark.row("S0.10.2")
@pytest.mark.parametrize(
    "path", ["/api/memory/", "/nowhere", "/openapi.json", "/api/events", "/mcp"]
)
@pytest.mark.parametrize("method", ["GET", "POST", "PUT", "DELETE", "OPTIONS", "TRACE", "PATCH"])
def test_without_a_token_nothing_tells_whether_an_address_exists(
    method: str, path: str, ask: Asked
) -> None:
    answer = ask.client.request(method, path, headers={"Content-Type": "application/json"})
    assert answer.status_code == 401
    assert answer.headers["www-authenticate"] == "Bearer"
    assert answer.json()["error"]["code"] == "token"


def test_a_token_in_the_address_counts_for_nothing(ask: Asked) -> None:
    secret = ask.served.secrets["person"]
    for name in ("token", "access_token", "authorization"):
        assert ask.client.get("/api/memory/", params={name: secret}).status_code == 401


def test_health_needs_no_token_and_says_no_more_than_that(ask: Asked) -> None:
    answer = ask.client.get("/healthz")
    assert (answer.status_code, answer.json()) == (200, {"status": "ok"})
    assert ask.client.get("/healthz", headers={"Host": "evil.example"}).status_code == 421


def test_no_preflight_is_answered(ask: Asked) -> None:
    answer = ask("OPTIONS", "/api/memory/", headers={"Access-Control-Request-Method": "POST"})
    assert answer.status_code == 405
    assert not [name for name in answer.headers if name.startswith("access-control")]


def test_an_address_that_is_none_and_a_method_that_is_none_are_told_in_the_envelope(
    ask: Asked,
) -> None:
    nowhere = ask("GET", "/nowhere")
    assert (nowhere.status_code, nowhere.json()["error"]["code"]) == (404, "no_address")
    wrong = ask("DELETE", "/api/memory/")
    assert (wrong.status_code, wrong.json()["error"]["code"]) == (405, "method")
    assert wrong.headers["allow"] == "GET, HEAD, POST"
    assert ask("GET", "/api/memory").status_code == 404  # nobody is sent elsewhere


@pytest.mark.parametrize(
    ("method", "path", "name"),
    [
        ("GET", "/apps/calendar/memories?limit=2", "limit"),
        ("DELETE", "/apps/calendar/memories?dry_run=true", "dry_run"),
        ("GET", "/api/memory/?category=person", "category"),
        ("GET", "/memory/k3v9p7q2/history?limit=2&lmit=2", "lmit"),
        ("POST", "/pmem/1/list?limit=2", "limit"),
        ("GET", "/api/events?since=3", "since"),
    ],
)
def test_what_an_address_would_ignore_after_the_question_mark_is_refused(
    method: str, path: str, name: str, ask: Asked
) -> None:
    ask.run("app.remember", {"app": "calendar", "content": "Meets at noon."})
    refused = ask(method, path, {} if method == "POST" else None)
    assert refused.status_code == 422
    assert refused.json()["error"] == {
        "code": "invalid_value",
        "message": f"this address does not take `{name}`",
        "hint": "GET /openapi.json says what it takes",
    }
    assert len(ask("GET", "/apps/calendar/memories").json()["memories"]) == 1


def test_what_is_given_twice_after_the_question_mark_is_refused(ask: Asked) -> None:
    refused = ask("GET", "/memory/k3v9p7q2/history?limit=2&limit=5")
    assert refused.status_code == 422
    assert refused.json()["error"]["message"] == "`limit` is given twice"


def test_a_body_may_be_so_large_and_no_larger(root: str) -> None:
    with asking(root, body_bytes=1000) as ask:
        for size, status in ((1000, 200), (1001, 413), (10_000_000, 413)):
            body = b"{}" + b" " * (size - 2)
            answer = ask(
                "POST", "/pmem/1/list", content=body, headers={"Content-Type": "application/json"}
            )
            assert answer.status_code == status
        assert answer.json()["error"]["code"] == "too_large"


def test_another_name_can_be_allowed(root: str) -> None:
    with asking(root, hosts=(*LOOPBACK, "memory.example.org")) as ask:
        host = {"Host": "memory.example.org"}
        assert ask("GET", "/api/memory/", headers=host).status_code == 200
        for origin, status in (
            ("https://memory.example.org", 200),  # a proxy speaks TLS for it
            ("http://memory.example.org", 200),
            ("https://memory.example.org:8443", 403),
            ("https://www.memory.example.org", 403),
            ("https://memory.example.org.evil.example", 403),
        ):
            page = {**host, "Origin": origin}
            assert ask("GET", "/api/memory/", headers=page).status_code == status, origin


@pytest.mark.parametrize("name", ["authorization", "content-type"])
def test_a_header_that_comes_twice_counts_for_none(name: str, ask: Asked) -> None:
    given: Any = {
        "authorization": f"Bearer {ask.served.secrets['person']}",
        "content-type": "application/json",
    }
    headers = [*given.items(), (name, given[name])]
    answer = ask.client.request("POST", "/pmem/1/list", headers=headers, content=b"{}")
    assert answer.status_code == {"authorization": 401, "content-type": 415}[name]
