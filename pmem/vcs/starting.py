"""Starting a memory where somebody works: its folder, and what git is told in this clone."""

import os
from typing import Annotated, Any

import msgspec

from pmem.core.secrets import unsecret
from pmem.errors import PmemError, UsageError
from pmem.project.discovery import check_new, memory_above
from pmem.project.own_memory import start_own
from pmem.project.setup import initialise
from pmem.project.workspace import Workspace
from pmem.storage.files.worktree import top_of
from pmem.values.fields import asked
from pmem.vcs import gitsetup
from pmem.vcs.ignoring import ignored


class InitRequest(msgspec.Struct, frozen=True, kw_only=True):
    """The project's name, whether git tracks transcripts, and whether it is told how to merge.

    `here` makes a new memory even below one that serves the place already. `mine` is the memory of
    whoever runs this, which stands where it stands and is nobody else's.
    """

    name: Annotated[str | None, asked("The project's name.")] = None
    track_conversations: Annotated[bool, asked("Let git track conversations too.")] = False
    git: bool = True
    here: Annotated[bool, asked("Start a second memory below another one.")] = False
    mine: bool = False


class Started(msgspec.Struct, frozen=True, kw_only=True):
    """A memory folder that is ready, whether it was made just now, and what git was told."""

    path: str
    created: bool
    git: str

    def to_plain(self) -> dict[str, Any]:
        """Return the folder, and whether it was made."""
        return {"path": self.path, "created": self.created}


def start(workspace: Workspace, request: InitRequest) -> Started:
    """Make a memory folder, or complete the one that is there; safe to repeat."""
    if request.mine:
        done = start_own(workspace.environment, request.name)
        return Started(path=unsecret(done.path), created=done.created, git="")
    if not request.here:
        check_new(workspace.root, workspace.environment)
        above = memory_above(workspace.root, workspace.environment)
        if above is not None and not os.path.isdir(workspace.root):
            raise UsageError(
                f"this folder has a memory already: {unsecret(above)}",
                "go on with that one, or run `pmem init --here` for a second one that hides it",
            )
    done = initialise(
        workspace.root,
        name=request.name,
        track_conversations=request.track_conversations,
        environment=workspace.environment,
    )
    told = _start_git(workspace) if request.git else ""
    workspace.notes += [f"pmem: {finding.message}" for finding in ignored(workspace)]
    return Started(path=unsecret(done.path), created=done.created, git=told)


def _start_git(workspace: Workspace) -> str:
    """Tell git how records merge, and say so; a git that refuses stops nobody."""
    try:
        if top_of(workspace.root) is None or gitsetup.look(workspace).ok:
            return ""
        told = gitsetup.install(workspace)
    except PmemError as error:
        return f"git was not told how records merge: {error.message}; run `pmem setup git`"
    if not told.program:
        return "git merges records by field in this clone, once pmem is on the PATH"
    return "git merges records by field in this clone (`pmem setup git --remove` undoes that)"
