"""A server beside a folder, by the size of the memory: `docs/benchmarks.md`.

`--sizes 100000` also sees that the plans of all queries use indexes.
`--server-only --sizes 1000000` fills the largest server that was tried: an hour and 11 GB.
"""

import argparse
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from datetime import timedelta
from itertools import accumulate, islice, product
from typing import Any, Final

import psycopg
from msgspec.structs import replace

from pmem.memory.requests import AddRequest
from pmem.operations import table
from pmem.project.setup import initialise
from pmem.project.workspace import Workspace
from pmem.search.context_request import ContextRequest
from pmem.search.hits import SearchRequest
from pmem.storage.backend import Backend, Change
from pmem.storage.postgres.records import ServerRecords
from pmem.storage.postgres.server import Server
from pmem.values.records import (
    Access,
    Event,
    EventKind,
    Memory,
    MemoryType,
    Relationship,
    State,
)
from tests.asking import ask
from tests.conftest import NOW
from tests.database.plans import recorded, scans
from tests.postgres import TestDatabase, any_server, database, served
from tests.storage.folders import json_files, memory

_BATCH: Final = 2000
_DURABLE: Final = {"fsync": "on", "full_page_writes": "on"}
"""As a server has it by default, and a folder: what is acknowledged is on the disk."""
_WORDS: Final = 20_000
_APART: Final = timedelta(minutes=6)


class Notes:
    """Texts of 24 words, the n-th commonest of which is said 1/n times as often as the first.

    People's words are as unevenly common: Zipf, Human Behavior and the Principle of Least Effort
    (1949).
    """

    def __init__(self, seed: int = 7) -> None:
        self._random = random.Random(seed)
        syllables = ["".join(pair) for pair in product("bdfgklmnprstvz", "aeiou")]
        self._words = ["".join(self._random.choices(syllables, k=3)) for _ in range(_WORDS)]
        self._shares = list(accumulate(1 / place for place in range(1, _WORDS + 1)))

    def words(self, many: int) -> str:
        return " ".join(self._random.choices(self._words, cum_weights=self._shares, k=many))

    def memories(self, many: int, first: int = 0) -> Iterator[Memory]:
        for number in range(first, first + many):
            share = round(self._random.random() * 0.6, 2)
            written = NOW - number * _APART
            yield memory(
                f"mjwaid1q-{number:08d}", self.words(24), importance=share,
                valid_from=written, created_at=written, updated_at=written,
            )  # fmt: skip


_TYPES: Final = (
    MemoryType.FACT, MemoryType.DECISION, MemoryType.FACT, MemoryType.CONSTRAINT,
    MemoryType.FACT, MemoryType.PREFERENCE, MemoryType.FACT, MemoryType.DEAD_END,
)  # fmt: skip
_IMPORTANCES: Final = (0.5, 0.4, 0.5, 0.6, 0.5, 0.8)
_FADED: Final = timedelta(days=75)
"""Facts of the least of these importances fade in so long."""


_ACTIVE: Final = {"state": "active"}


def lived(memories: Iterable[Memory]) -> Iterator[Memory]:
    """Yield memories as years of use leave them: what fades is archived but for one in a thousand,
    one in 50 was replaced by another one, one in 500 says nearly the same, one in 2,000 otherwise
    on one subject, one in ten was recalled.
    """
    before = None
    for one in memories:
        number, at, fields = int(one.id[-8:]), one.created_at, dict[str, Any]()
        events = [Event(event=EventKind.ADD, at=at, actor="tester")]
        fields["type"] = _TYPES[number % len(_TYPES)]
        fields["importance"] = _IMPORTANCES[number % len(_IMPORTANCES)]
        if number % 2000 in (1, 21):
            fields["subject"] = f"case {number // 2000}"
            fields["content"] = f"The timeout of the case is {number} seconds."
        elif number % 20 == 1:
            fields["subject"] = f"subject {number}"
        if number % 10 == 7:
            fields["access"] = Access(count=number % 6 + 1, last_at=at + _APART)
        if before and number % 50 == 3:
            fields["state"], by = State.SUPERSEDED, {"by": before.id}
            events.append(
                Event(event=EventKind.SUPERSEDE, at=at + _APART, before=_ACTIVE, detail=by)
            )
        elif fields["type"] is MemoryType.FACT and number % 1000 and at < NOW - _FADED:
            fields["state"] = State.ARCHIVED
            events.append(Event(event=EventKind.ARCHIVE, at=at + _FADED, before=_ACTIVE))
        elif before and number % 500 == 9:
            fields["content"] = f"{before.content} {one.content.split()[0]}"
            near = Relationship(target=before.id, type="related_to", strength=0.96, created_at=at)
            fields["relationships"] = (near,)
        before = replace(one, history=tuple(events), **fields)
        yield before


