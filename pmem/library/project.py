"""The project: one memory folder, opened."""

import os
from copy import copy
from datetime import datetime
from functools import partial
from typing import Any, Self

from pmem.errors import InvalidValue
from pmem.library.operations import Apps, ProjectOperations
from pmem.library.typed import checked
from pmem.operations.operation import A, Operation, Q
from pmem.operations.pipeline import run
from pmem.project import setup
from pmem.project.caller import Caller
from pmem.project.discovery import check_borders, discover
from pmem.project.own_memory import found_or_started
from pmem.project.views import seen_at
from pmem.project.workspace import Workspace
from pmem.storage.backend import Backend, Problem
from pmem.storage.git.revision import Revision
from pmem.storage.shared import Shared
from pmem.values.rules import flatten


def checked_models(models: Any) -> Any:
    """Return models that a project can ask, None for none; raise InvalidValue for all else."""
    if models is None:
        return None
    from pmem.model.models import Models

    if not isinstance(models, Models):
        raise InvalidValue(
            f"models must be a `Models`, not {type(models).__name__}",
            "`Models(name, text)` takes what completes prompts, or a function for each task",
        )
    return models


class Project(ProjectOperations):
    """A project's memory, open for as long as you like.

    Threads may share it, `asyncio.to_thread` included, and so may any number of processes work
    on one folder beside each other. Each call is a unit of work of its own: reads take no lock
    and wait for no writer; writers wait for each other (`lock_timeout`). A process that forks
    while none of its threads is in a call may use the project on both sides.

    Nothing is answered from what others have changed since: records, settings and the names of
    git's revisions are read anew by each call. Only three things may lag, a quarter of a second
    at the most: which records a search or a context looks at after a program has rewritten a
    file in place, what else another process has changed in that time, and git's user.name.

    Args:
        memory_dir: The memory folder; it is made if it is missing.
        actor: Who writes, as histories name them; git's user.name, else the login, when None.
        now: A fixed present for reproducible runs.
        read_only: Refuse every write.
        backend: Where records live; JSON files in `memory_dir` by default.
        agent: The agent that asks and writes, if it is one: its allowlist says what it sees, and
            what it adds may need consent.
        app: The app that asks, if it is one: it sees nothing of other apps.
        models: A `pmem.model.models.Models`, in place of the one that the user's settings choose.
        settings: Settings by name, such as `chunk_size=10`; they win over every other source.
            Tables may be nested, such as `categories={"context": {"profile": "rag"}}`.

    Raises:
        InvalidValue: An argument has another type; there is a file of the folder's name; or, on
            use, a setting that does not exist or does not allow its value.
        Refused: The folder is a link, or leads out of the work tree that has it.
        StorageRefused: The folder cannot be made.
    """

    @checked
    def __init__(
        self,
        memory_dir: str | os.PathLike[str] = ".project-memory",
        *,
        actor: str | None = None,
        now: datetime | None = None,
        read_only: bool = False,
        backend: Backend | None = None,
        agent: str | None = None,
        app: str | None = None,
        models: Any = None,
        **settings: Any,
    ) -> None:
        if not memory_dir:  # it would be the very folder of the program
            raise InvalidValue("memory_dir must not be empty", "name a folder")
        folder, safe = os.path.abspath(memory_dir), settings.get("safe_folders")
        check_borders(folder, os.environ, allowed=safe)
        if backend is None and not read_only and not os.path.isdir(folder):
            setup.initialise(folder, environment=os.environ, safe_folders=safe)
        self._open = partial(
            Workspace,
            folder,
            actor=actor,
            now=now,
            read_only=read_only,
            overrides=flatten(settings),
            environment=dict(os.environ),
            backend=backend,
            caller=Caller(agent, app),
            models=checked_models(models),
        )
        self._caller = Caller(agent, app)
        self._shared, self._process = Shared(), os.getpid()
        self._seen_at: tuple[datetime | str, ...] = ()
        self._tree: Revision | None = None

    @property
    def workspace(self) -> Workspace:
        """A unit of work, for services that no method offers.

        Each look makes another one, which knows nothing of the others: keep it for what belongs
        together, such as one transaction, and give it to no other thread.
        """
        if self._process != os.getpid():  # what is open is the parent's
            self._shared, self._process = Shared(), os.getpid()
        seen = self._open(shared=self._shared)
        for when in self._seen_at:
            seen = seen_at(seen, when)
        self._tree = seen.revision  # kept for the next call
        return seen

    def _run(self, operation: Operation[Q, A], request: Q) -> A:
        return run(self.workspace, operation, request, self._caller).result

    def close(self) -> None:
        """Let go of the files that are kept open; the next call opens what it needs."""
        self._shared.close()

    @classmethod
    @checked
    def discover(cls, start: str | os.PathLike[str] = ".", **options: Any) -> Self:
        """Open the memory of a place, looked for there and in every parent.

        Raises:
            NoProject: There is none.
            Refused: It may not be trusted; see the class, and a parent's must be the user's own.
        """
        safe = options.get("safe_folders")
        return cls(discover(os.fspath(start), environment=os.environ, safe_folders=safe), **options)

    @classmethod
    def mine(cls, **options: Any) -> Self:
        """Open the memory of whoever runs this, which is no project's; it is made if it is missing.

        Raises:
            NoProject: There is none, and nothing may be written.
            Refused: It is a link, or leads elsewhere.
        """
        is_read_only = bool(options.get("read_only"))
        return cls(found_or_started(os.environ, read_only=is_read_only), **options)

    @checked
    def at(self, when: datetime | str) -> Self:
        """Return the project as it was, to read only.

        Args:
            when: A moment (what happened at that very moment has happened), or a git revision
                by its name, at the present. A name that moves, such as `HEAD`, means at each
                call what it means then; a commit's id stays what it is.

        Raises:
            InvalidValue: Git knows no such revision.
            NotFound: The memory was not there at that revision.
        """
        view = copy(self)
        view._seen_at = (*self._seen_at, when)
        view.workspace  # noqa: B018 - what cannot be seen is told at once
        return view

    @property
    def apps(self) -> Apps:
        """What apps remember, each for itself."""
        return Apps(self._run)

    @property
    def problems(self) -> list[Problem]:
        """Files met so far that could not be used; they were left out of the answers.

        One that is met again, and can be used or is gone, is no longer among them.
        """
        return self.workspace.problems

    def flush(self) -> None:
        """Return at once: every operation is on disk when it returns.

        Kept for programs written for stores that batch their writes.
        """
