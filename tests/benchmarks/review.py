"""How often a review alarms, beside simpler ways, and what it takes: `docs/benchmarks.md`."""

import argparse
import os
import subprocess
import tempfile
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import NamedTuple

from tests.benchmarks.measure import BARE, ENVIRONMENT, Command, pmem, side_by_side
from tests.benchmarks.stores import make
from tests.histories.replay import Replayed, replay
from tests.histories.shop import FILES, MEMORIES, STEPS
from tests.histories.steps import Files, Remembered, State, place_of

_EDITED = "src/edited.py"


class Tally(NamedTuple):
    """How many alarms there are over a history, and how many a reader asks for.

    `by_file` counts a memory each time that its file changes, `by_folder` each time that anything
    below its file's folder does.
    """

    hits: int
    review: int
    found: int
    by_file: int
    by_folder: int


def main() -> None:
    """Measure and print Markdown."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--size", type=int, default=1000)
    parser.add_argument("--runs", type=int, default=9)
    given = parser.parse_args()
    counts = tally()
    print(f"{len(STEPS)} edits, {counts.hits} of which somebody has to look at a memory\n")
    print("| what alarms | alarms | of those asked for | alarms for each |\n|---|---|---|---|")
    for name, alarms, found in (
        ("`review`: the cited text changes", counts.review, counts.found),
        ("any change of the cited file", counts.by_file, counts.hits),
        ("any change below its folder", counts.by_folder, counts.hits),
    ):
        print(f"| {name} | {alarms} | {found} of {counts.hits} | {alarms / found:.1f} |")
    print()
    with tempfile.TemporaryDirectory() as place:
        _timed(Path(place), given.size, given.runs)


def tally() -> Tally:
    """Play the shop's history in a folder of its own, and count."""
    here = os.getcwd()
    with tempfile.TemporaryDirectory() as place:
        os.chdir(place)
        try:
            return counted(replay(FILES, MEMORIES, STEPS))
        finally:
            os.chdir(here)


def counted(replayed: Iterable[Replayed]) -> Tally:
    """Count while the shop's history is played."""
    review = found = by_file = by_folder = 0
    for done in replayed:
        review += len(done.hits)
        found += len(done.hits & done.state.step.hits)
        files, folders = _simpler(done.state, MEMORIES)
        by_file, by_folder = by_file + files, by_folder + folders
    hits = sum(len(step.hits) for step in STEPS)
    return Tally(hits, review, found, by_file, by_folder)


def _simpler(state: State, memories: Mapping[str, Remembered]) -> tuple[int, int]:
    """Count the memories whose file changes, and those below whose folder something does."""
    changed = _changed(state.before, state.after)
    folders = {os.path.dirname(name) for name in changed}
    places = [place for one in memories.values() if (place := place_of(state.before, one))]
    files = [name for name, _, _ in places]
    return sum(name in changed for name in files), sum(os.path.dirname(n) in folders for n in files)


def _changed(before: Files, after: Files) -> set[str]:
    return {name for name in before.keys() | after.keys() if before.get(name) != after.get(name)}


def _timed(folder: Path, size: int, runs: int) -> None:
    """Measure a review of one edit in a repository with a memory."""
    make(folder, size)
    edited = folder / _EDITED
    edited.parent.mkdir(exist_ok=True)
    edited.write_text("RETRIES = 3\n")
    _git(folder, "init", "--quiet")
    _git(folder, "add", "--all")
    _git(folder, "commit", "--quiet", "--message", "Begin")
    subprocess.run(
        pmem("add", "The vendor allows three retries", "--cite", _EDITED),
        cwd=folder, env=ENVIRONMENT, check=True, capture_output=True,
    )  # fmt: skip
    _git(folder, "add", "--all")
    _git(folder, "commit", "--quiet", "--message", "Remember")
    edited.write_text("RETRIES = 5\n")
    _git(folder, "add", "--all")
    lines: dict[str, Command] = {
        "`python -c pass`": BARE,
        "`review` (work tree)": pmem("review"),
        "`review --staged`": pmem("review", "--staged"),
        "`review HEAD~1..HEAD`": pmem("review", "HEAD~1..HEAD"),
        "`check --staged`, to compare": pmem("check", "records", "--staged"),
        "`changelog HEAD~1..HEAD`, to compare": pmem("changelog", "HEAD~1..HEAD"),
    }
    times = side_by_side({name: (_same(line), folder) for name, line in lines.items()}, runs)
    print(f"| CPU time at {size:,} memories | times bare |\n|---|---|")
    for name, seconds in times.items():
        print(f"| {name} | {seconds / times['`python -c pass`']:.1f} |")


def _same(line: Command) -> Callable[[], Command]:
    return lambda: line


def _git(folder: Path, *words: str) -> None:
    who = ("-c", "user.name=Kim", "-c", "user.email=kim@example.org")
    subprocess.run(["git", *who, *words], cwd=folder, env=ENVIRONMENT, check=True)


if __name__ == "__main__":
    main()
