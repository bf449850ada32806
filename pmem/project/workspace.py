"""The unit of work over one memory folder: settings, clock, ids, stores, transactions."""

import os
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from datetime import UTC, datetime
from functools import cached_property, partial
from itertools import count
from typing import TYPE_CHECKING, Any, Final

from pmem.core.tokens import BudgetCounter, budget_counter, counter
from pmem.errors import Ambiguous, NotFound, Refused
from pmem.project.caller import NOBODY, Caller
from pmem.project.configuration import Configuration, name_of
from pmem.storage.backend import Backend, Change, Problem
from pmem.storage.git.git import user_name
from pmem.storage.git.tracked import foreign
from pmem.storage.jsonfiles import JsonFiles
from pmem.storage.shared import Shared
from pmem.storage.store import Store
from pmem.values import ids
from pmem.values.config import Settings
from pmem.values.records import (
    KINDS,
    STORES,
    Chunk,
    Conversation,
    Episode,
    Event,
    EventKind,
    Memory,
    RecordType,
)
from pmem.values.times import in_utc

if TYPE_CHECKING:
    from pmem.core.policy import Reach
    from pmem.project.masking import Mask
    from pmem.project.own_state import OwnState
    from pmem.project.secret_gate import SecretGate
    from pmem.storage.git.project_files import Sources
    from pmem.storage.git.revision import Revision
    from pmem.storage.local.origins import OwnWrites
    from pmem.storage.local.proposals import Settled
    from pmem.storage.postgres.server import Server

CANDIDATES_SHOWN: Final = 10
_NAME: Final = 60
"""Characters of a project's name that are shown."""


class Workspace:
    """One open memory folder: one thread's at a time, with the settings as they are at first.

    `actor` is who writes, as histories name them; git's user.name, else the login, when None. `now`
    is a fixed present for runs that can be repeated. `overrides` are settings by dotted name that
    win over every other source. Records live in `backend`, JSON files below `root` by default.
    `caller` is who asks: agents and apps have rules of their own. `shared` is what the process
    keeps of the folder from one call to the next, and `models` do what rules do otherwise (see
    `pmem.model.asking`).
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
        """Who asks; refused where the environment says that somebody else does."""
        return self.given_caller.known_in(self.environment)

    @cached_property
    def reach(self) -> "Reach | None":
        """What whoever asks may see; None where that is everything.

        An agent is refused that has no allowlist where the project has some.
        """
        return None if self.caller == NOBODY else self.caller.reach(self.settings)

    @cached_property
    def whole(self) -> Backend:
        """Where the records live, whoever asks."""
        if self.given_backend is not None:
            return self.given_backend
        if self.server is None:
            return self.files
        from pmem.storage.postgres.records import ServerRecords

        return ServerRecords(self.server, read_only=self.read_only)

    @property
    def files(self) -> JsonFiles:
        """The records that are files below the memory folder, wherever the others live."""
        configuration = self.configuration
        return JsonFiles(
            self.root,
            lock_timeout=lambda: configuration.settings.lock_timeout,
            most_bytes=lambda: configuration.settings.limits.record,
            read_only=self.read_only,
            shared=self.shared,
            foreign=partial(foreign, self.root, self.environment),
            own_writes=partial(_own_writes, self.environment, read_only=self.read_only),
        )

    @cached_property
    def server(self) -> "Server | None":
        """Where the project is on a server; None where the settings name none, or not this one."""
        return _server_finder(self)()

    @cached_property
    def backend(self) -> Backend:
        """Where the records live, as far as whoever asks may see them."""
        if self.reach is None:
            return self.whole
        from pmem.storage.limited import Limited

        present = self.present if self.revision is not None else None
        return Limited(self.whole, self.reach, None if present is None else present.whole)

    @cached_property
    def actor(self) -> str:
        """Who writes."""
        if self.given_actor is not None:
            return self.given_actor
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

    @property
    def project_name(self) -> str:
        """What the project is called, on one line that holds no secret."""
        from pmem.core.visible import one_visible_line

        name = name_of(self.root, self.settings.project_name)
        return one_visible_line(self.mask.text(name))[:_NAME]

    @cached_property
    def own(self) -> "OwnState":
        """What this clone keeps for itself."""
        from pmem.project.own_state import OwnState

        find = _server_finder(self)
        return OwnState(self.root, self.environment, read_only=self.read_only, server=find)

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
        """Counts the tokens of a text that is kept, as the setting `tokenizer` says."""
        return counter(self.settings.tokenizer)

    @cached_property
    def budget_counter(self) -> BudgetCounter:
        """Counts what must keep a budget, as the setting `tokenizer` says; never `count`."""
        return budget_counter(self.settings.tokenizer, self.backend.tokens)

    def now(self) -> datetime:
        """Return the present in UTC, to the millisecond."""
        return in_utc(self.given_now or datetime.now(UTC))

    def new_id(self, at: datetime | None = None) -> str:
        """Make an id that sorts after every other that was made here.

        Where the clock was given, it also sorts after what other processes made by the same clock.
        """
        moment = ids.milliseconds(at or self.now())
        if at is None:
            if self.given_now is not None and not self.shared.has_reached(moment):
                taken = {ids.milliseconds_of(id_) for store in self.stores for id_ in store.ids()}
                moment = next(free for free in count(moment) if free not in taken)
            moment = self.shared.later_than_all(moment)
        return ids.make_id(moment, int.from_bytes(os.urandom(8), "big"))

    def event(self, kind: EventKind, **detail: Any) -> Event:
        """Return what happens to a record now, by whoever writes here."""
        agent = self.caller.agent or ""
        return Event(event=kind, at=self.now(), actor=self.actor, agent=agent, detail=detail)

    @property
    def is_past(self) -> bool:
        """Whether it is a view of a moment or of a revision (see `views`)."""
        return self.present is not None

    def transaction(self) -> AbstractContextManager[None]:
        """Hold the writers' lock, and commit at the end; see `transaction.transaction`."""
        from pmem.project.transaction import transaction

        return transaction(self)

    def resolve(self, reference: str, *types: RecordType) -> tuple[RecordType, str]:
        """Return the type and the whole id of what a reference means, among some types or all four.

        It is a whole id, or the beginning of either part of one.

        Raises:
            NotFound: Nothing fits, or nothing that fits existed at the moment of this view.
            Refused: What fits lies beyond the allowlist of the agent that asks.
            Ambiguous: Several records fit and none exactly; the sentence lists them.
        """
        return _resolve(self, reference, types)


