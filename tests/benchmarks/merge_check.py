"""How `check merges` judges merges that are right, and finds mistakes planted in others.

`python -m tests.benchmarks.merge_check` makes real merges in every way there is, and mistakes of
every kind at random places, in repositories in temporary folders. It also says what checking 200
merges of 1,000 memories costs.
"""

import argparse
import os
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from random import Random

from pmem.core import rawjson
from tests.core.threeway.sides import Json
from tests.git import world
from tests.git.branches import ROOT, ok
from tests.git.planted import RIGHT, WRONG, findings, merged, plant
from tests.git.world import World


@contextmanager
def repository() -> Iterator[None]:
    """Work in a new repository with a memory in it."""
    with tempfile.TemporaryDirectory() as folder, world.tamed():
        os.chdir(folder)
        world.begin()
        world.commit("begin")
        yield
        os.chdir("/")


def right(number: int, seed: int) -> dict[str, Counter[str]]:
    """Make so many right merges, in turn in every way, and count those that are reported."""
    counts = {way: Counter[str]() for way in RIGHT}
    for place in range(number):
        way = list(RIGHT)[place % len(RIGHT)]
        found = findings(RIGHT[way](World(seed * 10**6 + place)))
        counts[way] += Counter(
            made=1, merges=found.merges, records=found.records, alarms=bool(found.findings)
        )
        for finding in found.findings:
            print(f"seed {place}, {way}: {finding.message}")
        ok("reset", "--quiet", "--hard")
    return counts


def wrong(number: int, seed: int) -> dict[str, Counter[str]]:
    """Plant so many mistakes of every kind, and count those that are found, and by that name."""
    counts = {kind: Counter[str]() for kind in WRONG}
    dice = Random(seed)
    place = seed * 10**4
    while any(count["planted"] < number for count in counts.values()):
        place += 1
        made = merged(place)
        for kind, (code, mistakes) in WRONG.items():
            changes = list(mistakes(made))
            if counts[kind]["planted"] < number and changes:
                commit = plant(made, dice.choice(changes))
                found = [
                    it for it in findings(made.base.tip, commit).findings if it.commit == commit
                ]
                named = code in {finding.code for finding in found}
                counts[kind] += Counter(planted=1, found=bool(found), named=named)
    return counts


def cost(memories: int, merges: int) -> tuple[float, float, float]:
    """Time checking so many merges of so many memories, in seconds.

    Returns:
        Where each merge brings together different records, where both sides of each changed one
        record, and where they changed code alone.
    """
    history = _History(memories)
    times = []
    for contested, changed in ((0, True), (1, True), (0, False)):
        start, end = history.merges(merges, contested=bool(contested), changed=changed)
        begun = time.perf_counter()
        found = findings(start, end)
        times.append(time.perf_counter() - begun)
        assert (found.merges, found.findings) == (merges, ()), found
    return times[0], times[1], times[2]


class _History:
    """A long history, written by one git process."""

    def __init__(self, memories: int) -> None:
        self._stream: list[bytes] = []
        self._marks = 0
        self._records = [_memory(number) for number in range(memories)]
        everything = {_path(record): record for record in self._records}
        self._root = self._commit([], everything)

    def merges(self, number: int, *, contested: bool, changed: bool) -> tuple[str, str]:
        """Write so many merges, one after the other; return the first and the last commit."""
        tip = start = self._root
        records = list(self._records)
        for place in range(number):
            one, two = records[place], records[place if contested else -place - 1]
            left, right_ = {**one, "pinned": True}, {**two, "category": f"c{place}"}
            both = {**left, **right_, "pinned": True} if contested else None
            a, b = ({_path(left): left}, {_path(right_): right_}) if changed else ({}, {})
            result = {_path(both): both} if both else {**a, **b}
            sides = [self._commit([tip], files) for files in (a, b)]
            tip = self._commit(sides, result if changed else {})
            for record in result.values():
                records[self._records.index(one) if record["id"] == one["id"] else -place - 1] = (
                    record
                )
        stream = [*self._stream, b"".join(_mark(mark) for mark in (start, tip))]
        ok("fast-import", "--quiet", "--force", stdin=b"".join(stream))
        return ok("rev-parse", f"refs/marks/{start}").strip(), ok(
            "rev-parse", f"refs/marks/{tip}"
        ).strip()

    def _commit(self, parents: list[int], files: dict[str, Json]) -> int:
        self._marks += 1
        text = (
            f"commit refs/heads/long\nmark :{self._marks}\ncommitter K <k@e.org> 1800000000 +0000\n"
        )
        text += f"data 5\nmerge\nfrom :{parents[0]}\n" if parents else "data 5\nmerge\n"
        text += "".join(f"merge :{parent}\n" for parent in parents[1:])
        text += f"M 100644 inline code-{self._marks}.txt\ndata 1\nx\n"
        self._stream.append(text.encode())
        for path, record in files.items():
            data = rawjson.dump(record)
            self._stream.append(f"M 100644 inline {path}\ndata {len(data)}\n".encode() + data)
        return self._marks


def _mark(mark: int) -> bytes:
    return f"reset refs/marks/{mark}\nfrom :{mark}\n\n".encode()


def _path(record: Json) -> str:
    return f"{ROOT}/long-term-memory/{record['id']}.json"


def _memory(number: int) -> Json:
    at = "2026-01-01T00:00:00Z"
    known = {"id": f"a-{number:08d}", "schema": 1, "type": "fact", "content": f"Text {number}"}
    times = {"valid_from": at, "created_at": at, "updated_at": at}
    return {**known, "category": "project", "tags": ["db"], "pinned": False, **times, "history": []}


def main() -> None:
    """Run and print tables."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--right", type=int, default=260)
    parser.add_argument("--wrong", type=int, default=25)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    begun = time.perf_counter()
    with repository():
        _table("way", ("made", "merges", "records", "alarms"), right(given.right, given.seed))
    with repository():
        _table("mistake", ("planted", "found", "named"), wrong(given.wrong, given.seed))
    with repository():
        times = cost(1000, 200)
    print(
        "200 merges of 1,000 memories: {:.2f} s; both sides changed one record: {:.2f} s;"
        " code alone: {:.2f} s".format(*times)
    )
    print(f"{time.perf_counter() - begun:.0f} s")


def _table(first: str, columns: tuple[str, ...], found: dict[str, Counter[str]]) -> None:
    print(f"| {first} | " + " | ".join(columns) + " |")
    print("|---" * (len(columns) + 1) + "|")
    for name, counts in {**found, "all": sum(found.values(), Counter())}.items():
        print(f"| {name} | " + " | ".join(str(counts[column]) for column in columns) + " |")


if __name__ == "__main__":
    main()
