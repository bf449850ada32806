"""Calls of the library with values of wrong types: a refusal in one sentence, and nothing kept."""

import os
import shutil
from contextlib import suppress
from datetime import date, datetime, timedelta, timezone
from pathlib import Path
from typing import Any, Final

import msgspec
import pytest

from pmem import AddRequest, PmemError, Project
from pmem.core.filters import Filter
from pmem.errors import InvalidValue
from pmem.operations.pipeline import run
from pmem.project.workspace import Workspace
from tests.conftest import NOW
from tests.faults.console import bytes_of
from tests.once import Once
from tests.operations.rows import Row
from tests.operations.test_answers import TRIED, kept_in, request_for

UNTYPED: Final[Any] = "x"
DEEP: Final[list[Any]] = []
_inner = DEEP
for _ in range(2000):
    _inner.append([])
    _inner = _inner[0]
WRONG: Final[tuple[Any, ...]] = (
    None,
    7,
    1.5,
    b"x",
    ["x", 7],
    {"x": 1},
    object(),
    "\ud800",
    True,
    -1,
    10**400,
    float("nan"),
    float("inf"),
    "",
    "a\0b",
    datetime(2026, 1, 1),
    datetime.max.replace(tzinfo=timezone(timedelta(hours=-12))),
    datetime.min.replace(tzinfo=timezone(timedelta(hours=12))),
    date(2026, 1, 1),
    {"x"},
    Path("x"),
    int,
    len,
    DEEP,
    ["\ud800"],
    {"\ud800": "\ud800"},
    {7: 7},
)


OFFERED: Final = [
    row
    for row in TRIED
    if not row.operation.name.startswith(("import.notes", "import.adr", "import.git", "setup"))
    and row.operation.name != "query"
]
"""Operations that are methods, and some others; `query` reads a request of its own."""
CALLED: Final = ("progress", "admit", "golden")
"""Fields that are called back."""


@pytest.mark.some(10)
@pytest.mark.parametrize("row", OFFERED, ids=[row.operation.name for row in OFFERED])
def test_a_value_of_a_wrong_type_is_refused_or_taken_whole(
    row: Row, root: str, once: Once, tmp_path: Path
) -> None:
    kept = once(lambda: kept_in(Workspace(root, actor="ada", now=NOW)))
    sound = tmp_path / "sound"
    shutil.copytree(root, sound)
    before = bytes_of(str(sound))
    for field in msgspec.structs.fields(row.request):
        for wrong in WRONG if field.name not in CALLED else ():
            _run(row, root, kept, {field.name: wrong})
            if bytes_of(root) != before:
                assert not Project(root).check().findings, (field.name, wrong)
                shutil.rmtree(root)
                shutil.copytree(sound, root)


def _run(row: Row, root: str, kept: dict[str, str], wrong: dict[str, Any]) -> None:
    """Run an operation as the library does; a refusal must be a sentence that pmem wrote."""
    refused = None
    try:
        request = request_for(row, kept, **wrong)
        run(Workspace(root, actor="ada", now=NOW), row.operation, request)
    except PmemError as error:
        refused = error
    assert refused is None or refused.exit_code != PmemError.exit_code


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda p: p.add(7), "content must be text, not a whole number"),
        (lambda p: p.add(None), "content must be text, not None"),
        (lambda p: p.add("x", tags=["a", 7]), r"tags\[1\] must be text, not a whole number"),
        (lambda p: p.add("x", importance="high"), "importance must be a number, not text"),
        (lambda p: p.add("x", type="rumour"), "type cannot be 'rumour'"),
        (lambda p: p.add("x", valid_from=7), "valid_from must be a time such as"),
        (lambda p: p.search("x", top_k="3"), "top_k must be a whole number, not text"),
        (lambda p: p.remove(["a"]), r"references\[0\] must be text, not a list"),
        (lambda p: p.list(limit=1.5), "limit must be a whole number, not one with a fraction"),
        (lambda p: p.list(Filter(types=UNTYPED)), "types must be a list, not text"),
        (lambda p: p.list({"types": 7}), r"^wanted\.types must be a list, not a whole number"),
        (lambda p: p.save_checkpoint("t", {1: 2}), "^a key of state must be text, not a whole"),
        (lambda p: p.add_all("x"), r"memories must be a list, not text"),
        (lambda p: p.import_messages(["{}"]), "lines must be bytes, not text"),
        (lambda p: p.add_message("user", "x", tool_call=b"x"), "tool's call .* not bytes"),
        (lambda p: p.add_message("user", "x", tool_call={1: 2}), "tool's call has a key"),
        (lambda p: p.consolidate(dry_run="yes"), "dry_run must be true or false, not text"),
    ],
)
def test_the_sentence_names_the_argument(call: Any, sentence: str) -> None:
    with pytest.raises(InvalidValue, match=sentence):
        call(_talking())


