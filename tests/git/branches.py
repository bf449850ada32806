"""Repositories with branches, made by few git processes."""

import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Final

import pytest

from pmem.core import rawjson
from pmem.core.threeway.shapes import SHAPES
from pmem.project.setup import initialise
from pmem.project.workspace import Workspace
from pmem.vcs import gitsetup
from tests.core.threeway.sides import Json, sides

ROOT: Final = ".project-memory"
BIN: Final = os.path.dirname(sys.executable)
WHO: Final = ("-c", "user.name=Kim", "-c", "user.email=kim@example.org")
Files = Mapping[str, bytes]

Commands = tuple[tuple[str, ...], ...]
CONTINUE: Final[Commands] = (("commit", "--no-edit"),)
WAYS: Final[dict[str, tuple[str, Commands, Commands]]] = {
    "merge": ("ours", (("merge", "--no-edit", "theirs"),), CONTINUE),
    "merge the other way": ("theirs", (("merge", "--no-edit", "ours"),), CONTINUE),
    "rebase": ("ours", (("rebase", "theirs"),), (("rebase", "--continue"),)),
    "cherry-pick": ("ours", (("cherry-pick", "theirs"),), (("cherry-pick", "--continue"),)),
    "revert": ("chain", (("revert", "--no-edit", "HEAD~1"),), (("revert", "--continue"),)),
    "squash": (
        "ours",
        (("merge", "--squash", "theirs"),),
        (("commit", "--allow-empty", "--message", "squashed"),),
    ),
    "stash pop": (
        "theirs",
        (
            ("reset", "--soft", "base"),
            ("stash",),
            ("checkout", "--force", "--detach", "ours"),
            ("stash", "pop"),
        ),
        (("commit", "--allow-empty", "--message", "popped"), ("stash", "drop")),
    ),
}
"""Where each begins, what it does with branches `ours` and `theirs`, and what goes on after."""


class Ran:
    """What a git command left."""

    def __init__(self, done: "subprocess.CompletedProcess[bytes]") -> None:
        self.code = done.returncode
        self.out = done.stdout.decode()
        self.said = done.stderr.decode()


def git(
    *arguments: str,
    stdin: bytes = b"",
    environment: Mapping[str, str] | None = None,
    cwd: str | Path = ".",
) -> Ran:
    """Run git, by default in the current folder, the pmem under test on the path."""
    known = {**os.environ, "PATH": f"{BIN}{os.pathsep}{os.environ['PATH']}", "GIT_EDITOR": "true"}
    done = subprocess.run(
        ["git", *WHO, *arguments],
        input=stdin,
        cwd=cwd,
        capture_output=True,
        env={**known, **(environment or {})},
        timeout=300,
        check=False,
    )
    return Ran(done)


def ok(*arguments: str, stdin: bytes = b"", cwd: str | Path = ".") -> str:
    """Run git, which must succeed, and return what it printed."""
    done = git(*arguments, stdin=stdin, cwd=cwd)
    assert done.code == 0, (arguments, done.out, done.said)
    return done.out


def commit(message: str = "x", *options: str, cwd: str | Path = ".") -> str:
    """Commit all that there is, and return the commit."""
    ok("add", "--all", cwd=cwd)
    ok("commit", "--quiet", "--allow-empty", *options, "--message", message, cwd=cwd)
    return ok("rev-parse", "HEAD", cwd=cwd).strip()


def begin(monkeypatch: pytest.MonkeyPatch | None = None) -> None:
    """Make a repository with a memory folder in the current folder, set up for merging."""
    if monkeypatch is not None:
        monkeypatch.setenv("PATH", f"{BIN}{os.pathsep}{os.environ['PATH']}")
    ok("init", "--quiet", "--initial-branch=main")
    initialise(ROOT)
    assert gitsetup.install(Workspace(os.path.abspath(ROOT), environment=os.environ)).ok


def branches(base: Files, **others: Files) -> None:
    """Make a branch `base`, and others that each have one commit on top of it."""
    own = {
        f"{ROOT}/{name}": Path(ROOT, name).read_bytes() for name in (".gitattributes", ".gitignore")
    }
    stream = [_commit("base", "", {**own, **base})]
    stream += [_commit(name, "base", files) for name, files in others.items()]
    ok("fast-import", "--quiet", "--force", stdin=b"".join(stream))


def _commit(branch: str, parent: str, files: Files) -> bytes:
    who = b"Kim <kim@example.org> 1800000000 +0000"
    head = f"commit refs/heads/{branch}\n".encode()
    head += b"author " + who + b"\ncommitter " + who + b"\n"
    head += b"data %d\n%s\n" % (len(branch), branch.encode())
    if parent:
        head += f"from refs/heads/{parent}\n".encode()
    for path, data in files.items():
        if data:
            head += f"M 100644 inline {path}\n".encode()
            head += b"data %d\n%s\n" % (len(data), data)
        else:
            head += f"D {path}\n".encode()
    return head + b"\n"


def path_of(store: str, record: Json) -> str:
    """Return where a record's file is in the repository."""
    return f"{ROOT}/{store}/{record['id']}.json"


def scenarios(seeds: range) -> list[tuple[str, str, Json, Json, Json, Json]]:
    """Draw records of all stores, each with three versions: store, path, base, one, two, three."""
    found = []
    for seed in seeds:
        store = list(SHAPES)[seed % len(SHAPES)]
        drawn = [{**side, "id": f"s{seed}-00000000"} for side in sides(seed, store)]
        base, one, two, three = drawn
        found.append((store, path_of(store, base), base, one, two, three))
    return found


def data(record: Json) -> bytes:
    """Return a record's file."""
    return rawjson.dump(record)


def read(path: str) -> bytes:
    """Return what a file holds."""
    return Path(path).read_bytes()
