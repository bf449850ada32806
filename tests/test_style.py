"""The measures that keep the code readable; an exception is written down with its reason."""

import ast
import re
import statistics
from collections.abc import Callable, Collection, Iterator
from functools import cache
from typing import Final, NamedTuple

from pmem.core.retrieval.collection import CollectionStatistics
from pmem.core.retrieval.pool import Pool
from pmem.storage.backend import Backend
from tests import source

FILE_LINES: Final = 500
CLASS_LINES: Final = 250
FUNCTION_LINES: Final = 50
NINE_IN_TEN: Final = 30
MEDIAN: Final = 10
LONGER: Final[dict[str, str]] = {}
"""Functions that may have more than FUNCTION_LINES lines, and why."""

PROMISED: Final = frozenset({*vars(Backend), *vars(Pool), *vars(CollectionStatistics), "problems"})
"""What the protocols document; their implementations need not repeat it."""

OBVIOUS: Final = frozenset({"self", "cls", "workspace", "request", "session"})
"""Arguments whose type says what they are; the others are documented where any is."""

AnyFunction = ast.FunctionDef | ast.AsyncFunctionDef
Definition = AnyFunction | ast.ClassDef
Look = Callable[[AnyFunction], Collection[str]]


class Function(NamedTuple):
    """A function and how many lines its body has, without its docstring."""

    name: str
    lines: int


@cache
def definitions(tree: ast.AST) -> tuple[tuple[str, Definition], ...]:
    """Return every function and class with its qualified name, inner ones too."""
    return tuple(_defined_in(tree, ""))


def _defined_in(tree: ast.AST, prefix: str) -> Iterator[tuple[str, Definition]]:
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, Definition):
            yield prefix + node.name, node
            yield from _defined_in(node, f"{prefix}{node.name}.")
        else:
            yield from _defined_in(node, prefix)


def body_lines(function: AnyFunction) -> int:
    """Count the lines of a body, without the signature and the docstring."""
    body = function.body[1:] if ast.get_docstring(function) is not None else function.body
    return (body[-1].end_lineno or 0) - body[0].lineno + 1 if body else 0


def functions() -> list[Function]:
    """Return every function of the package."""
    return [
        Function(f"{source.name(path)}.{name}", body_lines(node))
        for path in source.FILES
        for name, node in definitions(source.tree(path))
        if not isinstance(node, ast.ClassDef)
    ]


def is_public(name: str) -> bool:
    """Tell whether no part of a qualified name starts with an underscore."""
    return not any(part.startswith("_") for part in name.split("."))


def unannotated(function: AnyFunction) -> list[str]:
    """Return the parameters without a type, and `return` where that is missing."""
    given = function.args
    arguments = [*given.posonlyargs, *given.args, *given.kwonlyargs]
    arguments += [extra for extra in (given.vararg, given.kwarg) if extra is not None]
    bare = [argument.arg for argument in arguments if argument.annotation is None]
    missing = [name for name in bare if name not in ("self", "cls")]
    return missing + ["return"] * (function.returns is None)


def test_files_stay_short() -> None:
    lengths = {
        source.name(path): len(path.read_text(encoding="utf-8").splitlines())
        for path in source.FILES
    }
    assert {name: lines for name, lines in lengths.items() if lines > FILE_LINES} == {}


def test_classes_stay_short() -> None:
    assert source.offences(long_classes) == {}


def long_classes(tree: ast.Module) -> list[str]:
    """Return the classes of more than CLASS_LINES lines."""
    return [
        name
        for name, node in definitions(tree)
        if isinstance(node, ast.ClassDef) and (node.end_lineno or 0) - node.lineno + 1 > CLASS_LINES
    ]


def test_no_function_is_long_without_a_reason() -> None:
    long = {function.name for function in functions() if function.lines > FUNCTION_LINES}
    assert long == set(LONGER)


def test_half_of_all_functions_are_very_short() -> None:
    assert statistics.median(function.lines for function in functions()) <= MEDIAN


def test_nine_in_ten_functions_are_short() -> None:
    lines = [function.lines for function in functions()]
    assert statistics.quantiles(lines, n=10)[-1] <= NINE_IN_TEN


def test_everything_public_has_a_docstring() -> None:
    assert source.offences(silent) == {}


def silent(tree: ast.Module) -> list[str]:
    """Return what is public without a docstring, the module itself included."""
    return ["the module"] * (ast.get_docstring(tree) is None) + [
        name
        for name, node in definitions(tree)
        if is_public(name) and not _is_inner(name, tree) and ast.get_docstring(node) is None
        if name.rpartition(".")[2] not in PROMISED
    ]


def test_every_function_is_fully_annotated() -> None:
    assert source.offences(lambda tree: in_functions(tree, unannotated)) == {}


def test_arguments_are_documented_all_of_them_or_none() -> None:
    assert source.offences(lambda tree: in_functions(tree, undocumented)) == {}


def in_functions(tree: ast.Module, look: Look) -> dict[str, Collection[str]]:
    """Return what is wrong in the functions of a module, by their names."""
    return {
        name: found
        for name, node in definitions(tree)
        if not isinstance(node, ast.ClassDef) and (found := look(node))
    }


def undocumented(function: AnyFunction) -> set[str]:
    """Return the arguments that a docstring with a section of arguments passes over."""
    says = ast.get_docstring(function) or ""
    section = re.search(r"^Args:\n((?:    .*(?:\n|$))+)", says, re.M)
    if section is None:
        return set()
    told = set(re.findall(r"^    \*{0,2}(\w+)(?: \(.*\))?:", section[1], re.M))
    given = function.args
    extra = [each for each in (given.vararg, given.kwarg) if each is not None]
    every = {each.arg for each in (*given.posonlyargs, *given.args, *given.kwonlyargs, *extra)}
    return {name for name in every - told - OBVIOUS if not name.startswith("_")}


def _is_inner(name: str, tree: ast.Module) -> bool:
    """Tell whether a definition stands inside a function, where nobody else sees it."""
    outer = name.rpartition(".")[0]
    found = dict(definitions(tree)).get(outer)
    return found is not None and (not isinstance(found, ast.ClassDef) or _is_inner(outer, tree))


ANY_LINES: Final = ("pmem.core.text.", "pmem.core.pruning.", "pmem.core.summaries.")
"""Rooms that read what people say in messages, of which no line has a number."""


def test_lines_are_split_where_git_and_editors_end_them() -> None:
    """`str.splitlines` ends one also at U+2028, a form feed or a lone carriage return."""
    wrong = source.offences(lambda tree: [one for one in called(tree) if one == "splitlines"])
    assert {name for name in wrong if not name.startswith(ANY_LINES)} == set()


def called(tree: ast.Module) -> Iterator[str]:
    """Yield the names of the methods that a module calls."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            yield node.func.attr
