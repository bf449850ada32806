"""The table says of every use case what it is called, where it is, and what it takes and gives."""

import inspect
import re
from importlib import import_module
from typing import Any, Final, get_args, get_origin, get_type_hints

import msgspec
import pytest

from pmem import Project
from pmem.cli.commands import COMMANDS, GROUPS
from pmem.operations.operation import Operation
from pmem.operations.pipeline import function_of
from pmem.operations.table import TABLE
from pmem.project.workspace import Workspace
from tests.operations.rows import Row, rows, structs
from tests.policy.paths import OTHERWISE

ROWS: Final = [pytest.param(row, id=row.operation.name) for row in rows()]
OPERATIONS: Final = [pytest.param(row, id=name) for name, row in TABLE.items()]
BELOW: Final = {
    f"{group}.{name}": entry
    for group, (_, entries) in GROUPS.items()
    for name, entry in entries.items()
}
OTHER_WORDS: Final = {"memories", "assistant", "accept", "origin", "project"}
"""What is one command with another, or several: `app list` with an app's name lists its memories,
every `setup` of an assistant is one operation, `check --accept` accepts citations, `origin` is a
part of `check`, and `import auto` without a file imports what the project has written down."""
DECIDED: Final = {"consent.approve", "consent.reject"}
"""What `inbox accept` and `inbox reject` do to a proposal; to a fact it is another operation."""


def test_every_row_has_a_name_of_its_own() -> None:
    assert len(TABLE) == len(list(rows()))


@pytest.mark.parametrize("name", TABLE)
def test_a_row_is_called_as_the_command_line_or_the_library_calls_it(name: str) -> None:
    part, _, word = name.rpartition(".")
    is_method = not part and callable(getattr(Project, name, None))
    called = {*COMMANDS, *BELOW, *(one for one in OTHERWISE.values() if one), *DECIDED}
    assert name in called or is_method or word in _options_of(part) | OTHER_WORDS


@pytest.mark.parametrize("operation", OPERATIONS)
def test_the_meaning_of_a_row_is_one_line(operation: Operation[Any, Any]) -> None:
    assert re.fullmatch(r"[A-Z][^\n]{10,90}[^.\s]", operation.meaning)


@pytest.mark.parametrize("row", ROWS)
def test_the_function_of_a_row_takes_the_project_and_a_request(row: Row) -> None:
    hints = get_type_hints(function_of(row.operation))
    assert list(hints.values()) == [Workspace, row.request, row.answer]


@pytest.mark.parametrize("row", ROWS)
def test_requests_and_answers_are_structs_that_say_what_they_are(row: Row) -> None:
    assert list(structs(row.request)) == [row.request]
    assert all(list(structs(part)) for part in _alternatives(row.answer))
    for struct in (row.request, *structs(row.answer)):
        assert struct.__doc__ != msgspec.Struct.__doc__
        assert _documented(struct) in (set(), set(struct.__struct_fields__))


@pytest.mark.parametrize("row", ROWS)
def test_what_a_row_reads_of_its_request_and_its_answer_is_there(row: Row) -> None:
    operation = row.operation
    switches = {name for name in (operation.only_if, operation.unless) if name}
    assert switches <= set(row.request.__struct_fields__)
    assert operation.gate != "items" or "admit" in row.request.__struct_fields__
    assert operation.gate != "thread" or "thread" in row.request.__struct_fields__
    for answer in structs(get_origin(row.answer) or row.answer):
        assert not operation.recalls or hasattr(answer, "recalled")
        assert not operation.logged or hasattr(answer, "noted")


@pytest.mark.parametrize("operation", OPERATIONS)
def test_a_row_contradicts_itself_nowhere(operation: Operation[Any, Any]) -> None:
    writes = bool(operation.writes)
    assert bool(operation.doing) == (operation.scope == "whole")
    assert writes or not (operation.only_if or operation.unless)
    assert writes or operation.effect == "safe"
    assert writes or operation.gate in ("", "thread")


def test_a_request_that_is_asked_of_the_past_writes_nothing() -> None:
    asked_of_the_past = [row for row in rows() if "at" in row.request.__struct_fields__]
    assert asked_of_the_past
    assert {row.operation.writes for row in asked_of_the_past} == {""}


def _options_of(part: str) -> set[str]:
    """Return what a command, or any command of a group, takes."""
    named = {**COMMANDS, **BELOW}.items()
    entries = [entry for name, entry in named if part in (name, name.partition(".")[0])]
    modules = [import_module(f"pmem.cli.{entry.module}") for entry in entries]
    found = map(getattr, modules, [entry.function for entry in entries])
    return {name for each in found for name in each.fields}


def _alternatives(type_: Any) -> tuple[Any, ...]:
    """Return what a union is of, else the type itself."""
    return (type_,) if list(structs(type_))[:1] == [type_] or get_origin(type_) else get_args(type_)


def _documented(struct: type[msgspec.Struct]) -> set[str]:
    """Return the fields that a struct's docstring lists under `Attributes:`."""
    _, found, listed = inspect.getdoc(struct).partition("Attributes:\n")  # type: ignore[union-attr]
    return set(re.findall(r"^    (\w+): ", listed, re.MULTILINE)) if found else set()
