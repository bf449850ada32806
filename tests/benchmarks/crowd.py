"""Many processes that each run `pmem add` at once, on one project: `docs/benchmarks.md`.

`python -m tests.benchmarks.crowd --processes 40 200` starts a server that takes as many connections
as PostgreSQL does by default. A line for each size says how many were told that their memory is
kept, how many were told no, and how many of those that were told yes are not there; below it stand
the sentences of those who were told no.
"""

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

import psycopg

from pmem.project.setup import initialise
from tests.postgres import TestDatabase, database, server


class Told(NamedTuple):
    """What one process said, and how long it took."""

    text: str
    code: int
    said: str
    seconds: float


class Crowd(NamedTuple):
    """How it went."""

    told: Sequence[Told]
    lost: int
    seconds: float

    @property
    def refused(self) -> Counter[tuple[int, str]]:
        """How many were told no, by exit code and sentence."""
        return Counter((one.code, one.said) for one in self.told if one.code)

    def __str__(self) -> str:
        times = sorted(one.seconds for one in self.told)
        middle, worst = (times[min(len(times) - 1, int(len(times) * part))] for part in (0.5, 0.99))
        many, no = len(self.told), self.refused.total()
        return (
            f"{many} at once: {many - no} kept, {no} refused, {self.lost} lost,"
            f" {self.seconds:.1f} s; each {middle:.1f} s (p50), {worst:.1f} s (p99)"
        )


def crowd(made: TestDatabase, folder: str, processes: int) -> Crowd:
    """Let many processes add a memory each at once.

    Args:
        made: Where the project is made.
        folder: An empty folder for the project.
        processes: How many.
    """
    key = made.new_project("crowd")
    memory = os.path.join(folder, ".project-memory")
    initialise(memory)
    with open(os.path.join(memory, "config.toml"), "a", encoding="utf-8") as file:
        file.write(f'\ndatabase_project = "{key}"\n')
    environment = {**os.environ, "PMEM_DATABASE": made.address, "HOME": folder}
    program = os.path.join(os.path.dirname(sys.executable), "pmem")

    def add(number: int) -> Told:
        text = f"Process {number} of {processes} was here."
        begun = time.perf_counter()
        done = subprocess.run(
            [program, "add", "--force", text],
            cwd=folder, env=environment, capture_output=True, text=True, check=False,
        )  # fmt: skip
        return Told(text, done.returncode, done.stderr.strip(), time.perf_counter() - begun)

    begun = time.perf_counter()
    with ThreadPoolExecutor(processes) as pool:
        told = list(pool.map(add, range(processes)))
    seconds = time.perf_counter() - begun
    held = _contents(made, key)
    return Crowd(told, sum(not one.code and one.text not in held for one in told), seconds)


def _contents(made: TestDatabase, key: str) -> set[str]:
    query = (
        "select body ->> 'content' from pmem.record where project ="
        " (select number from pmem.project where key = %s)"
    )
    with psycopg.connect(made.address) as connection:
        return {content for (content,) in connection.execute(query, (key,))}


def main() -> None:
    """Measure, and print a line for each size."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--processes", type=int, nargs="+", default=[40, 200])
    parser.add_argument("--connections", default="100")
    given = parser.parse_args()
    with server(max_connections=given.connections, fsync="on") as address:
        for processes in given.processes:
            with tempfile.TemporaryDirectory() as base, database(address) as made:
                found = crowd(made, base, processes)
                print(found)
                for (code, said), many in found.refused.most_common(5):
                    print(f"  {many} times exit code {code}: {said}")


if __name__ == "__main__":
    main()
