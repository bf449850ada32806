"""A storm of threads on one `Project`: every answer is judged, and nothing may crash.

`python -m tests.faults.threads --rounds 20 --seconds 60` runs it at full length, each round in a
process of its own; the tests run a short one. Threads search, build contexts, add and edit, while
another process edits by the command line's way and an editor rewrites a file in place.

Each target is a memory that counts up: `dial 3 reads 000017`. Whoever changes it notes the number
before it begins and after it is done. An answer must not be older than the number that was done
when its call began (less the moment that is allowed), nor newer than what was begun at its end.
"""

import argparse
import json
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter, deque
from collections.abc import Callable
from typing import Any, Final

from pmem import Memory, Project
from pmem.storage.index.current_index import TRUST_SECONDS

DIALS: Final = 6
INSIDE: Final = (0, 1)
"""Dials that threads turn, others by another process and the last ones by an editor."""
OUTSIDE: Final = (2, 3)
EDITED: Final = (4, 5)
THREADS: Final = 8
ROUND: Final = 60.0
_READING: Final = re.compile(r"dial (\d) reads (\d{6})")
_ELSEWHERE: Final = """
import sys
from pmem import Project
project = Project(sys.argv[1], actor="elsewhere", lock_timeout=60.0)
for line in sys.stdin:
    id_, content = line.rstrip().split(" ", 1)
    project.edit(id_, content)
    print("done", flush=True)
"""


class Dial:
    """A memory that counts up, and when each number was begun and done."""

    def __init__(self, number: int, id_: str) -> None:
        self.number = number
        self.id = id_
        self.begun = 0
        self.done: deque[tuple[float, int]] = deque([(0.0, 0)])
        self.turning = threading.Lock()

    def content(self, count: int) -> str:
        """Return what the memory says."""
        return f"dial {self.number} reads {count:06d}"

    def done_by(self, moment: float) -> int:
        """Return the last number that was done at a moment."""
        return max(count for at, count in list(self.done) if at <= moment)

    def turn(self, write: Callable[[str, str], None]) -> None:
        """Count up by one: `write` gets the id and the new content."""
        with self.turning:
            self.begun += 1
            write(self.id, self.content(self.begun))
            self.done.append((time.monotonic(), self.begun))


