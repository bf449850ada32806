"""No command reads, writes or runs anything beyond a hostile project, hangs, or breaks down."""

import os
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path
from unittest import mock

import pytest

from pmem.errors import Damaged
from pmem.storage.files.recordfile import parse, read_bytes
from pmem.values.records import Memory
from tests.effort import IS_THOROUGH
from tests.faults.console import Done, bytes_of, pmem
from tests.hostile.projects import GOOD, OTHER, PLANS, PLANTS, STORE, kinds, memory, write
from tests.hostile.shapes import SHAPES
from tests.hostile.watch import watching
from tests.policy.paths import MATRIX

SECONDS = 3
CODES = {0, 1, 2, 3, 4, 5, 7, 9, 74}
QUICK = ("search", "add", "consolidate", "check", "delta", "eval run")
"""They open everything that is opened by name; the other commands take minutes."""
EVERY = tuple(MATRIX) if IS_THOROUGH else QUICK
OFTEN = {"", "link", "link to a folder", "link to an empty file", "pipe", "hard link to a database"}


def is_often(name: str) -> bool:
    """Tell whether a plant is tried each time."""
    return name.partition(": ")[2] in OFTEN


SOME_SHAPES = {"1 MB in one line", "its id twice", "10,000 levels in its past"}
"""Of the plants by shape so many are tried each time: the others are much like these."""
CHOSEN = [
    name
    for name in PLANTS
    if IS_THOROUGH
    or (
        name.removeprefix("a record that has ") in SOME_SHAPES if name in SHAPES else is_often(name)
    )
]


@pytest.fixture
def secret(tmp_path: Path) -> str:
    """Make what a hostile project would like to read or to harm."""
    folder = tmp_path / "secret"
    folder.mkdir()
    (folder / "file").write_text('{"token": "hush-hush"}\n', encoding="utf-8")
    (folder / "empty").write_text("", encoding="utf-8")
    (folder / "plan.json").write_text("[]", encoding="utf-8")
    connection = sqlite3.connect(folder / "database")
    connection.execute("create table file (token)")
    connection.execute("insert into file values ('hush-hush')")
    connection.commit()
    connection.close()
    return str(folder)


@pytest.fixture
def project(root: str) -> str:
    """Make a project with two memories, in a repository."""
    for identifier in (GOOD, OTHER):
        write(f"{root}/{STORE}/{identifier}.json", memory(identifier, f"gear {identifier}"))
    return root


def ask(command: str) -> Done:
    """Run a command with the arguments of the permission matrix."""
    given = {"TEXT": "gear", "REF": GOOD, "OTHER": OTHER, "../golden.jsonl": "--limit=5"}
    words = [given.get(word, word) for word in MATRIX[command][1]]
    if command == "eval run":
        words = []
    return pmem(*command.split(), *words, stdin=b'{"query": "gear"}')


def harmless(command: str, root: str, secret: str) -> Done:
    """Run a command, and see that it did nothing beyond the project."""
    before = bytes_of(secret)
    with watching(root, secret, SECONDS) as watch:
        done = ask(command)
    assert watch.found == [], command
    assert bytes_of(secret) == before, command
    assert b"hush-hush" not in done.out, command
    assert "hush-hush" not in done.err, command
    assert "Traceback" not in done.err, command
    assert done.code in CODES, (command, done)
    assert not os.path.lexists("pwned")
    return done


@pytest.mark.some(12)
@pytest.mark.parametrize("name", CHOSEN)
def test_a_hostile_project_does_no_harm(name: str, project: str, secret: str) -> None:
    PLANTS[name](project, secret)
    for command in EVERY:
        harmless(command, project, secret)


@pytest.mark.some(24)
@pytest.mark.parametrize("command", MATRIX)
def test_no_command_is_harmed_by_everything_at_once(
    command: str, project: str, secret: str
) -> None:
    for name in (
        "local/index.sqlite3-journal: link to an empty file",
        "local/access.log: hard link",
        "local/operations.log: link",
        "local/pmem.log: link",
        "golden.jsonl: link to zeros",
        "names of files that are no ids",
        "ids that are no names",
        "citations that lead outside",
        "names that are used in paths and queries",
    ):
        PLANTS[name](project, secret)
    harmless(command, project, secret)


@pytest.mark.parametrize(
    "name", [name for name in CHOSEN if name.startswith(("a record", "names", "pipes"))]
)
def test_other_memories_stay_usable(name: str, project: str, secret: str) -> None:
    PLANTS[name](project, secret)
    for line in (["show", GOOD], ["search", "gear"], ["list"], ["add", "Another wheel squeaks"]):
        done = pmem(*line)
        assert done.code == 0, done
    assert f"gear {GOOD}" in pmem("list").out.decode()


def test_what_is_refused_is_refused_with_one_sentence(project: str, secret: str) -> None:
    for name in ("a record of 100 MB", "a record that has 100,000 levels of lists"):
        PLANTS[name](project, secret)
        with watching(project, secret, SECONDS):
            done = pmem("show", OTHER)
        assert done.code == 5
        assert len(done.err.splitlines()) <= 2
        assert OTHER in done.err


def test_a_device_is_not_read() -> None:
    with pytest.raises(Damaged, match="is not a regular file"):
        read_bytes(os.devnull)


def test_what_is_nested_deeper_than_a_record_may_be_is_refused() -> None:
    deep = f'{memory(GOOD)[:-1]}, "x": {"[" * 65}{"]" * 65}}}'
    with pytest.raises(Damaged, match="is nested deeper than 64 levels"):
        parse(deep.encode(), Memory, f"{GOOD}.json")


