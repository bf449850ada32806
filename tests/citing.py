"""Projects whose files change, and a slow second opinion on what became of cited text."""

import os
import shutil
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from pmem.memory.citations import VerifyRequest
from pmem.memory.requests import AddRequest
from pmem.operations import table
from pmem.project.workspace import Workspace
from pmem.values.records import Citation
from tests.asking import ask

Files = dict[str, list[str]]
"""A project's files, line by line, without line ends."""


class Told(NamedTuple):
    """A citation as the second opinion remembers it: with its text, and with its whole file.

    `first` is the text's first line, or None where the whole file is cited.
    """

    file: str
    first: int | None
    text: list[str]
    original: list[str]

    @property
    def place(self) -> str:
        """What is cited."""
        return place(self.file, self.first, len(self.text))


def told(files: Files, file: str, first: int | None = None, last: int | None = None) -> Told:
    """Remember a citation."""
    lines = files[file]
    text = lines if first is None else lines[first - 1 : last or first]
    return Told(file, first, list(text), list(lines))


def place(file: str, first: int | None, size: int) -> str:
    """Write where a text stands."""
    lines = None if first is None else (first, first + size - 1)
    return Citation(file=file, lines=lines, digest="").place


def write(files: Files, end: str = "\n") -> None:
    """Make the current folder hold these files, and the memory and git as they are."""
    for entry in os.scandir("."):
        if entry.name not in (".git", ".project-memory"):
            shutil.rmtree(entry.path) if entry.is_dir() else os.unlink(entry.path)
    for file, lines in files.items():
        Path(file).parent.mkdir(parents=True, exist_ok=True)
        Path(file).write_bytes("".join(line + end for line in lines).encode())


def cite(workspace: Workspace, citations: Iterable[Told]) -> None:
    """Add a memory for each citation; its content is what is cited."""
    for one in citations:
        request = AddRequest(content=one.place, cite=(one.place,), force=True)
        ask(workspace, table.ADD, request)


def found(workspace: Workspace) -> dict[str, str]:
    """Return what verifying says of every citation that is not fresh, by what it was."""
    done = ask(workspace, table.VERIFY, VerifyRequest())
    return {
        item.text: item.state
        if item.now is None
        else Citation(file=item.now.file, lines=item.now.lines, digest="").place
        for item in done.items
    }


def expected(files: Files, citations: Iterable[Told]) -> dict[str, str]:
    """Say what became of citations, by comparing everything with everything."""
    stripped = {file: [line.rstrip() for line in lines] for file, lines in files.items()}
    opinions = {one.place: _opinion(stripped, one) for one in citations}
    return {name: said for name, said in opinions.items() if said}


def _opinion(files: Files, cited: Told) -> str:
    starts = {file: _starts(lines, cited) for file, lines in files.items()}
    here = starts.get(cited.file, [])
    if cited.first in here:
        return ""
    if here:
        near = cited.first or 0
        nearest = min(here, key=lambda start: (abs((start or 0) - near), start))
        return place(cited.file, nearest, len(cited.text))
    if cited.file in files:
        again = _in_another_layout(files[cited.file], cited)
        if again is not None:
            return again
    others = [(file, start) for file in starts for start in starts[file]]
    weight = sum(map(str.isalnum, "".join(cited.text)))
    if not others or weight < (4 if len(others) == 1 else 20):
        return "changed" if cited.file in files else "gone"
    file, start = min(others, key=lambda other: _unlikeness(files, cited, *other))
    return place(file, start, len(cited.text))


def _starts(lines: list[str], cited: Told) -> list[int | None]:
    if cited.first is None:
        return [None] if lines == cited.text else []
    size = len(cited.text)
    return [n + 1 for n in range(len(lines)) if lines[n : n + size] == cited.text]


def _in_another_layout(lines: list[str], cited: Told) -> str | None:
    """Say where a text stands in its file with other blank lines; nothing if it is where it was."""
    wanted = _folded(cited.file, cited.text)
    if cited.first is None:
        return "" if _folded(cited.file, lines) == wanted else None
    if not any(cited.text):
        return None
    last = cited.first + len(cited.text) - 1
    if last <= len(lines) and _folded(cited.file, lines[cited.first - 1 : last]) == wanted:
        return ""
    near, size = cited.first, len(lines)
    stretches = [(a, b) for a in range(1, size + 1) for b in range(a, size + 1)]
    found = [
        (abs(a - near), a, b)
        for a, b in stretches
        if lines[a - 1] and lines[b - 1] and _folded(cited.file, lines[a - 1 : b]) == wanted
    ]
    if not found:
        return None
    _, first, last = min(found)
    return place(cited.file, first, last - first + 1)


def _folded(file: str, lines: list[str]) -> list[str]:
    """Leave out the blank lines that mean nothing: all in a program, in prose all but one."""
    if file.endswith(".py"):
        return [line for line in lines if line]
    kept = [line for at, line in enumerate(lines) if line or (at and lines[at - 1])]
    return kept[: len(kept) - (not kept[-1])] if kept else []


def _unlikeness(files: Files, cited: Told, file: str, start: int | None) -> tuple[object, ...]:
    one, other = Path(cited.file), Path(file)
    return (
        files[file] != cited.original,
        one.name != other.name,
        one.suffix != other.suffix,
        one.parent != other.parent,
        abs((start or 0) - (cited.first or 0)),
        file,
    )
