"""Looking at what is kept: one record, a list of memories, a record's history."""

from collections import Counter
from collections.abc import Iterator
from datetime import datetime
from itertools import chain
from typing import TYPE_CHECKING, Annotated, Any, Literal

import msgspec

from pmem.core.checks import meant_category
from pmem.core.filters import Filter, fold
from pmem.core.outcomes import warns
from pmem.core.policy import EVERYTHING, PROCEDURAL
from pmem.core.record_keys import fixed_key
from pmem.core.retention import valid_at
from pmem.core.selection import Selection
from pmem.core.trust import RecordOrigin, with_trust
from pmem.errors import Ambiguous, NotFound, Refused
from pmem.project.caller import serving, within
from pmem.project.workspace import Workspace
from pmem.values.fields import AsOf, asked, ref
from pmem.values.ids import matches
from pmem.values.records import Access, Episode, Memory, Message, Record, plain

if TYPE_CHECKING:
    from pmem.memory.citation_watch import Watch
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


class ShownRecord(msgspec.Struct, frozen=True, kw_only=True):
    """A record, or a message, and what speaks against it.

    `stale` are the citations that do not hold any more, `disputed` what the other side of a merge
    says of its fields. `use` says in how many sessions of this clone it was shown, and used; None
    where in none. Where its `links` lead, and how often it was recalled, is told with details.
    `origin` is there where nobody has reviewed it, and whoever works here did not write it.
    """

    record: "Record | MessageRef"
    stale: tuple[str, ...] = ()
    disputed: dict[str, Any] = {}
    use: "UseCount | None" = None
    links: "tuple[LinkedText, ...]" = ()
    recalls: int = 0
    origin: RecordOrigin | None = None

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
        origin = {} if self.origin is None else {"origin": self.origin}
        return {**with_trust(self.record), **used, **origin}


class ListRequest(msgspec.Struct, frozen=True, kw_only=True):
    """Which memories to list: the latest of those that pass a filter, at the most so many.

    With `doubts` the answer says which of them are stale, and which are disputed.
    """

    wanted: Filter = Filter()
    limit: Annotated[int | None, asked("Only the latest N.", flag="--limit -n", least=1)] = None
    valid_at: Annotated[
        datetime | None, asked("Only what is valid at this time, as known now.", reading="time")
    ] = None
    at: AsOf = None
    revision: str | None = None
    reviewed: Annotated[bool, asked("Only what was reviewed.")] = False
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
    """Memories that pass the filters, how many there are in all, and why there are none.

    `moment` is the present of the list: what does not hold then is marked. `stale` and `disputed`
    are the ids of those whose citations do not hold, and that branches contradict each other about.
    `origins` has those that nobody has reviewed, and whoever works here did not write.
    """

    items: tuple[Memory, ...]
    total: int
    reason: str = ""
    moment: datetime | None = None
    stale: frozenset[str] = frozenset()
    disputed: frozenset[str] = frozenset()
    origins: dict[str, RecordOrigin] = {}

    def to_plain(self) -> dict[str, Any]:
        """Return the memories with how far each can be trusted, and how many there are."""
        items = []
        for memory in self.items:
            origin = self.origins.get(memory.id)
            items.append({**with_trust(memory), **({"origin": origin} if origin else {})})
        return {"items": items, "total": self.total}


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

    Nothing is stale in a view of the past. With `whole`, both sides of every changed text are
    looked up, with git's help.
    """

    def __init__(self, workspace: Workspace, *, whole: bool = False) -> None:
        self._workspace, self._whole = workspace, whole
        self._watch: Watch | None = None

    def __call__(self, shown: Any) -> tuple[str, ...]:
        """Return the stale citations of a memory; anything else has none."""
        citations = getattr(shown, "citations", ())
        if not citations or self._workspace.is_past:
            return ()
        if self._watch is None:
            from pmem.memory.citation_watch import Watch

            self._watch = Watch(self._workspace, whole=self._whole)
        return self._watch.stale(citations)


def is_merged_by_git(record: Any) -> bool:
    """Tell whether merging two branches left a note in a record's history."""
    return any(event.source == "git" for event in getattr(record, "history", ()))


def disputed(record: Any) -> dict[str, Any]:
    """Return what a record does not say and another branch does, by field."""
    if not is_merged_by_git(record):
        return {}
    from pmem.core.threeway.history import open_conflicts

    return open_conflicts(plain(record.history))


def show(workspace: Workspace, request: ShowRequest) -> ShownRecord:
    """Return the record, or the message, that a reference means."""
    from pmem.memory.recalls import use_of, waiting
    from pmem.project.origins import Doubts

    found = find(workspace, request.reference)
    if isinstance(found, MessageRef):
        return ShownRecord(record=found)
    kept = found if isinstance(found, Memory | Episode) else None
    has_details = kept is not None and request.details
    unsaved = waiting(workspace) if has_details and not workspace.is_past else {}
    return ShownRecord(
        record=found,
        stale=Staleness(workspace, whole=True)(found),
        disputed=disputed(found),
        use=use_of(workspace, kept.id) if kept else None,
        links=tuple(_linked_texts(workspace, kept)) if kept and has_details else (),
        recalls=kept.access.count + unsaved.get(kept.id, Access()).count
        if kept and has_details
        else 0,
        origin=Doubts(workspace).mark(found),
    )


