"""What changes in a project on a server, which tells of every write by itself."""

from collections.abc import Callable, Iterator
from queue import SimpleQueue
from threading import Event, Thread
from typing import TYPE_CHECKING, Final

from pmem.errors import PmemError
from pmem.project.workspace import Workspace
from pmem.server.http.streamed_change import StreamedChange, change_of
from pmem.values.records import RECORD_TYPES

if TYPE_CHECKING:
    from pmem.storage.postgres.exchange import ChangedRecord
    from pmem.storage.postgres.server import Server

WAIT_SECONDS: Final = 2.0
"""How often the thread that listens looks whether it should end."""
_BEGIN_SECONDS: Final = 10.0


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
        reached: int | None = None
        while not self._is_over.is_set():
            try:
                for found in self._followed(reached):
                    reached = found[-1].revision if found else reached
            except PmemError:  # it may be put right, and what comes meanwhile is told then
                self._is_over.wait(WAIT_SECONDS)

    def _followed(self, reached: int | None) -> Iterator[list["ChangedRecord"]]:
        """Yield what is written until nobody listens any more; whoever looks finds it then."""
        from pmem.storage.postgres.exchange import follow_changes

        for found in follow_changes(self._server, reached, wait=WAIT_SECONDS):
            self._begun.set()
            if self._is_over.is_set():
                return
            for change in found:
                self._found.put(change)
            if found:
                self._told()
            yield found
