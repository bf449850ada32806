"""Transcripts of the command line: what they say, and how they are run.

A transcript holds command lines (`$ pmem list`), each followed by what it printed: standard
output as it is, standard error with `! ` before every line, and `[exit 3]` when it was not 0.
`$ cat > FILE <<EOF` and `$ pmem add - <<EOF` take the lines up to `EOF`. Lines before the
first command describe the transcript.

What changes from run to run has names: `<dir>` is the repository, `<id1>` the first id that
was printed, `<short1>` its short form. Commands may use them too. `<commit1>` is the first
commit, whole or short.
"""

import os
import re
import shlex
from collections.abc import Iterator
from contextlib import suppress
from typing import NamedTuple

import pmem
from pmem.errors import PmemError
from pmem.storage.local.proposals import Proposals
from pmem.storage.local.state import FILE, LocalState
from pmem.values.records import dump
from tests.cli.shell import Outcome, Shell

_NAME = re.compile(r"<(id|short)(\d+)>")
_KNOWN = re.compile(rb'"id": ?"([0-9a-z]{1,11}-[0-9a-z]{8})"')
_LONG_NUMBER = re.compile(r"(\d\.\d{4})\d{3,}(?:e-\d+)?")
_PYTHON = re.compile(r"Python 3\.[0-9a-z.+]+")
_END = "EOF"


class Step(NamedTuple):
    command: str
    stdin: str
    expected: str


def parse(text: str) -> tuple[str, list[Step]]:
    lines = text.splitlines()
    first = next((i for i, line in enumerate(lines) if line.startswith("$ ")), len(lines))
    return "\n".join(lines[:first]), list(_steps(lines[first:]))


def write(description: str, steps: list[Step]) -> str:
    parts = [description.strip()] if description.strip() else []
    for step in steps:
        given = f"{step.stdin}{_END}\n" if step.command.endswith(f"<<{_END}") else ""
        parts.append(f"$ {step.command}\n{given}{step.expected}".rstrip("\n"))
    return "\n\n".join(parts) + "\n"


def _steps(lines: list[str]) -> Iterator[Step]:
    place = 0
    while place < len(lines):
        command = lines[place].removeprefix("$ ")
        place += 1
        stdin: list[str] = []
        if command.endswith(f"<<{_END}"):
            end = lines.index(_END, place)
            stdin = lines[place:end]
            place = end + 1
        start = place
        while place < len(lines) and not lines[place].startswith("$ "):
            place += 1
        expected = "\n".join(lines[start:place]).strip("\n")
        yield Step(command, "".join(f"{line}\n" for line in stdin), expected)


class Session:
    """Runs a transcript's commands and gives what changes its names."""

    def __init__(self, folder: str, *, real: bool = False) -> None:
        self._root = folder
        self._shell = Shell(folder, real=real)
        self._ids: list[str] = []
        self._seen: set[str] = set()

    def replay(self, step: Step) -> Step:
        root = self._root
        command = self._with_ids(step.command).replace("<dir>", shlex.quote(root))
        stdin = self._with_ids(step.stdin).replace("<dir>", root)
        if command.startswith("cat > "):
            path = command.removeprefix("cat > ").removesuffix(f"<<{_END}").strip()
            with open(os.path.join(self._root, path), "w", encoding="utf-8") as file:
                file.write(stdin)
            return step._replace(expected="")
        outcome = self._shell.run(command.removesuffix(f"<<{_END}").strip(), stdin)
        self._look_around()
        return step._replace(expected=self._with_names(_printed(outcome)))

    def _look_around(self) -> None:
        """Note every id that stands in a file, or in what waits for consent."""
        for folder, inner, names in os.walk(self._root):
            inner[:] = [name for name in inner if name != ".git"]
            for name in names:
                if name.endswith(".json"):
                    with open(os.path.join(folder, name), "rb") as file:
                        self._note(file.read())
                elif name == FILE:
                    state = LocalState(os.path.dirname(folder), read_only=True)
                    with suppress(PmemError):
                        self._note(dump(Proposals(state).read()))

    def _note(self, data: bytes) -> None:
        self._seen |= {found.decode() for found in _KNOWN.findall(data)}

    def _with_names(self, text: str) -> str:
        names = {identifier: identifier for identifier in self._seen}
        names |= {identifier.rpartition("-")[2]: identifier for identifier in self._seen}

        def name(found: re.Match[str]) -> str:
            identifier = names[found[0]]
            if identifier not in self._ids:
                self._ids.append(identifier)
            kind = "id" if found[0] == identifier else "short"
            return f"<{kind}{self._ids.index(identifier) + 1}>"

        if names:
            longest = sorted(map(re.escape, names), key=len, reverse=True)
            text = re.sub(rf"\b(?:{'|'.join(longest)})\b", name, text)
        for number, commit in enumerate(_commits(self._root), start=1):
            text = re.sub(rf"\b{commit[:10]}(?:{commit[10:]})?\b", f"<commit{number}>", text)
        text = text.replace(os.path.realpath(self._root), "<dir>").replace(self._root, "<dir>")
        text = text.replace(f"pmem {pmem.__version__}", "pmem <version>")
        return _LONG_NUMBER.sub(r"\1", _PYTHON.sub("Python <python>", text))

    def _with_ids(self, text: str) -> str:
        def identifier(found: re.Match[str]) -> str:
            whole = self._ids[int(found[2]) - 1]
            return whole if found[1] == "id" else whole.rpartition("-")[2]

        return _NAME.sub(identifier, text)


def _commits(folder: str) -> list[str]:
    try:
        with open(os.path.join(folder, ".git", "logs", "HEAD"), encoding="utf-8") as file:
            return list(dict.fromkeys(line.split(" ")[1] for line in file))
    except FileNotFoundError:
        return []


def _printed(outcome: Outcome) -> str:
    out = outcome.text
    if out and not out.endswith("\n"):
        out += "[no line end]\n"
    said = "".join(f"! {line}".rstrip() + "\n" for line in outcome.said.splitlines())
    code = f"[exit {outcome.code}]\n" if outcome.code else ""
    return (out + said + code).strip("\n")
