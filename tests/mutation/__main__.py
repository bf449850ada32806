"""Run `python -m tests.mutation MODULE [--most N]`: how many changes of logic the tests notice."""

import argparse
import random
import sys
import tempfile
from difflib import unified_diff
from typing import Final

from tests.mutation.mutants import (
    Mutant,
    copy_project,
    measure_tests,
    mutants_of,
    mutated,
    run_tests,
)
from tests.mutation.rooms import modules_of, tests_of

SEED: Final = 7


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.mutation")
    parser.add_argument("module", help="a file or a folder below pmem/")
    parser.add_argument("--most", type=int, help="as many mutants at the most, drawn by --seed")
    parser.add_argument("--seed", type=int, default=SEED)
    asked = parser.parse_args()
    chance = random.Random(asked.seed)
    places = [place for module in modules_of(asked.module) for place in mutants_of(module)]
    chance.shuffle(places)
    drawn = [chance.choice(place) for place in places[: asked.most]]
    with tempfile.TemporaryDirectory() as folder:
        copy_project(folder)
        measure_tests(folder, tests_of(asked.module))
        killed = sum(_is_killed(mutant, folder, tests_of(asked.module)) for mutant in drawn)
    rate = f" ({killed / len(drawn):.0%})" if drawn else ""
    _say(f"{asked.module}: {killed} of {len(drawn)} mutants killed{rate}; {len(places)} places")


def _is_killed(mutant: Mutant, folder: str, tests: list[str]) -> bool:
    """Run the tests in a copy of the project where one thing has changed."""
    with mutated(mutant, folder) as (before, after):
        survived = run_tests(folder, tests)
    if survived:
        lines = before.splitlines(), after.splitlines()
        _say("\n".join(unified_diff(*lines, mutant.module, mutant.operator, lineterm="", n=2)))
    return not survived


def _say(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