def _own_writes(environment: Mapping[str, str], *, read_only: bool) -> "OwnWrites":
    from pmem.storage.local.origins import OwnWrites  # slow, and only writers need it

    return OwnWrites(environment, read_only=read_only)


def _server_finder(workspace: Workspace) -> "Callable[[], Server | None]":
    """Return what finds the project on a server, and does not keep the workspace alive."""
    while workspace.present is not None:
        workspace = workspace.present
    if workspace.given_backend is not None:
        known = workspace.__dict__.get("server")  # of the workspace whose backend was given on
        return lambda: known
    return partial(_find_server, workspace.configuration, workspace.shared)


def _find_server(configuration: Configuration, shared: Shared) -> "Server | None":
    found = configuration.server
    if found is None:
        return None
    from pmem.storage.postgres.setting_up import checked_key

    address, key = found
    return shared.server(address, checked_key(key), lambda: configuration.settings.lock_timeout)


def _resolve(
    workspace: Workspace, reference: str, types: tuple[RecordType, ...]
) -> tuple[RecordType, str]:
    found = _fitting(workspace, reference, types) if reference else []
    if not found and reference:
        _check_nothing_fits(workspace, reference, types)
    if not found:
        what = " or ".join(KINDS[type_] for type_ in types) or "record"
        raise NotFound(
            f"no {what} has an id that starts with {reference!r}"
            if reference.strip()
            else f"an id is needed to find the {what}, not {reference!r}",
            "`pmem conversation list` shows ids"
            if types == (Conversation,)
            else "`pmem list` and `pmem search` show ids",
        )
    if len(found) == 1:
        return found[0]
    are_told_apart = len({ids.short(id_) for _, id_ in found}) == len(found)
    shown = [
        f"{KINDS[type_]} {ids.short(id_) if are_told_apart else id_}"
        for type_, id_ in found[:CANDIDATES_SHOWN]
    ]
    more = len(found) - CANDIDATES_SHOWN
    raise Ambiguous(
        f"{reference!r} fits {', '.join(shown)}{f' and {more} more' if more > 0 else ''}",
        "give more of the id" if more > 0 else "give one of these ids",
    )


def _fitting(
    workspace: Workspace, reference: str, types: tuple[RecordType, ...]
) -> list[tuple[RecordType, str]]:
    """Return the records that a reference fits; those that it fits exactly, if there are."""
    found = [
        (part.type, identifier)
        for part in workspace.stores
        if not types or part.type in types
        for identifier in part.ids(reference)
    ]
    exact = [hit for hit in found if reference in (hit[1], ids.short(hit[1]))]
    return exact or found


def _check_nothing_fits(
    workspace: Workspace, reference: str, types: tuple[RecordType, ...]
) -> None:
    """See that a reference that fits nothing means nothing later, and nothing hidden."""
    later = _fitting(workspace.present, reference, types) if workspace.present else []
    if later:
        what = " or ".join(f"{KINDS[type_]} {id_}" for type_, id_ in later[:2])
        raise NotFound(f"{what} did not exist at {workspace.name}")
    reach = workspace.reach
    if reach is not None and any(
        workspace.whole.ids(type_, reference) for type_ in types or STORES
    ):
        raise Refused(f"{reach.who} may not see {reference}", reach.hint)
