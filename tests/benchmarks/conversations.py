"""What a long conversation costs: whole commands, and the library's own figures.

python -m tests.benchmarks.conversations
"""

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any, Final

from pmem import Project
from pmem.core.tokens import count_tokens
from tests.benchmarks.measure import Command, pmem, side_by_side

SIZES: Final = (50, 500, 5000)
_START: Final = datetime(2026, 1, 1, tzinfo=UTC)
_NUMBERS: Final = count()
_THEMES: Final = (
    "We decided to keep the {} in the archive since page {} reads it",
    "The {} job failed with error {}: the disk was full",
    "How long does the {} report take for {} customers?",
    "It takes {1} seconds, and most of that is the {0} query",
    "Please never restart the {} service on port {} during the day",
    "Done: the {} parser is merged, {} tests pass",
)
_THINGS: Final = "invoice billing login search export backup photo letter ticket parcel".split()


def main() -> None:
    """Measure and print Markdown."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=15, help="runs of each command")
    runs = parser.parse_args().runs
    with tempfile.TemporaryDirectory() as place:
        folders = {size: _made(Path(place) / str(size), size) for size in SIZES}
        for name, line in (("say", _say), ("context", _context), ("stats", _stats)):
            _commands(name, line, folders, runs)
        _library(Path(place) / "library")


def messages(many: int) -> Iterator[tuple[str, str]]:
    """Yield roles and contents of a conversation about work on a program."""
    for number in range(many):
        text = _THEMES[number % len(_THEMES)].format(_THINGS[number * 7 % 10], number)
        yield ("user", "assistant")[number % 2], f"{text}. Turn {number}."


def _made(folder: Path, many: int) -> Path:
    """Say so many messages, one by one, in a project of its own."""
    folder.mkdir(parents=True)
    project = Project(str(folder / ".project-memory"), actor="bench", promotion_threshold=1.0)
    lines = [
        json.dumps(
            {
                "conversation": "long",
                "id": str(number),
                "role": role,
                "content": content,
                "timestamp": (_START + timedelta(minutes=number)).isoformat(),
            }
        ).encode()
        for number, (role, content) in enumerate(messages(many))
    ]
    project.import_messages(lines)
    project.resume_conversation("long")
    project.search("warm up")
    return folder


def _say() -> Command:
    return pmem("conversation", "say", f"The invoice of turn {next(_NUMBERS)} is paid by now.")


def _context() -> Command:
    return pmem("context", "which port has the search service", "--budget", "2000")


def _stats() -> Command:
    return pmem("conversation", "stats")


def _commands(name: str, line: Callable[[], Command], folders: dict[int, Path], runs: int) -> None:
    times = side_by_side({str(size): (line, folder) for size, folder in folders.items()}, runs)
    first = times[str(SIZES[0])]
    print(f"| messages | `{name}`, CPU ms | times {SIZES[0]} |\n|---|---|---|")
    for size, seconds in times.items():
        print(f"| {int(size):,} | {seconds * 1000:.1f} | {seconds / first:.2f} |")
    print()


def _library(folder: Path) -> None:
    """Print what the history design asks for, on 1,000 messages, chunked and all recent."""
    chunked = Project(str(folder / "chunked"), actor="bench")
    recent = Project(str(folder / "recent"), actor="bench", max_recent_messages=1000)
    for project in (chunked, recent):
        project.start_conversation("Long")
        for role, content in messages(1000):
            project.add_message(role, content)
    texts = [content for _, content in messages(1000)]
    counting = _one(lambda: list(map(count_tokens, texts))) / 1000
    print("| on 1,000 messages | chunked, ms | all recent, ms | asked for, below |")
    print("|---|---|---|---|")
    print(f"| count the tokens of a message | {counting:.3f} | {counting:.3f} | 10 |")
    calls: dict[str, tuple[Callable[[Project], Any], int]] = {
        "decide what to prune": (lambda p: p.prune_conversation(keep=10, dry_run=True), 50),
        "build a context": (lambda p: p.build_context("which port", budget=20_000), 200),
        "conversation statistics": (lambda p: p.conversation_stats(), 100),
    }
    for name, (call, bar) in calls.items():
        times = [_one(partial(call, project)) for project in (chunked, recent)]
        print(f"| {name} | {times[0]:.1f} | {times[1]:.1f} | {bar} |")
    peaks = [_peak_memory(folder / name) for name in ("chunked", "recent")]
    print(f"| memory of the whole process, MB | {peaks[0]:.0f} | {peaks[1]:.0f} | 100 |")


def _one(call: Callable[[], Any]) -> float:
    times = []
    for _ in range(9):
        begun = time.perf_counter()
        call()
        times.append(time.perf_counter() - begun)
    return statistics.median(times) * 1000


def _peak_memory(folder: Path) -> float:
    """Return the megabytes that a fresh process needs at most for all of the above."""
    code = (
        "import resource, sys; from pmem import Project;"
        "project = Project(sys.argv[1], read_only=True, max_recent_messages=1000);"
        "project.build_context('which port', budget=20_000); project.conversation_stats();"
        "project.prune_conversation(dry_run=True);"
        "print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(folder)], check=True, capture_output=True, text=True
    )
    return int(done.stdout) / 1024


if __name__ == "__main__":
    main()
