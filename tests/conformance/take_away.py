"""Run `python -m tests.conformance.take_away`: are the rows' tests able to fail?

Rows are drawn by chance. What each one's tests call is traced; the functions that fewest other rows
call come first, since these make the row what it is. Their logic is changed, one place at a time,
in a copy of the project, until the row's tests fail. A row whose tests pass every change that
was tried is named, and the run ends with 1.
"""

import argparse
import os
import random
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from tests.conformance.table import Row, documents, holders
from tests.mutation.mutants import Mutant, copy_project, mutants_between, mutated, run_tests

_ENDLESS: Final = 1 << 30


class Called(NamedTuple):
    """A function that a test has called.

    Attributes:
        module: Its file, from the project's folder.
        line: Where it begins, counted from 1.
        name: Its name.
    """

    module: str
    line: int
    name: str


def main() -> None:
    """Draw rows, take each one's behaviour away, and print whether its tests noticed."""
    parser = argparse.ArgumentParser(prog="python -m tests.conformance.take_away")
    parser.add_argument("--rows", type=int, default=40, help="how many rows, drawn by --seed")
    parser.add_argument("--changes", type=int, default=12, help="at most so many for each row")
    parser.add_argument("--seed", type=int, default=7)
    asked = parser.parse_args()
    chance = random.Random(asked.seed)
    tests = _tests_by_row()
    drawn = [row for document in documents() for row in document.rows if row.name in tests]
    chance.shuffle(drawn)
    drawn = drawn[: asked.rows]
    with tempfile.TemporaryDirectory() as folder:
        copy_project(folder)
        called = {row.name: _trace(folder, tests[row.name]) for row in drawn}
        shared = Counter(each for calls in called.values() for each in calls)
        kept = [
            row
            for row in drawn
            if not _is_noticed(
                row,
                folder,
                tests[row.name],
                _changes(called[row.name], shared, asked.changes, chance),
            )
        ]
    print(f"{len(drawn) - len(kept)} of {len(drawn)} rows fail when their behaviour is taken away")
    sys.exit(1 if kept else 0)


def _tests_by_row() -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for holder in holders():
        for row in holder.rows:
            found.setdefault(row, []).append(holder.node)
    return found


def _trace(folder: str, tests: Sequence[str]) -> set[Called]:
    """Return what the tests call of pmem; they must pass."""
    path = os.path.join(folder, "trace.txt")
    environment = os.environ | {"PMEM_TRACE_FILE": path, "PYTHONPATH": folder, "CI": "1"}
    command = [sys.executable, "-m", "pytest", "-q", "-p", "tests.conformance.tracing", *tests]
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, check=False)
    if done.returncode:
        sys.exit(f"{' '.join(tests)}: fails before anything is changed\n{done.stdout.decode()}")
    with open(path, encoding="utf-8") as file:
        rows = (line.rstrip("\n").split("\t") for line in file)
        return {Called(module, int(line), name) for module, line, name in rows}


def _changes(
    called: set[Called], shared: "Counter[Called]", most: int, chance: random.Random
) -> Iterator[tuple[Called, Mutant]]:
    """Yield changes of the functions that fewest rows call, a few of each, core first."""
    rarest = sorted(called, key=lambda each: (shared[each], "core" not in each.module, each))
    made = 0
    for function in rarest:
        places = mutants_between(function.module, function.line, _end(function, called))
        chance.shuffle(places)
        for place in places[:3]:
            yield function, chance.choice(place)
            made += 1
            if made >= most:
                return


def _end(function: Called, called: set[Called]) -> int:
    """Return the line where the next function that was called begins."""
    later = [each.line for each in called if each[:1] == function[:1] and each.line > function.line]
    return min(later, default=_ENDLESS)


def _is_noticed(
    row: Row, folder: str, tests: list[str], changes: Iterator[tuple[Called, Mutant]]
) -> bool:
    """Return whether one of the changes makes the row's tests fail, and print which."""
    tried = 0
    for function, mutant in changes:
        tried += 1
        with mutated(mutant, folder):
            if not run_tests(folder, tests):
                print(f"{row.name} noticed: {function.module} {function.name}, {mutant.operator}")
                return True
    print(f"{row.name} NOT noticed in {tried} changes: {row.asks} ({', '.join(tests)})")
    return False


if __name__ == "__main__":
    main()
