"""Looking at what is kept: one record, a list of memories, a record's history."""

import os
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Annotated, Any

import msgspec

from pmem.core.checks import meant_category
from pmem.core.filters import Filter
from pmem.core.policy import EVERYTHING, PROCEDURAL
from pmem.core.selection import Selection
from pmem.core.trust import with_trust
from pmem.errors import Ambiguous, Damaged, NotFound, Refused
from pmem.project.caller import serving, within
from pmem.project.workspace import Workspace
from pmem.storage.store import Store
from pmem.values.fields import AsOf, asked, ref
from pmem.values.ids import matches, short
from pmem.values.records import (
    STORES,
    Chunk,
    Citation,
    Conversation,
    Episode,
    Memory,
    Message,
    Record,
    Status,
    plain,
)

if TYPE_CHECKING:
    from pmem.core.cited_sides import Sides
    from pmem.memory.citation_watch import Watch
    from pmem.memory.details import LinkedText
    from pmem.storage.local.sessions import UseCount


class ShowRequest(msgspec.Struct, frozen=True, kw_only=True):
    """Which record, or message, is to be shown: as it was at a moment or a revision, if given.

    With `details` the answer also says what it links to, and how often it was recalled.
    """

    reference: Annotated[str, ref(completes="any")]
    at: AsOf = None
    revision: str | None = None
    details: bool = False


class EpisodeShowRequest(ShowRequest, frozen=True, kw_only=True):
    """Which episode is to be shown."""

    reference: Annotated[str, ref(completes="episode")]


class ConversationRequest(msgspec.Struct, frozen=True, kw_only=True):
    """Which conversation is meant: the latest active one when None.

    For resuming, that is the latest paused one, or else the one that ended last.
    """

    conversation: Annotated[
        str | None,
        asked(
            "A conversation's id or title [the current one].",
            shown="[REF]",
            is_argument=True,
            completes="conversation",
        ),
    ] = None


class LookRequest(ConversationRequest, frozen=True, kw_only=True):
    """Which conversation is to be looked at: as it was at a moment or a revision, if given."""

    at: AsOf = None
    revision: str | None = None


class ShownRecord(msgspec.Struct, frozen=True, kw_only=True):
    """A record, or a message, and what speaks against it.

    Attributes:
        record: What the reference means.
        stale: The citations that do not hold any more.
        disputed: What the other side of a merge says of its fields (see `disputed`).
        use: In how many sessions of this clone it was shown, and used; None where in none.
        links: Where its links lead; none unless details were asked for.
        recalls: How often it was recalled, those that are not saved yet included; likewise.
    """

    record: "Record | MessageRef"
    stale: tuple[str, ...] = ()
    disputed: dict[str, Any] = {}
    use: "UseCount | None" = None
    links: "tuple[LinkedText, ...]" = ()
    recalls: int = 0

    @property
    def recalled(self) -> tuple[str, ...]:
        """The id of what counts as recalled."""
        return (self.record.id,) if isinstance(self.record, Memory | Episode) else ()

    def to_plain(self) -> dict[str, Any]:
        """Return the record with how far it can be trusted, or the message."""
        if isinstance(self.record, MessageRef):
            fields = msgspec.structs.asdict(self.record.message)
            return {**fields, "conversation": self.record.conversation}
        used = {} if self.use is None else {"sessions": self.use}
        return {**with_trust(self.record), **used}


class ListRequest(msgspec.Struct, frozen=True, kw_only=True):
    """Which memories to list: the latest of those that pass a filter, at the most so many.

    `at` lists them as they were at a moment, or as a git revision has them; `valid_at` those that
    hold at a moment as far as is known. With `doubts` the answer says which of them are stale, and
    which are disputed.
    """

    wanted: Filter = Filter()
    limit: Annotated[int | None, asked("Only the latest N.", flag="--limit -n", least=1)] = None
    valid_at: Annotated[
        datetime | None, asked("Only what is valid at this time, as known now.", reading="time")
    ] = None
    at: AsOf = None
    revision: str | None = None
    doubts: bool = False

    @property
    def named_categories(self) -> tuple[str, ...]:
        """The categories that it asks for by name."""
        return tuple(self.wanted.categories)

    @property
    def named_app(self) -> str | None:
        """The app whose memories it asks for by name."""
        return self.wanted.app


