"""A storm of writers: real `pmem` processes at once, killed at random instants.

`python -m tests.faults.storm --kills 1000 --writers 8` runs it at full length; the tests
run a short one. Every promise is checked from outside: what was acknowledged is there,
what several records make up is there whole or not at all, every file parses, and the next
command needs no repair.
"""

import argparse
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from tests.faults.console import PROGRAM

BATCH = 12
TRANSCRIPT = 30
SETTINGS = "max_recent_messages = 5\nchunk_size = 3\nlock_timeout = 60.0\n"
STORES = ("long-term-memory", "episodic-memory", "conversations", "conversation-chunks")
KINDS = ("add", "batch", "say", "import", "edit", "episode", "checkpoint")
TARGETS = 8
"""How many memories the edits change, one after another."""
_NEVER = 3600.0
_IN_COMMIT = -1.0
_LOCKS = "/proc/locks"
EARLY = 0.05
"""Seconds of a life in which pmem is still being loaded."""


@dataclass(frozen=True)
class Job:
    """One command: what kind, its mark in the memory, and how it is run."""

    kind: str
    mark: str
    arguments: tuple[str, ...]
    stdin: bytes


@dataclass
class Outcome:
    """What a storm did and what went wrong; every list of wrongs must stay empty."""

    started: int = 0
    killed: int = 0
    aimed: int = 0
    killed_after_answer: int = 0
    acknowledged: Counter[str] = field(default_factory=Counter)
    unacknowledged_but_kept: int = 0
    reads: int = 0
    seconds: float = 0.0
    records: int = 0
    wrongs: dict[str, list[str]] = field(default_factory=dict)

    def wrong(self, what: str, detail: str) -> None:
        """Note something that must not happen."""
        self.wrongs.setdefault(what, []).append(detail)

    def __str__(self) -> str:
        by_kind = ", ".join(f"{kind} {n}" for kind, n in sorted(self.acknowledged.items()))
        lines = [
            f"{self.started} commands, {self.killed} killed "
            f"({self.aimed} while they held the lock, {self.killed_after_answer} after answering)",
            f"{self.acknowledged.total()} acknowledged ({by_kind})",
            f"{len(self.wrongs.get('lost', []))} lost, "
            f"{self.unacknowledged_but_kept} kept though unacknowledged",
            f"{self.reads} concurrent reads, {self.records} records, {self.seconds:.1f} s",
        ]
        lines += [f"WRONG {what}: {len(items)}: {items[:3]}" for what, items in self.wrongs.items()]
        return "\n".join(lines)


