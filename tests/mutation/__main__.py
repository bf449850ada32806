"""Run `python -m tests.mutation MODULE...`: how many changes of logic the tests notice."""

import argparse
import random
import sys
import tempfile
from difflib import unified_diff
from typing import Final

from tests.mutation.mutants import Mutant, modules_of, mutants_of, mutated
from tests.mutation.runs import Copy

SEED: Final = 7


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.mutation")
    parser.add_argument("modules", nargs="+", help="files or folders below pmem/")
    parser.add_argument("--most", type=int, help="as many mutants of each, drawn by --seed")
    parser.add_argument("--seed", type=int, default=SEED)
    parser.add_argument("--tests", nargs="+", default=["tests"], help="those that may kill")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryDirectory() as notes:
        copy = Copy(folder)
        every = [module for path in asked.modules for module in modules_of(path)]
        copy.note_tests(every, asked.tests, notes)
        copy.read_notes(notes)
        for path in asked.modules:
            measure(copy, path, asked.most, asked.seed)


def measure(copy: Copy, path: str, most: int | None, seed: int) -> None:
    """Try mutants of a module or folder, and print those that survive and how many do not."""
    chance = random.Random(seed)
    places = [place for module in modules_of(path) for place in mutants_of(module)]
    chance.shuffle(places)
    drawn = [chance.choice(place) for place in places[:most]]
    killed = sum(_is_killed(mutant, copy) for mutant in drawn)
    rate = f" ({killed / len(drawn):.0%})" if drawn else ""
    _say(f"{path}: {killed} of {len(drawn)} mutants killed{rate}; {len(places)} places")


def _is_killed(mutant: Mutant, copy: Copy) -> bool:
    """Run the tests of its line in a copy of the project where one thing has changed."""
    tests = copy.tests_of(mutant)
    with mutated(mutant, copy.folder) as (before, after):
        killed = bool(tests) and copy.is_killed(tests)
    if not killed:
        lines = before.splitlines(), after.splitlines()
        _say("\n".join(unified_diff(*lines, mutant.module, mutant.operator, lineterm="", n=2)))
        _say(f"Survived; {len(tests)} tests run the line.")
    return killed


def _say(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
