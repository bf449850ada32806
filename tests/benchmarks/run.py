"""The speed figures of docs/benchmarks.md: run it with `make bench`."""

import argparse
import json
import platform
import tempfile
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from itertools import count
from pathlib import Path

from pmem import Project
from tests.benchmarks.measure import BARE, Command, instructions, pmem, side_by_side
from tests.benchmarks.stores import make

_NUMBERS = count()
_START = datetime(2026, 1, 1, tzinfo=UTC)


def main() -> None:
    """Measure and print Markdown."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=15, help="runs of each command")
    runs = parser.parse_args().runs
    with tempfile.TemporaryDirectory() as place:
        folders = {size: make(Path(place) / str(size), size) for size in (100, 1000, 10_000)}
        print(f"Python {platform.python_version()}, {platform.machine()}, {runs} runs each\n")
        _adding(folders, runs)
        _starting(folders[1000], runs)
        _transcript(Path(place) / "transcript", runs=3)


def _adding(folders: dict[int, Path], runs: int) -> None:
    commands = {f"{size:,}": (_add, folder) for size, folder in folders.items()}
    times = side_by_side(commands, runs)
    first = times["100"]
    print("| memories | `pmem add`, CPU ms | times 100 |\n|---|---|---|")
    for name, seconds in times.items():
        print(f"| {name} | {seconds * 1000:.1f} | {seconds / first:.2f} |")
    print()


def _starting(folder: Path, runs: int) -> None:
    identifier = Project(str(folder / ".project-memory")).list(limit=1).items[0].id
    commands: dict[str, Command] = {
        "python -c pass": BARE,
        "pmem --version": pmem("--version"),
        "pmem show": pmem("show", identifier),
        "pmem list": pmem("list"),
        "pmem search": pmem("search", "gateway timeouts"),
        "pmem context": pmem("context", "gateway timeouts", "--budget", "1000"),
    }
    times = side_by_side({name: (_same(line), folder) for name, line in commands.items()}, runs)
    bare_time, bare_count = times["python -c pass"], instructions(BARE, folder)
    print("| on 1,000 memories | CPU ms | times bare | instructions, times bare |")
    print("|---|---|---|---|")
    for name, line in commands.items():
        counted = instructions(line, folder)
        ratio = f"{counted / bare_count:.2f}" if counted and bare_count else "-"
        print(f"| `{name}` | {times[name] * 1000:.1f} | {times[name] / bare_time:.1f} | {ratio} |")
    print()


def _transcript(folder: Path, runs: int) -> None:
    folder.mkdir()
    lines = [
        json.dumps(
            {
                "conversation": "long",
                "id": str(number),
                "role": "user" if number % 2 else "assistant",
                "content": f"Turn {number}: the queue holds {number * 7 % 101} jobs, please check.",
                "timestamp": (_START + timedelta(seconds=number)).isoformat(),
            }
        )
        for number in range(5000)
    ]
    (folder / "long.jsonl").write_text("\n".join(lines))

    def fresh() -> Command:
        place = folder / str(next(_NUMBERS))
        Project(str(place / ".project-memory"))
        return pmem("-C", str(place), "import", "messages", str(folder / "long.jsonl"))

    times = side_by_side({"import": (fresh, folder)}, runs)
    print(f"Importing 5,000 messages takes {times['import']:.2f} s of CPU time.")


def _same(line: Command) -> Callable[[], Command]:
    return lambda: line


def _add() -> Command:
    return pmem(
        "add", f"A new memory, number {next(_NUMBERS)}", "--subject", f"new {next(_NUMBERS)}"
    )


if __name__ == "__main__":
    main()
