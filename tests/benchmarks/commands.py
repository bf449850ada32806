"""Every command that is used all day, by the size of the memory: `docs/benchmarks.md`.

The bare look is what no file memory can go without: the stamp of every file. `git status` is
what git takes for the same tree.
"""

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from itertools import count
from pathlib import Path
from typing import Final

from pmem import Project
from tests.benchmarks.measure import BARE, ENVIRONMENT, Command, cpu_seconds, instructions, pmem
from tests.benchmarks.peers import peer_lines
from tests.benchmarks.stores import make

LOOK: Final = (
    "import os, sys\n"
    "for folder, _, files in os.walk(sys.argv[1]):\n"
    "    for file in files: os.lstat(folder + '/' + file)\n"
)
PEAK: Final = (
    "import resource, subprocess, sys\n"
    "subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL, check=True)\n"
    "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)\n"
)
CHANGES: Final = ("add", "pull")
BRANCHES: Final = ("before", "after")
TASK: Final = "the parser retries webhooks"
_NUMBERS: Final = count()
_ASIDE: Final = ("env", "PMEM_TRUST_UNREVIEWED=show")
"""What leaves out the question where each record comes from."""
_ASKING: Final = ("search", "context --budget 1000")


def main() -> None:
    """Measure and print Markdown."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sizes", type=int, nargs="+", default=[100, 1000, 10_000])
    parser.add_argument("--runs", type=int, default=7, help="runs of each command")
    parser.add_argument("--folder", type=Path, help="where memories are made, and found again")
    parser.add_argument("--instructions", action="store_true", help="count them as well")
    parser.add_argument("--after", choices=CHANGES, help="what has changed before each run")
    parser.add_argument("--pulled", type=int, default=100, help="records that a pull changes")
    parser.add_argument("--peers", type=Path, help="a folder with peers that come from PyPI")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as place:
        top = given.folder or Path(place)
        folders = {size: _made(top, size, given.pulled) for size in given.sizes}
        table = {size: lines(folder) for size, folder in folders.items()}
        if given.peers:
            for size, folder in folders.items():
                memory = folder / ".project-memory"
                peers = top / f"peers-{size}"
                table[size] |= peer_lines(given.peers, peers, memory, _texts(folder))
        times = _measured(table, folders, given.runs, given.after)
        _print_times(times, folders)
        if given.instructions:
            _print_instructions(folders)
        _print_memory(folders)
        for size, folder in folders.items():
            _print_process(size, folder)


def lines(folder: Path) -> dict[str, Callable[[], Command]]:
    """Return what is measured in a folder, by name."""
    memory = folder / ".project-memory"
    identifier = Project(str(memory)).list(limit=1).items[0].id
    fixed: dict[str, Command] = {
        "search": pmem("search", TASK),
        "context --budget 1000": pmem("context", TASK, "--budget", "1000"),
        "list -n 20": pmem("list", "-n", "20"),
        "show": pmem("show", identifier),
        "log -n 20": pmem("log", "-n", "20"),
        "stats": pmem("stats"),
        "check": pmem("check", "records"),
        "inbox --list": pmem("inbox", "--list"),
    }
    add = {"add": lambda: pmem("add", f"A new memory, number {os.getpid()} {next(_NUMBERS)}")}
    others: dict[str, Command] = {
        **{f"{name}, origins aside": (*_ASIDE, *fixed[name]) for name in _ASKING},
        "bare look": (sys.executable, "-c", LOOK, str(memory)),
        "git status": ("git", "status", "--short"),
    }
    return {**{name: _same(line) for name, line in (fixed | others).items()}, **add}


def _made(top: Path, size: int, pulled: int) -> Path:
    """Return a repository with so many memories, and a branch on which some say something else."""
    folder = top / str(size)
    if folder.exists():
        return folder
    started = time.process_time()
    make(folder, size)
    print(f"made {size:,} memories in {time.process_time() - started:.1f} s of CPU time")
    subprocess.run(["git", "init", "--quiet", str(folder)], check=True)
    for branch in BRANCHES:
        _git(folder, "checkout", "--quiet", "-b", branch)
        _git(folder, "add", "--all")
        _git(folder, "commit", "--quiet", "--allow-empty", "--message", branch)
        project = Project(str(folder / ".project-memory"))
        for memory in project.list(limit=pulled).items:
            project.edit(memory.id, content=f"{memory.content} It is so on another branch.")
    _git(folder, "checkout", "--quiet", "--force", BRANCHES[0])
    return folder


def _git(folder: Path, *words: str) -> None:
    own = ("-c", "user.name=bench", "-c", "user.email=b@example.org")
    subprocess.run(("git", "-C", str(folder), *own, *words), check=True)


def _texts(folder: Path) -> list[str]:
    memories = Project(str(folder / ".project-memory")).list(limit=None).items
    return [memory.content for memory in memories]


def _measured(
    table: dict[int, dict[str, Callable[[], Command]]],
    folders: dict[int, Path],
    runs: int,
    after: str | None,
) -> dict[str, dict[int, float]]:
    """Return medians in bare starts; each command runs twice before, so that all is loaded."""
    found: dict[str, dict[int, float]] = {"python -c pass": {}}
    for name in {name: None for lines in table.values() for name in lines}:
        taken: dict[int, list[float]] = {size: [] for size in folders if name in table[size]}
        bare: list[float] = []
        for turn in range(runs + 2):
            bare.append(cpu_seconds(BARE, Path.cwd()))
            for size, spent in taken.items():
                _change(folders[size], table[size], name, after, turn)
                seconds = cpu_seconds(table[size][name](), folders[size])
                spent.extend([seconds] * (turn >= 2))
        unit = statistics.median(bare)
        found[name] = {size: statistics.median(times) / unit for size, times in taken.items()}
    return found


def _change(
    folder: Path, lines: dict[str, Callable[[], Command]], name: str, after: str | None, turn: int
) -> None:
    """Do what is done before each run: one memory, or text of a peer, is added; or git pulls."""
    if after == "add":
        cpu_seconds(lines.get(f"{name}, adds", lines["add"])(), folder)
    elif after == "pull":
        _git(folder, "checkout", "--quiet", BRANCHES[1 - turn % 2])


def _print_times(times: dict[str, dict[int, float]], folders: dict[int, Path]) -> None:
    sizes = list(folders)
    print("\n| CPU time, times bare |", " | ".join(f"{size:,}" for size in sizes), "|")
    print("|---|" + "---|" * len(sizes))
    for name, by_size in times.items():
        if by_size:
            cells = (f"{by_size[size]:.1f}" if size in by_size else "" for size in sizes)
            print(f"| `{name}` |", " | ".join(cells), "|")


def _print_instructions(folders: dict[int, Path]) -> None:
    unit = instructions(BARE, Path.cwd())
    if unit is None:
        return
    print("\n| instructions, times bare |", " | ".join(f"{size:,}" for size in folders), "|")
    print("|---|" + "---|" * len(folders))
    table = {size: lines(folder) for size, folder in folders.items()}
    for name in ("search", "context --budget 1000", "list -n 20", "show", "add", "stats", "check"):
        counted = [
            (instructions(table[size][name](), folder) or 0) / unit
            for size, folder in folders.items()
        ]
        print(f"| `{name}` |", " | ".join(f"{many:.1f}" for many in counted), "|")


def _print_memory(folders: dict[int, Path]) -> None:
    print("\n| peak memory, MB |", " | ".join(f"{size:,}" for size in folders), "|")
    print("|---|" + "---|" * len(folders))
    table = {size: lines(folder) for size, folder in folders.items()}
    for name in ("search", "context --budget 1000", "add"):
        peaks = [_peak(table[size][name](), folder) for size, folder in folders.items()]
        print(f"| `{name}` |", " | ".join(f"{peak:.0f}" for peak in peaks), "|")


def _peak(line: Command, folder: Path) -> float:
    """Return the most memory that a command took, in MB; a small process of its own asks."""
    done = subprocess.run(
        (sys.executable, "-c", PEAK, *line),
        cwd=folder,
        env=ENVIRONMENT,
        check=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )
    return int(done.stdout) / 1024


def _print_process(size: int, folder: Path) -> None:
    """Print what a process that stays takes for its first answer after a change, and the next."""
    project = Project(str(folder / ".project-memory"))
    first: list[float] = []
    second: list[float] = []
    for _ in range(5):
        subprocess.run(
            pmem("add", f"From elsewhere {os.getpid()} {next(_NUMBERS)}"),
            cwd=folder,
            env=ENVIRONMENT,
            check=True,
            capture_output=True,
        )
        for times in (first, second):
            started = time.process_time()
            project.search(TASK)
            times.append((time.process_time() - started) * 1000)
    print(
        f"\nA process that stays, {size:,} memories: the first search after a change by another"
        f" process takes {statistics.median(first):.1f} ms of CPU time, the next"
        f" {statistics.median(second):.1f} ms."
    )


def _same(line: Command) -> Callable[[], Command]:
    return lambda: line


if __name__ == "__main__":
    main()