def fill(
    backend: Backend, many: int, kind: Callable[[Iterable[Memory]], Iterable[Memory]] = iter
) -> float:
    """Write memories, and return how many seconds that took."""
    begun = time.perf_counter()
    notes = iter(kind(Notes().memories(many)))
    while batch := [Change(Memory, each.id, each) for each in islice(notes, _BATCH)]:
        with backend.lock():
            backend.commit(batch)
    return time.perf_counter() - begun


def measured(opened: Callable[[], Workspace], runs: int) -> dict[str, list[float]]:
    """Return the milliseconds of each command, run by run."""
    notes = Notes()
    commands: dict[str, Callable[[], object]] = {
        "search": lambda: ask(opened(), table.SEARCH, SearchRequest(query=notes.words(3))),
        "context": lambda: ask(
            opened(), table.CONTEXT,
            ContextRequest(query=notes.words(3), budget=1000, omitted=False),
        ),
        "add": lambda: ask(opened(), table.ADD, AddRequest(content=notes.words(24), force=True)),
    }  # fmt: skip
    found: dict[str, list[float]] = {}
    for name, command in commands.items():
        command()  # what only a first run does
        for _ in range(runs):
            begun = time.perf_counter()
            command()
            found.setdefault(name, []).append((time.perf_counter() - begun) * 1000)
    return found


def _after_one_add(root: str, server: Server) -> None:
    """Print how long commands take that look at all of it, each after one `add`."""
    with open(os.path.join(root, "config.toml"), "a", encoding="utf-8") as settings:
        settings.write(f'database_project = "{server.project}"\n')
    run = [sys.executable, "-m", "pmem"]
    given: Any = {
        "env": {**os.environ, "PMEM_DATABASE": server.address},
        "cwd": os.path.dirname(root),
    }
    given |= {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    subprocess.run([*run, "check"], check=False, **given)  # the first one reads every record
    print("\n| after one `add` | seconds |\n|---|---|")
    for command in ("stats", "check", "inbox --list"):
        subprocess.run([*run, "add", f"The mailer waits before {command}."], check=True, **given)
        begun = time.perf_counter()
        subprocess.run([*run, *command.split()], check=False, **given)
        print(f"| `{command}` | {time.perf_counter() - begun:.1f} |")


def _row(name: str, times: list[float]) -> str:
    ordered = sorted(times)
    worst = ordered[min(len(ordered) - 1, int(len(ordered) * 0.99))]
    return f"| {name} | {statistics.median(ordered):.1f} | {worst:.1f} |"


def _compare(
    made: TestDatabase, size: int, runs: int, root: str, *, with_folder: bool, is_lived: bool
) -> None:
    initialise(root)
    server = Server(made.address, made.new_project(), lambda: 30.0)
    seconds = {"server": fill(ServerRecords(server), size, lived if is_lived else iter)}
    sides: dict[str, Callable[[], Workspace]] = {"server": lambda: served(root, server, now=None)}
    if with_folder:
        seconds["folder"] = fill(json_files(root), size)
        sides["folder"] = lambda: Workspace(root, actor="tester")
    with psycopg.connect(made.address, autocommit=True) as connection:
        connection.execute("vacuum analyze")
        (room,) = connection.execute("select pg_database_size(current_database())").fetchone() or (
            0,
        )
    print(f"\n{size:,} memories; filled in {seconds}; database {room / 1e6:.0f} MB\n")
    print("| ms | p50 | p99 |\n|---|---|---|")
    for side, opened in sides.items():
        for name, times in measured(opened, runs).items():
            print(_row(f"{name}, {side}", times))
    if is_lived:
        _after_one_add(root, server)
    if size >= 100_000:
        asked = recorded(lambda: measured(sides["server"], 1))
        with psycopg.connect(made.address, autocommit=True) as connection:
            connection.execute("set enable_seqscan = off")  # where an index would do, it is taken
            assert scans(connection, asked) == [], "a query reads a whole table"
        print("\nevery query is answered from indexes")


def main() -> None:
    """Measure and print Markdown."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sizes", type=int, nargs="+", default=[1000, 10_000])
    parser.add_argument("--runs", type=int, default=30)
    parser.add_argument("--server-only", action="store_true", help="measure no folder beside it")
    parser.add_argument("--lived", action="store_true", help="fill it as years of use leave it")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as base, any_server(**_DURABLE) as address:
        for size in given.sizes:
            with database(address) as made:
                root = os.path.join(base, f"folder-{size}", ".project-memory")
                alone = given.server_only or given.lived
                _compare(made, size, given.runs, root, with_folder=not alone, is_lived=given.lived)


if __name__ == "__main__":
    main()
