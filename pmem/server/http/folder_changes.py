"""What changes in a memory folder, whoever changes it: this server, a command, git, an editor.

A folder's time tells of every file that comes, goes or takes another's place; for one that is
rewritten where it is, all files are looked at now and then. What was there at the first look is
known and told to nobody.
"""

import os
import time
from collections.abc import Callable, Iterator
from typing import Final

from pmem.errors import PmemError
from pmem.project.workspace import Workspace
from pmem.server.http.streamed_change import StreamedChange, change_of
from pmem.storage.files.listing import FolderListing, look
from pmem.values.records import STORES, RecordType

THOROUGH_SECONDS: Final = 5.0
"""How often every file is looked at, though no folder's time has changed."""

Stamps = dict[str, tuple[int, int, int]]
"""What the files of a store look like, by record."""


class FolderChanges:
    """What differs in a memory folder since the last look."""

    def __init__(self, opened: Callable[[], Workspace]) -> None:
        self._opened = opened
        self._folders: tuple[int, ...] = ()
        self._looked = 0.0
        self._known = _stamps_of(opened().root)

    def look(self) -> list[StreamedChange]:
        """Return what has changed since the last look."""
        try:
            workspace = self._opened()
            if self._is_surely_same(workspace.root):
                return []
            now = _stamps_of(workspace.root)
        except PmemError:  # the folder is gone for now: the next look tells
            return []
        before, self._known = self._known, now
        return [
            change
            for type_ in STORES
            for change in _differences(workspace, type_, before[type_], now[type_])
        ]

    def _is_surely_same(self, root: str) -> bool:
        """Tell whether no folder has changed, and every file was looked at not long ago."""
        folders = tuple(_time_of(os.path.join(root, name)) for name in STORES.values())
        is_recent = time.monotonic() - self._looked < THOROUGH_SECONDS
        if folders == self._folders and is_recent:
            return True
        self._folders, self._looked = folders, time.monotonic()
        return False


def _time_of(folder: str) -> int:
    try:
        return os.stat(folder).st_mtime_ns
    except OSError:
        return 0


def _stamps_of(root: str) -> dict[RecordType, Stamps]:
    return {
        type_: {row[0].removesuffix(".json"): row[1:] for row in _listing(root, folder).rows()}
        for type_, folder in STORES.items()
    }


def _listing(root: str, folder: str) -> FolderListing:
    return look(os.path.join(root, folder))


def _differences(
    workspace: Workspace, type_: RecordType, before: Stamps, now: Stamps
) -> Iterator[StreamedChange]:
    """Yield the records of one type whose files differ, the oldest record first."""
    if before == now:
        return
    for identifier in sorted(before.keys() | now.keys()):
        if before.get(identifier) == now.get(identifier):
            continue
        yield change_of(workspace, type_, identifier, identifier in before, identifier in now)
