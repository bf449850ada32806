"""Threads and git: what a pull brings in is told once, however old it is."""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from pmem import Project
from pmem.search.threads import Delta
from tests.faults.console import pmem
from tests.git.branches import ROOT, commit
from tests.git.branches import ok as git
from tests.git.test_manners import ok


@pytest.fixture
def clones(tmp_path: Path) -> tuple[Path, Path]:
    """Return two clones of a repository with two memories in it."""
    git("init", "--quiet", "--initial-branch=main")
    ok("init", "--name", "Phoenix")
    ok("add", "The kitchen closes at ten", "--type", "constraint")
    ok("add", "Serve pancakes on Sundays", "--type", "goal")
    commit()
    for name in ("ada", "bo"):
        git("clone", "--quiet", ".", str(tmp_path / name))
    return tmp_path / "ada", tmp_path / "bo"


def pull(clone: Path, other: Path) -> None:
    git("pull", "--quiet", "--no-rebase", "--no-edit", str(other), "main", cwd=clone)


def memory_of(clone: Path, **options: Any) -> Project:
    return Project(str(clone / ROOT), actor=clone.name, **options)


def reads(project: Project, thread: str) -> Iterator[Delta]:
    """Read a thread's news until there are none."""
    while (found := project.delta(thread)).total:
        assert 1 <= len(found.changes) <= 3
        assert len(found.lines) == len(found.changes) + 1
        yield found


def told(project: Project, thread: str) -> list[str]:
    return [change.content for found in reads(project, thread) for change in found.changes]


def test_each_change_is_told_once_also_when_a_pull_brings_older_ones(
    clones: tuple[Path, Path],
) -> None:
    ada, bo = clones
    for clone in clones:
        assert memory_of(clone).delta("review").total == 0
    for number in range(5):  # before anything that bo does
        memory_of(ada).add(f"Ada opens table {number}", force=True)
    commit(cwd=ada)
    for number in range(4):
        memory_of(bo).add(f"Bo closes table {number}", force=True)
    commit(cwd=bo)

    own = told(memory_of(bo), "review")
    assert sorted(own) == [f"Bo closes table {number}" for number in range(4)]
    pull(bo, ada)
    pulled = told(memory_of(bo), "review")
    assert sorted(pulled) == [f"Ada opens table {number}" for number in range(5)]
    pull(bo, ada)
    assert told(memory_of(bo), "review") == []

    pull(ada, bo)
    assert sorted(told(memory_of(ada), "review")) == sorted(own + pulled)
    assert told(memory_of(ada), "review") == []
    assert git("status", "--porcelain", cwd=bo) == ""


def test_two_threads_of_a_clone_hear_of_a_pull_each_for_itself(clones: tuple[Path, Path]) -> None:
    ada, bo = clones
    for thread in ("one", "two"):
        memory_of(bo).delta(thread)
    memory_of(ada).add("Ada opens the cellar")
    commit(cwd=ada)
    memory_of(bo).add("Bo paints the door")
    assert told(memory_of(bo), "one") == ["Bo paints the door"]
    commit(cwd=bo)
    pull(bo, ada)
    assert told(memory_of(bo), "one") == ["Ada opens the cellar"]
    assert sorted(told(memory_of(bo), "two")) == ["Ada opens the cellar", "Bo paints the door"]
    assert memory_of(bo).delta("three").total == 0


def test_a_change_that_both_sides_have_is_told_once(clones: tuple[Path, Path]) -> None:
    """A thread that was told on a branch is not told again when the branch is merged."""
    ada, bo = clones
    memory_of(bo).delta("review")
    goal = memory_of(ada).list().items[1].id
    memory_of(ada).edit(goal, "Serve waffles on Sundays")
    commit(cwd=ada)
    git("fetch", "--quiet", str(ada), "main:theirs", cwd=bo)
    git("checkout", "--quiet", "theirs", cwd=bo)
    assert told(memory_of(bo), "review") == ["Serve waffles on Sundays"]
    git("checkout", "--quiet", "main", cwd=bo)
    assert told(memory_of(bo), "review") == []
    pull(bo, ada)
    assert told(memory_of(bo), "review") == []
    assert memory_of(bo).show(goal).content == "Serve waffles on Sundays"  # type: ignore[union-attr]


def test_a_context_after_a_pull_tells_three_and_counts_the_rest(
    clones: tuple[Path, Path],
) -> None:
    ada, bo = clones
    os.chdir(bo)
    line = ("context", "--thread", "review", "--budget", "2000")
    assert b"Memory updates" not in pmem(*line).out
    for number in range(4):
        memory_of(ada).add(f"Ada opens table {number}", force=True)
    commit(cwd=ada)
    pull(bo, ada)
    assert b"(the newest 3 of 4)" in pmem(*line).out
    assert b"+created: [knowledge] Ada opens table 0" in pmem(*line).out
    assert b"Memory updates" not in pmem(*line).out
    assert git("status", "--porcelain", cwd=bo) == ""
