"""What the units of work on one memory folder have in common, in one process."""

import time
from _thread import allocate_lock
from collections.abc import Callable
from typing import TYPE_CHECKING
from weakref import WeakValueDictionary

from pmem.storage.backend import Problem
from pmem.storage.index.current_index import TRUST_SECONDS, OpenIndexes

if TYPE_CHECKING:
    from pmem.storage.git.revision import Revision
    from pmem.storage.postgres.server import Server


class Shared:
    """What stays from one unit of work to the next; any number of threads may use it at once.

    Attributes:
        indexes: The indexes that are kept open.
        problems: The files met so far that could not be used, by path; one that is read leaves.
        revisions: The records of commits that somebody is looking at, by commit and name.
        servers: Projects on servers whose connections are kept, by address and key.
    """

    def __init__(self) -> None:
        self.indexes = OpenIndexes()
        self.problems: dict[str, Problem] = {}
        self.revisions: WeakValueDictionary[tuple[str, str], Revision] = WeakValueDictionary()
        self.servers: dict[tuple[str, str], Server] = {}
        self._clock = allocate_lock()
        self._last_moment = 0
        self._user = ("", 0.0)
        self._beside: Shared | None = None

    def beside(self) -> "Shared":
        """Return the same for the memory of one's own that is asked beside this one."""
        with self._clock:
            self._beside = self._beside or Shared()
            return self._beside

    def close(self) -> None:
        """Let go of the files and connections that are open, also of the memory beside it."""
        self.indexes.close()
        for server in self.servers.values():
            server.close()
        if self._beside is not None:
            self._beside.close()

    def server(self, address: str, project: str, patience: Callable[[], float]) -> "Server":
        """Return a project on a server, with the connections that are kept to it."""
        from pmem.storage.postgres.server import Server

        found = self.servers.get((address, project))
        return found or self.servers.setdefault(
            (address, project), Server(address, project, patience)
        )

    def later_than_all(self, moment: int) -> int:
        """Return a moment for an id, later than every other that was returned, in milliseconds."""
        with self._clock:
            self._last_moment = max(moment, self._last_moment + 1)
            return self._last_moment

    def has_reached(self, moment: int) -> bool:
        """Tell whether an id of a moment, or of a later one, was made."""
        return self._last_moment >= moment

    def user(self, ask: Callable[[], str]) -> str:
        """Return who works here, as it was no longer ago than files are trusted."""
        name, until = self._user
        if time.monotonic() > until:
            name = ask()
            self._user = (name, time.monotonic() + TRUST_SECONDS)
        return name
