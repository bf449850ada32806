"""The first minutes: a fresh clone, a folder that has a memory already, the end of the demo."""

import os
import sys
from pathlib import Path
from shlex import quote

import pytest

from tests.cli.shell import BIN, through_sh

TOP = Path(__file__).parents[2]
NOTICE = "pmem: records merge as text in this clone: run `pmem setup git`"


@pytest.fixture
def origin(tmp_path: Path) -> Path:
    folder = tmp_path / "origin"
    folder.mkdir()
    _sh(
        "git init -q && pmem init --no-git && pmem add 'We use Go' && git add -A"
        " && git -c user.name=ada -c user.email=ada@example.org commit -qm Start",
        folder,
    )
    return folder


@pytest.fixture
def clone(origin: Path, tmp_path: Path) -> Path:
    _sh("git clone -q origin clone", tmp_path)
    return tmp_path / "clone"


def _sh(line: str, folder: Path) -> str:
    done = through_sh(line, str(folder))
    assert done.code == 0, done.said
    return done.text + done.said


def test_the_first_command_that_writes_in_a_fresh_clone_says_how_git_merges(clone: Path) -> None:
    assert NOTICE not in _sh("pmem list", clone)
    assert NOTICE not in _sh("pmem add 'We use Rust' --quiet --read-only || true", clone)
    assert NOTICE in _sh("pmem add 'Use tabs'", clone)
    assert NOTICE not in _sh("pmem add 'Ship on Fridays'", clone)


def test_a_clone_that_was_set_up_is_told_nothing(clone: Path) -> None:
    _sh("pmem setup git", clone)
    assert NOTICE not in _sh("pmem add 'Use tabs'", clone)


def test_that_git_would_not_find_pmem_is_said_once(tmp_path: Path) -> None:
    without = os.pathsep.join(part for part in os.environ["PATH"].split(os.pathsep) if part != BIN)
    pmem = f"PATH={quote(without)} {quote(sys.executable)} -m pmem"
    assert "once pmem is on the PATH" in _sh(f"git init -q && {pmem} init", tmp_path)
    assert "PATH" not in _sh(f"{pmem} add 'Use tabs'", tmp_path)
    assert "put it on the PATH" in _sh(f"{pmem} check setup || true", tmp_path)


def test_a_project_of_its_own_below_a_memory_gets_one_without_asking(origin: Path) -> None:
    _sh("mkdir inner && cd inner && git init -q && pmem init", origin)
    assert (origin / "inner" / ".project-memory").is_dir()


def test_a_memory_that_may_not_be_used_stops_no_new_one(origin: Path) -> None:
    (origin / "sub").mkdir()
    (origin / ".project-memory").rename(origin / "elsewhere")
    (origin / ".project-memory").symlink_to("elsewhere")
    assert "memory started" in _sh("cd sub && pmem init --no-git", origin)


def test_what_the_demo_says_to_do_next_works_as_it_is_printed(tmp_path: Path) -> None:
    printed = _sh("sh docs/demo.sh", TOP).partition("in a project of your own:\n")[2].splitlines()
    lines = [line.strip() for line in printed if line.startswith("  ")]
    assert len(lines) > 3
    without = os.pathsep.join(part for part in os.environ["PATH"].split(os.pathsep) if part != BIN)
    line = f"PATH={quote(without)}; set -e; {'; '.join(lines)}"
    told = _sh(line, tmp_path)
    assert "- [database] We use PostgreSQL" in told
    assert "(pmem: 1 shown, 0 left out)\n" in told, "the task has an answer"
