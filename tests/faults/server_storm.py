"""Writers on one server whose connections are cut, and who are killed, at random instants.

`python -m tests.faults.server_storm --terminations 2000 --kills 1000 --writers 16` is the whole
of it. What a writer was told is done must be there afterwards, nothing may be there by half, and
what searches are answered from must be what the records say. Nobody repairs anything.
"""

import argparse
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any, Final, NamedTuple

import psycopg

from pmem.core.retrieval.documents import entries
from pmem.core.retrieval.pool import label_of
from pmem.errors import Locked, Unfinished
from pmem.memory.requests import AddRequest, EditRequest
from pmem.operations import table
from pmem.project.setup import initialise
from pmem.storage.files.recordfile import parse
from pmem.storage.postgres.server import Server
from pmem.values.records import RECORD_TYPES
from tests.asking import ask
from tests.postgres import TestDatabase, any_server, database, served

_TERMINATE: Final = (
    "select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'pmem'"
    " and datname = current_database() order by random() limit 1"
)
_WAITING: Final = 60.0
_PAUSE: Final = (0.0, 0.4)
"""Seconds between two blows, at the least and at the most."""


class StormResult(NamedTuple):
    """What a storm did, and what was wrong afterwards."""

    terminations: int
    kills: int
    acknowledged: int
    doubtful: int
    faults: list[str]


def write(address: str, key: str, root: str, name: str) -> None:
    """Write until somebody ends it, and say on standard output what was acknowledged."""
    server = Server(address, key, lambda: _WAITING)
    mine: list[str] = []
    for number in range(10**6):
        text = f"Writer {name} says {number}."
        try:
            workspace = served(root, server, now=None)
            if mine and number % 4 == 0:
                identifier = mine[number % len(mine)]
                ask(workspace, table.EDIT, EditRequest(reference=identifier, content=text))
            else:
                done = ask(workspace, table.ADD, AddRequest(content=text, force=True))
                identifier = done.memory.id
                mine.append(identifier)
        except Unfinished:
            _say(f"doubt {name} {number}")
            continue
        except Locked:
            continue
        _say(f"done {identifier} {text}")


def storm(made: TestDatabase, *, terminations: int, kills: int, writers: int) -> StormResult:
    """Let writers write while connections are cut and processes killed."""
    key = made.new_project("storm")
    cut = killed = 0
    with tempfile.TemporaryDirectory() as base:
        root = os.path.join(base, "memory")
        initialise(root)
        crowd = [_Writer(made.address, key, root, str(number)) for number in range(writers)]
        try:
            with psycopg.connect(made.address, autocommit=True, application_name="storm") as admin:
                while cut < terminations or killed < kills:
                    time.sleep(random.uniform(*_PAUSE))
                    if cut < terminations:
                        cut += len(admin.execute(_TERMINATE).fetchall())
                    if killed < kills and random.random() < 2 * kills / max(terminations, kills):
                        killed += random.choice(crowd).kill_and_start_again()
                time.sleep(1.0)
        finally:
            told = [line for writer in crowd for line in writer.end()]
    done = [line.split(" ", 2)[1:] for line in told if line.startswith("done ")]
    doubtful = sum(line.startswith("doubt ") for line in told)
    faults = [line for line in told if line.startswith("fault ")]
    faults += list(_faults(made.address, key, done))
    return StormResult(cut, killed, len(done), doubtful, faults)


class _Writer:
    """A process that writes, and a new one in its place when it is killed."""

    def __init__(self, *arguments: str) -> None:
        self._arguments = arguments
        self._generation = 0
        self._log = tempfile.TemporaryFile()  # noqa: SIM115 - closed at the end
        self._start()

    def _start(self) -> None:
        *others, name = self._arguments
        command = [sys.executable, "-m", "tests.faults.server_storm", "--write", *others]
        self._process = subprocess.Popen(
            [*command, f"{name}.{self._generation}"], stdout=self._log, stderr=self._log
        )
        self._generation += 1

    def kill_and_start_again(self) -> int:
        self._process.kill()
        self._process.wait()
        self._start()
        return 1

    def end(self) -> list[str]:
        """End it, and return every whole line that it said."""
        self._process.send_signal(signal.SIGTERM)
        code = self._process.wait()
        self._log.seek(0)
        lines = self._log.read().decode().split("\n")[:-1]
        self._log.close()
        known = [line for line in lines if line.startswith(("done ", "doubt "))]
        strange = [line for line in lines if line not in known]
        if code != -signal.SIGTERM or strange:
            known.append(f"fault a writer ended with {code}: {strange[-3:]}")
        return known


def _faults(address: str, key: str, done: list[list[str]]) -> Iterator[str]:
    """Yield what is lost, what is half there, and what searches would be told wrongly."""
    with psycopg.connect(address, autocommit=True) as connection:
        query = "select number from pmem.project where key = %s"
        (project,) = connection.execute(query, (key,)).fetchone() or (0,)
        query = "select store, id, data from pmem.record where project = %s"
        rows = connection.execute(query, (project,)).fetchall()
        held = {id_: data for _, id_, data in rows}
        for identifier, text in done:
            if text.encode() not in held.get(identifier, b""):
                yield f"{identifier} does not say: {text}"
        records = [parse(data, RECORD_TYPES[store], id_) for store, id_, data in rows]
        yield from _wrong_postings(connection, project, records)


def _wrong_postings(connection: Any, project: int, records: list[Any]) -> Iterator[str]:
    wanted: set[tuple[str, str, int, float]] = set()
    totals: dict[str, list[float]] = {}
    for record in records:
        for entry in entries(record):
            label, number = label_of(entry), entry.document.number
            wanted |= {(label, term, number, many) for term, many in entry.frequencies.items()}
            known = totals.setdefault(label, [0, 0.0])
            known[0] += 1
            known[1] += entry.document.length
    query = "select label, term, document, count from pmem.posting where project = %s"
    found = set(connection.execute(query, (project,)).fetchall())
    if found != wanted:
        yield f"{len(found ^ wanted)} postings are not what the records say"
    query = "select label, documents, length from pmem.total where project = %s"
    counted = {row[0]: list(row[1:]) for row in connection.execute(query, (project,))}
    if counted != totals:
        yield f"counted {counted}, and there are {totals}"


def _say(line: str) -> None:
    os.write(1, f"{line}\n".encode())


@contextmanager
def _storm_database() -> Iterator[TestDatabase]:
    with any_server() as address, database(address) as made:
        yield made


def main() -> int:
    """Run a storm, and say how it went."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--terminations", type=int, default=200)
    parser.add_argument("--kills", type=int, default=100)
    parser.add_argument("--writers", type=int, default=16)
    parser.add_argument("--write", nargs=4)
    given = parser.parse_args()
    if given.write:
        with suppress(KeyboardInterrupt):
            write(*given.write)
        return 0
    with _storm_database() as made:
        found = storm(
            made, terminations=given.terminations, kills=given.kills, writers=given.writers
        )
    print(found._replace(faults=found.faults[:5]))
    return 1 if found.faults else 0


if __name__ == "__main__":
    sys.exit(main())
