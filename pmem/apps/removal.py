"""Taking memories away from an app: one, all of them, or the app itself."""

from typing import Annotated

from msgspec.structs import asdict

from pmem.apps.reading import known_app
from pmem.memory.app_memories import (
    AppAnswer,
    AppMemory,
    AppRequest,
    all_of,
    members,
    name_of,
    one_of,
    shown,
    state_of,
)
from pmem.project.workspace import Workspace
from pmem.values.fields import AppRef, asked
from pmem.values.records import State


class AppDeleteRequest(AppRequest, frozen=True, kw_only=True):
    """Which memory of an app is to go; `for_good` deletes it at once."""

    reference: AppRef
    for_good: Annotated[bool, asked("Delete it for good at once.")] = False


class UninstallRequest(AppRequest, frozen=True, kw_only=True):
    """Which app is gone; `purge` deletes its memories for good."""

    purge: Annotated[bool, asked("Delete its memories for good.")] = False


class Purged(AppAnswer, frozen=True, kw_only=True):
    """How many memories of an app were deleted for good, and how many of them were active."""

    deleted: int = 0
    active: int = 0


class Uninstalled(Purged, frozen=True, kw_only=True):
    """An app that is gone: memories that are kept, and those that were deleted for good."""

    kept: int


def purge(workspace: Workspace, request: AppRequest) -> Purged:
    """Delete all memories of an app for good, those in no active state as well.

    What was put off for it is not done any more.

    Raises:
        InvalidValue: The app's name is not allowed.
        NotFound: No such app has left a trace here.
        Locked, StorageRefused, Refused: See `Workspace.transaction`.
    """
    from pmem.memory.proposals import check_leave

    app = known_app(workspace, request.app)
    with workspace.transaction():
        memories = {memory.id: memory for memory in all_of(workspace, app)}
        for memory in memories.values():
            check_leave(workspace, memory, "a person deletes them")
            workspace.memories.remove(memory.id)
    state_of(workspace).give_up(app)
    active = sum(memory.state is State.ACTIVE for memory in memories.values())
    return Purged(app=app, deleted=len(memories), active=active)


def delete(workspace: Workspace, request: AppDeleteRequest) -> AppMemory:
    """Remove one memory of an app; `restore` brings it back, unless it is deleted for good.

    Raises:
        NotFound, Ambiguous: The app has none that the reference means.
        InvalidValue: The app's name is not allowed.
    """
    from pmem.memory import lifecycle
    from pmem.memory.changes import RecordsRequest

    memory = one_of(workspace, name_of(request.app), request.reference)
    if request.for_good:
        with workspace.transaction():
            lifecycle.purge(workspace, lifecycle.PurgeRequest(references=(memory.id,), force=True))
        return shown(memory)
    with workspace.transaction():
        lifecycle.remove(workspace, RecordsRequest(references=(memory.id,)))
    return shown(workspace.memories.get(memory.id))


def uninstall(workspace: Workspace, request: UninstallRequest) -> Uninstalled:
    """Note that an app is gone; its memories outlive it, unless they are purged.

    Raises:
        NotFound: No such app has left a trace here.
        InvalidValue: The app's name is not allowed.
    """
    app = known_app(workspace, request.app)
    state_of(workspace).uninstall(app, workspace.now())  # first: it can be repeated afterwards
    gone = purge(workspace, request) if request.purge else Purged(app=app)
    return Uninstalled(**asdict(gone), kept=len(members(workspace, app)))
