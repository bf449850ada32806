"""Threads that answer: several that read and one that writes, so no read waits for a writer."""

import asyncio
import traceback
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Final, TypeVar

from pmem.core.secrets import unsecret
from pmem.errors import PmemError
from pmem.project.failures import note_failure
from pmem.project.workspace import Workspace
from pmem.server.http.endpoints import Endpoint, HttpCall, Reply, query_of, refused
from pmem.server.http.tokens import TokenHolder

T = TypeVar("T")
READERS: Final = 4
"""Threads that read: more would only wait for each other."""


class AnswerDesk:
    """Answers calls in threads, each a unit of work of its own."""

    def __init__(self, opened: Callable[[], Workspace]) -> None:
        self._opened = opened
        self._readers = ThreadPoolExecutor(READERS, "pmem-reader")
        self._writer = ThreadPoolExecutor(1, "pmem-writer")
        self._written: list[Callable[[], None]] = []

    def on_write(self, told: Callable[[], None]) -> None:
        """Have somebody told after each call that writes."""
        self._written.append(told)

    async def answer(self, endpoint: Endpoint, holder: TokenHolder, **given: Any) -> Reply:
        """Answer a request."""
        return await self.run(lambda: self._reply(endpoint, holder, given), writes=endpoint.writes)

    async def run(self, work: Callable[[], T], *, writes: bool) -> T:
        """Do something in a thread; it goes on to its end, whoever leaves meanwhile."""
        pool = self._writer if writes else self._readers
        try:
            return await asyncio.shield(asyncio.get_running_loop().run_in_executor(pool, work))
        finally:
            for told in self._written if writes else ():
                told()

    def opened(self) -> Workspace:
        """Open the project for one unit of work."""
        return self._opened()

    def close(self) -> None:
        """Wait for what is under way, and let the threads go."""
        self._readers.shutdown()
        self._writer.shutdown()

    def note(self, error: Exception) -> Reply:
        """Return the reply to something that never should happen; the rest is kept for a report."""
        trace = unsecret("".join(traceback.format_exception(error)))
        try:
            where = note_failure(self._opened(), trace)
        except PmemError:
            where = None
        hint = f"please report it with {where}" if where else ""
        return refused(PmemError(f"this is a bug in pmem: {type(error).__name__}", hint))

    def _reply(self, endpoint: Endpoint, holder: TokenHolder, given: dict[str, Any]) -> Reply:
        try:
            query = query_of(given.pop("query"), endpoint.places)
            return endpoint.answer(HttpCall(self._opened(), holder, query=query, **given))
        except PmemError as error:
            return refused(error)
        except Exception as error:
            return self.note(error)
