"""A fault at every call of every writing command: all or nothing, and usable afterwards.

`python -m tests.faults.sweep` does it for all of them and prints a table; `--only add` for
some. Each command runs again and again on the same project with the same chance; at the n-th
call that writes, renames, syncs or locks, it is killed, interrupted, or refused by the system.
"""

import argparse
import hashlib
import json
import os
import re
import shutil
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Final, NamedTuple
from unittest import mock

from pmem.storage.backend import Change
from pmem.storage.jsonfiles import JsonFiles
from tests.faults import injection, world
from tests.faults.world import ROOT, WRITES, Ran, State, Write
from tests.storage.faults import Act, in_a_child

KILL: Final = "KILL"
INTERRUPT: Final = "INT"
ACTS: Final[dict[str, Act]] = {
    KILL: injection.death,
    INTERRUPT: injection.interrupt,
    **{name: injection.error(name) for name in injection.FAULTS},
}
IN_SQLITE: Final = (KILL, "ENOSPC", "EIO")
"""What happens at SQLite's own calls, too; it makes one error of most that it is answered."""
KEPT: Final = "is kept"
"""What a refusal says when the change is there all the same."""
_KILLED: Final = 137
_INTERRUPTED: Final = 130
_REFUSALS: Final = (74, 6)
_MOST_CALLS: Final = 3000
_TEMPORARY: Final = re.compile(r"\.tmp-[0-9]+-[0-9a-f]+|access-[0-9a-f]+")
_SHOWN: Final = 3
_ID: Final = re.compile(r"[0-9a-z]{8}-[0-9a-z]{8}")


class Broken(NamedTuple):
    """A promise that a fault broke."""

    command: str
    fault: str
    call: int
    what: str


class Bench:
    """A project, and one writing command that is run on copies of it.

    Args:
        folder: Where to work; it holds the project as `template`.
        name: The command, one of `WRITES`.
    """

    def __init__(self, folder: str, name: str) -> None:
        self.name = name
        self.write: Write = WRITES[name]
        self.faults = 0
        self.broken: list[Broken] = []
        self._template = os.path.join(folder, "template")
        self._start = os.path.join(folder, "start")
        self._place = os.path.join(folder, "place")
        self._sound: set[tuple[str, str]] = set()
        world.copied(self._template, self._start)
        self.known = world.names()
        if self.write.prepare is not None:
            self.write.prepare()
        self._ids = set(_ID.findall(repr(world.state(self._start))))
        self.before = self.state(self._start)
        self.fresh()
        with injection.injected(0, injection.death) as counter, self._steps() as self.midway:
            self.usual = world.do(self.write, self.known)
        self.calls = counter.calls
        self.after = self.state(self._place)
        self._findings = self._checked() | self._checked_before()

    def sweep(self, fault: str, *, stride: int = 1) -> None:
        """Let a fault happen at every call, or at every so many."""
        for call in range(1, _MOST_CALLS, stride):
            self.faults += 1
            if self._once(fault, call):
                return
        raise AssertionError(f"{self.name} never came to its end")

    def _once(self, fault: str, call: int) -> bool:
        """Run the command with one fault; tell whether it ran out of calls before it."""
        self.fresh()
        if fault == KILL:
            done, met = self._killed(call)
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

    def _killed(self, call: int) -> tuple[Ran | None, bool]:
        met = in_a_child(lambda: self._until_killed(call)) == _KILLED
        return None, met

    def _until_killed(self, call: int) -> None:
        with injection.injected(call, injection.death):
            world.do(self.write, self.known)

    def fresh(self) -> str:
        """Start again from the project as it was; return where it is."""
        return world.copied(self._start, self._place)

    def _judge(self, done: Ran | None, met: bool) -> None:
        """See that everything is as promised; raises an AssertionError that says what is not."""
        print_ = self._fingerprint()
        acknowledged = not met if done is None else done.code == self.usual.code
        key = (print_, f"{acknowledged} {done}")
        if key in self._sound:
            return
        if os.path.isdir(ROOT):
            self._finishes()
        found = self.state(self._place)
        if acknowledged and found != self.after and self._recalls_wait():
            world.do(self.write, self.known)
            found = self.state(self._place)
        if acknowledged and self.write.answers and met:
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
            again = world.do(self.write, self.known)
            assert again.code in (self.usual.code, 3, 0), f"run again: {again.code} {again.err}"
            for path in self.after.keys() - world.records(self.after).keys():
                now = self.state(self._place).get(path)
                assert now == self.after[path], f"run again, {path} is not as it should be"
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
        fresh = sorted(set(_ID.findall(repr(found))) - self._ids)
        numbers = {identifier: f"new {number}" for number, identifier in enumerate(fresh)}

        def named(text: str) -> str:
            return _ID.sub(lambda found: numbers.get(found[0], found[0]), text)

        return {named(path): named(data) for path, data in found.items()}

    def _checked(self) -> set[str]:
        if not os.path.isdir(ROOT):
            return set()
        checked = world.ran("check", "--json")
        assert checked.code in (0, 1), checked.err
        return {item["message"] for item in json.loads(checked.out)["data"]["findings"]}

    def _checked_before(self) -> set[str]:
        self.fresh()
        return self._checked()

    def _fingerprint(self) -> str:
        """Return a digest of all that can make a difference afterwards."""
        digest = hashlib.sha256()
        for path, data in sorted(_everything(self._place)):
            digest.update(f"{_TEMPORARY.sub('.tmp', path)}\0{len(data)}\0".encode() + data)
        return digest.hexdigest()


