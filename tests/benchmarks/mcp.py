"""`pmem mcp` beside an empty server of the same SDK: `docs/benchmarks.md`, *Serving assistants*.

CPU time is the process's own, read from its clock while it waits for the next line.
"""

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

from tests.benchmarks.measure import BARE, ENVIRONMENT, cpu_seconds
from tests.benchmarks.stores import make
from tests.faults.console import PROGRAM

EMPTY: Final = """
import anyio, mcp_types as types
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server

async def tools(_, params):
    schema = {"type": "object", "properties": {"query": {"type": "string"}}}
    return types.ListToolsResult(tools=[types.Tool(name="search", input_schema=schema)])

async def call(_, params):
    return types.CallToolResult(content=[types.TextContent(type="text", text="nothing")])

async def main():
    server = Server("empty", on_list_tools=tools, on_call_tool=call)
    async with stdio_server() as (read, write):
        await server.run(read, write, server.create_initialization_options())

anyio.run(main)
"""
LATER: Final = 50


class Costs(NamedTuple):
    """What one session took: CPU seconds of each step, and megabytes before and after calls."""

    start: float
    listing: float
    first: float
    later: float
    listed: float
    called: float
    shared: float


def main() -> None:
    """Measure and print Markdown."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--size", type=int, default=1000)
    parser.add_argument("--runs", type=int, default=7)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place, "project")
        bare = statistics.median(cpu_seconds(BARE, Path(place)) for _ in range(given.runs))
        make(folder, given.size)
        servers: dict[str, tuple[Sequence[str], Mapping[str, str]]] = {
            "the SDK's empty server": ((sys.executable, "-c", EMPTY), {}),
            "`pmem mcp`": ((PROGRAM, "mcp"), {"PMEM_TOKENIZER": "estimate"}),
            "`pmem mcp`, exact tokens": ((PROGRAM, "mcp"), {"PMEM_TOKENIZER": "o200k_base"}),
        }
        found: dict[str, list[Costs]] = {name: [] for name in servers}
        for _ in range(given.runs):
            for name, (command, variables) in servers.items():
                found[name].append(session(command, folder, variables))
    _print(found, bare, given.size)


def session(command: Sequence[str], folder: Path, variables: Mapping[str, str]) -> Costs:
    """Talk to a server, and return what each step took."""
    with subprocess.Popen(
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        cwd=folder,
        env={**ENVIRONMENT, **variables},
    ) as server:
        hello = {"protocolVersion": "2025-06-18", "capabilities": {}}
        ask(server, "initialize", {**hello, "clientInfo": {"name": "benchmark", "version": "1"}})
        start = _cpu(server)
        ask(server, "tools/list", {})
        listing, listed = _cpu(server), _megabytes(server)["Rss"]
        search = {"name": "search", "arguments": {"query": "the parser retries webhooks"}}
        ask(server, "tools/call", search)
        first = _cpu(server)
        for _ in range(LATER):
            ask(server, "tools/call", search)
        later = (_cpu(server) - first) / LATER
        ask(server, "tools/call", {"name": "context", "arguments": {"query": "queue"}})
        called = _megabytes(server)
        assert server.stdin is not None
        server.stdin.close()
        server.wait()
    times = (start, listing - start, first - listing, later)
    return Costs(*times, listed, called["Rss"], called["Pss"])


def ask(server: "subprocess.Popen[bytes]", method: str, params: Mapping[str, Any]) -> Any:
    """Return the result of a request."""
    assert server.stdin is not None
    assert server.stdout is not None
    request = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
    server.stdin.write(json.dumps(request).encode() + b"\n")
    server.stdin.flush()
    return json.loads(server.stdout.readline())["result"]


def _cpu(server: "subprocess.Popen[bytes]") -> float:
    """Return the CPU seconds of a process so far (clock_getcpuclockid of Linux)."""
    return time.clock_gettime((~server.pid << 3) | 2)


def _megabytes(server: "subprocess.Popen[bytes]") -> dict[str, float]:
    status = Path(f"/proc/{server.pid}/smaps_rollup").read_text(encoding="ascii")
    rows = (line.split() for line in status.splitlines()[1:])
    return {name.rstrip(":"): int(size) / 1024 for name, size, *_ in rows}


def _print(found: Mapping[str, Sequence[Costs]], bare: float, size: int) -> None:
    columns = ("start", "`tools/list`", "first search", "later ones", "MB before", "after", "PSS")
    print(f"CPU in bare interpreters ({bare * 1000:.0f} ms), {size} memories.\n")
    print(f"| server | {' | '.join(columns)} |")
    print(f"|---|{'---|' * len(columns)}")
    for name, runs in found.items():
        costs = [statistics.median(values) for values in zip(*runs, strict=True)]
        times, sizes = costs[:4], costs[4:]
        cells = [f"{one / bare:.1f}" if one > bare / 10 else f"{one / bare:.2f}" for one in times]
        cells += [f"{one:.0f}" for one in sizes]
        print(f"| {name} | {' | '.join(cells)} |")


if __name__ == "__main__":
    main()
