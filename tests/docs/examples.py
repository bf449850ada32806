"""Finding the command lines in a document's fenced blocks, and running them."""

import importlib.util
import re
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import NamedTuple

from tests.cli.shell import Outcome, Shell

_FENCE = re.compile(r"^(\s*)(`{3,})(\w*)\s*$")
_EXIT = re.compile(r"\s+#\s*exit (\d+)\s*$")
_COMMENT = re.compile(r"\s+#\s[^\"']*$")
_COMMAND = re.compile(r"(?:^|[|;&]\s*|\b[A-Z_]+=\S+ )pmem\b")
_ID = re.compile(r"\b[0-9a-z]{8}\b")
_REFERENCE = "<id>"


class Block(NamedTuple):
    line: int
    language: str
    lines: list[str]


class Example(NamedTuple):
    line: int
    command: str
    code: int


def loaded(path: Path) -> ModuleType:
    """Load a program of docs/, which is no part of the package."""
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def blocks(text: str) -> Iterator[Block]:
    fence, block = "", Block(0, "", [])
    for number, line in enumerate(text.splitlines(), start=1):
        found = _FENCE.match(line)
        if found and not fence:
            fence, block = found[2], Block(number + 1, found[3], [])
        elif found and found[2] == fence and not found[3]:
            yield block
            fence = ""
        elif fence:
            block.lines.append(line)
    assert not fence, f"the block at line {block.line} never ends"


def examples(text: str) -> Iterator[Example]:
    """Yield the `pmem` command lines of `console` and `sh` blocks in their order."""
    for block in blocks(text):
        if block.language not in ("console", "sh"):
            continue
        for number, line in _joined(block):
            if block.language == "console" and not line.startswith("$ "):
                continue
            command = line.removeprefix("$ ").strip()
            if _COMMAND.search(command):
                code = _EXIT.search(command)
                yield Example(number, _COMMENT.sub("", command), int(code[1]) if code else 0)


class Reader:
    """Runs a document's commands as its reader would, in a fresh repository."""

    def __init__(self, folder: str) -> None:
        self._shell = Shell(folder)
        self._last = ""

    def run(self, example: Example) -> Outcome:
        """Run one command; `<id>` is the last id that was printed."""
        done = self._shell.run(example.command.replace(_REFERENCE, self._last))
        for found in _ID.findall(done.text):
            if self._shell.run(f"pmem show {found} --quiet").code == 0:
                self._last = found
        return done


def _joined(block: Block) -> Iterator[tuple[int, str]]:
    """Yield numbered lines, those that end in a backslash with the next ones."""
    start, whole = block.line, ""
    for number, line in enumerate(block.lines, start=block.line):
        start = start if whole else number
        whole += line
        if whole.endswith("\\"):
            whole = whole[:-1]
            continue
        yield start, whole
        whole = ""