def _everything(place: str) -> Iterator[tuple[str, bytes]]:
    for folder, _, files in os.walk(place):
        for name in files:
            if name in ("search.sqlite3", "index.sqlite3", "operations.log", "access.log"):
                continue
            path = os.path.join(folder, name)
            with open(path, "rb") as file:
                yield os.path.relpath(path, place), file.read()


def _differs(found: State, wanted: State) -> list[str]:
    return sorted(path for path in {**found, **wanted} if found.get(path) != wanted.get(path))


def swept(folder: str, name: str, faults: Sequence[str], *, stride: int = 1) -> Bench:
    """Run a command with faults, on the project in a folder.

    Args:
        folder: It holds the project as `template`.
        name: The command, one of `WRITES`.
        faults: Which ones, of `ACTS`.
        stride: At every call, or at every so many.
    """
    with world.surroundings(folder):
        bench = Bench(folder, name)
        for fault in faults:
            bench.sweep(fault, stride=stride)
        os.chdir("/")
    return bench


def quick_place() -> str | None:
    """Return a file system in memory, where there is one: nothing here needs a disk."""
    return "/dev/shm" if os.access("/dev/shm", os.W_OK) else None


def main() -> int:
    """Sweep the commands that the command line asks for, and report."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", action="append", choices=[*WRITES], help="one command")
    parser.add_argument("--faults", default=",".join(ACTS), help="which, separated by commas")
    parser.add_argument("--stride", type=int, default=1, help="at every so many calls")
    options = parser.parse_args()
    folder = tempfile.mkdtemp(dir=quick_place())
    os.mkdir(os.path.join(folder, "template"))
    world.build(os.path.join(folder, "template"))
    faults = options.faults.split(",")
    broken: list[Broken] = []
    total, begun = 0, time.monotonic()
    for name in options.only or WRITES:
        bench = swept(folder, name, faults, stride=options.stride)
        broken += bench.broken
        total += bench.faults
        wrong = f", {len(bench.broken)} WRONG" if bench.broken else ""
        sys.stdout.write(f"{name:<24}{bench.calls:5} calls {bench.faults:6} faults{wrong}\n")
        for item in bench.broken[:_SHOWN]:
            sys.stdout.write(f"    {item.fault} at call {item.call}: {item.what}\n")
        sys.stdout.flush()
    shutil.rmtree(folder)
    seconds = time.monotonic() - begun
    sys.stdout.write(f"{total} faults, {len(broken)} wrong, {seconds:.0f} s\n")
    return int(bool(broken))


if __name__ == "__main__":
    sys.exit(main())
