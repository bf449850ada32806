"""A fault at every call of every writing command: all or nothing, and usable afterwards.

`python -m tests.faults.sweep` does it for all of them and prints a table; `--only add` for
some. Each command runs again and again on the same project with the same chance; at the n-th
call that writes, renames, syncs or locks, it is killed, interrupted, or refused by the system.
"""

import argparse
import json
import multiprocessing
import os
import re
import shutil
import signal
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from functools import lru_cache
from typing import Any, Final, NamedTuple
from unittest import mock

from pmem.storage.backend import Change
from pmem.storage.jsonfiles import JsonFiles
from tests.faults import injection, world
from tests.faults.original import Original
from tests.faults.world import ROOT, WRITES, Ran, State, Write
from tests.storage.faults import Act, in_a_child

KILL: Final = "KILL"
TERMINATE: Final = "TERM"
INTERRUPT: Final = "INT"
DEADLY: Final[dict[str, int]] = {KILL: 137, TERMINATE: -signal.SIGTERM}
"""What ends the process, and how its end is told."""
ACTS: Final[dict[str, Act]] = {
    KILL: injection.death,
    TERMINATE: injection.termination,
    INTERRUPT: injection.interrupt,
    **{name: injection.error(name) for name in injection.FAULTS},
}
IN_SQLITE: Final = (*DEADLY, "ENOSPC", "EIO")
"""What happens at SQLite's own calls, too; it makes one error of most that it is answered."""
KEPT: Final = "is kept"
"""What a refusal says when the change is there all the same."""
_INTERRUPTED: Final = 130
_REFUSALS: Final = (74, 6)
_MOST_CALLS: Final = 3000
_TEMPORARY: Final = re.compile(r"\.tmp-[0-9]+-[0-9a-f]+|access-[0-9a-f]+")
_REASON: Final = re.compile("|".join(map(os.strerror, injection.FAULTS.values())))
_UNANSWERED: Final = "it died before it answered"
_SHOWN: Final = 3
_ID: Final = re.compile(r"[0-9a-z]{8}-[0-9a-z]{8}")


class Broken(NamedTuple):
    """A promise that a fault broke."""

    command: str
    fault: str
    call: int
    what: str


def _own_state() -> str:
    """Return the folder of what the person's pmem noted outside of projects; it is there."""
    place = os.path.join(os.environ["HOME"], ".local", "state")
    os.makedirs(place, exist_ok=True)
    return place


