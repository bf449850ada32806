"""Whether git tracks a memory folder that is not in the work tree."""

import os
import shlex
from collections.abc import Mapping, Sequence
from typing import Final

from pmem.storage.git import git
from pmem.storage.git.tracked import index_may_hold

_SUBMODULE: Final = "160000"
_LEFT_OUT: Final = "S"


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
    """Return how git is called so that it works on a work tree."""
    is_here = os.path.realpath(top) == os.path.realpath(os.curdir)
    return "git" if is_here else f"git -C {shlex.quote(top)}"


def _index_entries(top: str, place: str, environment: Mapping[str, str]) -> list[tuple[str, str]]:
    """Return the tag and the mode of each entry of the index at or below a path."""
    asked = ["--literal-pathspecs", "ls-files", "-z", "-t", "--stage", "--", place]
    answer = git.ask(top, asked, environment) or ""
    words = (line.split(" ", 2) for line in answer.split("\0")[:-1])
    return [(word[0], word[1]) for word in words]
