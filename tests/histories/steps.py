"""What a history is made of: files, edits, what is remembered, and what a reader says."""

from collections.abc import Callable, Iterator, Mapping
from enum import StrEnum
from typing import NamedTuple

from pmem.values.records import MemoryType

Files = dict[str, str]
"""A project's files by name."""
Edit = Callable[[Files], None]
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
    places: tuple[str, ...] = ()


class Step(NamedTuple):
    """One edit of a history, and what a reader of it says.

    `hits` are the memories whose basis it changes, so that somebody has to look at them; `rules`
    are those that somebody who makes this edit should have in mind.
    """

    title: str
    change: Change
    edit: Edit
    hits: frozenset[str] = frozenset()
    rules: frozenset[str] = frozenset()


class State(NamedTuple):
    """A project after a step, and before it."""

    step: Step
    before: Files
    after: Files


def played(files: Mapping[str, str], steps: tuple[Step, ...]) -> Iterator[State]:
    """Yield a history state by state."""
    known = dict(files)
    for step in steps:
        after = dict(known)
        step.edit(after)
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


def replace(name: str, *pairs: tuple[str, str]) -> Edit:
    """Return an edit that replaces texts, each of which stands once in a file."""

    def edit(files: Files) -> None:
        for old, new in pairs:
            assert files[name].count(old) == 1, (name, old)
            files[name] = files[name].replace(old, new)

    return edit


def lines(name: str, change: Callable[[str], str]) -> Edit:
    """Return an edit that changes each line of a file."""

    def edit(files: Files) -> None:
        files[name] = "".join(f"{change(line)}\n" for line in files[name].splitlines())

    return edit


def remove(name: str) -> Edit:
    """Return an edit that takes a file away."""

    def edit(files: Files) -> None:
        del files[name]

    return edit


def rename(name: str, new: str) -> Edit:
    """Return an edit that gives a file another name."""

    def edit(files: Files) -> None:
        files[new] = files.pop(name)

    return edit


def move(name: str, text: str, to: str, before: str = "") -> Edit:
    """Return an edit that takes a text out of a file and puts it before another, or at an end."""

    def edit(files: Files) -> None:
        assert files[name].count(text) == 1, (name, text)
        files[name] = files[name].replace(text, "")
        there = files.get(to, "")
        if before:
            assert there.count(before) == 1, (to, before)
            files[to] = there.replace(before, text + before)
        else:
            files[to] = there + text

    return edit


def append(name: str, text: str) -> Edit:
    """Return an edit that puts a text at the end of a file, or makes the file."""

    def edit(files: Files) -> None:
        files[name] = files.get(name, "") + text

    return edit


def together(*edits: Edit) -> Edit:
    """Return several edits as one."""

    def edit(files: Files) -> None:
        for one in edits:
            one(files)

    return edit
