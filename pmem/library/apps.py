"""What a project does for apps, each of which sees its own memories only."""

from collections.abc import Iterable
from typing import Any, Protocol, TypeVar

from pmem.apps.figures import AppFigures
from pmem.apps.reading import (
    AppContext,
    AppContextRequest,
    AppListing,
    AppListRequest,
    AppOverview,
    AppShowRequest,
)
from pmem.apps.remembering import Remembered, RememberRequest
from pmem.apps.removal import AppDeleteRequest, Purged, Uninstalled, UninstallRequest
from pmem.library.typed import Typed, made
from pmem.memory.app_limit import Compacted
from pmem.memory.app_memories import AppMemory, AppRequest
from pmem.operations import table
from pmem.operations.operation import Operation
from pmem.values.requests import AtRequest, NoArguments

Request = TypeVar("Request")
Result = TypeVar("Result")


class RunsOperations(Protocol):
    """Runs an operation, and returns its answer."""

    def __call__(self, operation: Operation[Request, Result], request: Request, /) -> Result: ...


class Apps(Typed):
    """Operations on apps' memories. Threads may share it, as they may the project.

    Args:
        run: Runs an operation, and returns its answer.
    """

    def __init__(self, run: RunsOperations) -> None:
        self._run = run

    def remember(self, app: str, content: str | None = None, **request: Any) -> Remembered:
        """Make a memory for an app, and room for it.

        Args:
            app: The app's name.
            content: What to remember; else `conversation` names one that has ended.
            request: The other fields of `RememberRequest`.

        Raises:
            UsageError: Neither a content nor a conversation is given, or both.
            InvalidValue: A value is not allowed.
        """
        wanted = made(RememberRequest, app=app, content=content, **request)
        return self._run(table.REMEMBER, wanted)

    def all(self) -> Iterable[AppOverview]:
        """Return every app that has left a trace."""
        return self._run(table.APPS, AtRequest()).items

    def list(self, app: str, user: str | None = None, *, limit: int | None = None) -> AppListing:
        """Return the memories of an app, the newest update first, and how many there are.

        Args:
            app: The app's name.
            user: Leave out what concerns other users than this one.
            limit: How many to return at the most.
        """
        return self._run(table.APP_MEMORIES, AppListRequest(app=app, user=user, limit=limit))

    def show(self, app: str, reference: str) -> AppMemory:
        """Return one memory of an app."""
        return self._run(table.APP_MEMORY, AppShowRequest(app=app, reference=reference))

    def context(
        self, app: str, conversation: str | None = None, user: str | None = None
    ) -> AppContext:
        """Write the block of an app's memories for a model; without those of other users."""
        request = AppContextRequest(app=app, conversation=conversation, user=user)
        return self._run(table.APP_CONTEXT, request)

    def compact(self, app: str) -> Compacted:
        """Hold an app to its limit, and do the work that was put off for it."""
        return self._run(table.COMPACT, AppRequest(app=app))

    def delete(self, app: str, reference: str, *, for_good: bool = False) -> AppMemory:
        """Remove one memory of an app."""
        return self._run(
            table.APP_DELETE, AppDeleteRequest(app=app, reference=reference, for_good=for_good)
        )

    def purge(self, app: str) -> Purged:
        """Delete all memories of an app for good."""
        return self._run(table.APP_PURGE, AppRequest(app=app))

    def uninstall(self, app: str, *, purge: bool = False) -> Uninstalled:
        """Note that an app is gone; its memories outlive it, unless they are purged."""
        return self._run(table.UNINSTALL, UninstallRequest(app=app, purge=purge))

    def stats(self) -> AppFigures:
        """Count what apps remember, and what models have spent on it."""
        return self._run(table.APP_STATS, AtRequest())

    def poll_energy(self) -> float:
        """Return the units that models have spent since this was last asked."""
        return self._run(table.POLL_ENERGY, NoArguments()).spent
