"""Merges without the driver, as fresh clones and hosting sites do them: does repair finish all?

`python -m tests.benchmarks.merges_plain --operations 200` makes a repository in a temporary folder.
Each operation brings two branches of 28 records together (both changed it, one or both added it,
one purged it and the other changed it or not), in every way and every conflict style, runs `check`
and `repair`, and goes on with git. With `--renames`, purged records have twins that git takes for
them.
"""

import argparse
import os
import tempfile
import time
from collections import Counter
from typing import Final

from tests.git.unfinished import MARKED, WAYS, begin_without_driver, outcome

COLUMNS: Final = (
    *("operations", "conflicts", "seen", "finished", "left", "wrong", "unparsable"),
    *("lost records", "resurrected", "conflicted, lost events", "conflicted, lost values"),
)


def run(operations: int, seed: int, *, renames: bool) -> dict[str, Counter[str]]:
    """Run so many operations, in turn over every way, and count by way."""
    ways = [(way, False, False) for way in WAYS]
    ways += [(way, True, gone) for gone in (False, True) for way in MARKED]
    found: dict[str, Counter[str]] = {}
    for number in range(operations):
        way, marked, gone = ways[number % len(ways)]
        name = way + ", markers committed" * marked + ", branch removed" * gone
        seed_ = seed * 100_000 + number
        counts = outcome(way, seed_, marked=marked, gone=gone, renames=renames)
        found[name] = found.get(name, Counter()) + counts
    return found


def main() -> None:
    """Run and print a table."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--operations", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--renames", action="store_true")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        begin_without_driver()
        begun = time.perf_counter()
        found = run(given.operations, given.seed, renames=given.renames)
        seconds = time.perf_counter() - begun
        os.chdir("/")
    every = {**found, "all": sum(found.values(), Counter())}
    columns = [*COLUMNS]
    columns += sorted({name for counts in every.values() for name in counts} - {*columns})
    print("| way | " + " | ".join(columns) + " |")
    print("|---" * (len(columns) + 1) + "|")
    for way, counts in every.items():
        print(f"| {way} | " + " | ".join(str(counts[name]) for name in columns) + " |")
    print(f"{seconds:.0f} s")


if __name__ == "__main__":
    main()