class Storm:
    """Writers, readers and the killing, over one memory folder."""

    def __init__(
        self,
        place: str,
        writers: int,
        seed: int = 1,
        *,
        signal_: signal.Signals = signal.SIGKILL,
        latest: float | None = None,
    ) -> None:
        self.root = os.path.join(place, ".project-memory")
        self.outcome = Outcome()
        self._place = place
        self._writers = writers
        self._signal = signal_
        self._latest = latest
        self._random = random.Random(seed)
        self._mutex = threading.Lock()
        self._jobs: list[tuple[Job, bool]] = []
        self._lives: dict[str, list[float]] = {}
        self._doomed: dict[int, subprocess.Popen[bytes]] = {}
        self._environment = _surroundings(place)
        if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # as in a shell's background
            signal.signal(signal.SIGINT, signal.default_int_handler)
        self._command("init", "--track-conversations")
        self._command("add", "the calm before")
        with open(os.path.join(self.root, "config.toml"), "w", encoding="utf-8") as file:
            file.write(SETTINGS)
        self.conversation = json.loads(self._command("conversation", "start", "--json").stdout)[
            "data"
        ]["id"]
        lines = _json_lines({"content": f"target {number}"} for number in range(TARGETS))
        made = self._command("add", "--batch", "-", "--force", "--json", stdin=lines)
        self.targets = [item["memory"]["id"] for item in json.loads(made.stdout)["data"]["items"]]

    def write(self, jobs: int, kinds: tuple[str, ...] = KINDS, *, kills: int = 0) -> None:
        """Run so many commands; with kills, go on until so many have been killed."""
        begun = time.monotonic()
        deaths = self.outcome.killed + kills
        stop = threading.Event()
        others = [threading.Thread(target=task, args=(stop,)) for task in (self._read, self._hunt)]
        writers = [
            threading.Thread(target=self._writer, args=(number, jobs, kinds, deaths, kills > 0))
            for number in range(self._writers)
        ]
        for thread in (*others, *writers):
            thread.start()
        for thread in writers:
            thread.join()
        stop.set()
        for thread in others:
            thread.join()
        self.outcome.seconds += time.monotonic() - begun

    def judge(self) -> Outcome:
        """Look at everything that is left, and return what went wrong."""
        self._needs_no_repair()
        records = self._records()
        self.outcome.records = len(records)
        said: Counter[str] = Counter(self._threads())
        for path, record in records.items():
            said.update(_contents(path, record))
        for job, answered in self._jobs:
            self._judge_job(job, answered, said)
        self._judge_conversations(records)
        return self.outcome

    def _writer(
        self, number: int, jobs: int, kinds: tuple[str, ...], deaths: int, kill: bool
    ) -> None:
        count = 0
        while self.outcome.killed < deaths if kill else count < jobs:
            kind = kinds[(number + count) % len(kinds)]
            self._run(self._job(kind), kill=kill)
            count += 1

    def _job(self, kind: str) -> Job:
        with self._mutex:
            self.outcome.started += 1
            mark = f"mark{self.outcome.started:06d}"
        lines = b""
        if kind == "batch":
            lines = _json_lines({"content": f"{mark} item {n}"} for n in range(BATCH))
        if kind == "import":
            lines = _json_lines(
                {"conversation": mark, "id": n, "content": f"{mark} turn {n}"}
                for n in range(TRANSCRIPT)
            )
        arguments = {
            "add": ("add", mark),
            "batch": ("add", "--batch", "-"),
            "say": ("conversation", "say", mark, "--conversation", self.conversation),
            "import": ("import", "messages", "-"),
            "edit": ("edit", self.targets[self.outcome.started % TARGETS], mark),
            "episode": ("episode", "add", mark, "--title", mark),
            "checkpoint": ("checkpoint", "save", mark, "{}"),
        }[kind]
        return Job(kind, mark, arguments, lines)

    def _run(self, job: Job, *, kill: bool) -> None:
        begun = time.monotonic()
        process = self._start(job)
        delay = self._delay(job.kind) if kill else _NEVER
        timer = threading.Timer(delay, process.send_signal, (self._signal,))
        timer.daemon = True
        if delay == _IN_COMMIT:
            self._doomed[process.pid] = process
        else:
            timer.start()
        out, err = process.communicate(job.stdin)
        life = time.monotonic() - begun
        timer.cancel()
        self._doomed.pop(process.pid, None)
        self._note(job, process.returncode, out.endswith(b"\n"), life, err)

    def _note(self, job: Job, code: int, answered: bool, life: float, err: bytes) -> None:
        with self._mutex:
            self._jobs.append((job, answered))
            self.outcome.acknowledged[job.kind] += answered
            if self._ended(code, err):
                self.outcome.killed += 1
                self.outcome.killed_after_answer += answered
                if err and not _is_of_python(err):
                    self.outcome.wrong("said at its death", f"{job.kind}: {err!r}")
            elif code != 0:
                self.outcome.wrong("failed", f"{job.kind}: {code} {err!r}")
            else:
                self._lives.setdefault(job.kind, []).append(life)

    def _ended(self, code: int, err: bytes) -> bool:
        """Tell whether a signal ended a process; before pmem's first line, Python answers it."""
        return code == -self._signal or (code == 1 and _is_of_python(err))

    def _start(self, job: Job) -> "subprocess.Popen[bytes]":
        return subprocess.Popen(
            [PROGRAM, *job.arguments, "--json"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=self._place,
            env=self._environment,
        )

    def _delay(self, kind: str) -> float:
        """Draw a kill time: over the whole life, or while the writer holds the lock.

        How long a life is comes from those that were let live: the first of each kind and
        every eighth later.
        """
        with self._mutex:
            lives = self._lives.get(kind, [])[-20:]
            fate = self._random.random()
            if not lives or fate < 1 / 8:
                return _NEVER
            if self._latest is not None:
                return self._random.uniform(0.0, self._latest)
            if fate < 1 / 2:
                return _IN_COMMIT
            life = sorted(lives)[len(lives) // 2]
            return life * self._random.uniform(0.0, 1.2)

    def _hunt(self, stop: threading.Event) -> None:
        """Kill the doomed at a random instant of the commit that they are in."""
        while not stop.wait(0.001):
            for pid in _lock_holders() & self._doomed.keys():
                stop.wait(self._random.uniform(0, 0.02))
                process = self._doomed.pop(pid, None)
                if process is not None:
                    self.outcome.aimed += process.poll() is None
                    process.send_signal(self._signal)

    def _read(self, stop: threading.Event) -> None:
        """Read as others do: every command and every file must parse at every moment."""
        while not stop.is_set():
            for arguments in (("list", "-n", "50"), ("conversation", "list")):
                done = self._command(*arguments, "--json")
                try:
                    json.loads(done.stdout)
                except ValueError:
                    self.outcome.wrong("unparseable answer", f"{arguments} {done.stderr!r}")
                if done.returncode or done.stderr:
                    self.outcome.wrong("reader complained", repr(done.stderr))
            self._records()
            self.outcome.reads += 2
            stop.wait(0.25)

    def _threads(self) -> list[str]:
        """Return the threads that have a checkpoint."""
        listed = self._command("checkpoint", "list", "--json")
        return [item["thread"] for item in json.loads(listed.stdout)["data"]["items"]]

    def _records(self) -> dict[str, dict[str, Any]]:
        found: dict[str, dict[str, Any]] = {}
        for store in STORES:
            folder = os.path.join(self.root, store)
            for name in os.listdir(folder):
                path = os.path.join(folder, name)
                if name.endswith(".json") and not name.startswith("."):
                    self._parse(path, found)
        return found

    def _parse(self, path: str, found: dict[str, dict[str, Any]]) -> None:
        try:
            with open(path, "rb") as file:
                found[os.path.relpath(path, self.root)] = json.loads(file.read())
        except FileNotFoundError:
            return
        except ValueError as error:
            self.outcome.wrong("unparseable file", f"{path}: {error}")

    def _needs_no_repair(self) -> None:
        """The next commands work at once, and the next write leaves nothing lying about.

        It is a write that asks the index, which rolls back what a killed writer has left there.
        """
        checked = self._command("check", "records")
        if checked.returncode:
            self.outcome.wrong("check", checked.stdout.decode())
        mark = f"after {self.outcome.started}"
        written = self._command("add", mark)
        if written.returncode:
            self.outcome.wrong("next write", written.stderr.decode())
        for stray in self.strays():
            self.outcome.wrong("stray", stray)

    def strays(self) -> list[str]:
        """Return the files that a finished write has no use for."""
        expected = {
            "lock",
            "begun",
            "index.sqlite3",
            "state.sqlite3",
            "operations.log",
            "commands.log",
        }
        found = os.listdir(os.path.join(self.root, "local"))
        stray = [f"local/{name}" for name in found if name not in expected]
        for store in (".", *STORES):
            names = os.listdir(os.path.join(self.root, store))
            stray += [f"{store}/{name}" for name in names if name.startswith(".tmp-")]
        return stray

    def _judge_job(self, job: Job, answered: bool, said: Counter[str]) -> None:
        texts = {
            "add": [job.mark],
            "say": [job.mark],
            "edit": [job.mark],
            "episode": [job.mark],
            "checkpoint": [job.mark],
            "batch": [f"{job.mark} item {n}" for n in range(BATCH)],
            "import": [f"{job.mark} turn {n}" for n in range(TRANSCRIPT)],
        }[job.kind]
        kept = [said[text] for text in texts]
        if max(kept) > 1:
            self.outcome.wrong("duplicate", job.mark)
        if 0 < sum(kept) < len(texts):
            self.outcome.wrong("half", f"{job.kind} {job.mark}: {sum(kept)} of {len(texts)}")
        if answered and not all(kept):
            self.outcome.wrong("lost", f"{job.kind} {job.mark}")
        self.outcome.unacknowledged_but_kept += not answered and all(kept)

    def _judge_conversations(self, records: dict[str, dict[str, Any]]) -> None:
        chunks = {
            record["id"]: record
            for path, record in records.items()
            if path.startswith("conversation-chunks")
        }
        for path, record in records.items():
            if path.startswith("conversations"):
                named = [chunks.pop(identifier, None) for identifier in record["chunks"]]
                sizes = [len(chunk["messages"]) if chunk else 0 for chunk in named]
                if any(size != 3 for size in sizes) or len(record["recent_messages"]) > 5:
                    self.outcome.wrong("chunking", f"{path}: {sizes}")
                if record["turns"] != sum(sizes) + len(record["recent_messages"]):
                    self.outcome.wrong("turns", path)
        if chunks:
            self.outcome.wrong("orphaned chunks", repr(sorted(chunks)))

    def _command(self, *arguments: str, stdin: bytes = b"") -> "subprocess.CompletedProcess[bytes]":
        return subprocess.run(
            [PROGRAM, *arguments],
            input=stdin,
            capture_output=True,
            cwd=self._place,
            env=self._environment,
            check=False,
        )


def _surroundings(place: str) -> dict[str, str]:
    clean = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("PMEM_", "GIT_", "XDG_"))
    }
    return {**clean, "HOME": place, "PMEM_ACTOR": "storm", "GIT_CEILING_DIRECTORIES": place}


