"""The unit of work over one memory folder: settings, clock, ids, stores, transactions."""

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, Final

from pmem.core.tokens import counter
from pmem.errors import (
    Ambiguous,
    NoProject,
    NotFound,
    Refused,
)
from pmem.project.beside import Beside
from pmem.project.borders import must_be_safe
from pmem.project.caller import Asked
from pmem.project.configuration import Configuration
from pmem.storage.backend import Backend, Change, Problem
from pmem.storage.git.tracked import foreign, must_be_own
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
    Memory,
    RecordType,
)
from pmem.values.times import in_utc

if TYPE_CHECKING:
    from pmem.core.operations import Node, Operation
    from pmem.storage.git.revision import Revision

CANDIDATES_SHOWN: Final = 10


def discover(
    start: str,
    name: str = ".project-memory",
    environment: Mapping[str, str] | None = None,
    safe_folders: Any = None,
) -> str:
    """Find the memory folder for a place: in it, or in the nearest parent that has one.

    Args:
        start: Where to look from; the memory folder itself will do.
        name: What memory folders are called here.
        environment: The environment's variables.
        safe_folders: The setting of that name where the caller gives it.

    Returns:
        The memory folder's absolute path.

    Raises:
        NoProject: Neither the place nor any parent has one.
        Refused: It is a link, leads out of its work tree, or lies in a parent and belongs to
            another user.
    """
    folder, found_above = _nearest(start, name)
    must_be_safe(folder, environment or {}, found_above=found_above, allowed=safe_folders)
    return folder


def _nearest(start: str, name: str) -> tuple[str, bool]:
    """Find the memory folder for a place, and tell whether a parent of the place has it."""
    place = here = os.path.abspath(start)
    if not os.path.isdir(place):
        raise NoProject(f"there is no folder {place}", "give one that exists")
    if os.path.basename(place) == os.path.basename(name) and os.path.isdir(place):
        return place, False
    while True:
        folder = os.path.join(place, name)
        if os.path.isdir(folder):
            return folder, place != here
        parent = os.path.dirname(place)
        if parent == place:
            raise NoProject(f"there is no {name} in {os.path.abspath(start)} or any parent")
        place = parent


