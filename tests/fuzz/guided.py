"""Fuzzing that is led by coverage: an input that reaches something new is built upon.

Like AFL's, the loop keeps every input by which a step from one line to another was taken for the
first time, and changes the kept ones further. Constants of the code that was reached are put into
inputs too, for code compares with them. No compiler is needed, nor anything but Python.
"""

import os
import sys
import time
from collections.abc import Callable, Iterable
from hashlib import blake2b
from random import Random
from tempfile import TemporaryDirectory
from types import CodeType, FrameType
from typing import Any, Final, NamedTuple

import pmem
from tests.fuzz.judging import Entry, Violation, judge
from tests.fuzz.mutation import mutated

Step = tuple[CodeType, int, int]
"""A function, and two of its lines of which the second was run after the first."""
_PACKAGE: Final = os.path.dirname(pmem.__file__)
_LONGEST_TOKEN: Final = 40
_BATCH: Final = 25
"""So many inputs in a row for one entry point."""


class Crash(NamedTuple):
    """An input that broke what must hold."""

    entry: Entry
    data: bytes
    why: str


class Watch:
    """Notes the steps that code takes.

    Args:
        folders: Code elsewhere is not watched.
    """

    def __init__(self, folders: Iterable[str]) -> None:
        self.seen: set[Step] = set()
        self.tokens: list[bytes] = []
        self._folders = tuple(folders)
        self._known: dict[CodeType, bool] = {}
        self._new = False

    def is_news(self, run: Callable[[], object]) -> bool:
        """Run something, and tell whether it took a step that nothing had taken before."""
        self._new = False
        before = sys.gettrace()
        sys.settrace(self._enter)
        try:
            run()
        finally:
            sys.settrace(before)
        return self._new

    def _enter(self, frame: FrameType, _event: str, _argument: Any) -> Any:
        code = frame.f_code
        wanted = self._known.get(code)
        if wanted is None:
            wanted = self._known[code] = code.co_filename.startswith(self._folders)
            if wanted:
                self.tokens += _constants(code)
        return self._follow(code) if wanted else None

    def _follow(self, code: CodeType) -> Callable[[FrameType, str, Any], Any]:
        line = 0

        def step(frame: FrameType, event: str, _argument: Any) -> Any:
            nonlocal line
            if event == "line":
                taken = (code, line, frame.f_lineno)
                line = frame.f_lineno
                if taken not in self.seen:
                    self.seen.add(taken)
                    self._new = True
            return step

        return step


def _constants(code: CodeType) -> list[bytes]:
    """Return texts and numbers that a function mentions, as they might stand in an input."""
    found: list[bytes] = []
    for value in code.co_consts:
        for part in value if isinstance(value, tuple | frozenset) else (value,):
            if isinstance(part, str):
                found.append(part.encode("utf-8", "surrogatepass"))
            elif isinstance(part, bytes | int):
                found.append(part if isinstance(part, bytes) else str(int(part)).encode())
    return sorted({token for token in found if 0 < len(token) <= _LONGEST_TOKEN})


class Hunt:
    """The inputs that are kept for one entry point.

    Args:
        entry: The entry point.
        seed: The same seed, the same inputs.
        folder: Where they are kept.
        code: Folders whose code is watched.
    """

    def __init__(self, entry: Entry, seed: int, folder: str, code: Iterable[str] = ()) -> None:
        self.entry = entry
        self.inputs = 0
        self.corpus: list[bytes] = list(entry.examples)
        self.crashes: dict[str, Crash] = {}
        self.watch = Watch(code or (_PACKAGE,))
        self._folder = folder
        self._random = Random(f"{seed} {entry.name}")
        for example in entry.examples:
            self._try(example)

    def go(self, inputs: int) -> None:
        """Try further inputs."""
        for _ in range(inputs):
            data = self._next()
            if self._try(data):
                self.corpus.append(data)
                with open(os.path.join(self._folder, _name(self.entry, data)), "wb") as file:
                    file.write(data)

    def _next(self) -> bytes:
        random = self._random
        latest = self.corpus[-8:] if random.random() < 0.5 else self.corpus
        data = random.choice(latest)
        if self.watch.tokens and random.random() < 0.4:
            start = random.choice((0, random.randint(0, len(data)), len(data)))
            end = random.choice((start, random.randint(start, len(data))))
            return data[:start] + random.choice(self.watch.tokens) + data[end:]
        return mutated(data, random, self.corpus)

    def _try(self, data: bytes) -> bool:
        self.inputs += 1
        try:
            return self.watch.is_news(lambda: judge(self.entry, data))
        except Violation:
            return self._confirm(data)

    def _confirm(self, data: bytes) -> bool:
        """Note a crash that also happens when nobody watches; watching takes time."""
        try:
            judge(self.entry, data)
        except Violation as violation:
            why = str(violation)[:100]
            known = self.crashes.get(why)
            if known is None or len(data) < len(known.data):
                self.crashes[why] = Crash(self.entry, data, str(violation))
        return False


def _name(entry: Entry, data: bytes) -> str:
    words = "".join(letter if letter.isalnum() else "_" for letter in entry.name)
    return f"{words}_{blake2b(data, digest_size=6).hexdigest()}"


def write_test(crash: Crash, folder: str) -> str:
    """Write a crash down as a test that fails until it is mended, and return the file."""
    os.makedirs(folder, exist_ok=True)
    name = _name(crash.entry, crash.data)
    path = os.path.join(folder, f"test_{name}.py")
    with open(path, "w", encoding="utf-8") as file:
        file.write(
            "from tests.fuzz.entries import ENTRIES\n"
            "from tests.fuzz.judging import guarded, judge\n\n\n"
            f"def test_{name}() -> None:\n"
            f"    {crash.why.encode('ascii', 'backslashreplace').decode()!r}\n"
            f"    entry = next(one for one in ENTRIES if one.name == {crash.entry.name!r})\n"
            "    with guarded():\n"
            f"        judge(entry, {crash.data!r})\n"
        )
    return path


def campaign(entries: tuple[Entry, ...], seconds: float, seed: int, crashes: str) -> int:
    """Hunt through all entry points in turn, print a table, and return 1 if one was broken."""
    end = time.perf_counter() + seconds
    with TemporaryDirectory(prefix="pmem-corpus-") as folder:
        hunts = [Hunt(entry, seed, folder) for entry in entries]
        while time.perf_counter() < end:
            for hunt in hunts:
                if time.perf_counter() < end:
                    hunt.go(max(1, round(_BATCH * hunt.entry.share)))
    for hunt in hunts:
        kept = len(hunt.corpus) - len(hunt.entry.examples)
        print(
            f"{hunt.entry.name:<36}{hunt.inputs:>8} inputs{kept:>6} kept"
            f"{len(hunt.watch.seen):>7} steps  {len(hunt.crashes)} crashes"
        )
    found = [crash for hunt in hunts for crash in hunt.crashes.values()]
    for crash in found:
        print(f"VIOLATION {crash.why[:200]}\n  {write_test(crash, crashes)}")
    print(f"{sum(hunt.inputs for hunt in hunts)} inputs in {seconds:.0f} s, {len(found)} crashes")
    return 1 if found else 0
