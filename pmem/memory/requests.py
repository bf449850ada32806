"""What memories are added and changed with, and what that leads to."""

from datetime import datetime
from typing import TYPE_CHECKING, Any, Literal

import msgspec

from pmem.values.ids import short
from pmem.values.records import Memory, MemoryType, Relationship, Source, State

if TYPE_CHECKING:
    from pmem.core.apps.deciding import AppDecision
    from pmem.core.lifecycle.neighbours import Neighbour
    from pmem.memory.proposals import Held


class AddRequest(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A memory to add; what is left out gets the default of its type.

    `cite` names files of the project, lines of them such as `src/main.py:10-20`, or names that they
    define such as `src/main.py::settle` and `src/main.py::RETRIES=3`, seen from the current folder,
    `places` are patterns of the files that it applies to (see `core.places`). What
    a dead end `tried`, `because` of what that failed and its `evidence` are as in `Memory`, like
    what a decision was taken `instead_of`, and when to look at it again: `review_at`, `review_if`.
    It concerns an `app`, a `user`, somebody in a `role`; an `agent` or `actor` noted it in a `run`.
    `force` adds it even when a memory on the same subject, or with the same
    content, exists.
    """

    content: str
    type: MemoryType = MemoryType.FACT
    category: str | None = None
    subject: str | None = None
    tags: tuple[str, ...] = ()
    importance: float | None = None
    pinned: bool = False
    app: str | None = None
    user: str | None = None
    agent: str | None = None
    run: str | None = None
    actor: str | None = None
    role: str | None = None
    valid_from: datetime | None = None
    valid_until: datetime | None = None
    source: Source = Source()
    cite: tuple[str, ...] = ()
    places: tuple[str, ...] = ()
    tried: str | None = None
    because: str | None = None
    evidence: tuple[str, ...] = ()
    instead_of: tuple[str, ...] = ()
    review_at: datetime | None = None
    review_if: str | None = None
    force: bool = False

    @property
    def named_app(self) -> str | None:
        """The app that it is for, by name."""
        return self.app


class Added(msgspec.Struct, frozen=True, kw_only=True):
    """What adding led to: the new memory, or the one that should be updated instead.

    `neighbours` says where the links of the new memory lead, and why. What an agent proposes may
    be `queued` until a person agrees, or be `waiting` for a second signal: then nothing was
    added, and `held` says what waits. `lints` says what could be written better,
    and `made_room` what went so that an app keeps to its limit.
    """

    action: Literal["added", "suggested", "queued", "waiting", "rejected"]
    record: Memory | None = None
    links: tuple[Relationship, ...] = ()
    neighbours: "tuple[Neighbour, ...]" = ()
    reason: str = ""
    held: "Held | None" = None
    lints: tuple[str, ...] = ()
    made_room: "tuple[AppDecision, ...]" = ()

    @property
    def memory(self) -> Memory:
        """The new memory, or the one that should be updated instead.

        Raises:
            Withheld: There is none, as something waits for consent or for a second signal.
        """
        if self.record is not None:
            return self.record
        from pmem.memory.proposals import Withheld

        assert self.held is not None
        raise Withheld(self.held)

    @property
    def is_archived(self) -> bool:
        """Whether it was said before, by a memory that was archived since."""
        return self.action == "suggested" and self.memory.state is State.ARCHIVED

    @property
    def noted(self) -> dict[str, str] | None:
        """What the log of operations says of it; what was written is noted with the record."""
        return None if self.held is None else {"status": "skipped"}

    @property
    def next_step(self) -> str:
        """What to do instead of adding, where it is a suggestion."""
        name = short(self.memory.id)
        if self.is_archived:
            return f"bring it back with `pmem restore {name}`"
        return f"update it with `pmem edit {name} TEXT`"

    def to_plain(self) -> dict[str, Any]:
        """Return what became of it, its memory and its links."""
        held = {} if self.held is None else {"held": self.held}
        return {"action": self.action, "memory": self.record, "links": self.links, **held}


class AddAllRequest(msgspec.Struct, frozen=True, kw_only=True):
    """Memories to add in one commit."""

    memories: tuple[AddRequest, ...]


class AddedAll(msgspec.Struct, frozen=True, kw_only=True):
    """What adding several memories led to, one by one, and what went to make room for them."""

    items: tuple[Added, ...]
    made_room: "tuple[AppDecision, ...]" = ()

    def count(self, action: str) -> int:
        """Return to how many something happened, such as `added`."""
        return sum(item.action == action for item in self.items)

    @property
    def held(self) -> int:
        """How many wait for consent or for a second signal, or were rejected before."""
        return sum(item.held is not None for item in self.items)

    @property
    def noted(self) -> dict[str, str] | None:
        """What the log of operations says of it; what was written is noted with the records."""
        return {"status": "skipped"} if self.held else None

    def to_plain(self) -> dict[str, Any]:
        """Return how many were added, and what became of each."""
        return {
            "added": self.count("added"),
            "suggested": self.count("suggested"),
            **({"held": self.held} if self.held else {}),
            "items": [_without_links(item.to_plain()) for item in self.items],
        }


def _without_links(added: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in added.items() if name != "links"}


class EditRequest(msgspec.Struct, frozen=True, kw_only=True):
    """New values for a memory; None keeps the old one. An empty subject removes it.

    `tags` take the place of all its tags; `add_tags` and `remove_tags` change some of them.
    `cite` and `uncite` name files, or lines of them, that it is to cite as well, or not any more,
    `places` and `not_places` patterns of files that it is to apply to as well, or not any more.
    With `no_end` it holds on: `valid_until` goes.
    `instead_of` are all the alternatives that it was taken instead of; an empty `review_if` takes
    that away, and one that was `reviewed` is not to be looked at again, and is trusted where a
    person says so.
    `settled` says why a dead end is none any more; an empty reason makes it one again. Whether it
    `stops_edits` is for a person to say. `conversation` is where the change comes from.
    """

    reference: str
    content: str | None = None
    type: MemoryType | None = None
    category: str | None = None
    subject: str | None = None
    tags: tuple[str, ...] | None = None
    add_tags: tuple[str, ...] = ()
    remove_tags: tuple[str, ...] = ()
    importance: float | None = None
    valid_from: datetime | None = None
    valid_until: datetime | None = None
    no_end: bool = False
    cite: tuple[str, ...] = ()
    uncite: tuple[str, ...] = ()
    places: tuple[str, ...] = ()
    not_places: tuple[str, ...] = ()
    instead_of: tuple[str, ...] | None = None
    review_at: datetime | None = None
    review_if: str | None = None
    reviewed: bool = False
    settled: str | None = None
    stops_edits: bool | None = None
    conversation: str | None = None

    @property
    def is_empty(self) -> bool:
        """Whether it has no new value."""
        return self == EditRequest(reference=self.reference, conversation=self.conversation)


class Edited(msgspec.Struct, frozen=True, kw_only=True):
    """A memory as it now is, and as it was, where anything has changed.

    `neighbours` are those that it updates or contradicts from now on, and `same` is another memory
    that says the same.
    """

    memory: Memory
    was: Memory | None = None
    neighbours: "tuple[Neighbour, ...]" = ()
    same: Memory | None = None

    def to_plain(self) -> dict[str, Any]:
        """Return the memory, the number of its version, and what it said before."""
        from pmem.core.versions import version_number

        was = {} if self.was is None else {"was": self.was.content}
        number = version_number(self.memory)
        return {**msgspec.structs.asdict(self.memory), "version": number, **was}


class PinRequest(msgspec.Struct, frozen=True, kw_only=True):
    """Which memory or episode is to be pinned, or to be pinned no longer."""

    reference: str
    pinned: bool = True


class LinkRequest(msgspec.Struct, frozen=True, kw_only=True):
    """A link from one memory to another: what it means, and how close they are, from 0 to 1."""

    start: str
    end: str
    type: str = "related_to"
    strength: float = 0.5


class UnlinkRequest(msgspec.Struct, frozen=True, kw_only=True):
    """Links from one memory to another, or to the id of one that is gone; all types when None."""

    start: str
    end: str
    type: str | None = None
