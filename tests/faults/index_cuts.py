"""Every state that a power cut can leave the indexes in, and damage that no power cut makes.

`python -m tests.faults.index_cuts` looks at all of them. What SQLite asks of the system while an
index follows a change is recorded. It syncs the journal before it touches the database, and the
database before it removes the journal: before the first, the journal may be any part of what was
written and the database is as it was; between the two, any part of the new pages may be there,
each whole or half; afterwards the removed journal may come back.
"""

import os
import random
import sys
import tempfile
import time
from collections.abc import Iterator
from typing import Any, Final, NamedTuple

from tests.faults import sqlite_calls, world
from tests.faults.original import Original
from tests.faults.sweep import quick_place
from tests.faults.world import ROOT

INDEXES: Final = ("index.sqlite3",)
JOURNAL: Final = "-journal"
_LONG_AGO: Final = 1_700_000_000_000_000_000
Files = dict[str, bytes | None]
"""What is beside the records, by name; None for what is not there."""
QUESTIONS: Final = (
    (("search", "breakfast", "--json"), b""),
    (("search", "pancakes waffles", "--explain"), b""),
    (("context", "waffles"), b""),
    (("query", "-"), b'{"query": "pancakes"}'),
    (("list", "--json"), b""),
    (("add", "The kitchen closes at ten", "--json"), b""),
    (("add", "Waffles are served on Sundays.", "--json"), b""),
    (("check", "records", "--json"), b""),
    (("add", "A lamp that no one has spoken of", "--force", "--json"), b""),
    (("search", "lamp", "--json"), b""),
)
"""They ask both indexes; the last ones write, and ask for what was written."""


class Call(NamedTuple):
    """One thing that SQLite did to a file: wrote at a place, cut it to a length, or removed it."""

    file: str
    data: bytes | None
    at: int


class Recording(NamedTuple):
    """The files before and after an index followed a change, and the calls in between."""

    before: Files
    after: Files
    calls: list[Call]


class State(NamedTuple):
    """One state of the files, and in words how it came to be."""

    name: str
    files: Files


def recorded(local: str, index: str) -> Recording:
    """Run a command that changes an index, and note what SQLite does to its files."""
    calls: list[Call] = []

    def visit(name: str, args: tuple[Any, ...]) -> None:
        path = args[0] if isinstance(args[0], str) else os.readlink(f"/proc/self/fd/{args[0]}")
        if not os.path.basename(path).startswith(index):
            return
        bare = name.removeprefix("sqlite ")
        if "write" in bare:
            calls.append(Call(os.path.basename(path), args[1], args[2]))
        elif bare == "ftruncate":
            calls.append(Call(os.path.basename(path), None, args[1]))

    before = _files(local)
    _changed_by_others()
    with sqlite_calls.hooked(visit), world.fixed_chance():
        assert world.ran("search", "breakfast").code == 0
        assert world.ran("add", "Unheard of things").code == 0
        assert world.ran("search", "unheard").code == 0
    return Recording(before, _files(local), calls)


def _changed_by_others() -> None:
    """Change a record past pmem, and so long ago that only the indexes' own words are looked at."""
    path = f"{ROOT}/long-term-memory/{world.names()['OTHER']}.json"
    with open(path, encoding="utf-8") as file:
        text = file.read()
    with open(path + ".new", "w", encoding="utf-8") as file:
        file.write(text.replace("The kitchen closes at ten", "Waffles are served on Sundays"))
    os.utime(path + ".new", ns=(_LONG_AGO, _LONG_AGO + 1_000_000_000))
    os.replace(path + ".new", path)


def cuts(recording: Recording, chance: random.Random, several: int) -> Iterator[State]:
    """Yield the states that a power cut during each transaction can leave."""
    files = dict(recording.before)
    for number, (journal, pages) in enumerate(_transactions(recording.calls)):
        name = f"transaction {number}"
        old = dict(files)
        for count in range(len(journal)):
            yield State(f"{name}: {count} journal writes", _with(old, journal[:count]))
            torn = _half(journal[count])
            yield State(f"{name}: half of write {count}", _with(old, [*journal[:count], torn]))
            lost = [*journal[:count], *journal[count + 1 :]]
            yield State(f"{name}: journal write {count} lost", _with(old, lost))
        whole = _with(old, journal)
        for draw in range(several):
            kept = [page for page in pages if chance.random() < 0.5]
            torn_ones = [_half(page) if chance.random() < 0.3 else page for page in kept]
            yield State(f"{name}: some pages, draw {draw}", _with(whole, torn_ones))
        files = _with(old, pages)
        yield State(f"{name}: all pages, the journal still there", _with(whole, pages))
        yield State(f"{name}: ended", dict(files))


def unordered(recording: Recording, chance: random.Random, several: int) -> Iterator[State]:
    """Yield what a cut would leave of a database that is not synced: pages without a journal."""
    pages = [call for call in recording.calls if not call.file.endswith(JOURNAL)]
    for draw in range(several):
        share = chance.choice((0.1, 0.5, 0.9))
        kept = [page for page in pages if chance.random() < share]
        yield State(f"unsynced, draw {draw}", _with(recording.before, kept))


