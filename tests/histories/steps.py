"""What a history is made of: files, edits, what is remembered, and what a reader says."""

import tempfile
from collections.abc import Iterator, Mapping, Sequence
from enum import StrEnum
from pathlib import Path
from typing import NamedTuple

from pmem.values.records import MemoryType
from tests.git.branches import ok

Files = dict[str, str]
"""A project's files by name."""
Place = tuple[str, int, int]
"""A file, and the first and the last line in it."""


class Change(StrEnum):
    """What an edit is, as its author would say."""

    MEANING = "meaning"
    ELSEWHERE = "elsewhere"
    FORMAT = "format"
    MOVE = "move"


class Remembered(NamedTuple):
    """A memory: its text and type, what it rests on, and where it applies.

    `begin` and `end` stand, once each, in the first and the last line that it rests on, whatever
    the format of the file; `symbol` is what is defined there. A rule has `places` alone.
    """

    text: str
    type: MemoryType
    begin: str = ""
    end: str = ""
    symbol: str = ""
    places: Sequence[str] = ()


class Step(NamedTuple):
    """One edit of a history as git tells it, and what a reader of it says.

    `hits` are the memories whose basis it changes, so that somebody has to look at them; `rules`
    are those that somebody who makes this edit should have in mind.
    """

    title: str
    change: Change
    diff: bytes
    hits: frozenset[str]
    rules: frozenset[str]


class State(NamedTuple):
    """A project after a step, and before it."""

    step: Step
    before: Files
    after: Files


def parse_steps(data: bytes) -> tuple[Step, ...]:
    """Read steps: a line `### ` with a title, three of what it is, and its differences."""
    found = []
    for block in data.split(b"### ")[1:]:
        title, change, hits, rules, diff = block.split(b"\n", 4)
        said = [line.decode().partition(":")[2].split() for line in (change, hits, rules)]
        sets = map(frozenset, said[1:])
        found.append(Step(title.decode(), Change(said[0][0]), diff, *sets))
    return tuple(found)


def played(files: Mapping[str, str], steps: tuple[Step, ...]) -> Iterator[State]:
    """Yield a history state by state."""
    known = dict(files)
    with tempfile.TemporaryDirectory() as folder:
        for name, text in files.items():
            Path(folder, name).parent.mkdir(parents=True, exist_ok=True)
            Path(folder, name).write_bytes(text.encode())
        for step in steps:
            ok("apply", "-p0", "--whitespace=nowarn", "-", stdin=step.diff, cwd=folder)
            paths = (path for path in sorted(Path(folder).rglob("*")) if path.is_file())
            after = {str(it.relative_to(folder)): it.read_bytes().decode() for it in paths}
            assert after != known, step.title
            yield State(step, known, after)
            known = after


def place_of(files: Mapping[str, str], memory: Remembered) -> Place | None:
    """Return the lines that a memory rests on, as a reader finds them; None where none are."""
    for name, text in files.items():
        lines = text.splitlines()
        first = [n for n, line in enumerate(lines, 1) if memory.begin and memory.begin in line]
        rest = list(enumerate(lines, 1))[first[0] - 1 :] if first else []
        last = next((n for n, line in rest if memory.end in line), None)
        if last is not None:
            return name, first[0], last
    return None
