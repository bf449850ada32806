"""Whole command lines, and every command over a project in which one file is damaged."""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from itertools import takewhile
from random import Random
from tempfile import TemporaryDirectory
from typing import Any, Final

from pmem.cli.commands import COMMANDS, GROUPS
from pmem.core.rawjson import dump
from pmem.core.threeway.shapes import SHAPES
from pmem.project.setup import initialise
from tests.core.threeway.sides import sides
from tests.faults.console import Done, pmem
from tests.fuzz.judging import Entry

_SURROUNDINGS: Final = {
    "PMEM_NOW": "2026-11-21T14:30:00Z",
    "PMEM_ACTOR": "ada",
    "HOME": "/nonexistent",
    "XDG_CONFIG_HOME": "/nonexistent",
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_CEILING_DIRECTORIES": "/",
}
_LEFT_OUT: Final = frozenset({"setup", "review"})
"""Commands that run other programs, or write elsewhere than in the project."""
_READING: Final = (
    *(
        ["list", "--all-states"],
        ["search", "which database"],
        ["context", "database"],
        ["check", "records"],
    ),
    *(["stats"], ["log"], ["show", "a-00000001"], ["consolidate", "--dry-run"]),
    *(["conversation", "list"], ["inbox", "facts"], ["episode", "arc"], ["delta", "--thread", "t"]),
    *(["inbox", "proposals"], ["check", "setup"], ["log", "a-00000001"], ["export", "arrays"]),
    *(["list", "--block"], ["config", "list"], ["app", "list", "x"], ["list", "--at", "3d"]),
    *(["add", "We use Go"], ["conversation", "say", "We use Go"], ["edit", "a-00000001", "New"]),
)


@cache
def _template() -> str:
    made = TemporaryDirectory(prefix="pmem-fuzz-")
    _KEPT.append(made)
    root = os.path.join(made.name, "project", ".project-memory")
    os.makedirs(os.path.dirname(root))
    initialise(root)
    for store in SHAPES:
        for seed in (1, 2, 3):
            side = sides(seed, store)[0]
            with open(os.path.join(root, store, f"{side['id']}.json"), "wb") as file:
                file.write(dump(side))
    return os.path.dirname(root)


_KEPT: Final[list[TemporaryDirectory[str]]] = []


@contextmanager
def _project() -> Iterator[str]:
    """Go into a fresh copy of a small project."""
    place = os.path.join(os.path.dirname(_template()), "copy")
    shutil.rmtree(place, ignore_errors=True)
    shutil.copytree(_template(), place)
    before = os.getcwd()
    os.chdir(place)
    try:
        yield os.path.join(place, ".project-memory")
    finally:
        os.chdir(before)


def _done(arguments: list[str], stdin: bytes = b"") -> Done:
    done = pmem(*arguments, stdin=stdin, environment=_SURROUNDINGS)
    assert done.code != 70, f"{arguments}: {done.err}"[:400]
    assert "Traceback" not in done.err
    options = [*takewhile("--".__ne__, arguments)]
    if "--json" in options and done.code not in (0, 1, 9):
        assert done.error["message"]
    return done


def _command_line(data: bytes) -> Any:
    """Run a command line: arguments that end with zero bytes, and what is left on its input."""
    *words, stdin = data.replace(b"/", b"").replace(b"..", b"").split(b"\0")
    arguments = [word.decode("utf-8", "surrogateescape") for word in words]
    if not _LEFT_OUT.isdisjoint(arguments):
        return None
    with _project():
        return _done(arguments, stdin).code


def _damaged(data: bytes) -> Any:
    """Damage a file of the project, and run a command over it; the input's end says which."""
    random = Random(data[-8:])
    with _project() as root:
        store = random.choice(list(SHAPES))
        name = random.choice(sorted(os.listdir(os.path.join(root, store))))
        path = os.path.join(root, random.choice((f"{store}/{name}", "config.toml")))
        for damaged in (path, *random.choice(((), (os.path.join(root, "local/index.sqlite3"),)))):
            os.makedirs(os.path.dirname(damaged), exist_ok=True)
            with open(damaged, "wb") as file:
                file.write(data)
        return [_done(random.choice(_READING)).code for _ in range(2)]


def _lines() -> tuple[bytes, ...]:
    everything = {"": COMMANDS, **{name: inner for name, (_, inner) in GROUPS.items()}}
    own = [
        entry.example.removeprefix("pmem ").replace('"', "").replace("'", "").split(" ")
        for group in everything.values()
        for name, entry in group.items()
        if name not in _LEFT_OUT
    ]
    more = [
        ["list", "--limit", "3", "--since", "3d", "--min-importance", "0.5", "--json"],
        ["search", "database", "-k", "5", "--threshold", "0.1", "--kind", "memory", "--explain"],
        ["context", "database", "--budget", "500", "--format", "json", "--json"],
        ["add", "We use Go", "--importance", "0.5", "--valid-until", "2027-01-01", "--tag", "x"],
        ["conversation", "prune", "--keep", "3", "--dry-run"],
        ["edit", "a-00000001", "--link", "b-00000002:x"],
        ["config", "set", "chunk_size", "20"],
        ["add", "--batch", "-", "--json"],
        ["import", "messages", "-", "--json"],
        ["checkpoint", "save", "review", "-"],
        ["--now", "2026-11-21", "stats", "--json"],
    ]
    stdin = b'{"content":"We use Go","query":"x","importance":0.5}'
    return tuple("\0".join([*words, ""]).encode() + stdin for words in (*own, *more))


FILES: Final = tuple(dump(sides(1, store)[0]) for store in SHAPES)
ENTRIES: Final = (
    Entry("command lines", _command_line, _lines(), share=0.06),
    Entry("damaged projects", _damaged, FILES, share=0.06),
)
