"""Where a project's records live: files below its folder, or a project on a server."""

from functools import partial
from typing import TYPE_CHECKING

from pmem.storage.git.tracked import foreign
from pmem.storage.jsonfiles import JsonFiles

if TYPE_CHECKING:
    from pmem.project.workspace import Workspace
    from pmem.storage.backend import Backend
    from pmem.storage.postgres.server import Server


def records_of(workspace: "Workspace") -> "Backend":
    """Return the backend of a workspace to which none was given.

    Raises:
        InvalidValue: See `server_of`.
    """
    server = workspace.server
    if server is None:
        return files_of(workspace)
    from pmem.storage.postgres.records import ServerRecords

    return ServerRecords(server, read_only=workspace.read_only)


def files_of(workspace: "Workspace") -> JsonFiles:
    """Return the records that are files below the memory folder, wherever the others live."""
    configuration = workspace.configuration
    return JsonFiles(
        workspace.root,
        lock_timeout=lambda: configuration.settings.lock_timeout,
        most_bytes=lambda: configuration.settings.limits.record,
        read_only=workspace.read_only,
        shared=workspace.shared,
        foreign=partial(foreign, workspace.root, workspace.environment),
    )


def server_of(workspace: "Workspace") -> "Server | None":
    """Return the project on a server; None where the settings name none, or not this project.

    Raises:
        InvalidValue: The settings that say so are wrong.
    """
    if workspace.present is not None:
        return workspace.present.server
    configuration = workspace.configuration
    found = configuration.server if workspace.given_backend is None else None
    if found is None:
        return None
    from pmem.storage.postgres.projects import checked_key

    address, key = found
    return workspace.shared.server(
        address, checked_key(key), lambda: configuration.settings.lock_timeout
    )