class Bench:
    """A project, and one writing command that is run on copies of it."""

    def __init__(self, folder: str, name: str) -> None:
        self.name = name
        self.write: Write = WRITES[name]
        self.faults: Counter[str] = Counter()
        self.broken: list[Broken] = []
        start = os.path.join(folder, "start")
        self._place = os.path.join(folder, "place")
        self._sound: set[tuple[str, str]] = set()
        world.copied(os.path.join(folder, "template"), start)
        self.known = world.names()
        if self.write.prepare is not None:
            self.write.prepare()
        self._ids = _ids_in(world.state(start))
        self.before = self.state(start)
        self._original = Original(start, self._place)
        self._notes = os.path.join(folder, "notes")
        shutil.copytree(_own_state(), self._notes, dirs_exist_ok=True)
        self.fresh()
        with self._steps() as self.midway:
            self.usual = world.do(self.write, self.known)
        self.after = self.state(self._place)
        self.fresh()
        with injection.injected(0, injection.death) as counter:
            world.do(self.write, self.known)
        self.calls = counter.calls
        self._findings = self._checked() | self._checked_before()

    def sweep(self, fault: str, *, stride: int = 1) -> None:
        """Let a fault happen at every call, or at every so many."""
        known = self._left_by(fault) if fault in DEADLY and injection.can_look_between() else []
        for call in range(1, _MOST_CALLS, stride):
            self.faults[fault] += 1
            left = known[call - 1] if call <= len(known) else None
            if (left, _UNANSWERED) in self._sound:
                continue  # a death at another call left the very same
            if self._once(fault, call, left):
                return
        raise AssertionError(f"{self.name} never came to its end")

    def _left_by(self, fault: str) -> list[str]:
        """Return a digest of what the command's death at each of its calls would leave.

        It is looked at between the calls, so that one run tells of all of them.
        """
        self.fresh()
        found: list[str] = []

        def look(name: str, args: tuple[Any, ...]) -> None:
            torn = injection.half_written(name, args) if fault == KILL else nullcontext()
            with torn:
                found.append(self._original.fingerprint(_TEMPORARY))

        with injection.injected(1, look, from_then_on=True):
            world.do(self.write, self.known)
        return found

    def _once(self, fault: str, call: int, left: str | None = None) -> bool:
        """Run the command with one fault; tell whether it ran out of calls before it."""
        self.fresh()
        if fault in DEADLY:
            done, met = self._ended(fault, call)
            assert left in (None, self._original.fingerprint(_TEMPORARY)), f"{fault} at {call}"
        else:
            inside = fault in IN_SQLITE
            with injection.injected(call, ACTS[fault], in_sqlite=inside) as counter:
                ran = world.do(self.write, self.known)
            done, met = ran, counter.calls >= call
        try:
            self._judge(done, met)
        except AssertionError as error:
            what = str(error).partition("\nassert")[0]
            self.broken.append(Broken(self.name, fault, call, what))
        return not met

    def _ended(self, fault: str, call: int) -> tuple[None, bool]:
        """Let a child come to its end at a call; tell whether it did."""

        def until_then() -> None:
            with injection.injected(call, ACTS[fault]):
                world.do(self.write, self.known)

        return None, in_a_child(until_then) == DEADLY[fault]

    def fresh(self) -> str:
        """Start again from the project, and what its person's pmem noted; return where it is."""
        shutil.rmtree(_own_state())
        shutil.copytree(self._notes, _own_state(), dirs_exist_ok=True)
        return self._original.fresh()

    def _judge(self, done: Ran | None, met: bool) -> None:
        """See that everything is as promised; raises an AssertionError that says what is not."""
        acknowledged = not met if done is None else done.code == self.usual.code
        told = _told(done) if done or acknowledged else _UNANSWERED
        key = (self._original.fingerprint(_TEMPORARY), told)
        if key in self._sound:
            return
        if os.path.isdir(ROOT):
            self._finishes()
        found = self.state(self._place)
        if acknowledged and found != self.after and self._recalls_wait():
            world.do(self.write, self.known)
            found = self.state(self._place)
        if self.write.reads and done is not None and done.code != _INTERRUPTED:
            assert done[:2] == self.usual[:2], f"it does not read: {done}"
        if acknowledged and (self.write.answers or self.write.reads) and met:
            pass  # the same is told again
        elif acknowledged:
            assert found == self.after, f"acknowledged and lost: {_differs(found, self.after)}"
        elif done is not None:
            self._refused(done, found)
        self._in_between(found)
        self._goes_on(found)
        self._sound.add(key)

    def _recalls_wait(self) -> bool:
        """Tell whether recalls were left for the next time, as where their log is not free."""
        return not self.write.whole and any(
            name.startswith("access-") for name in os.listdir(os.path.join(ROOT, "local"))
        )

    def _refused(self, done: Ran, found: State) -> None:
        if self.write.finds and done.code == 1:
            return
        assert done.code in (*_REFUSALS, _INTERRUPTED), f"exit code {done.code}: {done.err}"
        assert done.out == b"", f"an answer after all: {done.out!r}"
        assert "Traceback" not in done.err, done.err
        if done.code == _INTERRUPTED:
            assert done.err == "", f"an interrupt said {done.err}"
            return
        lines = done.err.splitlines()
        assert lines[0].startswith("pmem: "), done.err
        assert len(lines) <= 2, f"more than a sentence and a hint: {done.err}"
        if found == self.before:
            assert KEPT not in done.err, f"nothing was changed: {done.err}"
        elif self.write.whole or world.records(found) != world.records(self.before):
            assert KEPT in done.err, f"the change is there: {done.err}"

    def _finishes(self) -> None:
        """Let the next command finish what was begun; it reads, and it needs no repair."""
        listed = world.ran("list", "--json", "--quiet")
        assert listed.code == 0, f"list: {listed.err}"
        assert listed.err == "", f"list: {listed.err}"

    def _in_between(self, found: State) -> None:
        """See that every file is as before or after, and a transaction's records together."""
        for path in {**found, **self.before, **self.after}:
            midway = [state.get(path) for state in self.midway if path in world.records(found)]
            allowed = (self.before.get(path), self.after.get(path), *midway)
            assert found.get(path) in allowed, f"{path} is neither as before nor as after"
        kept = world.records(found)
        if self.write.whole:
            assert found in (self.before, self.after), f"half: {_differs(found, self.before)}"
        else:
            assert kept in (world.records(self.before), *self.midway), (
                f"half: {_differs(kept, world.records(self.before))}"
            )

    @contextmanager
    def _steps(self) -> Iterator[list[State]]:
        """Note what the stores hold after each transaction of a command."""
        seen: list[State] = []
        commit = JsonFiles.commit

        def noting(backend: JsonFiles, changes: Sequence[Change]) -> None:
            commit(backend, changes)
            seen.append(world.records(self.state(self._place)))

        with mock.patch.object(JsonFiles, "commit", noting):
            yield seen

    def _goes_on(self, found: State) -> None:
        """See that the memory is sound, that the next writes work, and leave nothing behind."""
        if not self.write.whole and found != self.after:
            again = world.do(self.write, self.known, seed=8)  # no name is drawn twice
            assert again.code in (self.usual.code, 3, 0), f"run again: {again.code} {again.err}"
            now = self.state(self._place)
            for path in self.after.keys() - world.records(self.after).keys():
                assert now.get(path) == self.after[path], (
                    f"run again, {path} is not as it should be"
                )
        assert self._checked() <= self._findings, self._checked() - self._findings
        added = world.ran("add", "What comes afterwards", "--force")
        assert added.code == 0, f"the next write: {added.err}"
        saved = world.ran("checkpoint", "save", "afterwards", "{}")
        assert saved.code == 0, f"the next write of the clone's own state: {saved.err}"
        searched = world.ran("search", "afterwards", "--exit-status")
        assert searched.code == 0, f"the next search: {searched}"
        assert not world.strays(self._place), f"left behind: {world.strays(self._place)}"

    def state(self, place: str) -> State:
        """Return what a project holds, the ids that are new in it numbered in their order.

        A command that tries again after a refusal makes another one.
        """
        found = world.state(place)
        fresh = sorted(_ids_in(found) - self._ids)
        numbers = {identifier: f"new {number}" for number, identifier in enumerate(fresh)}

        def named(text: str) -> str:
            if numbers.keys().isdisjoint(_ids_of(text)):
                return text
            return _ID.sub(lambda found: numbers.get(found[0], found[0]), text)

        return {named(path): named(data) for path, data in found.items()}

    def _checked(self) -> set[str]:
        if not os.path.isdir(ROOT):
            return set()
        checked = world.ran("check", "records", "--json")
        assert checked.code in (0, 1), checked.err
        return {item["message"] for item in json.loads(checked.out)["data"]["records"]["findings"]}

    def _checked_before(self) -> set[str]:
        self.fresh()
        return self._checked()


