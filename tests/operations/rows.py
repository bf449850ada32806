"""Reading the rows of the table, and the types that their annotations name."""

import ast
from collections.abc import Iterator
from importlib import import_module
from typing import Any, Final, NamedTuple, get_args, get_origin

import msgspec

from pmem.operations import table
from pmem.operations.operation import Operation
from tests import source

TREES: Final = [
    source.tree(path) for path in sorted((source.PACKAGE / "operations" / "table").glob("*.py"))
]


class Row(NamedTuple):
    """A row, and the request and the answer that its annotation names."""

    operation: Operation[Any, Any]
    request: Any
    answer: Any


def rows() -> Iterator[Row]:
    """Yield every row of the table, in its order."""
    names = {**vars(table), **dict(_named_types())}
    for node in (node for tree in TREES for node in tree.body):
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            value = getattr(table, node.target.id)
            if isinstance(value, Operation):
                annotation = eval(ast.unparse(node.annotation), names)
                yield Row(value, *get_args(*get_args(annotation)))


def structs(type_: Any) -> Iterator[type[msgspec.Struct]]:
    """Yield the structs that a type names: itself, those of a union, and what it is filled with."""
    for named in (type_, get_origin(type_)):
        if isinstance(named, type) and issubclass(named, msgspec.Struct):
            yield named
    for part in get_args(type_):
        yield from structs(part)


def _named_types() -> Iterator[tuple[str, Any]]:
    """Yield the types that the table imports for type checkers alone."""
    for node in (node for tree in TREES for node in ast.walk(tree)):
        if isinstance(node, ast.ImportFrom) and node.module is not None and not _is_all(node):
            module = import_module(node.module)
            yield from ((alias.name, getattr(module, alias.name)) for alias in node.names)


def _is_all(node: ast.ImportFrom) -> bool:
    return [alias.name for alias in node.names] == ["*"]
