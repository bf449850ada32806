"""Changes of logic, one at a time, in a copy of the project."""

import os
from collections.abc import Iterator
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


class Mutant(NamedTuple):
    module: str
    operator: str
    occurrence: int
    function: int
    """The line of the outer function that it stands in; 0 outside of functions."""


def modules_of(path: str) -> list[str]:
    """Return the modules of a package, or the one that is named."""
    if os.path.isfile(path):
        return [path]
    return sorted(str(module) for module in Path(path).rglob("*.py"))


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
                mutant = Mutant(module, name, occurrence, _function_of(node))
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


def _function_of(node: NodeOrLeaf) -> int:
    found, parent = 0, node.parent
    while parent is not None:
        if isinstance(parent, Function) and node is parent.children[-1]:
            found = parent.start_pos[0]
        node, parent = parent, parent.parent
    return found


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
