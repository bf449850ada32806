"""What changes in a memory folder, whoever changes it: this server, a command, git, an editor.

While somebody listens, the stores' folders are looked at twice a second, and at once after each
write of this server. A folder's time tells of every file that comes, goes or takes another's place;
for one that is rewritten where it is, all files are looked at now and then. What was there at the
first look is known and told to nobody.
"""

import asyncio
import os
import time
from collections import deque
from collections.abc import Callable, Iterator
from typing import Any, Final, Literal

import msgspec

from pmem.errors import PmemError
from pmem.project.workspace import Workspace
from pmem.storage.files.listing import FolderListing, look
from pmem.values.ids import short
from pmem.values.records import KINDS, STORES, RecordType

LOOK_SECONDS: Final = 0.5
THOROUGH_SECONDS: Final = 5.0
"""How often every file is looked at, though no folder's time has changed."""
KEPT: Final = 1000
"""The latest changes, which a client that was away may still ask for."""

Stamps = dict[str, tuple[int, int, int]]
"""What the files of a store look like, by record."""


class StreamedChange(msgspec.Struct, frozen=True, kw_only=True):
    """A record that changed: what happened to it last, and who did that.

    Attributes:
        number: Counts the changes since the server began.
        id: The record's.
        short: Its short id.
        kind: What it is.
        change: Whether it is new, was changed, or is gone for good.
        event: The last event of its history; empty where it has none.
        at: When that was.
        actor: Who it was.
        agent: Which agent, if it was one.
    """

    number: int
    id: str
    short: str
    kind: str
    change: Literal["added", "changed", "gone"]
    event: str = ""
    at: Any = None
    actor: str = ""
    agent: str = ""


class ChangeWatch:
    """Knows the latest changes of a memory folder, and wakes whoever waits for the next one.

    Args:
        opened: Opens the project, as nobody in particular sees it.
        run: Runs something in a thread.
    """

    def __init__(
        self, opened: Callable[[], Workspace], run: Callable[[Callable[[], Any]], Any]
    ) -> None:
        self._opened, self._run = opened, run
        self._known: dict[RecordType, Stamps] | None = None
        self._recent: deque[StreamedChange] = deque(maxlen=KEPT)
        self._nudge, self._news = asyncio.Event(), asyncio.Event()
        self._listeners = 0
        self._folders: tuple[int, ...] = ()
        self._looked = 0.0
        self.last_number = 0

    def nudge(self) -> None:
        """Have the folder looked at now."""
        self._nudge.set()

    def since(self, number: int) -> list[StreamedChange] | None:
        """Return the changes after one; None where some of them are not known any more.

        Args:
            number: Of the last change that is known already.
        """
        if number > self.last_number or (number < self.last_number - len(self._recent)):
            return None
        return [change for change in self._recent if change.number > number]

    async def wait(self, seconds: float) -> None:
        """Return at the next change, or after a time.

        Args:
            seconds: The longest time.
        """
        news = self._news
        try:
            async with asyncio.timeout(seconds):
                await news.wait()
        except TimeoutError:
            return

    async def begin(self) -> None:
        """Note that somebody listens; the state of the folder before is known then."""
        self._listeners += 1
        if self._known is None:
            self._known = await self._run(lambda: _stamps_of(self._opened().root))
        self.nudge()

    def end(self) -> None:
        """Note that somebody listens no more."""
        self._listeners -= 1

    async def run(self) -> None:
        """Look at the folder for as long as the server lives."""
        while True:
            try:
                async with asyncio.timeout(LOOK_SECONDS if self._listeners else None):
                    await self._nudge.wait()
            except TimeoutError:
                pass
            self._nudge.clear()
            if self._listeners and self._known is not None:
                self._tell(await self._run(self._look))

    def _tell(self, found: list[StreamedChange]) -> None:
        for change in found:
            self.last_number += 1
            self._recent.append(msgspec.structs.replace(change, number=self.last_number))
        if found:
            self.wake()

    def wake(self) -> None:
        """Wake whoever waits for a change."""
        self._news.set()
        self._news = asyncio.Event()

    def _look(self) -> list[StreamedChange]:
        """Return what has changed since the last look, in a thread."""
        assert self._known is not None
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
        yield _change(workspace, type_, identifier, identifier in before, identifier in now)


def _change(
    workspace: Workspace, type_: RecordType, identifier: str, was: bool, is_there: bool
) -> StreamedChange:
    change: Any = ("changed" if was else "added") if is_there else "gone"
    last = _last_event(workspace, type_, identifier) if is_there else None
    return StreamedChange(
        number=0,
        id=identifier,
        short=short(identifier),
        kind=KINDS[type_],
        change=change,
        event=last.event if last else "",
        at=last.at if last else None,
        actor=last.actor if last else "",
        agent=last.agent if last else "",
    )


def _last_event(workspace: Workspace, type_: RecordType, identifier: str) -> Any:
    try:
        record = workspace.store(type_).get(identifier)
    except PmemError:  # half of a merge, or a conflict: the file has changed all the same
        return None
    return (getattr(record, "history", ()) or (None,))[-1]
