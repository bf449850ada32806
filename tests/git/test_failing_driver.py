"""A merge driver that fails: no side of a record is ever dropped without a word."""

import json
import os
import shutil
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Final

import pytest

from pmem.core.threeway.record import merged
from pmem.core.threeway.shapes import SHAPES
from pmem.project.workspace import Workspace
from pmem.vcs import hooksetup
from tests.core.threeway.sides import Json
from tests.faults.console import pmem
from tests.git.branches import BIN, ROOT, begin, branches, data, git, ok, read
from tests.git.test_merging import BASE, MARKERS, OURS, PATH, RIVAL, STORE, THEIRS

SHELL: Final = {
    "crashes": "exit 1",
    "is a bug": "exit 70",
    "shows a traceback": "echo Traceback >&2; exit 1",
    "is killed": "kill -9 $$",
    "is told to end": "kill -15 $$",
    "is a program of another name": "exit 127",
    "answers more than git knows": "exit 200",
}
"""Stand-ins for pmem that fail at once."""

PYTHON: Final = {
    "raises": "g.merged = fail",
    "hangs in Python": "g._merge_versions = lambda *_: time.sleep(600)",
    "hangs in the system": "os.mkfifo(fifo); g._read_version = lambda _: open(fifo).read()",
    "hangs and is deaf": "signal.signal(signal.SIGALRM, signal.SIG_IGN); g._read_version = hang",
    "is killed before it writes": "g._replace = lambda *_: os.kill(os.getpid(), 9)",
    "is killed with half a result": "os.replace = lambda *_: os.kill(os.getpid(), 9)",
    "is told to end with half a result": "os.replace = lambda *_: os.kill(os.getpid(), 15)",
    "finds the disk full": "os.open = full",
}
"""The real driver, made to fail where it says; its limit is a second."""

STAND_IN: Final = """\
#!{python}
import os, signal, sys, time
sys.path[:0] = {path!r}
import pmem.vcs.gitmerge as g
g.SECONDS = 1
fifo = sys.argv[3] + ".fifo"
def fail(*_): raise RuntimeError("oh")
def hang(*_): time.sleep(600)
def full(path, flags, *mode):
    if flags & os.O_CREAT: raise OSError(28, "No space left on device", path)
    return really(path, flags, *mode)
really = os.open
{how}
code, out = g.run(sys.argv[1], sys.argv[2:])
os._exit(code)
"""
OLD_DRIVER: Final = "pmem merge-driver %O %A %B %L %P"
HOWS: Final = (*SHELL, *PYTHON, "is missing")


@pytest.fixture
def failing(tmp_path: Path) -> Callable[[str], dict[str, str]]:
    """Return what makes the surroundings in which pmem fails in a given way."""

    def path(how: str) -> dict[str, str]:
        bin_ = tmp_path / "bin"
        bin_.mkdir()
        if how == "is missing":
            for name in ("git", "sh"):
                (bin_ / name).symlink_to(shutil.which(name) or name)
            return {"PATH": str(bin_)}
        script = f"#!/bin/sh\n{SHELL.get(how)}\n"
        if how in PYTHON:
            where = [path for path in (os.environ.get("PYTHONPATH"), *sys.path) if path]
            script = STAND_IN.format(python=sys.executable, path=where, how=PYTHON[how])
        (bin_ / "pmem").write_text(script, encoding="utf-8")
        (bin_ / "pmem").chmod(0o755)
        return {"PATH": f"{bin_}{os.pathsep}{os.environ['PATH']}"}

    return path


def two(ours: Json, theirs: Json) -> None:
    """Make the branches `ours`, which is checked out, and `theirs`; commits are checked."""
    begin()
    branches({PATH: data(BASE)}, ours={PATH: data(ours)}, theirs={PATH: data(theirs)})
    ok("checkout", "--quiet", "--force", "ours")
    assert hooksetup.install(Workspace(os.path.abspath(ROOT), environment=os.environ)).ok


def blind_commit_is_stopped() -> None:
    """See that committing everything without a look is stopped, and say what by."""
    ok("add", "--all")
    assert ".tmp-" not in ok("ls-files")
    done = git("commit", "--message", "blind")
    assert done.code == 1, done.said
    assert PATH in done.said


@pytest.mark.some(2)
@pytest.mark.parametrize("how", HOWS)
def test_a_clash_gets_markers_with_both_sides(
    how: str, failing: Callable[[str], dict[str, str]]
) -> None:
    two(THEIRS, RIVAL)
    begun = time.monotonic()
    assert git("merge", "--no-edit", "theirs", environment=failing(how)).code == 1
    assert time.monotonic() - begun < 30
    found = read(PATH)
    assert all(mark in found for mark in MARKERS)
    assert b"We use PostgreSQL" in found
    assert b"We use Oracle" in found
    blind_commit_is_stopped()
    ok("merge", "--abort")
    assert b" ok\n" in pmem("check", "records").out


@pytest.mark.parametrize("how", ["crashes", "hangs in Python", "is missing"])
def test_distant_changes_merge_all_the_same(
    how: str, failing: Callable[[str], dict[str, str]]
) -> None:
    two({**BASE, "pinned": True}, {**BASE, "category": "team"})
    assert git("merge", "--no-edit", "theirs", environment=failing(how)).code == 0
    found = json.loads(read(PATH))
    assert (found["pinned"], found["category"]) == (True, "team")


@pytest.mark.some(1)
@pytest.mark.parametrize("how", ["crashes", "is killed", "raises", "hangs in Python", "is missing"])
def test_without_the_fallback_ours_alone_is_never_committed_blindly(
    how: str, failing: Callable[[str], dict[str, str]]
) -> None:
    two(OURS, THEIRS)
    ok("config", "merge.pmem.driver", OLD_DRIVER)
    assert git("merge", "--no-edit", "theirs", environment=failing(how)).code == 1
    assert read(PATH) == data(OURS)  # it parses, and nothing in it tells of the other side
    assert git("commit", "--message", "unmerged").code != 0
    blind_commit_is_stopped()
    assert pmem("setup", "git").code == 0
    ok("checkout", "--merge", PATH)
    assert json.loads(read(PATH)) == merged(BASE, OURS, THEIRS, SHAPES[STORE]).result
    ok("commit", "--quiet", "--all", "--no-edit")


def test_a_driver_that_ends_in_time_is_left_alone() -> None:
    two(OURS, THEIRS)
    ok("merge", "--quiet", "--no-edit", "theirs")
    assert json.loads(read(PATH)) == merged(BASE, OURS, THEIRS, SHAPES[STORE]).result
    assert os.path.exists(os.path.join(BIN, "pmem"))
