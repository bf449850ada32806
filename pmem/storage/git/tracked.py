"""What git tracks below a memory folder's `local`: it came with the project, so it is not trusted.

Everything in `local` is one clone's own, and some of it acts: an unfinished commit is rolled
forward by whoever comes next. A look at git's index tells in no time that nothing of the kind is
tracked; only where that cannot be told is git itself asked.
"""

import os
import stat
import sys
from collections.abc import Mapping
from functools import lru_cache
from typing import Final

from pmem.errors import Refused
from pmem.storage.files.worktree import index_of, place_in, top_of
from pmem.storage.git import git

LOCAL: Final = "local"
_PLAIN: Final = (2, 3)
"""Versions of the index that spell out every path."""
_SPLIT: Final = b"link\0\0"
"""Begins an index whose other half is in another file."""
_FOLDS_CASE: Final = sys.platform in ("darwin", "win32")
_SPECIAL: Final = "\\*?["
HINT: Final = (
    "look at what it is, take it out with `git rm -r -f` and commit that; --cached is not enough,"
    " as what stays on the disk would count as this clone's own"
)


def check_own(root: str, environment: Mapping[str, str]) -> None:
    """See that nothing in a memory folder's `local` came with the project.

    Raises:
        Refused: Git tracks something there, or cannot tell.
    """
    against = foreign(root, environment)
    if against:
        raise Refused(against, HINT)


def foreign(root: str, environment: Mapping[str, str]) -> str:
    """Say that `local` is not this clone's own; nothing where it is."""
    found = tracked(root, environment)
    where = os.path.join(root, LOCAL)
    if found is None:
        return f"git cannot tell whether {where} came with the project, so nothing in it is used"
    if not found:
        return ""
    more = f" and {len(found) - 1} more" if len(found) > 1 else ""
    return (
        f"git tracks {os.path.join(root, found[0])}{more}: {LOCAL} is each clone's own,"
        " so nothing in it is used and nothing is written"
    )


def tracked(root: str, environment: Mapping[str, str]) -> tuple[str, ...] | None:
    """Return what git tracks in a memory folder's `local`; None where that cannot be told.

    The paths are in the memory folder.
    """
    top = top_of(root) if os.path.lexists(os.path.join(root, LOCAL)) else None
    if top is None:
        return ()
    place = place_in(top, os.path.join(root, LOCAL)).replace(os.sep, "/")
    may_hold = index_may_hold(top, place)
    if may_hold is None:
        return None
    return _tracked_files(top, place, environment) if may_hold else ()


def index_may_hold(top: str, place: str) -> bool | None:
    """Return whether a work tree's index could hold a path; None where it is not readable."""
    try:
        index = index_of(top)
        status = os.stat(index)
    except FileNotFoundError:
        return False  # nothing was ever added
    except (OSError, ValueError):
        return None
    if not stat.S_ISREG(status.st_mode):
        return None
    stamp = (status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns)
    return _may_hold(index, stamp, place)


@lru_cache(maxsize=8)
def _may_hold(index: str, stamp: tuple[int, ...], place: str) -> bool:  # noqa: ARG001 - the key
    try:
        with open(index, "rb") as file:
            data = file.read()
    except OSError:
        return True
    if data[:4] != b"DIRC" or int.from_bytes(data[4:8], "big") not in _PLAIN or _SPLIT in data:
        return True
    if not place.isascii():  # macOS spells it in other ways
        return True
    name = place.encode()
    return name.lower() in data.lower() if _FOLDS_CASE else name in data


def _tracked_files(top: str, place: str, environment: Mapping[str, str]) -> tuple[str, ...] | None:
    name = "".join(f"\\{sign}" if sign in _SPECIAL else sign for sign in place)
    wanted = f":(top{',icase' * _FOLDS_CASE}){name}"
    try:
        done = git.run(top, ["ls-files", "-z", "--full-name", "--", wanted], environment)
    except git.UNAVAILABLE:
        return None
    if done.code:
        return None
    start = os.path.dirname(place)
    paths = [os.fsdecode(path) for path in done.out.split(b"\0")[:-1]]
    return tuple(dict.fromkeys(os.path.relpath(path, start or ".") for path in paths))
