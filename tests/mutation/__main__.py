"""Run `python -m tests.mutation MODULE [--most N]`: how many changes of logic the tests notice."""

import argparse
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from difflib import unified_diff
from typing import Final, NamedTuple

from cosmic_ray.ast import ast_nodes, get_ast
from cosmic_ray.mutating import mutate_code
from cosmic_ray.plugins import get_operator, operator_names
from parso.python.tree import Function
from parso.tree import NodeOrLeaf

from tests.mutation.rooms import modules_of, tests_of

SEED: Final = 7
_LEFT_OUT: Final = ("Variable", "RemoveDecorator")
_DECLARED: Final = ("frozen", "kw_only")
"""Arguments of a class that say what may be written, which the type checker holds."""
_PATIENCE: Final = 4.0
_LEAST_SECONDS: Final = 60.0
"""A mutant may take so many times as long as the code as it is, and at least so long."""
_PASSED, _FAILED, _INTERRUPTED, _UNUSABLE = 0, 1, 2, 4
_COPIED: Final = ("pmem", "tests", "docs", "pyproject.toml", "README.md", "Makefile")


class Mutant(NamedTuple):
    """A change of a module: which operator of cosmic-ray, and its how manieth place there."""

    module: str
    operator: str
    occurrence: int


def main() -> None:
    """Try mutants of a module or a package, and print what no test noticed."""
    parser = argparse.ArgumentParser(prog="python -m tests.mutation")
    parser.add_argument("module", help="a file or a folder below pmem/")
    parser.add_argument("--most", type=int, help="as many mutants at the most, drawn by --seed")
    parser.add_argument("--seed", type=int, default=SEED)
    asked = parser.parse_args()
    chance = random.Random(asked.seed)
    places = [place for module in modules_of(asked.module) for place in _places(module)]
    chance.shuffle(places)
    drawn = [chance.choice(place) for place in places[: asked.most]]
    with tempfile.TemporaryDirectory() as folder:
        for name in _COPIED:
            copy = shutil.copytree if os.path.isdir(name) else shutil.copy
            copy(name, os.path.join(folder, name))
        killed = sum(_is_killed(mutant, folder, tests_of(asked.module)) for mutant in drawn)
    rate = f" ({killed / len(drawn):.0%})" if drawn else ""
    _say(f"{asked.module}: {killed} of {len(drawn)} mutants killed{rate}; {len(places)} places")


def _places(module: str) -> Iterator[list[Mutant]]:
    """Yield every place of a module where its logic can change, with all that it can become."""
    found: dict[tuple[str, tuple[int, int]], list[Mutant]] = {}
    nodes = list(ast_nodes(get_ast(_read(module))))
    for name in sorted(operator_names()):
        if any(left_out in name for left_out in _LEFT_OUT):
            continue
        operator = get_operator(name)()
        at = [(node, place) for node in nodes for place in operator.mutation_positions(node)]
        for occurrence, (node, (start, _)) in enumerate(at):
            if _is_logic(node):
                mutant = Mutant(module, name, occurrence)
                found.setdefault((name.partition("_")[0], start), []).append(mutant)
    yield from (found[place] for place in sorted(found))


def _is_logic(node: NodeOrLeaf) -> bool:
    """Return whether a change here can change what is done: not in an annotation or a decorator."""
    parent = node.parent
    if parent is None:
        return True
    if parent.type in ("decorator", "tfpdef"):
        return False
    if parent.type == "annassign" and node is parent.children[1]:
        return False
    if isinstance(parent, Function) and node is parent.annotation:
        return False
    if parent.type == "argument" and parent.children[0].get_code() in _DECLARED:
        return False
    return _is_logic(parent)


def _is_killed(mutant: Mutant, folder: str, tests: list[str]) -> bool:
    """Run the tests in a copy of the project where one thing has changed."""
    path = os.path.join(folder, mutant.module)
    before = _read(mutant.module)
    after = mutate_code(before, get_operator(mutant.operator)(), mutant.occurrence) or before
    most = max(_LEAST_SECONDS, _PATIENCE * _seconds(folder, tests))
    _write(path, after)
    try:
        survived = _run(folder, tests, most) == _PASSED
    finally:
        _write(path, before)
    if survived:
        lines = before.splitlines(), after.splitlines()
        _say("\n".join(unified_diff(*lines, mutant.module, mutant.operator, lineterm="", n=2)))
    return not survived


_TAKEN: Final[dict[str, float]] = {}


def _seconds(folder: str, tests: list[str]) -> float:
    """Return how long the tests take on the code as it is, which they must pass."""
    if folder not in _TAKEN:
        started = time.monotonic()
        if _run(folder, tests, None) != _PASSED:
            sys.exit(f"{' '.join(tests)}: fails before anything is changed")
        _TAKEN[folder] = time.monotonic() - started
    return _TAKEN[folder]


def _run(folder: str, tests: list[str], most: float | None) -> int:
    """Run tests up to the first that fails, those that failed before first; too long is failed.

    Raises:
        RuntimeError: pytest could not be run at all.
    """
    command = [sys.executable, "-m", "pytest", "-q", "-x", "--ff", *tests]
    environment = os.environ | {"CI": "1", "PYTHONPATH": folder, "PYTHONDONTWRITEBYTECODE": "1"}
    try:
        done = subprocess.run(
            command, cwd=folder, env=environment, capture_output=True, timeout=most, check=False
        )
    except subprocess.TimeoutExpired:
        return _FAILED
    if done.returncode not in (_PASSED, _FAILED, _INTERRUPTED, _UNUSABLE):
        raise RuntimeError(done.stdout.decode() + done.stderr.decode())
    return done.returncode


def _read(path: str) -> str:
    with open(path, encoding="utf-8") as file:
        return file.read()


def _write(path: str, text: str) -> None:
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)


def _say(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
