"""The first minutes: a fresh clone, a folder that has a memory already, the end of the demo."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

BIN = os.path.dirname(sys.executable)
TOP = Path(__file__).parents[2]
NOTICE = "pmem: records merge as text in this clone: run `pmem setup git`"


@pytest.fixture
def origin(tmp_path: Path) -> Path:
    """A repository with a committed memory."""
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
    """A fresh clone of it."""
    _sh("git clone -q origin clone", tmp_path)
    return tmp_path / "clone"


def _sh(line: str, folder: Path) -> str:
    environment = {**os.environ, "PATH": f"{BIN}:{os.environ['PATH']}"}
    done = subprocess.run(
        ["/bin/sh", "-ec", line],
        check=False,
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout + done.stderr


def test_the_first_command_that_writes_in_a_fresh_clone_says_how_git_merges(clone: Path) -> None:
    assert NOTICE not in _sh("pmem list", clone)
    assert NOTICE not in _sh("pmem add 'We use Rust' --quiet --read-only || true", clone)
    assert NOTICE in _sh("pmem add 'Use tabs'", clone)
    assert NOTICE not in _sh("pmem add 'Ship on Fridays'", clone)


def test_a_clone_that_was_set_up_is_told_nothing(clone: Path) -> None:
    _sh("pmem setup git", clone)
    assert NOTICE not in _sh("pmem add 'Use tabs'", clone)


def test_a_project_of_its_own_below_a_memory_gets_one_without_asking(origin: Path) -> None:
    _sh("mkdir inner && cd inner && git init -q && pmem init", origin)
    assert (origin / "inner" / ".project-memory").is_dir()


def test_a_memory_that_may_not_be_used_stops_no_new_one(origin: Path) -> None:
    (origin / "sub").mkdir()
    (origin / ".project-memory").rename(origin / "elsewhere")
    (origin / ".project-memory").symlink_to("elsewhere")
    assert "memory started" in _sh("cd sub && pmem init --no-git", origin)


def test_what_the_demo_says_to_do_next_works_as_it_is_printed(tmp_path: Path) -> None:
    environment = {**os.environ, "PATH": f"{BIN}:{os.environ['PATH']}"}
    demo = subprocess.run(
        ["/bin/sh", "docs/demo.sh"],
        check=False,
        cwd=TOP,
        env=environment,
        capture_output=True,
        text=True,
    )
    assert demo.returncode == 0, demo.stderr
    printed = demo.stdout.partition("in a project of your own:\n")[2].splitlines()
    lines = [line.strip() for line in printed if line.startswith("  ")]
    assert len(lines) > 3
    without = os.pathsep.join(part for part in os.environ["PATH"].split(os.pathsep) if part != BIN)
    done = subprocess.run(
        ["/bin/sh", "-ec", "\n".join(lines)],
        check=False,
        cwd=tmp_path,
        env={**os.environ, "PATH": without},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    assert "We use PostgreSQL" in done.stdout
