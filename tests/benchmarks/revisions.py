"""What a look at a git revision costs: python -m tests.benchmarks.revisions."""

import argparse
import shutil
import subprocess
import tempfile
from collections.abc import Callable
from pathlib import Path

from tests.benchmarks.measure import Command, pmem, side_by_side
from tests.benchmarks.stores import make

_WHO = ("-c", "user.name=Kim", "-c", "user.email=kim@example.org")
_COMMANDS: dict[str, tuple[str, ...]] = {
    "list": ("list",),
    "search, no index yet": ("search", "gateway timeouts"),
    "search": ("search", "gateway timeouts"),
    "context": ("context", "gateway timeouts", "--budget", "1000"),
    "stats": ("stats",),
}


def main() -> None:
    """Measure and print Markdown."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=15, help="runs of each command")
    parser.add_argument("--memories", type=int, default=1000, help="memories in the store")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as place:
        folder = make(Path(place) / "store", given.memories)
        for step in ("init --quiet", "add --all", "commit --quiet -m memory"):
            subprocess.run(["git", *_WHO, *step.split()], cwd=folder, check=True)
        print(f"| on {given.memories:,} memories | CPU ms | with `--at HEAD` | times |")
        print("|---|---|---|---|")
        for name, line in _COMMANDS.items():
            _compare(name, line, folder, given.runs)


def _compare(name: str, line: tuple[str, ...], folder: Path, runs: int) -> None:
    now = _cold(line, folder) if name.endswith("yet") else _warm(line)
    times = side_by_side(
        {"now": (now, folder), "then": (_warm((*line, "--at", "HEAD")), folder)}, runs
    )
    here, then = times["now"] * 1000, times["then"] * 1000
    print(
        f"| `{line[0]}`{name.removeprefix(line[0])} | {here:.0f} | {then:.0f} | {then / here:.2f} |"
    )


def _warm(line: tuple[str, ...]) -> Callable[[], Command]:
    return lambda: pmem(*line)


def _cold(line: tuple[str, ...], folder: Path) -> Callable[[], Command]:
    def command() -> Command:
        shutil.rmtree(folder / ".project-memory" / "local", ignore_errors=True)
        return pmem(*line)

    return command


if __name__ == "__main__":
    main()