def _ids_in(found: State) -> set[str]:
    return {identifier for item in found.items() for text in item for identifier in _ids_of(text)}


@lru_cache(maxsize=4096)
def _ids_of(text: str) -> frozenset[str]:
    return frozenset(_ID.findall(text))


def _told(done: Ran | None) -> str:
    """Return what a command told, whatever the system's reason was."""
    return _REASON.sub("", _TEMPORARY.sub("", str(done)))


def _differs(found: State, wanted: State) -> list[str]:
    return sorted(path for path in {**found, **wanted} if found.get(path) != wanted.get(path))


def swept(folder: str, name: str, faults: Sequence[str], *, stride: int = 1) -> Bench:
    """Run a command with faults, on the project in a folder."""
    with world.surroundings(folder):
        bench = Bench(folder, name)
        for fault in faults:
            bench.sweep(fault, stride=stride)
        os.chdir("/")
    return bench


def quick_place() -> str | None:
    """Return a file system in memory, where there is one: nothing here needs a disk."""
    return "/dev/shm" if os.access("/dev/shm", os.W_OK) else None


class Swept(NamedTuple):
    """What came of a command's sweep: how many calls it makes, and faults that it had, by kind."""

    name: str
    calls: int
    faults: dict[str, int]
    broken: list[Broken]
    seconds: float

    def __str__(self) -> str:
        wrong = f", {len(self.broken)} WRONG" if self.broken else ""
        line = f"{self.name:<24}{self.calls:5} calls {sum(self.faults.values()):6} faults"
        told = [f"    {item.fault} at call {item.call}: {item.what}" for item in self.broken]
        return "\n".join([f"{line} {self.seconds:6.1f} s{wrong}", *told[:_SHOWN]])


def _in_a_folder_of_its_own(job: tuple[str, str, Sequence[str], int]) -> Swept:
    template, name, faults, stride = job
    begun = time.monotonic()
    with tempfile.TemporaryDirectory(dir=quick_place()) as folder:
        shutil.copytree(template, os.path.join(folder, "template"), symlinks=True)
        bench = swept(folder, name, faults, stride=stride)
    seconds = time.monotonic() - begun
    return Swept(name, bench.calls, dict(bench.faults), bench.broken, seconds)


def main() -> int:
    """Sweep the commands that the command line asks for, and report."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", action="append", choices=[*WRITES], help="one command")
    parser.add_argument("--faults", default=",".join(ACTS), help="which, separated by commas")
    parser.add_argument("--stride", type=int, default=1, help="at every so many calls")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="so many at once")
    options = parser.parse_args()
    begun = time.monotonic()
    faults: Counter[str] = Counter()
    wrong = 0
    with tempfile.TemporaryDirectory(dir=quick_place()) as template:
        world.build(template)
        os.chdir("/")
        given = options.faults.split(","), options.stride
        jobs = [(template, name, *given) for name in options.only or WRITES]
        with multiprocessing.Pool(options.jobs) as pool:
            for done in pool.imap_unordered(_in_a_folder_of_its_own, jobs):
                faults.update(done.faults)
                wrong += len(done.broken)
                sys.stdout.write(f"{done}\n")
                sys.stdout.flush()
    kinds = ", ".join(f"{kind} {number}" for kind, number in faults.items())
    seconds = time.monotonic() - begun
    sys.stdout.write(f"{faults.total()} faults ({kinds}), {wrong} wrong, {seconds:.0f} s\n")
    return int(bool(wrong))


if __name__ == "__main__":
    sys.exit(main())
