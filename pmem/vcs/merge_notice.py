"""Telling a fresh clone once that git merges records there as it merges any text."""

import os
from contextlib import suppress
from typing import Final

from pmem.errors import PmemError
from pmem.project.workspace import Workspace
from pmem.storage.files.worktree import top_of

_MARK: Final = os.path.join("local", "merges-told")
_NOTICE: Final = (
    "git merges records as text in this clone: run `pmem setup git`, so that it merges them by"
    " field"
)


def notice_once(workspace: Workspace) -> str:
    """Return what a clone is to be told, and note that it was; nothing the next time.

    Args:
        workspace: Its memory; one that may not be written is told nothing.
    """
    mark = os.path.join(workspace.root, _MARK)
    if workspace.read_only or os.path.lexists(mark) or top_of(workspace.root) is None:
        return ""
    from pmem.vcs import gitsetup  # most commands find the mark

    try:
        notice = "" if gitsetup.look(workspace).ok else _NOTICE
    except PmemError:
        return ""
    with suppress(OSError):
        os.makedirs(os.path.dirname(mark), exist_ok=True)
        os.close(os.open(mark, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o666))
        return notice
    return ""
