"""The unit of work over one memory folder: settings, clock, ids, stores, transactions."""

import os
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from datetime import UTC, datetime
from functools import cached_property
from itertools import count
from typing import TYPE_CHECKING, Any

from pmem.core.tokens import BudgetCounter, budget_counter, counter
from pmem.project.caller import NOBODY, Caller
from pmem.project.configuration import Configuration
from pmem.project.record_home import records_of, server_finder, server_of
from pmem.storage.backend import Backend, Change, Problem
from pmem.storage.git.tracked import foreign
from pmem.storage.shared import Shared
from pmem.storage.store import Store
from pmem.values import ids
from pmem.values.config import Settings
from pmem.values.records import STORES, Chunk, Conversation, Episode, Memory, RecordType
from pmem.values.times import in_utc

if TYPE_CHECKING:
    from pmem.core.policy import Reach
    from pmem.project.masking import Mask
    from pmem.project.own_state import OwnState
    from pmem.project.secret_gate import SecretGate
    from pmem.storage.git.project_files import Sources
    from pmem.storage.git.revision import Revision
    from pmem.storage.local.proposals import Settled
    from pmem.storage.postgres.server import Server


class Workspace:
    """One open memory folder.

    Args:
        root: The memory folder.
        actor: Who writes, as histories name them; git's user.name, else the login, when None.
        now: A fixed present for reproducible runs; the clock otherwise.
        read_only: Refuse every write.
        overrides: Settings by dotted name that win over every other source.
        environment: The environment's variables.
        backend: Where records live; JSON files below `root` by default.
        caller: Who asks, or writes: agents and apps have rules of their own.
        shared: What the process keeps of the folder from one unit of work to the next.
        models: Who does what rules do otherwise (see `pmem.model.asking`).

    It is one thread's at a time, and sees the settings as they are when it first asks for one.
    """

    def __init__(
        self,
        root: str,
        *,
        actor: str | None = None,
        now: datetime | None = None,
        read_only: bool = False,
        overrides: Mapping[str, Any] | None = None,
        environment: Mapping[str, str] | None = None,
        backend: Backend | None = None,
        caller: Caller = NOBODY,
        shared: Shared | None = None,
        models: object = None,
    ) -> None:
        self.root = root
        self.given_actor, self.given_now = actor, now
        self.environment = dict(environment or {})
        self.read_only = read_only or bool(foreign(root, self.environment))
        self.configuration = Configuration(root, dict(overrides or {}), self.environment)
        self.shared = shared or Shared()
        self.given_backend, self.given_caller, self.given_models = backend, caller, models
        self.name = "present"
        """What a view of the past is of, in words (see `views`)."""
        self.notes: list[str] = []
        """What whoever asks is told of secrets that were found, in words."""
        self.settled: list[Settled] = []
        """The proposals that the transaction settles: they leave the queue once it is on disk."""
        self.model_failures: list[str] = []  # why models gave no answer that could be used
        self.has_written = False
        """Whether a transaction has changed anything."""
        self.written: list[tuple[Change, Any]] = []
        """What transactions have changed, each with the record as it was; see `undo`."""
        self.taken_back: list[str] = []
        """The commands that the present one takes back, by their keys."""
        self.is_upkeep = False  # whether upkeep is at work, and no command of somebody's own
        self.forgot = False  # whether the present command forgot for good what no record has
        self.present: Workspace | None = None
        """What a view of the past is a view of."""
        self.moment: datetime | None = None
        """The moment that a view is of."""
        self.revision: Revision | None = None
        """The git revision that a view is of."""

    @cached_property
    def caller(self) -> Caller:
        """Who asks.

        Raises:
            Refused: It is not the one that the environment says.
            InvalidValue: A name is empty.
        """
        return self.given_caller.known_in(self.environment)

    @cached_property
    def reach(self) -> "Reach | None":
        """What whoever asks may see; None where that is everything.

        Raises:
            Refused: The project has allowlists, and none for this agent.
        """
        return None if self.caller == NOBODY else self.caller.reach(self.settings)

    @cached_property
    def whole(self) -> Backend:
        """Where the records live, whoever asks."""
        if self.given_backend is not None:
            return self.given_backend
        return records_of(self)

    @cached_property
    def server(self) -> "Server | None":
        """Where the project is on a server, if it is on one; see `record_home`."""
        return server_of(self)

    @cached_property
    def backend(self) -> Backend:
        """Where the records live, as far as whoever asks may see them."""
        if self.reach is None:
            return self.whole
        from pmem.storage.views import Limited

        present = self.present if self.revision is not None else None
        return Limited(self.whole, self.reach, None if present is None else present.whole)

    @cached_property
    def actor(self) -> str:
        """Who writes."""
        if self.given_actor is not None:
            return self.given_actor
        from pmem.storage.git.git import user_name

        return self.shared.user(lambda: user_name(self.root, self.environment))

    @property
    def memories(self) -> Store[Memory]:
        """Long-term memories."""
        return self.store(Memory)

    @property
    def episodes(self) -> Store[Episode]:
        """Episodes."""
        return self.store(Episode)

    @property
    def conversations(self) -> Store[Conversation]:
        """Conversations, their recent messages within."""
        return self.store(Conversation)

    @property
    def chunks(self) -> Store[Chunk]:
        """The older messages of conversations."""
        return self.store(Chunk)

    @cached_property
    def stores(self) -> tuple[Store[Any], ...]:
        """The store of every kind of record, in the order of `STORES`."""
        return tuple(Store(self.backend, type_) for type_ in STORES)

    def store(self, type_: RecordType) -> Store[Any]:
        """Return the store of a type's records."""
        return next(store for store in self.stores if store.type is type_)

    @property
    def problems(self) -> list[Problem]:
        """Files met so far that could not be used."""
        return list(self.backend.problems)

    @property
    def settings(self) -> Settings:
        """The settings in force."""
        return self.configuration.settings

    @cached_property
    def own(self) -> "OwnState":
        """What this clone keeps for itself."""
        from pmem.project.own_state import OwnState

        return OwnState(
            self.root, self.environment, read_only=self.read_only, server=server_finder(self)
        )

    @cached_property
    def sources(self) -> "Sources":
        """The files of the project, which memories cite."""
        from pmem.storage.git.project_files import Sources

        return Sources(self.root, self.environment)

    @cached_property
    def mask(self) -> "Mask":
        """Takes secrets out of what is shown."""
        from pmem.project.masking import Mask

        configuration = self.configuration
        return Mask(lambda: configuration.settings.secrets, self.notes)

    @cached_property
    def gate(self) -> "SecretGate":
        """Lets in what holds no secret."""
        from pmem.project.secret_gate import SecretGate

        configuration = self.configuration
        return SecretGate(lambda: configuration.settings.secrets, self.notes)

    @cached_property
    def count(self) -> Callable[[str], int]:
        """Counts the tokens of a text that is kept, as the setting `tokenizer` says.

        Raises:
            InvalidValue: What counts them exactly is not installed.
        """
        return counter(self.settings.tokenizer)

    @cached_property
    def budget_counter(self) -> BudgetCounter:
        """Counts what must keep a budget, as the setting `tokenizer` says; never `count`.

        Raises:
            InvalidValue: What counts them exactly is not installed.
        """
        return budget_counter(self.settings.tokenizer)

    def now(self) -> datetime:
        """Return the present in UTC, to the millisecond."""
        return in_utc(self.given_now or datetime.now(UTC))

    def new_id(self, at: datetime | None = None) -> str:
        """Make an id that sorts after every other that was made here.

        Where the clock was given, it also sorts after what other processes made by the same clock.

        Args:
            at: When the record began; now if it is left out.
        """
        moment = ids.milliseconds(at or self.now())
        if at is None:
            if self.given_now is not None and not self.shared.has_reached(moment):
                taken = {ids.milliseconds_of(id_) for store in self.stores for id_ in store.ids()}
                moment = next(free for free in count(moment) if free not in taken)
            moment = self.shared.later_than_all(moment)
        return ids.make_id(moment, int.from_bytes(os.urandom(8), "big"))

    @property
    def is_past(self) -> bool:
        """Whether it is a view of a moment or of a revision (see `views`)."""
        return self.present is not None

    def transaction(self) -> AbstractContextManager[None]:
        """Hold the writers' lock, and commit at the end; see `transaction.transaction`."""
        from pmem.project.transaction import transaction

        return transaction(self)

    def resolve(self, reference: str, *types: RecordType) -> tuple[RecordType, str]:
        """Find what a reference means.

        Args:
            reference: A whole id, or a prefix of either part of one.
            types: Record types to look among; all four when none are given.

        Returns:
            The record's type and its whole id.

        Raises:
            NotFound: Nothing fits, or nothing that fits existed at the moment of this view.
            Refused: What fits lies beyond the allowlist of the agent that asks.
            Ambiguous: Several records fit and none exactly; the sentence lists them.
        """
        from pmem.project.resolution import resolve

        return resolve(self, reference, types)
