"""The rows of the documents, and the tests that say by a mark that they hold one."""

import ast
import os
import tomllib
from collections.abc import Iterator
from typing import Final, NamedTuple

TESTS: Final = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
_ROWS: Final = os.path.join(TESTS, "conformance", "rows")


class Row(NamedTuple):
    """One thing that a document asks for, in our words."""

    name: str
    section: str
    asks: str
    decisions: tuple[int, ...]
    instead: str


class Document(NamedTuple):
    """One of the documents that pmem was asked for in."""

    name: str
    title: str
    rows: tuple[Row, ...]


class Holder(NamedTuple):
    """A test that holds a row."""

    path: str
    name: str
    rows: tuple[str, ...]

    @property
    def node(self) -> str:
        return f"{self.path}::{self.name}"


def documents() -> list[Document]:
    return [_document(name) for name in sorted(os.listdir(_ROWS)) if name.endswith(".toml")]


def _document(name: str) -> Document:
    with open(os.path.join(_ROWS, name), "rb") as file:
        read = tomllib.load(file)
    rows = tuple(
        _row(section["title"], row) for section in read["section"] for row in section["row"]
    )
    return Document(read["name"], read["title"], rows)


def _row(section: str, row: dict[str, object]) -> Row:
    unknown = set(row) - {"name", "asks", "decisions", "instead"}
    if unknown:
        raise ValueError(f"{row.get('name')}: a row has no {', '.join(sorted(unknown))}")
    decisions = row.get("decisions", [])
    assert isinstance(decisions, list)
    return Row(
        name=str(row["name"]),
        section=section,
        asks=str(row["asks"]),
        decisions=tuple(decisions),
        instead=str(row.get("instead", "")),
    )


def holders() -> list[Holder]:
    return [holder for path in sorted(_test_files()) for holder in _holders_in(path)]


def _test_files() -> Iterator[str]:
    for folder, _, names in os.walk(TESTS):
        for name in names:
            if name.startswith("test_") and name.endswith(".py"):
                yield os.path.join(folder, name)


def _holders_in(path: str) -> Iterator[Holder]:
    with open(path, encoding="utf-8") as file:
        text = file.read()
    if "mark.row(" not in text:
        return
    place = os.path.relpath(path, os.path.dirname(TESTS)).replace(os.sep, "/")
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef) and (rows := tuple(_rows_of(node))):
            yield Holder(place, node.name, rows)


def _rows_of(test: ast.FunctionDef) -> Iterator[str]:
    for mark in test.decorator_list:
        if isinstance(mark, ast.Call) and ast.unparse(mark.func) == "pytest.mark.row":
            yield from (ast.literal_eval(argument) for argument in mark.args)
