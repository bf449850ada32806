"""The latest changes of a memory, and who waits for the next one.

While somebody listens, a memory folder is looked at twice a second, and at once after each write of
this server; a project on a server is looked at when that tells of a write.
"""

import asyncio
from collections import deque
from collections.abc import Callable
from functools import partial
from typing import Any, Final

import msgspec

from pmem.project.workspace import Workspace
from pmem.server.http.folder_changes import FolderChanges
from pmem.server.http.server_changes import ServerChanges
from pmem.server.http.streamed_change import StreamedChange

LOOK_SECONDS: Final = 0.5
KEPT: Final = 1000
"""The latest changes, which a client that was away may still ask for."""


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
                self._source = await self._run(lambda: _source_of(self._opened, told))
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
                self._tell(await self._run(self._source.look))

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


def _source_of(
    opened: Callable[[], Workspace], told: Callable[[], object]
) -> FolderChanges | ServerChanges:
    """Return what tells of changes from now on."""
    server = opened().server
    return FolderChanges(opened) if server is None else ServerChanges(opened, server, told)