class Workspace(Asked, Beside):
    """One open memory folder.

    Args:
        root: The memory folder.
        actor: Who writes, as histories name them; git's user.name, else the login, when None.
        now: A fixed present for reproducible runs; the clock otherwise.
        read_only: Refuse every write.
        overrides: Settings by dotted name that win over every other source.
        environment: The environment's variables.
        backend: Where records live; JSON files below `root` by default.
        agent: Who asks, or writes, if it is an agent (see `Asked`): agents have rules of their own.
        app: The app that asks, if it is one.
        shared: What the process keeps of the folder from one unit of work to the next.

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
        agent: str | None = None,
        app: str | None = None,
        shared: Shared | None = None,
    ) -> None:
        self.root = root
        self.given_actor = actor
        self.given_now = now
        self.environment = dict(environment or {})
        self.read_only = read_only or bool(foreign(root, self.environment))
        self.configuration = Configuration(root, dict(overrides or {}), self.environment)
        self.shared = shared or Shared()
        self._given_backend, self._given_agent, self._given_app = backend, agent, app
        self.name = "present"
        """What a view of the past is of, in words (see `at` and `at_revision`)."""
        self.notes: list[str] = []
        """What whoever asks is told of secrets that were found, in words."""
        self.made_room: list[Any] = []
        """What went so that apps keep to their limits (see `apps.make_room`)."""
        self.once_kept: list[Callable[[], object]] = []
        """What a transaction does once its changes are on disk, under its lock still."""
        self.present: Workspace | None = None
        """What a view of the past is a view of."""
        self.moment: datetime | None = None
        """The moment that a view is of."""
        self.revision: Revision | None = None
        """The git revision that a view is of."""

    @cached_property
    def whole(self) -> Backend:
        """Where the records live, whoever asks."""
        if self._given_backend is not None:
            return self._given_backend
        configuration = self.configuration
        return JsonFiles(
            self.root,
            lock_timeout=lambda: configuration.settings.lock_timeout,
            most_bytes=lambda: configuration.settings.limits.record,
            read_only=self.read_only,
            shared=self.shared,
            foreign=partial(foreign, self.root, self.environment),
        )

    @cached_property
    def actor(self) -> str:
        """Who writes."""
        if self.given_actor is not None:
            return self.given_actor
        from pmem.storage.git.git import user_name

        return self.shared.user(lambda: user_name(self.root, self.environment))

    @cached_property
    def memories(self) -> Store[Memory]:
        """Long-term memories."""
        return Store(self.backend, Memory)

    @cached_property
    def episodes(self) -> Store[Episode]:
        """Episodes."""
        return Store(self.backend, Episode)

    @cached_property
    def conversations(self) -> Store[Conversation]:
        """Conversations, their recent messages within."""
        return Store(self.backend, Conversation)

    @cached_property
    def chunks(self) -> Store[Chunk]:
        """The older messages of conversations."""
        return Store(self.backend, Chunk)

    @property
    def is_past(self) -> bool:
        """Whether it is a view of a moment or of a revision (see `at` and `at_revision`)."""
        return self.present is not None

    def at(self, moment: datetime) -> "Workspace":
        """Return a read-only view of everything as it was, whose present is that moment.

        Args:
            moment: When. In the future everything is as it is now, at a later present.

        Raises:
            InvalidValue: The time leaves the calendar when moved to UTC.
        """
        from pmem.project.views import at_moment

        return at_moment(self, moment)

    def at_revision(self, revision: str) -> "Workspace":
        """Return a read-only view of everything as a git revision has it, settings too.

        The present stays what it is: a checkout of that revision would answer the same.

        Args:
            revision: A branch, a tag, or a commit such as `HEAD~3`.

        Raises:
            NoRevision: Git knows no such revision, or there is no repository.
            NotFound: The memory was not there at that revision, or there is no git.
        """
        from pmem.project.views import at_revision

        return at_revision(self, revision)

    @property
    def stores(self) -> tuple[Store[Any], ...]:
        """All four stores."""
        return (self.memories, self.episodes, self.conversations, self.chunks)

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

    def now(self) -> datetime:
        """Return the present in UTC, to the millisecond."""
        return in_utc(self.given_now or datetime.now(UTC))

    def new_id(self, at: datetime | None = None) -> str:
        """Make an id that sorts after every other that was made here.

        Args:
            at: When the record began; now if it is left out.
        """
        moment = ids.milliseconds(at or self.now())
        if at is None:
            moment = self.shared.later_than_all(moment)
        return ids.make_id(moment, int.from_bytes(os.urandom(8), "big"))

    @cached_property
    def count(self) -> Callable[[str], int]:
        """Counts a text's tokens, as the setting `tokenizer` says.

        Raises:
            InvalidValue: What counts them exactly is not installed.
        """
        return counter(self.settings.tokenizer)

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Hold the writers' lock, start from what is on disk, and commit at the end.

        Nothing is written when the body raises. What it read before it began is read again, so
        references are resolved in the body. What leads to records that it removes is cut.

        Raises:
            Refused: The workspace is read-only.
            Damaged: A merge is open in the project's settings.
            Locked: Another writer kept the lock, or changed a record meanwhile.
            NotFound: A record would lead to one that is gone.
            StorageRefused: The disk or a file refused; `Unfinished` if after the change was made.
        """
        self.must_be_writable()
        self.configuration.must_be_resolved()
        with self.backend.lock():
            _forget(self)
            try:
                yield
                changes = _whole_changes(self)
                if self.agent is not None:
                    _must_be_agreed(self, changes)
                self.gate.must_be_clean(changes, lambda change: _before(self, change))
                self.backend.commit(changes)
                self.has_written |= bool(changes)
                _note_written(self, changes)
                for act in self.once_kept:
                    act()
            finally:
                self.once_kept.clear()
                _forget(self)

    def must_be_writable(self) -> None:
        """See that this run may write at all.

        Raises:
            Refused: The workspace is read-only, or git tracks what is each clone's own.
        """
        must_be_own(self.root, self.environment)
        if self.is_past:
            raise Refused("what has been cannot be changed", "leave out --at to write")
        if self.read_only:
            raise Refused("this run is read-only", "leave out --read-only to write")

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
        found = _fitting(self, reference, types)
        if not found:
            _must_be_nothing(self, reference, types)
        return _only(reference, found, types)

    def _seen_from(self, present: "Workspace") -> "Workspace":
        from pmem.project.views import again

        return again(self, present)


def _forget(workspace: Workspace) -> None:
    for part in workspace.stores:
        part.forget()


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


