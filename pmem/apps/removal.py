"""Taking memories away from an app: one, all of them, or the app itself."""

import msgspec

from pmem.apps.reading import apps
from pmem.errors import NotFound
from pmem.memory.app_memories import AppMemory, all_of, members, name_of, one_of, shown, state_of
from pmem.project.workspace import Workspace


class Purged(msgspec.Struct, frozen=True, kw_only=True):
    """How many memories of an app were deleted for good."""

    app: str
    deleted: int


class Uninstalled(msgspec.Struct, frozen=True, kw_only=True):
    """An app that is gone: memories that are kept, and those that were deleted for good."""

    app: str
    kept: int
    deleted: int


def purge(workspace: Workspace, app: str) -> Purged:
    """Delete all memories of an app for good, those in no active state as well.

    What was put off for it is not done any more.

    Args:
        workspace: Where they are.
        app: The app's name.

    Raises:
        InvalidValue: The app's name is not allowed.
        Locked, StorageRefused, Refused: See `Workspace.transaction`.
    """
    app = name_of(app)
    with workspace.transaction():
        gone = {memory.id for memory in all_of(workspace, app)}
        for identifier in gone:
            workspace.memories.remove(identifier)
    state_of(workspace).give_up(app)
    return Purged(app=app, deleted=len(gone))


def delete(workspace: Workspace, app: str, reference: str, *, for_good: bool = False) -> AppMemory:
    """Remove one memory of an app; `restore` brings it back, unless it is deleted for good.

    Args:
        workspace: Where it is.
        app: The app's name.
        reference: Which memory.
        for_good: Delete it at once.

    Raises:
        NotFound, Ambiguous: The app has none that the reference means.
        InvalidValue: The app's name is not allowed.
    """
    from pmem.memory import lifecycle
    from pmem.memory.changes import RecordsRequest

    workspace.must_be_writable()
    memory = one_of(workspace, name_of(app), reference)
    if for_good:
        with workspace.transaction():
            lifecycle.purge(workspace, lifecycle.PurgeRequest(references=(memory.id,), force=True))
        return shown(memory)
    with workspace.transaction():
        lifecycle.remove(workspace, RecordsRequest(references=(memory.id,)))
    return shown(workspace.memories.get(memory.id))


def uninstall(workspace: Workspace, app: str, *, purged: bool = False) -> Uninstalled:
    """Note that an app is gone; its memories outlive it, unless they are purged.

    Args:
        workspace: Where to.
        app: The app's name.
        purged: Delete its memories for good.

    Raises:
        NotFound: No such app has left a trace here.
        Refused: Another app asks.
        InvalidValue: The app's name is not allowed.
    """
    workspace.must_be_writable()
    app = name_of(app)
    workspace.must_serve(app)
    if app not in {known.name for known in apps(workspace)}:
        raise NotFound(f"there is no app {app!r}", "`pmem app list` shows them all")
    state_of(workspace).uninstall(app, workspace.now())  # first: it can be repeated afterwards
    deleted = purge(workspace, app).deleted if purged else 0
    return Uninstalled(app=app, kept=len(members(workspace, app)), deleted=deleted)
