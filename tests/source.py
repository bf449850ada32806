"""Reading pmem's own source, for the tests that hold its design."""

import ast
import gc
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import Final, TypeVar

import pmem

PACKAGE: Final = Path(pmem.__file__).parent
FILES: Final = sorted(PACKAGE.rglob("*.py"))
Found = TypeVar("Found")


def name(path: Path) -> str:
    """Return a file's dotted module name."""
    parts = path.relative_to(PACKAGE.parent).with_suffix("").parts
    return ".".join(part for part in parts if part != "__init__")


def offences(
    look: Callable[[ast.Module], Found], files: Iterable[Path] = FILES
) -> dict[str, Found]:
    """Return what a rule finds wrong, by module; one test for all costs less than one for each."""
    return {name(path): found for path in files if (found := look(tree(path)))}


@cache
def tree(path: Path) -> ast.Module:
    """Parse a file; garbage that is collected meanwhile may upset Python's count of levels."""
    text, is_collecting = path.read_text(encoding="utf-8"), gc.isenabled()
    gc.disable()
    try:
        return ast.parse(text, str(path))
    finally:
        if is_collecting:
            gc.enable()


def imports(module: ast.Module) -> Iterator[str]:
    """Yield what a module imports, wherever in it: `a.b` for `import a.b`, `a.b` and `a.b.c`
    for `from a.b import c`."""
    for node in ast.walk(module):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "imports are absolute here"
            base = node.module or ""
            yield base
            yield from (f"{base}.{alias.name}" for alias in node.names)


@cache
def needed(module: ast.Module) -> tuple[str, ...]:
    """Return what a module imports when it runs, in functions too: `a.b` for `import a.b`, `a.b.c`
    for `from a.b import c`. What only type checkers read is left out."""
    found: list[str] = []
    for node in _running(module):
        if isinstance(node, ast.Import):
            found += (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            found += (f"{node.module}.{alias.name}" for alias in node.names)
    return tuple(found)


def _running(node: ast.AST) -> Iterator[ast.AST]:
    """Yield the nodes below one, but for those that only type checkers read."""
    skipped: list[ast.stmt] = []
    if isinstance(node, ast.If) and ast.unparse(node.test).endswith("TYPE_CHECKING"):
        skipped = node.body
    for child in ast.iter_child_nodes(node):
        if child not in skipped:
            yield child
            yield from _running(child)


def calls(module: ast.Module) -> Iterator[str]:
    """Yield the dotted names of what a module calls, as they are written."""
    for node in ast.walk(module):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute | ast.Name):
            yield ast.unparse(node.func)


def attributes(module: ast.Module) -> Iterator[str]:
    """Yield the dotted names of what a module reads of something, as they are written."""
    for node in ast.walk(module):
        if isinstance(node, ast.Attribute):
            yield ast.unparse(node)
