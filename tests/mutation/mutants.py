"""Changes of logic, one at a time, in a copy of the project."""

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Final, NamedTuple

from cosmic_ray.ast import ast_nodes, get_ast
from cosmic_ray.mutating import mutate_code
from cosmic_ray.plugins import get_operator, operator_names
from parso.python.tree import Function
from parso.tree import NodeOrLeaf

_LEFT_OUT: Final = ("Variable", "RemoveDecorator")
_DECLARED: Final = ("frozen", "kw_only")
"""Arguments of a class that say what may be written, which the type checker holds."""
_PATIENCE: Final = 4.0
_LEAST_SECONDS: Final = 60.0
"""A mutant may take so many times as long as the code as it is, and at least so long."""
_PASSED, _FAILED, _INTERRUPTED, _UNUSABLE = 0, 1, 2, 4
_COPIED: Final = ("pmem", "tests", "docs", "pyproject.toml", "README.md", "Makefile")


class Mutant(NamedTuple):
    module: str
    operator: str
    occurrence: int


def copy_project(folder: str) -> None:
    """Copy the project into a folder, where its code can be changed."""
    for name in _COPIED:
        copy = shutil.copytree if os.path.isdir(name) else shutil.copy
        copy(name, os.path.join(folder, name))


def mutants_of(module: str) -> list[list[Mutant]]:
    """Return every place of a module where its logic can change, with all that it can become."""
    found: dict[tuple[str, tuple[int, int]], list[Mutant]] = {}
    nodes = list(ast_nodes(get_ast(Path(module).read_text(encoding="utf-8"))))
    for name in sorted(operator_names()):
        if any(left_out in name for left_out in _LEFT_OUT):
            continue
        operator = get_operator(name)()
        at = [(node, place) for node in nodes for place in operator.mutation_positions(node)]
        for occurrence, (node, (start, _)) in enumerate(at):
            if _is_logic(node):
                mutant = Mutant(module, name, occurrence)
                found.setdefault((name.partition("_")[0], start), []).append(mutant)
    return [found[place] for place in sorted(found)]


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


@contextmanager
def mutated(mutant: Mutant, folder: str) -> Iterator[tuple[str, str]]:
    """Change one thing of a copy for a while, and yield the text before and after."""
    path = Path(folder, mutant.module)
    before = Path(mutant.module).read_text(encoding="utf-8")
    after = mutate_code(before, get_operator(mutant.operator)(), mutant.occurrence) or before
    path.write_text(after, encoding="utf-8")
    try:
        yield before, after
    finally:
        path.write_text(before, encoding="utf-8")


_TAKEN: Final[dict[tuple[str, ...], float]] = {}


def measure_tests(folder: str, tests: Sequence[str]) -> None:
    """Note how long tests take on the code as it is, which they must pass."""
    if tuple(tests) not in _TAKEN:
        started = time.monotonic()
        if _run(folder, tests, None) != _PASSED:
            sys.exit(f"{' '.join(tests)}: fails before anything is changed")
        _TAKEN[tuple(tests)] = time.monotonic() - started


def run_tests(folder: str, tests: Sequence[str]) -> bool:
    """Return whether tests pass in a copy of the project; those that take too long do not."""
    most = max(_LEAST_SECONDS, _PATIENCE * _TAKEN.get(tuple(tests), 0.0))
    return _run(folder, tests, most) == _PASSED


def _run(folder: str, tests: Sequence[str], most: float | None) -> int:
    """Run tests up to the first that fails, those that failed before first; too long is failed."""
    command = [sys.executable, "-m", "pytest", "-q", "-x", "--ff", *tests]
    environment = os.environ | {"PYTHONPATH": folder, "PYTHONDONTWRITEBYTECODE": "1"}
    try:
        done = subprocess.run(
            command, cwd=folder, env=environment, capture_output=True, timeout=most, check=False
        )
    except subprocess.TimeoutExpired:
        return _FAILED
    if done.returncode not in (_PASSED, _FAILED, _INTERRUPTED, _UNUSABLE):
        raise RuntimeError(done.stdout.decode() + done.stderr.decode())
    return done.returncode
