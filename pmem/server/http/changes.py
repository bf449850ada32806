"""The latest changes of a memory, whoever makes them, and who waits for the next one.

While somebody listens, a memory folder is looked at twice a second, and at once after each write of
this server; a project on a server is looked at when that tells of a write.

A folder's time tells of every file that comes, goes or takes another's place; for one that is
rewritten where it is, all files are looked at now and then. What was there at the first look is
known and told to nobody.
"""

import asyncio
import os
import time
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from queue import SimpleQueue
from threading import Event, Thread
from typing import TYPE_CHECKING, Any, Final, Literal

import msgspec

from pmem.errors import PmemError
from pmem.project.workspace import Workspace
from pmem.storage.files.listing import look
from pmem.values.ids import short
from pmem.values.records import KINDS, RECORD_TYPES, STORES, RecordType

if TYPE_CHECKING:
    from pmem.storage.postgres.exchange import ChangedRecord
    from pmem.storage.postgres.server import Server


THOROUGH_SECONDS: Final = 5.0
"""How often every file is looked at, though no folder's time has changed."""
WAIT_SECONDS: Final = 2.0
"""How often the thread that listens looks whether it should end."""
_BEGIN_SECONDS: Final = 10.0
LOOK_SECONDS: Final = 0.5
KEPT: Final = 1000
"""The latest changes, which a client that was away may still ask for."""


class StreamedChange(msgspec.Struct, frozen=True, kw_only=True):
    """A record that changed: what happened to it last, and who did that.

    `number` counts the changes since the server began.
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


def change_of(
    workspace: Workspace, type_: RecordType, identifier: str, was: bool | None, is_there: bool
) -> StreamedChange:
    """Return what is told of a record.

    `was` tells whether it was there before; None where only its history knows.
    """
    history: Sequence[Any] = ()
    if is_there:
        with suppress(PmemError):  # half of a merge, or a conflict: it has changed all the same
            history = getattr(workspace.store(type_).get(identifier), "history", ())
    last = history[-1] if history else None
    was = len(history) > 1 if was is None else was
    change: Any = ("changed" if was else "added") if is_there else "gone"
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


Stamps = dict[tuple[RecordType, str], tuple[int, int, int]]
"""What the files of a memory look like, by record."""


class FolderChanges:
    """What differs in a memory folder since the last look."""

    def __init__(self, opened: Callable[[], Workspace]) -> None:
        self._opened = opened
        self._times: list[int] = []
        self._looked = 0.0
        self._known = _stamps_of(opened().root)

    def look(self) -> list[StreamedChange]:
        """Return what has changed since the last look, the oldest record first."""
        try:
            workspace = self._opened()
            times = [_time_of(os.path.join(workspace.root, name)) for name in STORES.values()]
            if times == self._times and time.monotonic() - self._looked < THOROUGH_SECONDS:
                return []
            self._times, self._looked = times, time.monotonic()
            now = _stamps_of(workspace.root)
        except PmemError:  # the folder is gone for now: the next look tells
            return []
        before, self._known = self._known, now
        changed = {key for key, _ in before.items() ^ now.items()} if before != now else ()
        return [
            change_of(workspace, *key, key in before, key in now)
            for key in sorted(changed, key=lambda key: key[1])
        ]


def _time_of(folder: str) -> int:
    try:
        return os.stat(folder).st_mtime_ns
    except OSError:
        return 0


def _stamps_of(root: str) -> Stamps:
    return {
        (type_, row[0].removesuffix(".json")): row[1:]
        for type_, folder in STORES.items()
        for row in look(os.path.join(root, folder)).rows()
    }


class ServerChanges:
    """What was written since the last look; a thread of its own listens to the server.

    `told` is called from that thread when something was written.
    """

    def __init__(
        self, opened: Callable[[], Workspace], server: "Server", told: Callable[[], object]
    ) -> None:
        self._opened, self._server, self._told = opened, server, told
        self._found: SimpleQueue[ChangedRecord] = SimpleQueue()
        self._begun, self._is_over = Event(), Event()
        Thread(target=self._listen, name="pmem-listener", daemon=True).start()
        self._begun.wait(_BEGIN_SECONDS)

    def look(self) -> list[StreamedChange]:
        """Return what was written since the last look, each record once."""
        latest: dict[tuple[str, str], ChangedRecord] = {}
        while not self._found.empty():
            change = self._found.get()
            latest[change.store, change.id] = change
        workspace = self._opened() if latest else None
        return [
            change_of(workspace, RECORD_TYPES[change.store], change.id, None, not change.is_gone)
            for change in latest.values()
            if workspace is not None and change.store in RECORD_TYPES
        ]

    def close(self) -> None:
        """Listen no more; the thread ends by itself, soon."""
        self._is_over.set()

    def _listen(self) -> None:
        from pmem.storage.postgres.exchange import follow_changes

        reached: int | None = None
        while not self._is_over.is_set():
            try:
                for found in follow_changes(self._server, reached, wait=WAIT_SECONDS):
                    self._begun.set()
                    if self._is_over.is_set():
                        return
                    for change in found:
                        reached = change.revision
                        self._found.put(change)
                    if found:
                        self._told()
            except PmemError:  # it may be put right, and what comes meanwhile is told then
                self._is_over.wait(WAIT_SECONDS)


class ChangeWatch:
    """Knows the latest changes of a memory folder, and wakes whoever waits for the next one."""

    def __init__(
        self, opened: Callable[[], Workspace], run: Callable[[Callable[[], Any]], Any]
    ) -> None:
        self._opened, self._run = opened, run
        self._source: FolderChanges | ServerChanges | None = None
        self._recent: deque[StreamedChange] = deque(maxlen=KEPT)
        self._nudge, self._news = asyncio.Event(), asyncio.Event()
        self._beginning = asyncio.Lock()
        self._listeners = 0
        self.last_number = 0

    def nudge(self) -> None:
        """Have the folder looked at now."""
        self._nudge.set()

    def since(self, number: int) -> list[StreamedChange] | None:
        """Return the changes after one; None where some of them are not known any more."""
        if number > self.last_number or (number < self.last_number - len(self._recent)):
            return None
        return [change for change in self._recent if change.number > number]

    async def wait(self, seconds: float) -> None:
        """Return at the next change, or after a time."""
        news = self._news
        try:
            async with asyncio.timeout(seconds):
                await news.wait()
        except TimeoutError:
            return

    async def begin(self) -> None:
        """Note that somebody listens; the state of the folder before is known then."""
        self._listeners += 1
        async with self._beginning:
            if self._source is None:
                told = partial(asyncio.get_running_loop().call_soon_threadsafe, self.nudge)
                server = (await self._run(self._opened)).server
                self._source = await self._run(
                    partial(FolderChanges, self._opened)
                    if server is None
                    else partial(ServerChanges, self._opened, server, told)
                )
        self.nudge()

    def close(self) -> None:
        """Look no more."""
        if isinstance(self._source, ServerChanges):
            self._source.close()

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
            if self._listeners and self._source is not None:
                found = await self._run(self._source.look)
                for change in found:
                    self.last_number += 1
                    self._recent.append(msgspec.structs.replace(change, number=self.last_number))
                if found:
                    self.wake()

    def wake(self) -> None:
        """Wake whoever waits for a change."""
        self._news.set()
        self._news = asyncio.Event()
