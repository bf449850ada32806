"""What apps' memories cost: making one, past the limit too, and reading an app's block.

A project holds memories of no app in any number, and ten of each of a hundred apps. `remember`,
`end` (of a conversation of so many messages, the memory it leaves included) and `context` are
timed within one process, with `wall` clocks; `pmem app context` as a whole process in CPU time.
S0 asks for less than 5 s to make a memory and less than 100 ms to read an app's.

    python -m tests.benchmarks.apps [--sizes 0 1000 10000]
"""

import argparse
import statistics
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Final

from pmem import AddRequest, Project
from tests.benchmarks.measure import cpu_seconds, pmem
from tests.benchmarks.stores import requests

SIZES: Final = (0, 1_000, 10_000)
APPS: Final = 100
RUNS: Final = 9
_SAID: Final = "We decided that part {} of the archive runs on PostgreSQL {}, and it is due in May."


def fill(folder: Path, number: int) -> Project:
    """Make a project with so many memories of no app, and ten of each app."""
    project = Project(str(folder / ".project-memory"), actor="bench")
    project.add_all(requests(number))
    project.add_all(
        [
            AddRequest(content=f"Shelf {place} of hall {app} holds maps.", app=f"app {app}")
            for app in range(APPS)
            for place in range(10)
        ]
    )
    return project


def median(work: Callable[[int], object]) -> float:
    """Return the median of several runs in milliseconds, after one to warm up."""
    times = []
    for turn in range(RUNS + 1):
        begun = time.perf_counter()
        work(turn)
        times.append((time.perf_counter() - begun) * 1000)
    return statistics.median(times[1:])


def ended(project: Project, turn: int, messages: int) -> float:
    """Keep a conversation, and return how long its end takes, in milliseconds."""
    project.start_conversation(app="app 1")
    for number in range(messages):
        project.add_message("user", _SAID.format(number, turn))
    begun = time.perf_counter()
    project.end_conversation()
    return (time.perf_counter() - begun) * 1000


def measure(number: int) -> dict[str, float]:
    """Return milliseconds by what is done."""
    with tempfile.TemporaryDirectory() as name:
        project = fill(Path(name), number)
        fresh = partial(Project, project.workspace.root, actor="bench")
        return {
            "remember": median(lambda turn: fresh().apps.remember("app 0", f"Door {turn} jams.")),
            "end, 10 messages": statistics.median(ended(fresh(), n, 10) for n in range(3)),
            "end, 200 messages": ended(fresh(), 9, 200),
            "context": median(lambda turn: fresh().apps.context("app 2")),
            "app context (process)": median_cpu(Path(name)),
        }


def median_cpu(folder: Path) -> float:
    """Return the CPU time of `pmem app context` in milliseconds."""
    command = pmem("app", "context", "app 2")
    return statistics.median(cpu_seconds(command, folder) for _ in range(RUNS)) * 1000


def main() -> None:
    """Print a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sizes", nargs="*", type=int, default=SIZES)
    for size in parser.parse_args().sizes:
        for name, milliseconds in measure(size).items():
            print(f"{size:>7} memories  {name:<22} {milliseconds:8.1f} ms")


if __name__ == "__main__":
    main()