class MemoryListing(msgspec.Struct, frozen=True):
    """Memories that pass the filters, and how many there are in all.

    Where there are none, `reason` says why, and what to do next. `moment` is the present of the
    list: what does not hold then is marked. `stale` and `disputed` are the ids of those whose
    citations do not hold, and of those that branches contradict each other about, if asked for.
    """

    items: tuple[Memory, ...]
    total: int
    reason: str = ""
    moment: datetime | None = None
    stale: frozenset[str] = frozenset()
    disputed: frozenset[str] = frozenset()

    def to_plain(self) -> dict[str, Any]:
        """Return the memories with how far each can be trusted, and how many there are."""
        return {"items": list(map(with_trust, self.items)), "total": self.total}


class Block(msgspec.Struct, frozen=True):
    """Memories as the block of a system prompt, and how many there are; see `MemoryListing`."""

    text: str
    total: int
    reason: str = ""

    def to_plain(self) -> dict[str, Any]:
        """Return the text, and how many memories there are."""
        return {"text": self.text, "total": self.total}


class MessageRef(msgspec.Struct, frozen=True, kw_only=True):
    """A message and the conversation that it belongs to."""

    message: Message
    conversation: str


class Staleness:
    """Tells which citations of what is shown do not hold in the project's files any more.

    Args:
        workspace: Where it is shown; in a view of the past nothing is stale.
        whole: Look up both sides of every changed text, with git's help.
    """

    def __init__(self, workspace: Workspace, *, whole: bool = False) -> None:
        self._workspace = workspace
        self._whole = whole
        self._watch: Watch | None = None

    def __call__(self, shown: Any) -> tuple[str, ...]:
        """Return the stale citations of a memory; anything else has none."""
        citations = getattr(shown, "citations", ())
        if not citations or self._workspace.is_past:
            return ()
        if self._watch is None:
            from pmem.memory.citation_watch import Watch

            self._watch = Watch(self._workspace.sources, self._sides if self._whole else None)
        return self._watch.stale(citations)

    def _sides(self, changed: Sequence[Citation]) -> "Mapping[Citation, Sides]":
        from pmem.memory.cited_sides import sides_of

        return sides_of(self._workspace, changed)


def is_merged_by_git(record: Any) -> bool:
    """Tell whether merging two branches left a note in a record's history."""
    return any(event.source == "git" for event in getattr(record, "history", ()))


def disputed(record: Any) -> dict[str, Any]:
    """Return the fields of a record that two branches contradict each other about.

    Args:
        record: Any record, or None.

    Returns:
        What the record does not say, by field.
    """
    if not is_merged_by_git(record):
        return {}
    from pmem.core.threeway.history import open_conflicts

    return open_conflicts(plain(record.history))


def show(workspace: Workspace, request: ShowRequest) -> ShownRecord:
    """Return the record, or the message, that a reference means.

    Raises:
        NotFound, Ambiguous: The reference, or nothing of it existed at that moment.
        Damaged: Its file cannot be used.
    """
    from pmem.memory.uses import use_of

    found = find(workspace, request.reference)
    if isinstance(found, MessageRef):
        return ShownRecord(record=found)
    shown = ShownRecord(
        record=found,
        stale=Staleness(workspace, whole=True)(found),
        disputed=disputed(found),
        use=use_of(workspace, found.id) if isinstance(found, Memory | Episode) else None,
    )
    if not request.details:
        return shown
    from pmem.memory.details import with_details

    return with_details(workspace, shown)


def find(workspace: Workspace, reference: str) -> Record | MessageRef:
    """Return what a reference means as `show` does, which does not count as a recall.

    Raises:
        NotFound, Ambiguous: The reference.
        Refused: It means a message that whoever asks may not see.
        Damaged: Its file cannot be used.
    """
    try:
        return get(workspace, reference)
    except NotFound as missing:
        said = _find_message(workspace, reference)
        if said is not None:
            return said
        _check_not_hidden(workspace, reference)
        later = workspace.present and _find_message(workspace.present, reference)
        if later:
            raise NotFound(
                f"message {later.message.id} was not said yet at {workspace.name}"
            ) from None
        if _is_waiting(workspace, reference):
            why = "it is no memory yet: `pmem inbox proposals` shows what waits"
            raise NotFound(f"{reference} waits for somebody to decide", why) from None
        raise missing from None


