"""The official client over HTTP, in each of its modes, and who it is taken for."""

from typing import Any

import anyio
import httpx2
import pytest
from mcp.client.streamable_http import streamable_http_client

from pmem import Project
from tests.http.serving import Asked, Listening, asking, listening
from tests.http.test_recall_api import allow
from tests.mcp.talking import HELLO, request
from tests.mcp.test_client import MODES, check_every_tool

ACCEPTED = {"Accept": "application/json, text/event-stream"}


@pytest.mark.parametrize(("mode", "version"), MODES)
def test_the_client_lists_and_calls_every_tool_over_http(
    mode: Any, version: str, root: str
) -> None:
    with listening(root) as server:
        anyio.run(_check, server, mode, version, root)


async def _check(server: Listening, mode: Any, version: str, root: str) -> None:
    headers = server.served.headers()
    async with httpx2.AsyncClient(headers=headers, timeout=20) as http:
        transport = streamable_http_client(f"{server.address}/mcp", http_client=http)
        await check_every_tool(transport, mode, version, root)


def called(ask: Asked, name: str, who: str, **given: Any) -> dict[str, Any]:
    """Return the result of a tool's call."""
    line = request("tools/call", name=name, arguments=given)
    headers = {
        **ACCEPTED,
        "MCP-Protocol-Version": "2026-07-28",
        "Mcp-Method": "tools/call",
        "Mcp-Name": name,
    }
    answer = ask("POST", "/mcp", line, who=who, headers=headers)
    assert answer.status_code == 200, answer.text
    result: dict[str, Any] = answer.json()["result"]
    return result


def test_the_older_handshake_is_answered_too(ask: Asked) -> None:
    answer = ask("POST", "/mcp", HELLO, headers=ACCEPTED)
    assert answer.status_code == 200
    assert answer.json()["result"]["serverInfo"]["name"] == "pmem"


@pytest.mark.parametrize("who", ["person", "agent"])
def test_whoever_calls_is_an_agent_and_only_proposes_to_change_a_persons_words(
    who: str, root: str, ask: Asked
) -> None:
    name = Project(root, actor="ada").add("The queue is RabbitMQ.").memory.id
    result = called(ask, "update", who, id=name, content="The queue is NATS.")
    assert result["isError"]
    (waiting,) = ask.run("consent.list")["items"]
    assert waiting["agent"] == {"person": "assistant", "agent": "planner"}[who]


def test_an_agent_stays_within_its_allowlist(root: str, ask: Asked) -> None:
    allow(root, "history")
    Project(root).add("The queue is RabbitMQ.", category="knowledge")
    Project(root).add("The queue of the lab is closed.", category="history")
    text = called(ask, "search", "agent", query="queue")["content"][0]["text"]
    assert "lab" in text
    assert "RabbitMQ" not in text
    # the agent of a person's token has no list where there are some
    assert called(ask, "search", "person", query="queue")["isError"]


def test_an_app_sees_nothing_of_another(root: str, ask: Asked) -> None:
    Project(root).apps.remember("calendar", "The meeting is at noon.")
    Project(root).apps.remember("blog", "The meeting is on paper.")
    text = called(ask, "search", "app", query="meeting")["content"][0]["text"]
    assert "noon" in text
    assert "paper" not in text


def test_a_server_that_only_reads_offers_no_tool_that_writes(root: str) -> None:
    with asking(root, read_only=True) as ask:
        line = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
        tools = ask("POST", "/mcp", line, headers=ACCEPTED).json()["result"]["tools"]
        assert {tool["name"] for tool in tools} == {"search", "context", "show", "why"}


@pytest.mark.parametrize("body", [b"", b"nonsense", b"[]", b"{}", b"[" * 100_000])
def test_what_is_no_message_is_an_error_of_the_protocol(body: bytes, ask: Asked) -> None:
    answer = ask(
        "POST", "/mcp", content=body, headers={**ACCEPTED, "Content-Type": "application/json"}
    )
    assert answer.status_code == 400
    assert answer.json()["error"]["code"] < 0


def test_bodies_are_let_in_as_everywhere_else(root: str) -> None:
    with asking(root, body_bytes=100) as ask:
        for kind, body, code in (
            ("text/plain", b"{}", "content_type"),
            ("application/json", b" " * 101, "too_large"),
        ):
            headers = {**ACCEPTED, "Content-Type": kind}
            answer = ask("POST", "/mcp", content=body, headers=headers)
            assert answer.json()["error"]["code"] == code


@pytest.mark.parametrize("method", ["GET", "DELETE"])
def test_no_stream_and_no_session_is_kept(method: str, ask: Asked) -> None:
    assert ask(method, "/mcp", headers=ACCEPTED).status_code == 405