def _lock_holders() -> set[int]:
    """Return the processes that hold any advisory lock, where the system tells."""
    try:
        with open(_LOCKS, encoding="ascii") as file:
            return {int(words[4]) for words in map(str.split, file) if words[1] == "FLOCK"}
    except OSError:
        return set()


def _is_of_python(err: bytes) -> bool:
    """Tell whether an interrupt met Python before it came to the first line of pmem."""
    frames = [line for line in err.splitlines() if line.startswith(b'  File "')]
    ours = [line for line in frames if b"/pmem/" in line or b"site-packages/typer" in line]
    return not ours and (b"KeyboardInterrupt" in err or err.startswith(b"Fatal Python error: init"))


def _json_lines(values: Iterator[dict[str, Any]]) -> bytes:
    return b"".join(json.dumps(value).encode() + b"\n" for value in values)


def _contents(path: str, record: dict[str, Any]) -> list[str]:
    if path.startswith("long-term-memory"):
        before = [event.get("before", {}).get("content") for event in record["history"]]
        return [record["content"], *filter(None, before)]
    if path.startswith("episodic-memory"):
        return [record["title"]]
    said = [*record.get("recent_messages", ()), *record.get("messages", ())]
    return [message["content"] for message in said]


def main() -> int:
    """Run the storms that the command line asks for, and report."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=1000, help="in each of two storms")
    parser.add_argument("--signals", type=int, default=200, help="of SIGTERM, and of SIGINT")
    parser.add_argument("--writers", type=int, default=8)
    parser.add_argument("--adds", type=int, default=50, help="by each writer, without kills")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    wrong = False
    adds, kills, half = ("add",), options.kills, options.signals // 2
    dead, term, int_ = signal.SIGKILL, signal.SIGTERM, signal.SIGINT
    for title, jobs, kinds, deaths, signal_, latest in (
        (f"{options.writers} writers, {options.adds} adds each", options.adds, adds, 0, dead, None),
        (f"{kills} kills, adds alone", 0, adds, kills, dead, None),
        (f"{kills} kills, every kind", 0, KINDS, kills, dead, None),
        (f"{half} SIGTERM, at any time", 0, KINDS, half, term, None),
        (f"{half} SIGTERM, in the first 50 ms", 0, KINDS, half, term, EARLY),
        (f"{half} SIGINT, at any time", 0, KINDS, half, int_, None),
        (f"{half} SIGINT, in the first 50 ms", 0, KINDS, half, int_, EARLY),
    ):
        if not (jobs or deaths):
            continue
        with tempfile.TemporaryDirectory() as place:
            storm = Storm(place, options.writers, options.seed, signal_=signal_, latest=latest)
            storm.write(jobs, kinds, kills=deaths)
            outcome = storm.judge()
            sys.stdout.write(f"== {title}\n{outcome}\n")
            sys.stdout.flush()
            wrong = wrong or bool(outcome.wrongs)
    return int(wrong)


if __name__ == "__main__":
    sys.exit(main())
