"""Mixed load on `pmem serve`, while commands and git change the same folder: is anything lost?

`python -m tests.faults.serving --seconds 600 --connections 10000 --described 40` runs it at full
length; without options it takes half a minute. What was acknowledged must be there at the end, each
change must have been told, the server's memory must not grow, and it must answer after all of it.
"""

import argparse
import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.client import HTTPConnection, HTTPException
from typing import Any, Final

from pmem import Project
from tests.faults.console import PROGRAM

WRITERS: Final = 100
GROWTH: Final = 1.25
"""How much larger the server may be at the end than after a third of the time."""
TOKEN: Final = "a-token-for-this-trial-alone"
WORDS: Final = (
    "queue office server review table lamp river garden paper engine harbour winter".split()
)


class Load:
    """What clients do to a server, and what they were told."""

    def __init__(self, port: int, folder: str) -> None:
        self.port, self.folder = port, folder
        self.acknowledged: list[str] = []
        self.heard: set[str] = set()
        self.seconds: dict[str, list[float]] = {"read": [], "write": []}
        self.wrong: list[str] = []
        self.hears, self.is_over = threading.Event(), threading.Event()
        self.is_all_written = threading.Event()

    def ask(self, kind: str, method: str, path: str, body: Any = None) -> Any:
        """Return what a server answers, and note how long that took."""
        started = time.perf_counter()
        connection = HTTPConnection("127.0.0.1", self.port, timeout=60)
        try:
            data = None if body is None else json.dumps(body)
            headers = {"Authorization": f"Bearer {TOKEN}", "Content-Type": "application/json"}
            connection.request(method, path, data, headers)
            response = connection.getresponse()
            answer = json.loads(response.read())
            if response.status >= 400:
                self.wrong.append(f"{response.status} {path}: {answer}")
            return answer
        except (OSError, HTTPException) as error:
            self.wrong.append(f"{path}: {error!r}")
            return {}
        finally:
            connection.close()
            self.seconds[kind].append(time.perf_counter() - started)

    def write(self, name: str) -> None:
        """Add a memory that says something no other one says."""
        content = f"The {name} of {os.urandom(6).hex()} stands."
        added = self.ask("write", "POST", "/pmem/1/add", {"content": content, "force": True})
        if "data" in added:
            self.acknowledged.append(added["data"]["memory"]["id"])

    def writing(self, number: int) -> None:
        """Write until it is over."""
        while not self.is_over.is_set():
            self.write(WORDS[number % len(WORDS)])

    def reading(self, number: int) -> None:
        """Read in every way until it is over."""
        word = WORDS[number % len(WORDS)]
        while not self.is_over.is_set():
            self.ask("read", "POST", "/pmem/1/search", {"query": word, "top_k": 5})
            self.ask("read", "POST", "/pmem/1/list", {"limit": 20})
            self.ask("read", "POST", "/pmem/1/context", {"query": word, "budget": 500})
            self.ask("read", "GET", "/healthz")

    def listening(self) -> None:
        """Hear of changes until all that was written was told."""
        connection = HTTPConnection("127.0.0.1", self.port, timeout=60)
        connection.request("GET", "/api/events", headers={"Authorization": f"Bearer {TOKEN}"})
        response = connection.getresponse()
        while line := response.readline():
            self.hears.set()
            if line.startswith(b"data: ") and b'"id"' in line:
                self.heard.add(json.loads(line[6:])["id"])
            if self.is_all_written.is_set() and self.heard.issuperset(self.acknowledged):
                break
        connection.close()

    def commanding(self) -> None:
        """Add memories by the command line until it is over."""
        while not self.is_over.is_set():
            text = f"The command of {os.urandom(6).hex()} ran."
            done = subprocess.run(
                [PROGRAM, "add", text, "--force", "--json"],
                cwd=self.folder, capture_output=True, check=False,
            )  # fmt: skip
            if done.returncode:
                self.wrong.append(f"add: {done.stderr.decode()}")
            else:
                self.acknowledged.append(json.loads(done.stdout)["data"]["memory"]["id"])

    def committing(self) -> None:
        """Commit, and check out what was there before and back, until it is over."""
        while not self.is_over.is_set():
            git(self.folder, "add", "-A")
            git(self.folder, "commit", "-qm", "More", "--no-verify", "--allow-empty")
            self.is_over.wait(0.5)

    def coming_and_going(self) -> None:
        """Connect, say something or nothing, and leave, until it is over."""
        while not self.is_over.is_set():
            with socket.create_connection(("127.0.0.1", self.port)) as raw:
                raw.sendall(b"GET /api/events HTTP/1.1\r\nHost: localhost\r\n")
            self.is_over.wait(0.01)


def git(folder: str, *words: str) -> None:
    """Run git in a folder."""
    name = ("-c", "user.name=Ada", "-c", "user.email=ada@example.org")
    subprocess.run(["git", *name, *words], cwd=folder, check=False, capture_output=True)


