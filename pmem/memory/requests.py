"""What memories are added and changed with, and what that leads to."""

from datetime import datetime
from typing import TYPE_CHECKING, Annotated, Any, Literal

import msgspec

from pmem.values.fields import Ref, asked
from pmem.values.ids import short
from pmem.values.records import Memory, MemoryType, Relationship, Source, State

if TYPE_CHECKING:
    from pmem.core.apps.deciding import AppDecision
    from pmem.core.lifecycle.neighbours import Neighbour
    from pmem.memory.proposals import Held


_PLACE = "FILE[:A[-B]|::NAME]"
Category = Annotated[str | None, asked("Its category [by type].", completes="category")]
Tags = Annotated[tuple[str, ...], asked("A tag.", flag="--tag", completes="tag")]
Force = Annotated[bool, asked("Add it even if a similar memory exists.")]
Subject = Annotated[str | None, asked("Who or what it is about.", completes="subject")]
Importance = Annotated[
    float | None, asked("From 0 to 1; from 0.9 on it counts for every task [by type].")
]
ValidFrom = Annotated[
    datetime | None,
    asked("Valid from this time, such as the day it was decided.", reading="ahead"),
]
ValidUntil = Annotated[datetime | None, asked("Valid until this time.", reading="ahead")]
Cited = Annotated[
    tuple[str, ...], asked("A file, lines, NAME or NAME=VALUE it rests on.", shown=_PLACE)
]
Places = Annotated[
    tuple[str, ...],
    asked(
        "Files it applies to, relative to the project root.",
        flag="--for", shown="GLOB", reading="places",
    ),
]  # fmt: skip
ReviewAt = Annotated[datetime | None, asked("When to review it.", flag="--review", reading="ahead")]
ReviewIf = Annotated[str | None, asked("What would be a reason to review it.")]
_ALTERNATIVE = asked("A rejected alternative, and why.", shown="TEXT")


