"""Two clones that consolidate on their own: plain git brings them together, nothing is lost."""

import json
import os
import random
import subprocess
from pathlib import Path

import pytest

from pmem import Project
from pmem.operations import table
from pmem.upkeep.integrity import CheckRequest
from pmem.values.records import State
from tests.asking import ask
from tests.conftest import NOW
from tests.git.branches import ROOT, commit
from tests.git.branches import ok as git
from tests.git.test_manners import ok

SIDES = ("ours", "theirs", "either")
BEFORE = (
    "We use PostgreSQL for the ledger.",
    "we use postgresql for the ledger",
    "The limit is 10 requests.",
    "The limit is 20 requests.",
    "Ana owns the billing service.",
    "ana owns the billing service",
    "The office plant is called Fern.",
)


@pytest.fixture
def clones(tmp_path: Path) -> tuple[Path, Path]:
    """Return two clones of a repository in which much is due."""
    git("init", "--quiet", "--initial-branch=main")
    ok("init", "--name", "Phoenix")
    ok("config", "set", "decay", "s2")
    for number, content in enumerate(BEFORE):
        ok("add", content, "--force", "--tag", f"t{number}", "--now", f"2026-11-0{number + 1}")
    ok("add", "The old printer is gone.", "--now", "2026-05-01")
    commit()
    for name in ("ada", "bo"):
        git("clone", "--quiet", ".", str(tmp_path / name))
    return tmp_path / "ada", tmp_path / "bo"


def memory_of(clone: Path) -> Project:
    return Project(str(clone / ROOT), actor=clone.name, now=NOW)


def contents(clone: Path) -> set[str]:
    """Return whatever any memory of a clone says or has ever said."""
    found: set[str] = set()
    for path in (clone / ROOT / "long-term-memory").iterdir():
        record = json.loads(path.read_bytes())
        found.add(record["content"])
        found |= {
            e["before"]["content"] for e in record["history"] if "content" in e.get("before", {})
        }
    return found


def files(clone: Path) -> set[str]:
    return set(os.listdir(clone / ROOT / "long-term-memory"))


def pull_taking(clone: Path, other: Path, side: str) -> int:
    """Pull, take one side of each file that both have changed, and return how many those are."""
    who = ("-c", "user.name=Kim", "-c", "user.email=kim@example.org")
    pull = ("pull", "--quiet", "--no-rebase", "--no-edit", str(other), "main")
    done = subprocess.run(["git", *who, *pull], cwd=clone, capture_output=True, check=False)
    conflicts = git("diff", "--name-only", "--diff-filter=U", cwd=clone).split()
    assert bool(conflicts) == (done.returncode != 0), done.stderr
    chance = random.Random(7)
    for path in conflicts:
        taken = chance.choice(SIDES[:2]) if side == "either" else side
        git("checkout", f"--{taken}", "--", path, cwd=clone)
    commit(cwd=clone)
    return len(conflicts)


def check_nothing_lost(clone: Path, said: set[str], known: set[str]) -> None:
    assert said <= contents(clone)
    assert known <= files(clone)
    assert ask(memory_of(clone).workspace, table.CHECK, CheckRequest()).findings == ()


def check_comes_to_rest(clone: Path) -> None:
    first = memory_of(clone).consolidate()
    assert {step.outcome for step in first.steps} <= {"done"}
    assert memory_of(clone).consolidate().steps == ()
    assert ask(memory_of(clone).workspace, table.CHECK, CheckRequest()).findings == ()


@pytest.mark.parametrize("side", SIDES)
def test_two_clones_that_both_consolidate_lose_nothing(
    clones: tuple[Path, Path], side: str
) -> None:
    ada, bo = clones
    memory_of(ada).add("WE USE POSTGRESQL FOR THE LEDGER", force=True, pinned=True)
    memory_of(ada).add("The limit is 30 requests.", force=True)
    memory_of(bo).add("For the ledger we use PostgreSQL.", force=True, importance=0.9)
    memory_of(bo).add("The limit is 30 requests.", force=True)
    fern = next(m.id for m in memory_of(bo).list().items if "Fern" in m.content)
    memory_of(bo).edit(fern, "The office plant is called Ivy.")
    for clone in clones:
        assert {step.outcome for step in memory_of(clone).consolidate().steps} == {"done"}
        commit(cwd=clone)
    said, known = contents(ada) | contents(bo), files(ada) | files(bo)

    assert pull_taking(bo, ada, side) > 0
    check_nothing_lost(bo, said, known)
    check_comes_to_rest(bo)
    check_nothing_lost(bo, said, known)
    commit(cwd=bo)
    git("pull", "--quiet", "--no-rebase", "--no-edit", str(bo), "main", cwd=ada)
    assert memory_of(ada).consolidate().steps == ()
    check_nothing_lost(ada, said, known)


def test_what_each_merged_the_same_way_stays_recalled_whichever_side_is_taken(
    clones: tuple[Path, Path],
) -> None:
    ada, bo = clones
    for clone in clones:
        memory_of(clone).consolidate()
        commit(cwd=clone)
    assert pull_taking(bo, ada, "either") > 0
    check_comes_to_rest(bo)
    active = {memory.content for memory in memory_of(bo).list().items}
    assert active == {BEFORE[0], BEFORE[2], BEFORE[3], BEFORE[4], BEFORE[6]}
    survivor = next(m for m in memory_of(bo).list().items if m.content == BEFORE[0])
    assert memory_of(bo).show(survivor.id).tags == ("t0", "t1")  # type: ignore[union-attr]


def test_one_clone_that_consolidates_conflicts_with_nobody_who_adds(
    clones: tuple[Path, Path],
) -> None:
    ada, bo = clones
    assert memory_of(ada).consolidate().steps
    commit(cwd=ada)
    memory_of(bo).add("We use PostgreSQL for the ledger", force=True)
    memory_of(bo).add("Mercury is the staging host.")
    commit(cwd=bo)
    said, known = contents(ada) | contents(bo), files(ada) | files(bo)
    assert pull_taking(bo, ada, "ours") == 0
    check_nothing_lost(bo, said, known)
    check_comes_to_rest(bo)
    active = [m.content for m in memory_of(bo).workspace.memories.find() if m.state is State.ACTIVE]
    assert sum("ledger" in content for content in active) == 1
    commit(cwd=bo)
    assert pull_taking(ada, bo, "ours") == 0
    assert memory_of(ada).consolidate().steps == ()
