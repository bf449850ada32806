"""Every state that a power cut during or after a writing command can leave, looked at.

`python -m tests.faults.powercuts` does it for all of them and prints a table. What the file
system may forget is modelled in `tests.storage.powercut`. SQLite's database is left out: it
syncs by itself, and its own tests cut its power.
"""

import os
import shutil
import sys
import tempfile
import time
from collections.abc import Iterator
from typing import Final, NamedTuple

from tests.faults import world
from tests.faults.sweep import Bench, quick_place
from tests.faults.world import ROOT, WRITES, State
from tests.storage import powercut

APART: Final = frozenset(
    {"init", "checkpoint save", "checkpoint rm", "delta", "app stats", "setup git", "setup gemini"}
    | {"export arrays", "export markdown", "export audit", "setup pre-commit"}
)
"""What writes no record: SQLite's database, git's files, and files outside the memory folder."""


class Cut(NamedTuple):
    """What came of cutting the power of one command: states, and what was wrong with some."""

    states: int
    wrong: tuple[str, ...]


def cut(folder: str, name: str) -> Cut:
    """Run a command, and look at every state that a power cut can leave."""
    with world.surroundings(folder):
        bench = Bench(folder, name)
        place = bench.fresh()
        with powercut.recorded(os.path.join(place, ROOT)) as log:
            world.do(bench.write, bench.known)
        states, wrong = 0, set()
        for ended, tree in powercut.cuts(log):
            states += 1
            wrong |= set(_looked(bench, tree, ended=ended))
        os.chdir("/")
    return Cut(states, tuple(sorted(wrong)))


def _looked(bench: Bench, tree: powercut.Tree, *, ended: bool) -> Iterator[str]:
    place = bench.fresh()
    shutil.rmtree(ROOT)
    powercut.rebuilt(tree, os.path.join(place, ROOT))
    for command in (("list", "--json"), ("conversation", "list", "--json"), ("inbox", "proposals")):
        done = world.ran(*command, "--quiet")
        if done.code or done.err:
            yield f"{' '.join(command)}: {done.code} {done.err}"
    found = world.records(_without_databases(bench.state(place)))
    allowed = [world.records(state) for state in (bench.before, bench.after)]
    if ended and found != allowed[1]:
        yield "an acknowledged write is lost"
    elif found not in (*allowed, *bench.midway):
        yield "half of a commit"
    if ended and _own(bench.state(place)) != _own(bench.after):
        yield "an acknowledged change of another file is lost"


def _own(found: State) -> State:
    """Return the files of the memory folder that are no records and no databases."""
    return {
        path: data
        for path, data in _without_databases(found).items()
        if path.startswith(ROOT) and path not in world.records(found)
    }


def _without_databases(found: State) -> State:
    return {path: data for path, data in found.items() if ".sqlite3" not in path}


def main() -> int:
    """Cut the power of every command, and report."""
    folder = tempfile.mkdtemp(dir=quick_place())
    os.mkdir(os.path.join(folder, "template"))
    world.build(os.path.join(folder, "template"))
    total, wrong, begun = 0, 0, time.monotonic()
    for name in (name for name in WRITES if name not in APART):
        done = cut(folder, name)
        total += done.states
        wrong += len(done.wrong)
        told = f", WRONG: {done.wrong}" if done.wrong else ""
        sys.stdout.write(f"{name:<24}{done.states:6} states{told}\n")
        sys.stdout.flush()
    shutil.rmtree(folder)
    seconds = time.monotonic() - begun
    sys.stdout.write(f"{total} crash states, {wrong} wrong, {seconds:.0f} s\n")
    return int(bool(wrong))


if __name__ == "__main__":
    sys.exit(main())
