"""Work trees: the others of a repository, and what git tracks that this one does not have."""

import os
import shlex
from collections.abc import Iterator, Mapping, Sequence
from typing import Final, NamedTuple

from pmem.storage.git import git
from pmem.storage.git.tracked import index_may_hold

_BRANCH: Final = b"branch refs/heads/"
_TREE: Final = b"worktree "
_SUBMODULE: Final = "160000"
_LEFT_OUT: Final = "S"


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
    except git.UNAVAILABLE:
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


def explain_absence(
    top: str, places: Sequence[str], environment: Mapping[str, str]
) -> tuple[str, str] | None:
    """Return why the first of some folders that git tracks is not in the work tree.

    Where the index has none of them, this runs no process of git.

    None of the places, which are paths from the top, has files in the work tree.

    Returns:
        A sentence and the command that brings the folder; None where git tracks none of them.
    """
    for place in places:
        entries = _index_entries(top, place, environment) if index_may_hold(top, place) else []
        if any(mode == _SUBMODULE for _, mode in entries):
            return _submodule(top, place)
        if any(tag == _LEFT_OUT for tag, _ in entries):
            return "the memory is in git but not checked out here", (
                f"`{_git_at(top)} sparse-checkout add {place}`"
            )
        if entries:
            return "the memory is in git but was deleted here", (
                f"`{_git_at(top)} restore {place}` brings it back,"
                f" `{_git_at(top)} rm -r --cached {place}` removes it from git, too"
            )
    return None


def explain_submodule(
    top: str, place: str, environment: Mapping[str, str]
) -> tuple[str, str] | None:
    """Return that an empty folder is a submodule without a checkout; None where it is none."""
    entries = _index_entries(top, place, environment)
    return _submodule(top, place) if [mode for _, mode in entries] == [_SUBMODULE] else None


def _submodule(top: str, place: str) -> tuple[str, str]:
    return f"{place} is a submodule that is not checked out here", (
        f"`{_git_at(top)} submodule update --init {place}`"
    )


def _git_at(top: str) -> str:
    is_here = os.path.realpath(top) == os.path.realpath(os.curdir)
    return "git" if is_here else f"git -C {shlex.quote(top)}"


def _index_entries(top: str, place: str, environment: Mapping[str, str]) -> list[tuple[str, str]]:
    """Return the tag and the mode of each entry of the index at or below a path."""
    asked = ["--literal-pathspecs", "ls-files", "-z", "-t", "--stage", "--", place]
    answer = git.ask(top, asked, environment) or ""
    words = (line.split(" ", 2) for line in answer.split("\0")[:-1])
    return [(word[0], word[1]) for word in words]
