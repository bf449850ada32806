"""The memory of one's own, which `--mine` names in place of a project's."""

import os
from collections.abc import Mapping
from typing import Any

from pmem.errors import NoProject, NotFound, PmemError, UsageError
from pmem.operations.operation import Operation
from pmem.project.caller import NOBODY
from pmem.project.discovery import check_borders
from pmem.project.own_memory import START, check_owner, own_folder, start_own
from pmem.project.workspace import Workspace


def own_root(directory: str | None, environment: Mapping[str, str]) -> str:
    """Return the folder of one's own memory, whether or not it exists."""
    if directory != (environment.get("PMEM_DIR") or None):
        raise UsageError("--mine and -C name two memories", "leave out one of them")
    folder = own_folder(environment)
    check_borders(folder, environment)
    return folder


def see_to_own(workspace: Workspace, operation: Operation[Any, Any]) -> None:
    """Make the memory of one's own where there is none and something is to be kept in it."""
    if os.path.isdir(workspace.root):
        return
    check_owner(workspace)
    if workspace.read_only or not (operation.writes and operation.gate):
        raise NoProject(f"there is no memory of your own at {workspace.root}", START)
    start_own(workspace.environment)


def name_own(error: NotFound, request: object, workspace: Workspace) -> None:
    """Let an error say that a request's reference means something of one's own, where it does."""
    reference = getattr(request, "reference", None)
    if not reference or workspace.caller != NOBODY:
        return
    folder = own_folder(workspace.environment)
    if not os.path.isdir(folder):
        return
    try:
        Workspace(folder, environment=workspace.environment, read_only=True).resolve(reference)
    except PmemError:
        return
    error.hint = f"your own memory has {reference}: add --mine"
