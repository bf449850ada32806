"""What one clone keeps for itself, in `local`: one door to all of it."""

from collections.abc import Callable, Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any

from pmem.storage.files.worktree import in_main_tree
from pmem.storage.git.tracked import check_own, foreign

if TYPE_CHECKING:
    from datetime import datetime

    from pmem.storage.local.access import AccessLog
    from pmem.storage.local.appstate import AppState
    from pmem.storage.local.logs import Commands, Operations
    from pmem.storage.local.model_answers import JudgedPairs, ModelAnswers
    from pmem.storage.local.proposals import Proposals
    from pmem.storage.local.sessions import KeptPrompts, NotedTranscripts, ShownItems, UseCounts
    from pmem.storage.local.state import Checkpoints, LocalState, Threads
    from pmem.storage.postgres.project_state import (
        ServerCheckpoints,
        ServerProposals,
        ServerRecalls,
        ServerThreads,
    )
    from pmem.storage.postgres.server import Server


class OwnState:
    """Everything in `local` that is no index; each part is opened when it is first asked for.

    What all who share a project on a server have in common is kept there, if `server` finds one;
    what is about this machine stays here.
    """

    def __init__(
        self,
        folder: str,
        environment: Mapping[str, str],
        *,
        read_only: bool,
        server: "Callable[[], Server | None]" = lambda: None,
    ) -> None:
        self._server = server
        self._folder = folder
        self._environment = environment
        self._read_only = read_only
        self.patience: float | None = None
        """How long to wait for other processes, in seconds; as long as is usual when None."""

    @property
    def is_ours(self) -> bool:
        """Whether it is this clone's own, and did not come with the project."""
        return not foreign(self._folder, self._environment)

    @property
    def root(self) -> str:
        """The memory folder, for what is kept in it; Refused where that came with the project."""
        check_own(self._folder, self._environment)
        return self._folder

    @cached_property
    def state(self) -> "LocalState":
        """Checkpoints, consent, and what apps spend."""
        return self._opened_in(self.root)

    @cached_property
    def shared_state(self) -> "LocalState":
        """What the work trees of a repository share: threads, what they saw, noted transcripts.

        It stands in the main work tree, if the memory folder is there as well.
        """
        main = in_main_tree(self.root)
        if main == self._folder:
            return self.state
        check_own(main, self._environment)
        return self._opened_in(main)

    def _opened_in(self, folder: str) -> "LocalState":
        from pmem.storage.local.state import BUSY_SECONDS, LocalState

        patience = BUSY_SECONDS if self.patience is None else self.patience
        return LocalState(folder, read_only=self._read_only, busy_seconds=patience)

    def _on_server(self, name: str, *given: Any) -> Any:
        """Return a part of what all who share a server have in common; None without a server."""
        server = self._server()
        if server is None:
            return None
        from pmem.storage.postgres import project_state

        return getattr(project_state, name)(server, *given, read_only=self._read_only)

    @property
    def checkpoints(self) -> "Checkpoints | ServerCheckpoints":
        """The saved states of threads."""
        return self._on_server("ServerCheckpoints") or self.state.checkpoints

    @property
    def threads(self) -> "Threads | ServerThreads":
        """What each thread has seen."""
        return self._on_server("ServerThreads") or self.shared_state.threads

    @property
    def apps(self) -> "AppState":
        """What apps may spend, what waits for them, and which are gone."""
        from pmem.storage.local.appstate import AppState

        return AppState(self._on_server("ServerTables") or self.state)

    @property
    def proposals(self) -> "Proposals | ServerProposals":
        """What waits for a person's consent."""
        from pmem.storage.local.proposals import Proposals

        return self._on_server("ServerProposals") or Proposals(self.state)

    @property
    def noted_transcripts(self) -> "NotedTranscripts":
        """The transcripts of assistants' sessions that wait to be taken in."""
        from pmem.storage.local.sessions import NotedTranscripts

        return NotedTranscripts(self.shared_state)

    @property
    def shown(self) -> "ShownItems":
        """What each thread has been shown."""
        from pmem.storage.local.sessions import ShownItems

        return ShownItems(self.shared_state)

    @property
    def use_counts(self) -> "UseCounts":
        """What was of use to sessions, of what they were shown."""
        from pmem.storage.local.sessions import UseCounts

        return UseCounts(self.shared_state)

    @property
    def kept_prompts(self) -> "KeptPrompts":
        """Prompts of this clone's sessions, to see which of them found nothing."""
        from pmem.storage.local.sessions import KeptPrompts

        return KeptPrompts(self.shared_state)

    @property
    def model_answers(self) -> "ModelAnswers":
        """What models answered, and which work is done."""
        from pmem.storage.local.model_answers import ModelAnswers

        return ModelAnswers(self.state)

    def judged(self, now: "datetime") -> "JudgedPairs":
        """The pairs of look-alikes that a person was told of lately."""
        from pmem.storage.local.model_answers import JudgedPairs

        return JudgedPairs(self._on_server("ServerTables") or self.state, now)

    @property
    def operations(self) -> "Operations":
        """The log of what ran."""
        from pmem.storage.local.logs import Operations

        return Operations(self._folder)

    @property
    def commands(self) -> "Commands":
        """The log of the commands that changed records, for those who write it."""
        from pmem.storage.local.logs import Commands

        return Commands(self._folder)

    @cached_property
    def access(self) -> "AccessLog | ServerRecalls":
        """The recalls that wait to be folded into the records."""
        from pmem.storage.local.access import AccessLog

        return self._on_server("ServerRecalls") or AccessLog(
            self._folder, read_only=self._read_only, is_own=self.is_ours
        )
