"""What a project does for apps, each of which sees its own memories only."""

from collections.abc import Callable, Iterable
from typing import Any

from pmem import apps
from pmem.apps import (
    AppContext,
    AppFigures,
    AppListing,
    AppMemory,
    AppOverview,
    Compacted,
    Models,
    Purged,
    Remembered,
    RememberRequest,
    Uninstalled,
)
from pmem.library.typed import Typed, made
from pmem.project.workspace import Workspace


class Apps(Typed):
    """Operations on apps' memories. Threads may share it, as they may the project.

    Args:
        opened: Returns a unit of work where they are.
        models: Who sums conversations up and decides what goes; by rules when None.
    """

    def __init__(self, opened: Callable[[], Workspace], models: Models | None = None) -> None:
        self._opened = opened
        self._models = models

    @property
    def workspace(self) -> Workspace:
        """A unit of work of its own (see `Project.workspace`)."""
        return self._opened()

    def using(self, models: Models) -> "Apps":
        """Return the same with models that sum up and decide."""
        return Apps(self._opened, models)

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
        return apps.remember(self.workspace, wanted, self._models)

    def all(self) -> Iterable[AppOverview]:
        """Return every app that has left a trace."""
        return apps.apps(self.workspace)

    def list(self, app: str) -> AppListing:
        """Return the memories of an app, the newest update first."""
        return apps.listing(self.workspace, app)

    def show(self, app: str, reference: str) -> AppMemory:
        """Return one memory of an app."""
        return apps.show(self.workspace, app, reference)

    def context(self, app: str, conversation: str | None = None) -> AppContext:
        """Write the block of an app's memories for a model."""
        return apps.context(self.workspace, app, conversation)

    def compact(self, app: str) -> Compacted:
        """Hold an app to its limit, and do the work that was put off for it."""
        return apps.tidy(self.workspace, app, self._models)

    def delete(self, app: str, reference: str, *, for_good: bool = False) -> AppMemory:
        """Remove one memory of an app."""
        return apps.delete(self.workspace, app, reference, for_good=for_good)

    def purge(self, app: str) -> Purged:
        """Delete all memories of an app for good."""
        return apps.purge(self.workspace, app)

    def uninstall(self, app: str, *, purge: bool = False) -> Uninstalled:
        """Note that an app is gone; its memories outlive it, unless they are purged."""
        return apps.uninstall(self.workspace, app, purged=purge)

    def stats(self) -> AppFigures:
        """Count what apps remember, and what models have spent on it."""
        return apps.statistics(self.workspace)

    def poll_energy(self) -> float:
        """Return the units that models have spent since this was last asked."""
        return apps.poll_energy(self.workspace)
