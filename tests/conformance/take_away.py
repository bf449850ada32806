"""Run `python -m tests.conformance.take_away`: are the rows' tests able to fail?

All tests that hold a row are traced. Then rows are drawn by chance. The functions that a row's
tests call and fewest other rows' do make the row what it is: their logic is changed, one place
at a time, in a copy of the project, until the row's tests fail. A row whose tests pass every
change that was tried is named, and the run ends with 1.
"""

import argparse
import json
import os
import random
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping
from itertools import islice
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
    parser.add_argument("--changes", type=int, default=24, help="at most so many for each row")
    parser.add_argument("--seed", type=int, default=7)
    asked = parser.parse_args()
    chance = random.Random(asked.seed)
    tests = _tests_by_row()
    rows = [row for document in documents() for row in document.rows if row.name in tests]
    with tempfile.TemporaryDirectory() as folder:
        copy_project(folder)
        called = _trace_rows(folder, tests)
        shared = Counter(each for calls in called.values() for each in calls)
        drawn = chance.sample(rows, min(asked.rows, len(rows)))
        noticed = 0
        for row in drawn:
            changes = islice(_changes(called[row.name], shared, chance), asked.changes)
            noticed += _is_noticed(row, folder, tests[row.name], changes)
    print(f"{noticed} of {len(drawn)} rows fail when their behaviour is taken away")
    sys.exit(0 if noticed == len(drawn) else 1)


def _tests_by_row() -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for holder in holders():
        for row in holder.rows:
            found.setdefault(row, []).append(holder.node)
    return found


def _trace_rows(folder: str, tests: Mapping[str, list[str]]) -> dict[str, set[Called]]:
    """Return what each row's tests call of pmem; they must pass."""
    path = os.path.join(folder, "trace.jsonl")
    environment = os.environ | {"PMEM_TRACE_FILE": path, "PYTHONPATH": folder}
    nodes = sorted({node for held in tests.values() for node in held})
    command = [sys.executable, "-m", "pytest", "-q", "-p", "tests.conformance.tracing", *nodes]
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, check=False)
    if done.returncode:
        sys.exit(f"the tests fail before anything is changed\n{done.stdout.decode()}")
    called: dict[str, set[Called]] = {node: set() for node in nodes}
    with open(path, encoding="utf-8") as file:
        for node, functions in map(json.loads, file):
            called[node].update(Called(*function) for function in functions)
    return {row: set().union(*(called[node] for node in held)) for row, held in tests.items()}


def _changes(
    called: set[Called], shared: "Counter[Called]", chance: random.Random
) -> Iterator[tuple[Called, Mutant]]:
    """Yield a change of each function, those that fewest rows call first, and then another."""
    rarest = sorted(called, key=lambda each: (shared[each], chance.random()))
    left = [(each, mutants_between(each.module, each.line, _end(each, called))) for each in rarest]
    for _, places in left:
        chance.shuffle(places)
    while left:
        for function, places in left:
            if places:
                yield function, chance.choice(places.pop())
        left = [(function, places) for function, places in left if places]


def _end(function: Called, called: set[Called]) -> int:
    """Return the line where the next function that was called begins."""
    later = [
        each.line for each in called if each.module == function.module and each.line > function.line
    ]
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