@contextmanager
def served(folder: str) -> Iterator[tuple[int, int]]:
    """Serve a folder, and give the port and the process."""
    process = subprocess.Popen(
        [PROGRAM, "serve", "--port", "0", "--json"], cwd=folder, stdout=subprocess.PIPE,
        env={**os.environ, "PMEM_TOKEN": TOKEN, "HOME": folder},
    )  # fmt: skip
    assert process.stdout is not None
    address = json.loads(process.stdout.readline())["data"]["address"]
    try:
        yield int(address.rpartition(":")[2].strip("/")), process.pid
    finally:
        process.terminate()
        assert process.wait(20) == 0, "the server did not end as it was told"


def together(works: list[Callable[[], None]]) -> list[threading.Thread]:
    """Begin several things at once."""
    threads = [threading.Thread(target=work, daemon=True) for work in works]
    for thread in threads:
        thread.start()
    return threads


def megabytes(process: int) -> float:
    """Return how large a process is."""
    with open(f"/proc/{process}/status", encoding="ascii") as file:
        (line,) = (line for line in file if line.startswith("VmRSS"))
    return int(line.split()[1]) / 1024


def at(share: float, seconds: list[float]) -> str:
    """Return the time that a share of requests took at the most."""
    ordered = sorted(seconds)
    return f"{ordered[int(share * (len(ordered) - 1))] * 1000:.0f} ms" if ordered else "none"


def mixed(load: Load, process: int, seconds: float) -> None:
    """Do everything at once for some time."""
    works: list[Callable[[], None]] = [load.commanding, load.committing, load.coming_and_going]
    works += [lambda n=n: load.writing(n) for n in range(2)]  # type: ignore[misc]
    works += [lambda n=n: load.reading(n) for n in range(3)]  # type: ignore[misc]
    listener = together([load.listening])
    load.hears.wait(30)
    threads = together(works)
    time.sleep(seconds / 3)
    before = megabytes(process)
    time.sleep(seconds * 2 / 3)
    after = megabytes(process)
    load.is_over.set()
    for thread in threads:
        thread.join(60)
    load.write("end")
    load.is_all_written.set()  # the next change, or a sign of life, ends the listening
    listener[0].join(30)
    print(f"  {len(load.acknowledged)} writes, {len(load.seconds['read'])} reads")
    for kind, taken in load.seconds.items():
        print(f"  {kind}: median {at(0.5, taken)}, p99 {at(0.99, taken)}")
    print(f"  the server had {before:.0f} MB after a third of the time, {after:.0f} MB at the end")
    if after > before * GROWTH:
        load.wrong.append("the server has grown")
    unheard = set(load.acknowledged) - load.heard
    if unheard:
        load.wrong.append(f"{len(unheard)} changes were told to nobody")


def at_once(load: Load) -> None:
    """Have many write at the same moment."""
    load.seconds["write"] = []
    for thread in together([lambda: load.write("crowd")] * WRITERS):
        thread.join(120)
    taken = load.seconds["write"]
    print(f"  {WRITERS} writers at once: median {at(0.5, taken)}, p99 {at(0.99, taken)}")


def in_turn(load: Load, many: int) -> None:
    """Open connections one after another."""
    started = time.perf_counter()
    for _ in range(many):
        with socket.create_connection(("127.0.0.1", load.port), timeout=10) as raw:
            raw.sendall(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
            if not raw.recv(12).endswith(b"200"):
                load.wrong.append("a connection got no answer")
    taken = (time.perf_counter() - started) / max(many, 1)
    print(f"  {many} connections in turn, {taken * 1000:.1f} ms each")


def described(load: Load, examples: int) -> None:
    """Let schemathesis ask whatever the description allows, and what it does not."""
    done = subprocess.run(
        [
            os.path.join(os.path.dirname(sys.executable), "schemathesis"), "run",
            f"http://127.0.0.1:{load.port}/openapi.json", "-H", f"Authorization: Bearer {TOKEN}",
            "--phases", "examples,coverage,fuzzing,stateful", "-n", str(examples),
            "--exclude-checks", "positive_data_acceptance",  # no schema knows which ids there are
            "--exclude-path", "/api/events", "--no-color",
        ],
        cwd=load.folder, capture_output=True, text=True, check=False,
    )  # fmt: skip
    print("  " + done.stdout.strip().splitlines()[-1].strip("= "))
    if done.returncode:
        load.wrong.append(done.stdout)


def main() -> int:
    """Run the trial, and return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=20)
    parser.add_argument("--connections", type=int, default=500)
    parser.add_argument("--described", type=int, default=0, help="examples of schemathesis")
    given = parser.parse_args()
    folder = tempfile.mkdtemp()
    try:
        git(folder, "init", "-q", "--template=")
        root = os.path.join(folder, ".project-memory")
        Project(root).add_all([])
        with served(folder) as (port, process):
            load = Load(port, folder)
            mixed(load, process, given.seconds)
            at_once(load)
            in_turn(load, given.connections)
            lost = set(load.acknowledged) - {each.id for each in Project(root).list().items}
            if lost:
                load.wrong.append(f"{len(lost)} acknowledged writes are lost")
            if given.described:
                described(load, given.described)
            load.ask("read", "GET", "/api/memory/")
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    for sentence in load.wrong[:20]:
        print(f"WRONG: {sentence}")
    print("nothing is lost" if not load.wrong else f"{len(load.wrong)} things went wrong")
    return bool(load.wrong)


if __name__ == "__main__":
    sys.exit(main())
