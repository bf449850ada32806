"""Where a project's records live: files below its folder, or a project on a server."""

from functools import partial
from typing import TYPE_CHECKING

from pmem.storage.git.tracked import foreign
from pmem.storage.jsonfiles import JsonFiles

if TYPE_CHECKING:
    from collections.abc import Callable

    from pmem.project.configuration import Configuration
    from pmem.project.workspace import Workspace
    from pmem.storage.backend import Backend
    from pmem.storage.postgres.server import Server
    from pmem.storage.shared import Shared


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
    return server_finder(workspace)()


def server_finder(workspace: "Workspace") -> "Callable[[], Server | None]":
    """Return what finds the project on a server, and does not keep the workspace alive."""
    while workspace.present is not None:
        workspace = workspace.present
    if workspace.given_backend is not None:
        known = workspace.__dict__.get("server")  # of the workspace whose backend was given on
        return lambda: known
    return partial(_find_server, workspace.configuration, workspace.shared)


def _find_server(configuration: "Configuration", shared: "Shared") -> "Server | None":
    found = configuration.server
    if found is None:
        return None
    from pmem.storage.postgres.setting_up import checked_key

    address, key = found
    return shared.server(address, checked_key(key), lambda: configuration.settings.lock_timeout)