def _talking() -> Project:
    project = Project(now=NOW)
    project.start_conversation()
    return project


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"now": "x"}, "now must be a time such as"),
        ({"now": datetime(2026, 1, 1)}, "now must be a time with a zone,"),
        ({"memory_dir": 5}, "memory_dir must be text, not a whole number"),
        ({"memory_dir": "a\0b"}, "memory_dir has a zero byte"),
        ({"memory_dir": b"x"}, "memory_dir must be text, not bytes"),
        ({"memory_dir": ""}, "memory_dir must not be empty"),
        ({"actor": 5}, "actor must be text, not a whole number"),
        ({"agent": ["a"]}, "agent must be text, not a list"),
        ({"app": 1.5}, "app must be text, not a number"),
        ({"read_only": "yes"}, "read_only must be true or false, not text"),
        ({"backend": 5}, "backend must be Backend, not a whole number"),
        ({"settings": 5}, "there is no setting 'settings'"),
        ({"chunk_size": "many"}, "chunk_size cannot be 'many'"),
        ({"chunk_size": "\ud800"}, "chunk_size cannot be"),
    ],
)
def test_a_project_is_opened_with_the_types_that_it_names(
    options: dict[str, Any], sentence: str
) -> None:
    with pytest.raises(InvalidValue, match=sentence):
        Project(**options).add("We use Go")


@pytest.mark.parametrize("option", ["memory_dir", "actor", "now", "read_only", "agent", "app"])
def test_a_project_is_opened_or_refused_with_anything(option: str, root: str) -> None:
    for wrong in WRONG:
        given: dict[str, Any] = {"memory_dir": root, "read_only": True, option: wrong}
        with suppress(PmemError):
            Project(**given).search("Go")


@pytest.mark.parametrize("start", [5, None, b"x", "a\0b", "\ud800", ["x"]])
def test_a_place_to_look_from_is_a_path(start: Any) -> None:
    with pytest.raises(PmemError, match=r"start|UTF-8"):
        Project.discover(start)


def test_paths_may_be_those_of_pathlib() -> None:
    assert Project(Path("memory")).export_arrays()
    os.rename("memory", ".project-memory")
    assert Project.discover(Path()).stats()


def test_a_time_without_a_zone_is_refused_wherever_it_is_given() -> None:
    naive = datetime(2026, 1, 1)
    project = Project(now=NOW)
    ref = project.add("We use Go").memory.id
    for call in (
        lambda: project.add("x", valid_from=naive),
        lambda: project.add("x", valid_until=naive),
        lambda: project.edit(ref, valid_until=naive),
        lambda: project.add_all([AddRequest(content="x", valid_from=naive)]),
        lambda: project.list(Filter(created_after=naive)),
        lambda: project.show(ref, at=naive),
        lambda: project.at(naive),
    ):
        with pytest.raises(InvalidValue, match="must be a time with a zone"):
            call()


def test_a_field_that_there_is_not_is_a_mistake_of_the_program() -> None:
    with pytest.raises(TypeError, match="colour"):
        Project(now=NOW).add("x", colour="red")
