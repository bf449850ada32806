"""Memories that something else than pmem changes."""

import json
import os
from pathlib import Path
from typing import Any, Final

from tests.faults.console import Done, pmem
from tests.git.branches import ROOT, commit, git, ok

STORE: Final = f"{ROOT}/long-term-memory"
COLLEAGUE: Final = {
    f"GIT_{role}_{name}": value
    for role in ("AUTHOR", "COMMITTER")
    for name, value in (("NAME", "Bo"), ("EMAIL", "bo@example.org"))
}


def start() -> None:
    """Make a project with two committed memories."""
    ok("init", "--quiet", "--initial-branch=main")
    add_all("init")
    add_all("add", "The limit is 40"), add_all("add", "Water is wet")
    commit()


def add_all(*arguments: str) -> Done:
    done = pmem(*arguments)
    assert done.code == 0, (arguments, done)
    return done


def file_with(text: str) -> Path:
    (found,) = (path for path in Path(STORE).glob("*.json") if text in path.read_text())
    return found


def changed(path: Path, **fields: Any) -> None:
    path.write_text(json.dumps({**json.loads(path.read_text()), **fields}, indent=2) + "\n")


def origins() -> dict[str, int]:
    found: dict[str, int] = pmem("check", "origin", "--json").data["origin"]["origins"]
    return found


def edit_content() -> None:
    changed(file_with("limit is 40"), content="The limit is 99")


def tampered() -> None:
    """Leave one memory that was reviewed, one that is written here, and one that was changed."""
    start()
    add_all("add", "The limit of tea is 7")
    changed(file_with("limit is 40"), content="The limit is 99", importance=1.0, pinned=True)


def publish(folder: Path, branch: str = "main") -> None:
    """Let the project have an upstream of this branch by default."""
    ok("clone", "--quiet", "--bare", ".", str(folder / "hub"))
    ok("remote", "add", "origin", str(folder / "hub"))
    if branch != "main":
        ok("branch", "--quiet", "--move", "main", branch, cwd=folder / "hub")
    ok("fetch", "--quiet", "origin")


def propose(folder: Path, *arguments: str, who: dict[str, str] = COLLEAGUE) -> None:
    """Let a colleague add a memory on a branch of the upstream, and fetch it."""
    there = os.path.abspath(".")
    ok("clone", "--quiet", str(folder / "hub"), str(folder / "bo"))
    os.chdir(folder / "bo")
    done = pmem("add", *arguments, environment={"HOME": str(folder / "bo-home")})
    assert done.code == 0, done
    ok("add", "--all"), git("commit", "-qm", "x", environment=who)
    ok("push", "--quiet", "origin", "HEAD:proposal")
    os.chdir(there)
    ok("fetch", "--quiet", "origin")