def _is_waiting(workspace: Workspace, reference: str) -> bool:
    """Tell whether a reference means a proposal that waits in this clone."""
    if workspace.is_past or not reference:
        return False
    from pmem.storage.local.proposals import without_expired

    waiting = without_expired(workspace.own.proposals.read(), workspace.now()).proposals
    return any(matches(reference, item.id) for item in waiting)


def _check_not_hidden(workspace: Workspace, reference: str) -> None:
    """See that a reference that fits nothing means no message that may not be seen."""
    if workspace.reach is None:
        return
    from pmem.core.policy import EVERYTHING as ALL

    if _find_message(within(workspace, ALL), reference) is not None:
        raise Refused(f"{workspace.reach.who} may not see {reference}", workspace.reach.hint)


def list_memories(workspace: Workspace, request: ListRequest) -> MemoryListing:
    """Return the memories that pass a filter, the oldest first; of the past, those that held."""
    found = _listed(workspace, request, request.valid_at or workspace.moment)
    if not request.doubts:
        return found
    staleness = Staleness(workspace)
    return msgspec.structs.replace(
        found,
        stale=frozenset(memory.id for memory in found.items if staleness(memory)),
        disputed=frozenset(memory.id for memory in found.items if disputed(memory)),
    )


def _listed(workspace: Workspace, request: ListRequest, then: datetime | None) -> MemoryListing:
    """Return the memories that pass a filter; of the active ones those that hold at a moment."""
    selection = Selection(wanted=request.wanted, holding_at=then)
    shown = workspace.memories.select(selection, ("-id",), request.limit)
    total = len(shown) if request.limit is None else workspace.memories.count(selection)
    reason = "" if shown else _reason_for_none(workspace, request.wanted)
    return MemoryListing(
        items=tuple(reversed(shown)), total=total, reason=reason, moment=workspace.now()
    )


def write_block(workspace: Workspace, request: ListRequest) -> Block:
    """Write memories as the block of a system prompt: the same ones give the same bytes.

    What does not hold any more, or not yet, is left out, and what belongs to an app, but for the
    app that the filter names. What tells how something is done stands in it only where the filter
    names its category, `procedural`.
    """
    from pmem.core.context.block import block

    workspace = serving(workspace, request.wanted.app)
    if PROCEDURAL not in request.wanted.categories:
        reach = workspace.reach or EVERYTHING
        workspace = within(workspace, msgspec.structs.replace(reach, procedures=False))
    found = _listed(workspace, request, workspace.now())
    text = block([*map(workspace.mask.fields, found.items)])
    return Block(text=text, total=found.total, reason=found.reason)


def _reason_for_none(workspace: Workspace, wanted: Filter) -> str:
    passes = "" if wanted == Filter() else " passes the filters"
    reach = workspace.reach
    if reach is not None and reach.categories is not None:
        what = "no memory passes the filters" if passes else "there is no memory"
        return f"{what} that {reach.who} may see; {reach.hint}"
    if workspace.memories.ids() and passes:
        meant = [_meant_category(workspace, name) for name in wanted.categories]
        next_step = next(filter(None, meant), "`pmem stats` shows what there is")
        return f"no memory passes the filters; {next_step}"
    if workspace.memories.ids():
        return "no memory is active; `pmem list --all-states` lists the others"
    if workspace.problems:
        return "no memory can be read; `pmem check` says why"
    from pmem.project.own_memory import is_own

    if is_own(workspace):
        return "no memory of your own yet; `pmem add --mine` keeps the first"
    return "no memory yet; `pmem add` keeps the first"


def _meant_category(workspace: Workspace, name: str) -> str:
    """Ask whether another category was meant, where a name is close to one."""
    used = {memory.category for memory in workspace.memories.find(Filter())}
    vocabulary = workspace.settings.categories
    known = msgspec.structs.replace(vocabulary, names=tuple({*vocabulary.names, *used}))
    meant = meant_category(name, known)
    return f"did you mean `--category {meant}`?" if meant else ""


