"""What is kept beside the records: by one clone for itself, or by a server for all who share it."""

from collections.abc import Callable, Collection, Iterable, Sequence
from contextlib import AbstractContextManager
from datetime import datetime
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from pmem.storage.local.access import UnfoldedRecalls
    from pmem.storage.local.appstate import DeferredWork, Level
    from pmem.storage.local.proposals import Queue, Settled
    from pmem.storage.local.state import Saved, Seen
    from pmem.values.records import Access
    from pmem.values.rules import AppRules


class CheckpointKeeper(Protocol):
    """The saved states of threads, one for each thread of each user."""

    def save(self, thread: str, user: str, data: bytes, at: datetime) -> "Saved":
        """Save a thread's state in place of the one that is there."""
        ...

    def load(self, thread: str, user: str) -> "tuple[Saved, bytes] | None":
        """Return a thread's state as it was saved last, or None."""
        ...

    def all(self, user: str | None = None) -> "list[Saved]":
        """Return the checkpoints of a user, or of everyone, the last saved first."""
        ...

    def remove(self, thread: str, user: str) -> bool:
        """Remove a checkpoint, and tell whether there was one."""
        ...


class ThreadKeeper(Protocol):
    """What each thread has seen."""

    def seen(self, thread: str) -> "Seen":
        """Return a thread's revision and the events that it has seen."""
        ...

    def advance(self, thread: str, fingerprints: Collection[int]) -> "tuple[Seen, int]":
        """Mark events as seen; see `advance_by`."""
        ...

    def advance_by(
        self, thread: str, choose: "Callable[[Seen], Collection[int]]"
    ) -> "tuple[Seen, int]":
        """Mark events as seen, and give the read that saw them the thread's next revision.

        Nothing changes when `choose` raises.

        Args:
            thread: Who has seen them.
            choose: Told what the thread has seen so far, returns the events that it sees now.

        Returns:
            What the thread had seen before, and its revision now, which no other read has.
        """
        ...


class ProposalKeeper(Protocol):
    """What waits for consent, and what became of it."""

    @property
    def path(self) -> str:
        """Where it is, for people."""
        ...

    def read(self) -> "Queue":
        """Return what waits, and what was decided."""
        ...

    def update(self, change: "Callable[[Queue], Queue]", now: datetime) -> "Queue":
        """Change what waits; what has waited too long goes. Hold the writers' lock."""
        ...

    def settle(self, settled: "Sequence[Settled]", now: datetime) -> None:
        """Take proposals out of the queue, and keep what was decided. Hold the writers' lock."""
        ...


class RecallKeeper(Protocol):
    """The recalls that are not yet in the records."""

    @property
    def path(self) -> str:
        """Where they are, for people."""
        ...

    def note(self, ids: Collection[str], at: datetime, *, count: int = 1) -> None:
        """Note that records were recalled, each once; where that fails, nothing happens."""
        ...

    def known(self) -> "dict[str, Access]":
        """Return how often and when last each record was recalled, by id."""
        ...

    def waiting(self) -> "UnfoldedRecalls":
        """Say what waits to be folded."""
        ...

    def folding(self) -> "AbstractContextManager[dict[str, Access]]":
        """Take what is there; forget it if the body succeeds, and only then."""
        ...

    def keep(self, recalls: "dict[str, Access]") -> None:
        """Put recalls that were taken by `folding` back; where that fails, nothing happens."""
        ...

    def shorten(self) -> None:
        """Add up what was noted one by one."""
        ...


class PairKeeper(Protocol):
    """The pairs of look-alikes that a person was told of lately."""

    def known(self) -> Collection[str]:
        """Return the fingerprints that are still kept."""
        ...

    def note(self, fingerprints: Iterable[str]) -> None:
        """Keep fingerprints from now on; where nothing can be written, nothing is."""
        ...

    def noted_today(self, beginning: str) -> int:
        """Return how many pairs were noted today whose fingerprints begin so."""
        ...


class AppKeeper(Protocol):
    """What apps may spend, what waits for them, and which are gone."""

    def level(self, now: datetime, rules: "AppRules") -> "Level":
        """Return the energy there is, and what was spent."""
        ...

    def spend(self, cost: float, now: datetime, rules: "AppRules") -> bool:
        """Take units for one piece of work, unless no more than the floor is left."""
        ...

    def poll(self, now: datetime, rules: "AppRules") -> float:
        """Return the units spent since this was last asked."""
        ...

    def put_off(self, work: "DeferredWork") -> None:
        """Note work that is to be done later; the same work only once."""
        ...

    def waiting(self, app: str | None = None) -> "list[DeferredWork]":
        """Return what waits, for one app or for all, the earliest first."""
        ...

    def settle(self, work: "DeferredWork") -> None:
        """Forget work that is done, or that there is no more reason for."""
        ...

    def give_up(self, app: str) -> None:
        """Forget the work that waits for an app."""
        ...

    def note_context(self, conversation: str, app: str) -> None:
        """Note that a conversation's context had memories of its app."""
        ...

    def with_context(self) -> set[str]:
        """Return the conversations whose contexts had memories of their apps."""
        ...

    def uninstall(self, app: str, at: datetime) -> None:
        """Note that an app is gone, and forget the work that waits for it."""
        ...

    def install(self, app: str) -> None:
        """Note that an app is there again."""
        ...

    def gone(self) -> set[str]:
        """Return the apps that were uninstalled."""
        ...
