"""Real git operations over random records: what is lost, what comes back, what conflicts.

`python -m tests.benchmarks.merges --operations 1000` makes a repository in a temporary folder. Each
operation brings two branches together that both changed one record, each added one, and of which
one purged another. Every result is held to what merging the records in memory gives.

`--scenarios 1008` lets people work on two or three branches with pmem itself, brings these together
in every way, and holds the result to an oracle that knows nothing of how records are merged.
"""

import argparse
import json
import os
import random
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from typing import Final, NamedTuple

from pmem.core.threeway.record import Merged, merged
from pmem.core.threeway.shapes import SHAPES
from tests.core.threeway.sides import Json, mentions, sides
from tests.git import scenarios, world
from tests.git.branches import WAYS as COMMANDS
from tests.git.branches import Commands, begin, branches, data, git, ok, path_of, read

WAYS: Final[dict[str, tuple[str, Commands]]] = {
    name: (start, commands)
    for name, (start, commands, _) in COMMANDS.items()
    if name != "revert"  # brings no branches together
} | {"merge -X ours": ("ours", (("merge", "--no-edit", "-Xours", "theirs"),))}


class Scenario(NamedTuple):
    """Two branches of one record, and the records that they added and purged."""

    path: str
    wanted: Merged
    both: tuple[Json, Json]
    added: tuple[str, str]
    purged: str


def prepare(number: int) -> Scenario:
    """Make the branches `base`, `ours` and `theirs` of a scenario in the current repository."""
    store = list(SHAPES)[number % len(SHAPES)]
    base, ours, theirs, _ = sides(number, store)
    names = {name: f".project-memory/{store}/{name}{number}-00000000.json" for name in "got"}
    others = {
        name: data({**sides(-number - place, store)[0], "id": f"{name}{number}-00000000"})
        for place, name in enumerate("got", start=1)
    }
    path = path_of(store, base)
    branches(
        {path: data(base), names["g"]: others["g"]},
        ours={path: data(ours), names["o"]: others["o"]},
        theirs={path: data(theirs), names["t"]: others["t"], names["g"]: b""},
    )
    wanted = merged(base, ours, theirs, SHAPES[store])
    return Scenario(path, wanted, (ours, theirs), (names["o"], names["t"]), names["g"])


def operate(way: str, scenario: Scenario) -> Counter[str]:
    """Bring the branches together and count what went wrong, and what git asks about."""
    start, commands = WAYS[way]
    ok("checkout", "--quiet", "--force", "--detach", start)
    for command in commands:
        git(*command)
    unmerged = ok("diff", "--name-only", "--diff-filter=U").split()
    found = Counter(
        operations=1,
        conflicts=len(unmerged),
        contradictions=bool(scenario.wanted.conflicts),
        wrong=read(scenario.path) != data(scenario.wanted.result or {}),
        lost=sum(not os.path.exists(path) for path in scenario.added) + _lost_events(scenario),
        resurrected=os.path.exists(scenario.purged),
    )
    for operation in ("rebase", "cherry-pick"):
        git(operation, "--quit")
    ok("reset", "--quiet", "--hard", "base")
    git("clean", "--quiet", "--force", "-d")
    return found


def _lost_events(scenario: Scenario) -> int:
    kept = mentions(json.loads(read(scenario.path)))
    events = [event for side in scenario.both for event in side.get("history", [])]
    return sum(json.dumps(event, sort_keys=True) not in kept for event in events)


def run(operations: int, seed: int) -> dict[str, Counter[str]]:
    """Run so many operations, in turn over every way, and count by way."""
    found = {way: Counter[str]() for way in WAYS}
    order = random.Random(seed)
    ways: Sequence[str] = list(WAYS)
    scenario = None
    for number in range(operations):
        if number % len(ways) == 0:
            scenario = prepare(order.randrange(10**9))
        assert scenario is not None
        found[ways[number % len(ways)]] += operate(ways[number % len(ways)], scenario)
    return found


def play(number: int, seed: int) -> dict[str, Counter[str]]:
    """Play so many scenarios, in turn in every way; count by way, and print what went wrong."""
    found = {way: Counter[str]() for way in scenarios.WAYS}
    for place in range(number):
        way = list(scenarios.WAYS)[place % len(scenarios.WAYS)]
        counts, faults = scenarios.run(way, seed * 10**6 + place)
        found[way] += counts
        for fault in faults:
            print(f"seed {seed * 10**6 + place}, {way}: {fault.what} {fault.where}")
    return found


def main() -> None:
    """Run and print tables."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--operations", type=int, default=1000)
    parser.add_argument("--scenarios", type=int, default=1008)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    columns = ("operations", "contradictions", "conflicts", "wrong", "lost", "resurrected")
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        begin()
        begun = time.perf_counter()
        found = run(given.operations, given.seed)
        seconds = time.perf_counter() - begun
        os.chdir("/")
    _table(columns, found)
    print(f"{seconds:.0f} s")
    with tempfile.TemporaryDirectory() as folder, world.tamed():
        os.chdir(folder)
        world.begin()
        world.commit("begin")
        begun = time.perf_counter()
        played = play(given.scenarios, given.seed)
        seconds = time.perf_counter() - begun
        os.chdir("/")
    _table(_COLUMNS, played)
    print(f"{seconds:.0f} s")


_COLUMNS: Final = (
    *("scenarios", "deeds", "asked", "conflict", "paired"),
    *("lost", "resurrected", "value", "unparsed", "asymmetric"),
)


def _table(columns: Sequence[str], found: dict[str, Counter[str]]) -> None:
    print("| way | " + " | ".join(columns) + " |")
    print("|---" * (len(columns) + 1) + "|")
    for way, counts in {**found, "all": sum(found.values(), Counter())}.items():
        print(f"| {way} | " + " | ".join(str(counts[name]) for name in columns) + " |")


if __name__ == "__main__":
    main()
