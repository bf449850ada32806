"""Reading pmem's own source, for the tests that hold its design."""

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Final

import pmem

PACKAGE: Final = Path(pmem.__file__).parent
FILES: Final = sorted(PACKAGE.rglob("*.py"))


def name(path: Path) -> str:
    """Return a file's dotted module name."""
    parts = path.relative_to(PACKAGE.parent).with_suffix("").parts
    return ".".join(part for part in parts if part != "__init__")


@cache
def tree(path: Path) -> ast.Module:
    """Parse a file."""
    return ast.parse(path.read_text(encoding="utf-8"), str(path))


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


def calls(module: ast.Module) -> Iterator[str]:
    """Yield the dotted names of what a module calls, as they are written."""
    for node in ast.walk(module):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute | ast.Name):
            yield ast.unparse(node.func)
