"""A process that dies in the midst of a database's write leaves nothing after the next write."""

import os
import sqlite3
import subprocess
import sys
from contextlib import closing

import pytest

from pmem import Project
from pmem.operations import table
from pmem.search.threads import SaveRequest
from tests.asking import ask

DIES = """
import os, sqlite3, sys
connection = sqlite3.connect(sys.argv[1], isolation_level=None)
connection.execute("pragma cache_size = 1")
connection.execute("begin immediate")
(table,) = connection.execute(
    "select name from sqlite_master where type = 'table' order by name limit 1").fetchone()
connection.execute("create table half (what blob)")
for number in range(50):
    connection.execute("insert into half values (zeroblob(9000))")
os.kill(os.getpid(), 9)
"""


@pytest.fixture
def project(root: str) -> Project:
    made = Project(root)
    made.add("The oven is blue")
    made.search("oven")
    ask(made.workspace, table.SAVE_CHECKPOINT, SaveRequest(thread="review", state={"step": 3}))
    return made


def killed_in_a_write(path: str) -> None:
    """Let a process die that is changing a database: some pages are written, and a journal."""
    subprocess.run([sys.executable, "-c", DIES, path], check=False)
    assert os.path.getsize(path + "-journal") > 0


@pytest.mark.parametrize("name", ["index.sqlite3", "state.sqlite3"])
def test_the_next_write_removes_the_journal_of_a_process_that_died(
    project: Project, root: str, name: str
) -> None:
    """The write asks none of the databases."""
    path = os.path.join(root, "local", name)
    killed_in_a_write(path)
    (kept,) = project.list().items
    project.remove(kept.id)
    assert [file for file in os.listdir(os.path.dirname(path)) if "-journal" in file] == []
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("pragma quick_check").fetchone() == ("ok",)
        tables = {found for (found,) in connection.execute("select name from sqlite_master")}
    assert "half" not in tables
    assert project.load_checkpoint("review").state == {"step": 3}


def test_a_search_that_is_killed_while_it_updates_leaves_no_journal(root: str) -> None:
    """As it was seen: the update's transaction is open when the process dies."""
    Project(root).add("The oven is blue")
    program = (
        "import os, sys; from pmem import Project; from pmem.storage.index import documents;"
        " documents._count = lambda *given: os.kill(os.getpid(), 9);"
        " Project(sys.argv[1]).search('oven')"
    )
    subprocess.run([sys.executable, "-c", program, root], check=False)
    local = os.path.join(root, "local")
    assert "index.sqlite3-journal" in os.listdir(local)
    Project(root).add("The door is open")
    assert [name for name in os.listdir(local) if name.endswith("-journal")] == []
    assert Project(root).search("oven door").total == 2


def test_a_journal_beside_no_database_goes_with_the_next_write(root: str) -> None:
    project = Project(root)
    kept = project.add("The oven is blue").memory
    local = os.path.join(root, "local")
    with open(os.path.join(local, "index.sqlite3-journal"), "wb") as file:
        file.write(b"\xd9\xd5\x05\xf9" * 300)
    project.remove(kept.id)
    assert not os.path.exists(os.path.join(local, "index.sqlite3-journal"))


def test_the_journal_of_a_process_that_lives_is_left_to_it(project: Project, root: str) -> None:
    path = os.path.join(root, "local", "index.sqlite3")
    project.close()
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("begin immediate")
        connection.execute("create table half (what blob)")
        (kept,) = project.list().items
        project.remove(kept.id)
        assert os.path.exists(path + "-journal")
        connection.execute("rollback")
