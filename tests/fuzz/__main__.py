"""Fuzzing from the command line: `python -m tests.fuzz --inputs 100000`."""

import argparse
import re
import sys
import time
from collections import Counter
from hashlib import blake2b
from random import Random

import numpy  # noqa: F401 - its threads take their memory before that is limited

from tests.fuzz.entries import ENTRIES
from tests.fuzz.judging import Entry, Violation, guarded, judge
from tests.fuzz.mutation import mutated

_AGAIN = 8
"""One input in so many is run twice, to see that the same comes of it."""
_SHOWN = 20


class Tally:
    """What came of the inputs that one entry point was given."""

    def __init__(self, entry: Entry) -> None:
        self.entry = entry
        self.kinds: Counter[str] = Counter()
        self.slowest = (0.0, b"")
        self.seconds = 0.0
        self.violations: dict[str, bytes] = {}
        self.digest = blake2b(digest_size=8)

    def take(self, data: bytes, *, twice: bool) -> None:
        """Run an input and note what came of it."""
        try:
            outcome = judge(self.entry, data, twice=twice)
        except Violation as violation:
            self.kinds["VIOLATION"] += 1
            why = re.sub(r"0x[0-9a-f]+|[0-9]+", "N", str(violation)[:100])
            self.violations[why] = min(self.violations.get(why, data), data, key=len)
            return
        self.kinds[outcome.kind] += 1
        self.seconds += outcome.seconds
        self.slowest = max(self.slowest, (outcome.seconds, data))
        self.digest.update(f"{outcome.kind} {outcome.told}\n".encode("utf-8", "surrogatepass"))

    @property
    def line(self) -> str:
        """One row of the table."""
        errors = ", ".join(f"{kind} {count}" for kind, count in self.kinds.most_common())
        slowest = f"{self.seconds:7.1f} s{self.slowest[0] * 1000:8.1f} ms"
        return f"{self.entry.name:<36}{self.kinds.total():>8}{slowest}  {errors}"


def fuzz(
    entries: tuple[Entry, ...], inputs: int, seed: int, *, examples: bool = True
) -> list[Tally]:
    """Give entry points mutated inputs.

    Args:
        entries: The entry points.
        inputs: How many in all.
        seed: The same seed, the same inputs.
        examples: Give each its own examples first.
    """
    whole = sum(entry.share for entry in entries)
    tallies = []
    for entry in entries:
        random = Random(f"{seed} {entry.name}")
        tally = Tally(entry)
        for example in entry.examples if examples else ():
            tally.take(example, twice=True)
        for number in range(round(inputs * entry.share / whole)):
            data = mutated(random.choice(entry.examples), random, entry.examples)
            tally.take(data, twice=number % _AGAIN == 0)
        tallies.append(tally)
        print(tally.line, flush=True)
    return tallies


def main(arguments: list[str] | None = None) -> int:
    """Fuzz, print a table, and return 1 if anything was violated."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("--inputs", type=int, default=10_000, help="how many, over all entries")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", default="", help="entry points whose name has this in it")
    given = parser.parse_args(arguments)
    entries = tuple(entry for entry in ENTRIES if given.only in entry.name)
    start = time.perf_counter()
    with guarded():
        tallies = fuzz(entries, given.inputs, given.seed)
    return _summed_up(tallies, time.perf_counter() - start)


def _summed_up(tallies: list[Tally], seconds: float) -> int:
    total = sum(tally.kinds.total() for tally in tallies)
    slowest = max(tallies, key=lambda tally: tally.slowest)
    digest = blake2b(b"".join(tally.digest.digest() for tally in tallies), digest_size=8)
    found = [(tally, *item) for tally in tallies for item in tally.violations.items()]
    print(
        f"{total} inputs in {seconds:.0f} s; slowest {slowest.slowest[0] * 1000:.0f} ms "
        f"({slowest.entry.name}); {len(found)} violations; digest {digest.hexdigest()}"
    )
    for tally, why, data in found[:_SHOWN]:
        print(f"VIOLATION {tally.entry.name}: {why}\n  {data[:300]!r} ({len(data)} bytes)")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
