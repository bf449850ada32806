"""The official client, in each of its modes, over standard input and output."""

import os
from pathlib import Path
from typing import Any, Final

import anyio
import pytest
from mcp import Client, StdioServerParameters

from pmem import Project
from pmem.server.tools import FOR_MODELS
from tests.conftest import NOW
from tests.faults.console import PROGRAM

GIVEN: Final[dict[str, dict[str, Any]]] = {
    "search": {"query": "queue"},
    "show": {},
    "context": {"query": "queue"},
    "remember": {"content": "We use Go for the tools of this project.", "subject": "tools"},
    "tried": {"tried": "one thread", "failed": "it stalls"},
    "update": {"content": "We use Go and Rust for tools."},
    "why": {"place": "x.py"},
}


MODES: Final = [("auto", "2026-07-28"), ("legacy", "2025-11-25"), ("2026-07-28", "2026-07-28")]
"""The client's modes, and the revision that each speaks here."""


@pytest.mark.some(1)
@pytest.mark.parametrize(("mode", "version"), MODES)
def test_the_client_lists_and_calls_every_tool(mode: Any, version: str, root: str) -> None:
    server = StdioServerParameters(command=PROGRAM, args=["mcp"], cwd=os.path.dirname(root))
    anyio.run(check_every_tool, server, mode, version, root)


async def check_every_tool(server: Any, mode: Any, version: str, root: str) -> None:
    """Call each tool of a server, and see that it does what it should."""
    Project(root, now=NOW).add("The queue is RabbitMQ.")
    Path(root).with_name("x.py").touch()
    name = Project(root, agent="other").add("The door of the lab is green.").memory.id
    texts = await called_tools(server, mode, version, name)
    assert texts.keys() == GIVEN.keys() == {tool.name for tool in FOR_MODELS}
    assert "RabbitMQ" in texts["search"]
    assert "RabbitMQ" in texts["context"]
    assert "green" in texts["show"]
    assert texts["remember"].startswith("added ")
    assert texts["tried"].startswith("added ")
    assert texts["update"].startswith("updated ")
    assert "nothing is recorded" in texts["why"]


async def called_tools(server: Any, mode: Any, version: str, name: str) -> dict[str, str]:
    """Return what each tool of a server answers."""
    found = {}
    async with Client(server, mode=mode) as client:
        assert client.protocol_version == version
        if mode != version:  # a client that asks nothing first is told nothing first
            assert client.server_info is not None
            assert client.server_info.name == "pmem"
            assert client.instructions
        listed = await client.list_tools()
        for tool in listed.tools:
            given = dict(GIVEN[tool.name])
            if "id" in tool.input_schema["properties"]:
                given["id"] = name
            result = await client.call_tool(tool.name, given)
            assert not result.is_error, result
            found[tool.name] = result.content[0].text  # type: ignore[union-attr]
        assert (await client.read_resource("pmem://context")).contents
        assert len((await client.list_resources()).resources) == 2
        assert len((await client.list_prompts()).prompts) == 3
        assert (await client.get_prompt("handover")).messages
    return found
