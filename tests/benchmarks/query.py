"""What a query costs beside a search of the same text: `python -m tests.benchmarks.query`.

Cold figures are the processor time of whole processes that run in turn; warm ones are calls within
one process. The agent's allowlist hides part of the memories.
"""

import argparse
import json
import statistics
import tempfile
import time
from collections.abc import Callable
from itertools import count
from pathlib import Path
from typing import Final

from pmem import Project
from pmem.project.setup import write_setting
from tests.benchmarks.measure import Command, pmem, side_by_side
from tests.benchmarks.search import QUERIES
from tests.benchmarks.stores import make

_NUMBERS: Final = count()


def main() -> None:
    """Measure and print Markdown."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--size", type=int, default=10_000)
    parser.add_argument("--runs", type=int, default=9, help="runs of each command")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as place:
        folder = make(Path(place) / "store", options.size)
        config = str(folder / ".project-memory" / "config.toml")
        write_setting(config, "allowlists.planner", ["knowledge", "goals", "tasks", "project"])
        for number, text in enumerate(QUERIES):
            for agent in (None, "planner"):
                asked = {"query": text, **({"agent": agent} if agent else {})}
                path = Path(place) / f"{number}-{agent}.json"
                path.write_text(json.dumps(asked), encoding="utf-8")
        _cold(folder, Path(place), options.runs)
        _warm(folder)


def _cold(folder: Path, place: Path, runs: int) -> None:
    def query(agent: str | None) -> Callable[[], Command]:
        return lambda: pmem("query", str(place / f"{next(_NUMBERS) % len(QUERIES)}-{agent}.json"))

    commands = {
        "search": (lambda: pmem("search", QUERIES[next(_NUMBERS) % len(QUERIES)]), folder),
        "query": (query(None), folder),
        "query of an agent": (query("planner"), folder),
    }
    times = side_by_side(commands, runs)
    print("| cold process | CPU ms | times search |\n|---|---|---|")
    for name, seconds in times.items():
        print(f"| {name} | {seconds * 1000:.0f} | {seconds / times['search']:.2f} |")


def _warm(folder: Path) -> None:
    project = Project(str(folder / ".project-memory"), actor="bench")
    calls: dict[str, Callable[[str], object]] = {
        "search": lambda text: project.search(text, counts=False),
        "query": lambda text: project.query({"query": text}),
        "query of an agent": lambda text: project.query({"query": text, "agent": "planner"}),
    }
    print("\n| warm | median ms | worst ms |\n|---|---|---|")
    for name, call in calls.items():
        call(QUERIES[0])
        took = []
        for _ in range(9):
            for text in QUERIES:
                began = time.perf_counter()
                call(text)
                took.append(time.perf_counter() - began)
        print(f"| {name} | {statistics.median(took) * 1000:.1f} | {max(took) * 1000:.1f} |")


if __name__ == "__main__":
    main()