@pytest.mark.parametrize("kind", ["link", "hard link", "link to nothing"])
def test_the_report_of_a_bug_is_written_through_no_link(
    kind: str, project: str, secret: str
) -> None:
    PLANTS[f"local/pmem.log: {kind}"](project, secret)
    before = bytes_of(secret)
    with mock.patch("pmem.memory.reading.list_memories", side_effect=RuntimeError("planned")):
        done = pmem("list")
    assert done.code == 70
    assert bytes_of(secret) == before


@pytest.mark.parametrize("kind", ["link", "pipe", "link to zeros"])
def test_an_accepted_run_is_read_only_where_it_is_the_projects_own(
    kind: str, project: str, secret: str
) -> None:
    assert pmem("eval", "add", "gear", GOOD).code == 0
    PLANTS[f"golden.accepted.json: {kind}"](project, secret)
    assert harmless("eval run", project, secret).code == 5


@pytest.mark.parametrize(
    "planted",
    [
        "create view strange as select 1",
        "create trigger strange after delete on looked begin delete from looked; end",
        "create table strange (a, b as (hex(a)))",
        "create table strange (a, b /* primary key ( */ as (hex(a)))",
        "create table strange (a check (length(hex(zeroblob(a))) > 0))",
        "create table strange (a, b default (hex(randomblob(9))))",
        "create index strange on looked (hex(store))",
        "create virtual table strange using fts5vocab('x', 'row')",
    ],
    ids=["view", "trigger", "column", "hidden column", "check", "default", "index", "virtual"],
)
def test_an_index_that_computes_something_is_thrown_away(planted: str, project: str) -> None:
    path = f"{project}/local/index.sqlite3"
    for line in (["add", "One wheel squeaks"], ["search", "gear"]):
        assert pmem(*line).code == 0
    with closing(sqlite3.connect(path)) as connection:
        connection.execute(planted)
        connection.commit()
    for line in (["add", "Another lever is bent"], ["search", "gear"]):
        assert pmem(*line).code == 0
    if os.path.exists(path):
        with closing(sqlite3.connect(path)) as connection:
            query = "select name from sqlite_master where name = 'strange'"
            assert connection.execute(query).fetchall() == []


@pytest.mark.parametrize("kind", ["link", "pipe", "link to zeros", "folder"])
def test_an_import_reads_files_only(kind: str, project: str, secret: str) -> None:
    os.mkdir("arrays")
    path = f"{os.getcwd()}/arrays/long-term-memory.json"
    kinds(secret)[kind](path)
    with watching(project, secret, SECONDS) as watch:
        done = pmem("import", "arrays", "arrays", "--untrusted")
    assert watch.found == []
    assert (done.code, path.rpartition("/")[2] in done.err) == (3, True)
    assert "hush-hush" not in done.err


@pytest.mark.parametrize(
    ("name", "line"),
    [
        ("access.log", ["search", "gear"]),
        ("access.log", ["check", "setup"]),
        ("operations.log", ["log", "--operations"]),
    ],
)
def test_a_file_that_is_far_too_large_is_read_in_part(
    name: str, line: list[str], project: str
) -> None:
    write(f"{project}/local/{name}", b"")
    os.truncate(f"{project}/local/{name}", 2**30)
    with watching(project, "/nowhere", SECONDS):
        assert pmem(*line).code in (0, 1, 5)


@pytest.mark.parametrize("folder", ["..", ".", "local", "other", "long-term-memory"])
def test_an_unfinished_write_goes_to_stores_only(folder: str, project: str, secret: str) -> None:
    path = f"{folder}/mjwaid1q-00000003.json"
    os.makedirs(f"{project}/other")
    PLANTS[f"an unfinished write of {PLANS[0]!r}"](project, secret)
    write(f"{project}/local/commit/plan.json", f'[{{"path": "{path}", "staged": "0.json"}}]')
    is_store = folder == STORE
    assert (pmem("add", "It squeaks").code == 0) == is_store
    assert os.path.exists(f"{project}/{path}") == is_store


def test_an_unfinished_write_goes_through_no_link(project: str, secret: str) -> None:
    shutil.rmtree(f"{project}/episodic-memory")
    os.symlink(secret, f"{project}/episodic-memory")
    PLANTS[f"an unfinished write of {PLANS[0]!r}"](project, secret)
    plan = '[{"path": "episodic-memory/mjwaid1q-00000003.json", "staged": "0.json"}]'
    write(f"{project}/local/commit/plan.json", plan)
    assert pmem("add", "It squeaks").code == 5
    assert not os.path.exists(f"{secret}/mjwaid1q-00000003.json")


def test_a_state_that_computes_something_is_refused(project: str) -> None:
    assert pmem("checkpoint", "save", "t", "{}").code == 0
    with closing(sqlite3.connect(f"{project}/local/state.sqlite3")) as connection:
        connection.execute("create view strange as select 1")
        connection.commit()
    assert pmem("checkpoint", "load", "t").code == 5


@pytest.mark.parametrize(
    ("name", "line"), [("episodic-memory", ["search", "gear"]), ("local", ["add", "It squeaks"])]
)
def test_a_file_in_the_place_of_a_folder_is_told(name: str, line: list[str], project: str) -> None:
    if os.path.isdir(f"{project}/{name}"):
        os.rmdir(f"{project}/{name}")
    write(f"{project}/{name}", "no folder")
    done = pmem(*line)
    assert (done.code, f"{name} is a file, not a" in done.err) == (5, True)