class AddRequest(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A memory to add; what is left out gets the default of its type.

    `cite` names files, lines such as `src/main.py:10-20`, or names that they define such as
    `src/main.py::settle` and `src/main.py::RETRIES=3`, seen from the current folder; for
    `places` see `core.places`. It concerns an `app`, a `user`, somebody in a `role`; an `agent`
    or `actor` noted it in a `run`. The other fields are as in `Memory`.
    """

    content: str
    type: Annotated[MemoryType, asked("What kind of memory it is.")] = MemoryType.FACT
    category: Category = None
    subject: Subject = None
    tags: Tags = ()
    importance: Importance = None
    pinned: Annotated[
        bool, asked("Show it in every context, and never let it fade.", flag="--pin --always")
    ] = False
    app: Annotated[str | None, asked("The app it is about.", completes="app")] = None
    user: Annotated[str | None, asked("The user it is about.", completes="user")] = None
    agent: Annotated[str | None, asked("The agent that adds it for itself.", completes="agent")] = (
        None
    )
    run: Annotated[str | None, asked("The run of that agent.")] = None
    actor: str | None = None
    role: str | None = None
    valid_from: ValidFrom = None
    valid_until: ValidUntil = None
    source: Source = Source()
    cite: Cited = ()
    places: Places = ()
    tried: str | None = None
    because: str | None = None
    evidence: tuple[str, ...] = ()
    instead_of: Annotated[tuple[str, ...], _ALTERNATIVE] = ()
    review_at: ReviewAt = None
    review_if: ReviewIf = None
    force: Force = False

    @property
    def named_app(self) -> str | None:
        """The app that it is for, by name."""
        return self.app


class Added(msgspec.Struct, frozen=True, kw_only=True):
    """What adding led to: the new memory, or the one that should be updated instead.

    What an agent proposes may be `queued` until a person agrees, or be `waiting` for a second
    signal: then nothing was added, and `held` says what waits. `made_room` is what went so that
    an app keeps to its limit, and `on_subject` how many memories there are on its subject now,
    if not it alone.
    """

    action: Literal["added", "suggested", "queued", "waiting", "rejected"]
    record: Memory | None = None
    links: tuple[Relationship, ...] = ()
    neighbours: "tuple[Neighbour, ...]" = ()
    reason: str = ""
    held: "Held | None" = None
    lints: tuple[str, ...] = ()
    made_room: "tuple[AppDecision, ...]" = ()
    on_subject: int = 0

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
    def is_removed(self) -> bool:
        """Whether an agent noted it before, and a person has removed that."""
        return self.action == "suggested" and self.memory.state is State.SOFT_DELETED

    @property
    def noted(self) -> dict[str, str] | None:
        """What the log of operations says of it; what was written is noted with the record."""
        return None if self.held is None else {"status": "skipped"}

    @property
    def shares_subject(self) -> str:
        """How many memories there are on its subject, in words; nothing where it is alone."""
        if not self.on_subject:
            return ""
        return f'{self.on_subject} memories on "{self.memory.subject}"'

    @property
    def next_step(self) -> str:
        """What to do instead of adding, where it is a suggestion."""
        name = short(self.memory.id)
        if self.is_archived or self.is_removed:
            return f"bring it back with `pmem restore {name}`"
        return f"update it with `pmem edit {name} TEXT`"

    def to_plain(self) -> dict[str, Any]:
        """Return what became of it, its memory and its links."""
        held = {} if self.held is None else {"held": self.held}
        many = {"on_subject": self.on_subject} if self.shares_subject else {}
        return {"action": self.action, "memory": self.record, "links": self.links, **held, **many}


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
            "items": [
                {name: value for name, value in item.to_plain().items() if name != "links"}
                for item in self.items
            ],
        }


class EditRequest(msgspec.Struct, frozen=True, kw_only=True):
    """New values for a memory; None keeps the old one. An empty subject or `review_if` removes it.

    `tags` and `instead_of` take the place of all there are. `link` and `unlink` name other
    memories, with a colon and a type of links where that matters. `settled` says why a dead end
    is none any more; an empty reason makes it one again. One that was `reviewed` is trusted
    where a person says so, and whether it `stops_edits` is for a person to say.
    """

    reference: Ref
    content: Annotated[
        str | None, asked("New content.", shown="[TEXT|-]", reading="text", is_argument=True)
    ] = None
    type: Annotated[MemoryType | None, asked("A new type.")] = None
    category: Category = None
    subject: Subject = None
    tags: Annotated[
        tuple[str, ...] | None,
        asked("Replace all its tags ['': none].", flag="--tag", completes="tag"),
    ] = None
    add_tags: Annotated[
        tuple[str, ...], asked("A tag to add.", flag="--add-tag", completes="tag")
    ] = ()
    remove_tags: Annotated[
        tuple[str, ...], asked("A tag to remove.", flag="--remove-tag", completes="tag")
    ] = ()
    importance: Importance = None
    valid_from: ValidFrom = None
    valid_until: ValidUntil = None
    no_end: Annotated[bool, asked("It stays valid: remove the end.")] = False
    cite: Cited = ()
    uncite: Annotated[tuple[str, ...], asked("Stop citing this.", shown=_PLACE)] = ()
    places: Places = ()
    not_places: Annotated[
        tuple[str, ...],
        asked("Files it no longer applies to.", flag="--not-for", shown="GLOB", reading="places"),
    ] = ()
    instead_of: Annotated[tuple[str, ...] | None, _ALTERNATIVE] = None
    pinned: Annotated[
        bool | None,
        asked("Show it in every context, and never let it fade.", flag="--pin/--no-pin"),
    ] = None
    link: Annotated[
        tuple[str, ...],
        asked("Link it to a memory [related_to].", shown="REF[:TYPE]", completes="memory"),
    ] = ()
    unlink: Annotated[
        tuple[str, ...],
        asked("Remove its links to a memory.", shown="REF[:TYPE]", completes="memory"),
    ] = ()
    review_at: ReviewAt = None
    review_if: ReviewIf = None
    reviewed: Annotated[bool, asked("You looked at it, and it is right.")] = False
    settled: Annotated[
        str | None,
        asked("Why it is no longer a dead end ['': it is one again].", shown="REASON"),
    ] = None
    stops_edits: Annotated[
        bool | None,
        asked(
            "Let it stop an assistant's edit, once a session (see hooks.deny), and a commit"
            " (`setup pre-commit --strict`).",
            flag="--stop-edits/--no-stop-edits",
        ),
    ] = None
    conversation: Annotated[
        str | None,
        asked(
            "The conversation that the change comes from.", shown="REF", completes="conversation"
        ),
    ] = None

    @property
    def is_empty(self) -> bool:
        """Whether it has no new value."""
        return self == EditRequest(reference=self.reference, conversation=self.conversation)

    @property
    def only_pins(self) -> bool:
        """Whether it does nothing but pin or unpin, which an episode allows as well."""
        return self.pinned is not None and msgspec.structs.replace(self, pinned=None).is_empty


class Edited(msgspec.Struct, frozen=True, kw_only=True):
    """A memory as it now is, and as it was, where anything has changed.

    `linked` are the links that it was asked to make, and `same` is another one that says the same.
    """

    memory: Memory
    was: Memory | None = None
    linked: tuple[Relationship, ...] = ()
    neighbours: "tuple[Neighbour, ...]" = ()
    same: Memory | None = None

    def to_plain(self) -> dict[str, Any]:
        """Return the memory, the number of its version, and what it said before."""
        from pmem.core.retention import version_number

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