def _must_be_nothing(workspace: Workspace, reference: str, types: tuple[RecordType, ...]) -> None:
    """See that a reference that fits nothing means nothing later, and nothing hidden."""
    if workspace.present is not None:
        later = _fitting(workspace.present, reference, types)
        if reference and later:
            what = " or ".join(f"{KINDS[type_]} {id_}" for type_, id_ in later[:2])
            raise NotFound(f"{what} did not exist at {workspace.name}")
    workspace.must_not_be_hidden(reference, types or tuple(STORES))


def _only(
    reference: str, found: list[tuple[RecordType, str]], types: tuple[RecordType, ...]
) -> tuple[RecordType, str]:
    if not found or not reference:
        what = " or ".join(KINDS[type_] for type_ in types) or "record"
        raise NotFound(
            f"no {what} has an id that starts with {reference!r}"
            if reference.strip()
            else f"an id is needed to find the {what}, not {reference!r}",
            "`pmem conversation list` shows ids"
            if types == (Conversation,)
            else "`pmem list` and `pmem search` show ids",
        )
    if len(found) > 1:
        shown = ", ".join(f"{KINDS[type_]} {id_}" for type_, id_ in found[:CANDIDATES_SHOWN])
        more = f" and {len(found) - CANDIDATES_SHOWN} more" if len(found) > 10 else ""
        raise Ambiguous(f"{reference!r} fits {shown}{more}", "give more of the id")
    return found[0]


def _whole_changes(workspace: Workspace) -> list[Change]:
    """Return what a transaction writes, with what leads to records that it removes cut.

    Raises:
        NotFound: Something new would lead nowhere.
    """
    changes = _changes(workspace)
    if not changes:
        return changes
    from pmem.project.references import cut_what_leads_to, must_lead_somewhere

    cut: set[tuple[RecordType, str]] = set()
    while gone := {(each.type, each.id) for each in changes if each.record is None} - cut:
        cut_what_leads_to(workspace, gone)
        cut |= gone
        changes = _changes(workspace)
    must_lead_somewhere(workspace, changes)
    return changes


def _changes(workspace: Workspace) -> list[Change]:
    return [change for part in workspace.stores for change in part.changes()]


def _before(workspace: Workspace, change: Change) -> Any:
    """Return a changed record as it was read; None for a new one."""
    return workspace.store(change.type).before(change.id)


def note_operation(workspace: Workspace, node: "Node", op: str, **told: Any) -> None:
    """Note that something ran, where that is wanted and something may be written.

    Args:
        workspace: Where.
        node: Which part of pmem did it.
        op: What it did.
        told: Further fields of `pmem.core.operations.Operation`.
    """
    if not workspace.is_past and not workspace.read_only and workspace.settings.record_operations:
        from pmem.core.operations import operation
        from pmem.storage.local.operations import Operations

        Operations(workspace.root).note([operation(workspace.now(), node, op, told)])


def _must_be_agreed(workspace: Workspace, changes: Sequence[Change]) -> None:
    """See that an agent writes nothing that a person must agree to first.

    Raises:
        Refused: It does; `pmem add` and `pmem edit` hold such a thing back instead.
    """
    from pmem.core.consent import unagreed

    for change in changes:
        if isinstance(change.record, Memory | Episode):
            old = _before(workspace, change) or _as_kept(workspace, change)
            field = unagreed(change.record, old, workspace.settings.consent.fields)
            if field is not None:
                raise Refused(
                    f"{field.replace('_', ' ')} is remembered only with a person's consent",
                    "propose it with `pmem add`, or let a person do this",
                )


def _as_kept(workspace: Workspace, change: Change) -> Any:
    """Return a record as it is on disk; None for one that is new."""
    if not list(workspace.backend.ids(change.type, change.id)):
        return None
    return workspace.backend.read(change.type, change.id)


def _note_written(workspace: Workspace, changes: Sequence[Change]) -> None:
    """Note what a transaction did to memories and episodes."""
    about = [change for change in changes if change.type in (Memory, Episode)]
    if not about or not workspace.settings.record_operations:
        return
    from pmem.core.operations import removed, written
    from pmem.storage.local.operations import Operations

    found: list[Operation] = []
    for change in about:
        if isinstance(change.record, Memory | Episode):
            found += written(change.record, _before(workspace, change))
        else:
            found.append(removed(change.id, workspace.now()))
    Operations(workspace.root).note(found)