def get(workspace: Workspace, reference: str) -> Record:
    """Return the record that a reference means.

    Raises:
        NotFound, Ambiguous: The reference.
        Damaged: Its file cannot be used.
    """
    type_, identifier = workspace.resolve(reference)
    store: Store[Any] = workspace.store(type_)
    record: Record = store.get(identifier)
    return record


def conversation_named(workspace: Workspace, reference: str) -> Conversation:
    """Return the conversation that a reference means: an id or its start, an external id, a title.

    An external id and a title count before the start of an id, or a caller's conversation `7`
    could be taken for another one.

    Raises:
        NotFound, Ambiguous: The reference.
        Damaged: Its file cannot be used.
    """
    if any(reference in (id_, short(id_)) for id_ in workspace.conversations.ids(reference)):
        named = []
    else:
        named = [
            conversation.id
            for conversation in workspace.conversations.find()
            if reference in (conversation.external_id, conversation.title)
        ]
    if len(named) > 1:
        raise Ambiguous(f"{reference!r} names {' and '.join(named)}", "give one of these ids")
    identifier = named[0] if named else workspace.resolve(reference, Conversation)[1]
    return workspace.conversations.get(identifier)


def chunks_of(workspace: Workspace, conversation: Conversation) -> Iterator[Chunk]:
    """Yield the chunks of a conversation in their order.

    Raises:
        Damaged: A chunk's file is missing or cannot be used.
    """
    for identifier in conversation.chunks:
        try:
            yield workspace.chunks.get(identifier)
        except NotFound:
            path = os.path.join(workspace.root, STORES[Chunk], f"{identifier}.json")
            raise Damaged(f"{path} is missing, and its conversation needs it") from None


def current(workspace: Workspace, status: Status = Status.ACTIVE) -> Conversation | None:
    """Return the conversation that was started last among those of a status, if any."""
    for identifier in reversed(workspace.conversations.ids()):
        conversation = workspace.conversations.get(identifier)
        if conversation.status is status:
            return conversation
    return None


def target(
    workspace: Workspace, reference: str | None, status: Status = Status.ACTIVE
) -> Conversation:
    """Return the conversation that a reference means; without one, the current one.

    Args:
        reference: Which one.
        status: Without a reference, the latest one that stands so.

    Raises:
        NotFound, Ambiguous: The conversation, or none stands so.
    """
    if reference is None:
        found = current(workspace, status)
        if found is None:
            raise NotFound(f"no conversation is {status}", _what_next(workspace, status))
        return found
    return conversation_named(workspace, reference)


def _what_next(workspace: Workspace, status: Status) -> str:
    if status is not Status.ACTIVE:
        return "`pmem conversation list` shows them all"
    if current(workspace, Status.PAUSED) is not None:
        return "`pmem conversation resume` goes on with the paused one, `start` starts another"
    return "`pmem conversation start` starts one"


def message_named(workspace: Workspace, reference: str) -> MessageRef:
    """Return the message that a reference means: its id, or the start of it.

    Raises:
        NotFound: No message has such an id, as a record may have.
        Ambiguous: Several have.
    """
    found = list({said.message.id: said for said in _messages_named(workspace, reference)}.values())
    if len(found) > 1:
        named = " and ".join(said.message.id for said in found[:2])
        raise Ambiguous(f"{reference!r} means {named}", "give more of the id")
    if not found:
        raise NotFound(
            f"no message has an id that starts with {reference!r}",
            "`pmem conversation show --ids` shows them",
        )
    return found[0]


def _find_message(workspace: Workspace, reference: str) -> MessageRef | None:
    return next(_messages_named(workspace, reference), None)


def _messages_named(workspace: Workspace, reference: str) -> Iterator[MessageRef]:
    """Yield the messages whose id a reference means; one that is kept twice comes twice."""
    if not reference:
        return
    for conversation in workspace.conversations.find():
        for message in conversation.recent_messages:
            if matches(reference, message.id):
                yield MessageRef(message=message, conversation=conversation.id)
    for chunk in workspace.chunks.find():
        for message in chunk.messages:
            if matches(reference, message.id):
                yield MessageRef(message=message, conversation=chunk.conversation)