class Storm:
    """Threads, another process and an editor on one memory folder."""

    def __init__(self, place: str, seed: int) -> None:
        self.root = os.path.join(place, ".project-memory")
        self.project = Project(self.root, actor="storm", lock_timeout=60.0)
        self.seed = seed
        self.wrongs: list[str] = []
        self.calls: Counter[str] = Counter()
        self.added: deque[str] = deque()
        ids = [self._add(f"dial {number} reads 000000") for number in range(DIALS)]
        self.dials = [Dial(number, id_) for number, id_ in enumerate(ids)]
        for number in range(40):
            self._add(f"The calm before, remark {number} on ovens and doors")
        self.acts: tuple[tuple[str, Callable[[random.Random], None]], ...] = (
            ("search", self.search),
            ("search", self.search),
            ("context", self.context),
            ("show", self.show),
            ("list", self.listing),
            ("add", self.add),
            ("edit", self.edit),
        )

    def run(self, calls: int, seconds: float) -> None:
        """Let every thread make so many calls, or go on for so long, whichever is first."""
        until = time.monotonic() + seconds
        over = threading.Event()
        busy = [
            threading.Thread(target=self._work, args=(number, calls, until))
            for number in range(THREADS)
        ]
        others = [
            threading.Thread(target=self._guard, args=(act, over))
            for act in (self._elsewhere, self._editor)
        ]
        for thread in (*busy, *others):
            thread.start()
        for thread in busy:
            thread.join()
        over.set()
        for thread in others:
            thread.join()
        self._judge_the_end()

    def search(self, chance: random.Random) -> None:
        """Search for a dial by what it always says, and see which number it shows."""
        dial = chance.choice(self.dials)
        began = time.monotonic()
        found = self.project.search(f"dial {dial.number} reads", top_k=30)
        self._judge("search", [hit.text for hit in found.hits], dial, began)
        if self.added:
            mark = self.added[-1]
            if mark not in [hit.text for hit in self.project.search(mark).hits]:
                self.wrongs.append(f"search: {mark!r} was added and is not found")

    def context(self, chance: random.Random) -> None:
        """Build a context for a dial."""
        dial = chance.choice(self.dials)
        began = time.monotonic()
        built = self.project.build_context(f"dial {dial.number} reads", budget=2000)
        self._judge("context", [built.text], dial, began)

    def show(self, chance: random.Random) -> None:
        """Show a dial, which is read anew: nothing may lag."""
        dial = chance.choice(self.dials)
        began = time.monotonic()
        shown = self.project.show(dial.id)
        assert isinstance(shown, Memory)
        self._judge("show", [shown.content], dial, began, lag=0.0)

    def listing(self, chance: random.Random) -> None:
        """List everything; all dials are there, and none of them lags."""
        began = time.monotonic()
        texts = [memory.content for memory in self.project.list().items]
        self._judge("list", texts, chance.choice(self.dials), began, lag=0.0)

    def add(self, chance: random.Random) -> None:
        """Add a memory that nobody else adds."""
        mark = f"remark {chance.getrandbits(60):x}"
        self._add(mark)
        self.added.append(mark)

    def edit(self, chance: random.Random) -> None:
        """Turn one of the threads' own dials."""

        def write(id_: str, content: str) -> None:
            self.project.edit(id_, content)

        self.dials[chance.choice(INSIDE)].turn(write)

    def _add(self, content: str) -> str:
        return self.project.add(content, force=True).memory.id

    def _work(self, number: int, calls: int, until: float) -> None:
        chance = random.Random(self.seed * 1000 + number)

        def work(over: threading.Event) -> None:
            for _ in range(0 if over.is_set() else calls):
                if time.monotonic() > until:
                    return
                name, act = chance.choice(self.acts)
                act(chance)
                self.calls[name] += 1

        self._guard(work, threading.Event())

    def _guard(self, act: Callable[[threading.Event], None], over: threading.Event) -> None:
        try:
            act(over)
        except BaseException as error:
            self.wrongs.append(f"{threading.current_thread().name}: {error!r}")

    def _elsewhere(self, over: threading.Event) -> None:
        """Let another process turn dials, until all is over."""
        with subprocess.Popen(
            [sys.executable, "-c", _ELSEWHERE, self.root],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        ) as process:
            assert process.stdin
            assert process.stdout

            def write(id_: str, content: str) -> None:
                print(id_, content, file=process.stdin, flush=True)
                if process.stdout.readline() != "done\n":  # type: ignore[union-attr]
                    raise AssertionError("the other process gave up")

            while not over.is_set():
                for number in OUTSIDE:
                    self.dials[number].turn(write)
            process.stdin.close()

    def _editor(self, over: threading.Event) -> None:
        """Rewrite files past pmem: one in place, one by a new file in its place."""

        def in_place(id_: str, content: str) -> None:
            path = self._path(id_)
            data = _READING.sub(content, _text(path)).encode()
            with open(path, "r+b") as file:
                os.pwrite(file.fileno(), data, 0)  # the same length, so never half

        def anew(id_: str, content: str) -> None:
            path = self._path(id_)
            with open(path + "~", "w", encoding="utf-8") as file:
                file.write(_READING.sub(content, _text(path)))
            os.replace(path + "~", path)

        while not over.is_set():
            self.dials[EDITED[0]].turn(in_place)
            self.dials[EDITED[1]].turn(anew)
            over.wait(0.01)

    def _path(self, id_: str) -> str:
        return os.path.join(self.root, "long-term-memory", f"{id_}.json")

    def _judge(
        self, what: str, texts: list[str], dial: Dial, began: float, lag: float = TRUST_SECONDS
    ) -> None:
        """See that a dial is in an answer, and shows what it may show."""
        counts = [
            int(count)
            for text in texts
            for number, count in _READING.findall(text)
            if int(number) == dial.number
        ]
        oldest, newest = dial.done_by(began - lag), dial.begun
        if not counts:
            self.wrongs.append(f"{what}: dial {dial.number} is missing")
        elif not oldest <= min(counts) <= max(counts) <= newest:
            self.wrongs.append(f"{what}: {counts} of {oldest} to {newest}")

    def _judge_the_end(self) -> None:
        texts = Counter(memory.content for memory in self.project.list().items)
        expected = [*self.added, *(dial.content(dial.begun) for dial in self.dials)]
        self.wrongs += [f"lost or doubled: {text}" for text in expected if texts[text] != 1]
        if self.project.problems or self.project.check().findings:
            self.wrongs.append(f"unsound: {self.project.problems}, {self.project.check().findings}")


def _text(path: str) -> str:
    with open(path, encoding="utf-8") as file:
        return file.read()


def round_of(calls: int, seconds: float, seed: int) -> dict[str, Any]:
    """Run one round here, and return what was done and what was wrong."""
    memory = "/dev/shm"
    place = tempfile.mkdtemp(dir=memory if os.path.isdir(memory) else None)
    try:
        storm = Storm(place, seed)
        storm.run(calls, seconds)
    finally:
        shutil.rmtree(place, ignore_errors=True)
    turned = {f"dial {dial.number}": dial.begun for dial in storm.dials}
    return {"calls": dict(storm.calls), "turned": turned, "wrongs": storm.wrongs}


def apart(calls: int, seconds: float, seed: int) -> tuple[int, dict[str, Any]]:
    """Run one round in a process of its own; return its exit code, and what it told."""
    words = ["--calls", str(calls), "--seconds", str(seconds), "--seed", str(seed), "--here"]
    done = subprocess.run(
        [sys.executable, "-X", "faulthandler", "-m", "tests.faults.threads", *words],
        capture_output=True,
        text=True,
        check=False,
    )
    try:
        return done.returncode, json.loads(done.stdout)
    except ValueError:
        return done.returncode, {"wrongs": [done.stderr[-2000:]]}


def main() -> int:
    """Run rounds, and report."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--seconds", type=float, default=ROUND)
    parser.add_argument("--calls", type=int, default=10**9)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--here", action="store_true", help="one round in this process")
    given = parser.parse_args()
    if given.here:
        sys.stdout.write(json.dumps(round_of(given.calls, given.seconds, given.seed)) + "\n")
        return 0
    wrong = 0
    for number in range(given.rounds):
        code, told = apart(given.calls, given.seconds, given.seed + number)
        wrong += bool(code or told["wrongs"])
        sys.stdout.write(f"round {number + 1}: exit {code}, {json.dumps(told)}\n")
        sys.stdout.flush()
    sys.stdout.write(f"{given.rounds} rounds, {wrong} wrong\n")
    return int(bool(wrong))


if __name__ == "__main__":
    sys.exit(main())