def damage(recording: Recording, index: str, chance: random.Random) -> Iterator[State]:
    """Yield what no power cut leaves on a disk that keeps its word, and pmem sees anyhow."""
    sound = recording.after[index] or b""
    noise = chance.randbytes(len(sound))
    old = recording.before
    beside = index + JOURNAL
    hot = _with(old, next(_transactions(recording.calls))[0])[beside]
    states: dict[str, Files] = {
        "gone": {index: None},
        "empty": {index: b""},
        "garbage": {index: noise},
        "zeros": {index: bytes(len(sound))},
        "a garbage head": {index: noise[:4096] + sound[4096:]},
        "half": {index: sound[: len(sound) // 2]},
        "half, to the page": {index: sound[: len(sound) // 8192 * 4096]},
        "one byte": {index: sound[:1]},
        "a journal alone": {index: None, beside: hot},
        "an empty journal": {beside: b""},
        "a journal of zeros": {beside: bytes(4096)},
        "a garbage journal": {beside: noise[:9000]},
        "a garbage log": {f"{index}-wal": noise[:9000]},
        "a garbage log with its memory": {f"{index}-wal": noise[:9000], f"{index}-shm": noise[:99]},
        "an old index": {index: old[index]},
    }
    for name, files in states.items():
        yield State(name, {**recording.after, **files})


def answers(local: str, files: Files) -> list[world.Ran]:
    """Put the files in place, and ask everything; the answers must not depend on the files."""
    put(local, files)
    with world.fixed_chance(3):
        return [world.ran(*words, stdin=stdin) for words, stdin in QUESTIONS]


def put(local: str, files: Files) -> None:
    """Let a folder hold these files of the indexes, and none else."""
    for name in os.listdir(local):
        if name.startswith(INDEXES):
            os.unlink(os.path.join(local, name))
    for name, data in files.items():
        if data is not None:
            with open(os.path.join(local, name), "wb") as file:
                file.write(data)


def _files(local: str) -> Files:
    found: Files = {}
    for name in os.listdir(local):
        if name.startswith(INDEXES):
            with open(os.path.join(local, name), "rb") as file:
                found[name] = file.read()
    return found


def _transactions(calls: list[Call]) -> Iterator[tuple[list[Call], list[Call]]]:
    """Yield what was written to the journal and to the database, transaction by transaction."""
    journal: list[Call] = []
    pages: list[Call] = []
    for call in calls:
        is_journal = call.file.endswith(JOURNAL)
        if is_journal and pages:
            yield journal, pages
            journal, pages = [], []
        (journal if is_journal else pages).append(call)
    if pages:
        yield journal, pages


def _with(files: Files, calls: list[Call]) -> Files:
    found = dict(files)
    for call in calls:
        data = found.get(call.file) or b""
        if call.data is None:
            found[call.file] = data[: call.at]
        else:
            data = data.ljust(call.at, b"\0")
            found[call.file] = data[: call.at] + call.data + data[call.at + len(call.data) :]
    return found


def _half(call: Call) -> Call:
    return call if call.data is None else call._replace(data=call.data[: len(call.data) // 2])


class Bench:
    """A project whose indexes are put into one state after another."""

    def __init__(self, folder: str, index: str) -> None:
        here = os.getcwd()
        self._folder = folder
        with world.surroundings(folder):
            place = world.copied(os.path.join(folder, "template"), os.path.join(folder, "place"))
            self._local = os.path.join(place, ROOT, "local")
            for path in world.records(world.state(place)):
                os.utime(path, ns=(_LONG_AGO, _LONG_AGO))  # what is young is read in any case
            put(self._local, {})
            for words in (("search", "breakfast"), ("add", "Geese guard the gate")):
                assert world.ran(*words).code == 0
            self.recording = recorded(self._local, index)
            self._original = Original(place, place)
            os.chdir(here)
        self.usual = self._answers({})

    def wrong(self, state: State) -> str:
        """Say what is wrong with the answers in a state of the files; nothing where all is well."""
        found = self._answers(state.files)
        for (words, _), done, usual in zip(QUESTIONS, found, self.usual, strict=True):
            if done != usual:
                return f"{state.name}: {' '.join(words)}: {done} instead of {usual}"
        return ""

    def _answers(self, files: Files) -> list[world.Ran]:
        here = os.getcwd()
        with world.surroundings(self._folder):
            self._original.fresh()
            found = answers(self._local, files)
            os.chdir(here)
        return found


class Looked(NamedTuple):
    """How many states were looked at, and what was wrong with some."""

    states: int
    wrong: tuple[str, ...]


def looked(folder: str, index: str, seed: int, several: int) -> Looked:
    """Look at every state of an index."""
    chance = random.Random(seed)
    bench = Bench(folder, index)
    states = [*cuts(bench.recording, chance, several), *damage(bench.recording, index, chance)]
    wrong = tuple(filter(None, map(bench.wrong, states)))
    return Looked(len(states), wrong)


def main() -> int:
    """Look at every state of both indexes, and report."""
    begun = time.monotonic()
    wrong = 0
    with tempfile.TemporaryDirectory(dir=quick_place()) as folder:
        os.mkdir(os.path.join(folder, "template"))
        world.build(os.path.join(folder, "template"))
        for index in INDEXES:
            done = looked(folder, index, seed=1, several=30)
            wrong += len(done.wrong)
            told = "".join(f"\n    WRONG {what}" for what in done.wrong[:3])
            sys.stdout.write(f"{index:<24}{done.states:6} states, {len(done.wrong)} wrong{told}\n")
    sys.stdout.write(f"{time.monotonic() - begun:.0f} s\n")
    return int(bool(wrong))


if __name__ == "__main__":
    sys.exit(main())