def find(workspace: Workspace, reference: str) -> Record | MessageRef:
    """Return what a reference means as `show` does, which does not count as a recall."""
    try:
        return get(workspace, reference)
    except NotFound as missing:
        said = _find_message(workspace, reference)
        if said is not None:
            return said
        reach = workspace.reach
        if reach is not None and _find_message(within(workspace, EVERYTHING), reference):
            raise Refused(f"{reach.who} may not see {reference}", reach.hint) from None
        later = workspace.present and _find_message(workspace.present, reference)
        if later:
            why = f"message {later.message.id} was not said yet at {workspace.name}"
            raise NotFound(why) from None
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
    from pmem.project.origins import Doubts  # `add` needs none of it

    doubts = Doubts(workspace, reviewed=request.reviewed)
    is_whole = request.limit is None or doubts.treats in ("below", "hide")
    shown = workspace.memories.select(selection, ("-id",), None if is_whole else request.limit)
    origins = doubts.of(shown)
    if doubts.treats == "hide":
        shown = [memory for memory in shown if memory.id not in origins]
    elif doubts.treats == "below":
        shown.sort(key=lambda memory: memory.id in origins)
    total = len(shown) if is_whole else workspace.memories.count(selection)
    reason = f"nobody has reviewed any of {len(origins)}" if origins else ""
    reason = "" if shown else reason or _reason_for_none(workspace, request.wanted)
    shown = shown[: request.limit][::-1]
    if doubts.treats == "below":
        shown.sort(key=lambda memory: memory.id in origins)
    items = tuple(shown)
    return MemoryListing(
        items=items, total=total, reason=reason, moment=workspace.now(), origins=origins
    )


def write_block(workspace: Workspace, request: ListRequest) -> Block:
    """Write memories as the block of a system prompt: the same ones give the same bytes.

    What does not hold any more, or not yet, is left out, and what belongs to an app, but for the
    app that the filter names. What tells how something is done stands in it only where the filter
    names its category, `procedural`.
    """
    from pmem.core.context.writing import block

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
    """Return the record that a reference means."""
    type_, identifier = workspace.resolve(reference)
    record: Record = workspace.store(type_).get(identifier)
    return record


def message_named(workspace: Workspace, reference: str) -> MessageRef:
    """Return the message that a reference means: its id, or the start of it."""
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
    recent = ((it.id, it.recent_messages) for it in workspace.conversations.find())
    older = ((it.conversation, it.messages) for it in workspace.chunks.find())
    for conversation, messages in chain(recent, older):
        for message in messages:
            if matches(reference, message.id):
                yield MessageRef(message=message, conversation=conversation)


class LinkedText(msgspec.Struct, frozen=True, kw_only=True):
    """Where a link leads, and what is kept there; None where it may not be seen or is gone."""

    id: str
    type: str
    text: str | None


def _linked_texts(workspace: Workspace, record: Memory | Episode) -> Iterator[LinkedText]:
    """Yield where the links of a record lead, in their order."""
    if isinstance(record, Memory):
        ties = [(link.type, link.target) for link in record.relationships]
    else:
        ties = [("about", target) for target in record.linked_memories]
    wanted = Selection(ids=tuple(target for _, target in ties))
    memories = workspace.memories.select(wanted) if ties else ()
    found = {memory.id: workspace.mask.text(memory.content) for memory in memories}
    return (LinkedText(id=target, type=type_, text=found.get(target)) for type_, target in ties)


Naming = Literal["tags", "subjects"]


class NamesRequest(msgspec.Struct, frozen=True, kw_only=True):
    """Whether the tags or the subjects of active memories are to be counted."""

    of: Naming


class NameCount(msgspec.Struct, frozen=True, kw_only=True):
    """A tag or a subject as it is written most often, how many active memories have it, letter case
    aside, and when the newest of them was made.
    """

    name: str
    count: int
    latest: datetime


class NameListing(msgspec.Struct, frozen=True, kw_only=True):
    """Tags or subjects, the most used first, and how many there are."""

    items: tuple[NameCount, ...]
    total: int


def list_names(workspace: Workspace, request: NamesRequest) -> NameListing:
    """Count the tags, or the subjects, of active memories; letter case makes no difference."""
    spellings: dict[str, Counter[str]] = {}
    latest: dict[str, datetime] = {}
    for memory in workspace.memories.select(Selection(wanted=Filter())):
        named = memory.tags if request.of == "tags" else filter(None, [memory.subject])
        for name in named:
            key = fold(name)
            spellings.setdefault(key, Counter())[name] += 1
            latest[key] = max(memory.created_at, latest.get(key, memory.created_at))
    found = [
        NameCount(name=known.most_common(1)[0][0], count=sum(known.values()), latest=latest[key])
        for key, known in spellings.items()
    ]
    found.sort(key=lambda item: (-item.count, fold(item.name)))
    return NameListing(items=tuple(found), total=len(found))


def fix_of(workspace: Workspace, memory: Memory) -> Memory | None:
    """Return the newest memory that holds and fixes a dead end; None for what warns of nothing."""
    if not warns(memory):
        return None
    now = workspace.now()
    found = (one for one in workspace.memories.twins(fixed_key(memory.id)) if valid_at(one, now))
    return max(found, key=lambda one: one.id, default=None)
