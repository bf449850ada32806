"""The other work trees of a repository."""

import os
import subprocess
from collections.abc import Iterator, Mapping
from typing import Final, NamedTuple

from pmem.storage.git import git

_BRANCH: Final = b"branch refs/heads/"
_TREE: Final = b"worktree "


class WorkTree(NamedTuple):
    """A work tree: a folder in it, and the branch that is checked out; empty for none."""

    folder: str
    branch: str


def other_work_trees(folder: str, environment: Mapping[str, str]) -> list[WorkTree]:
    """Return where a folder is in the other work trees of its repository."""
    here = os.path.realpath(folder)
    try:
        done = git.run(folder, ["worktree", "list", "--porcelain", "-z"], environment)
        top = git.run(folder, ["rev-parse", "--show-toplevel"], environment)
    except (OSError, subprocess.SubprocessError):
        return []
    if done.code or top.code:
        return []
    inside = os.path.relpath(here, os.path.realpath(os.fsdecode(top.out.rstrip(b"\n"))))
    found = (
        WorkTree(os.path.normpath(os.path.join(tree.folder, inside)), tree.branch)
        for tree in _listed_trees(done.out)
    )
    return [tree for tree in found if os.path.realpath(tree.folder) != here]


def _listed_trees(listing: bytes) -> Iterator[WorkTree]:
    for block in listing.split(b"\0\0"):
        lines = block.strip(b"\0").split(b"\0")
        if not lines[0].startswith(_TREE):
            continue
        branches = (line.removeprefix(_BRANCH) for line in lines if line.startswith(_BRANCH))
        yield WorkTree(os.fsdecode(lines[0].removeprefix(_TREE)), os.fsdecode(next(branches, b"")))
