"""Another backend as it was at a moment, as far as its records still tell.

Memories and episodes are rebuilt exactly: each event of their history keeps what it replaced.
Events later than the moment are undone from the last of the list to the first, so a clock that
ran backwards leads to a state that depends on the order of the list alone.

Conversations keep no such history of their messages, and need none: every message has its time,
and a chunk's id tells when it was made. Until then its messages stood among the recent ones.
What nothing tells stays as it is today: summaries that were merged since, and the texts of
messages that were imported anew. What was pruned before a later pruning counts as not pruned,
and a fact that was rejected before it was promoted counts as pending until then.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from datetime import datetime
from itertools import chain
from typing import TYPE_CHECKING, Final, TypeVar

import msgspec

from pmem.core.chunking import each_once
from pmem.core.filters import created
from pmem.core.retention import Unwinding, as_of, json_value
from pmem.errors import Damaged, NotFound, Refused, StorageRefused
from pmem.storage.backend import Backend, Change, Problem, Unindexed, pool_of
from pmem.values.ids import moment_of
from pmem.values.records import (
    KINDS,
    STORES,
    Chunk,
    Conversation,
    Episode,
    Fact,
    Memory,
    Message,
    Record,
    RecordType,
    Standing,
    Status,
)

if TYPE_CHECKING:
    from pmem.core.retrieval.pool import MemoryPool, Pool

R = TypeVar("R", bound=Record)
T = TypeVar("T")
Kept = TypeVar("Kept", bound=Memory | Episode)
_UNUSABLE: Final = (NotFound, Damaged, StorageRefused)
_ODD_HISTORY: Final = (
    msgspec.ValidationError,
    LookupError,
    TypeError,
    AttributeError,
    ValueError,
)


class _Undone(msgspec.Struct, frozen=True):
    """The fields of a conversation whose earlier values its history keeps."""

    external_id: str | None
    title: str | None
    status: Status
    ended_at: datetime | None
    outcome: str | None
    cleared_turns: int
    merged_chunks: int


def past(record: Record, at: datetime, around: "PastBackend") -> Record | None:
    """Return a record as it was at a moment, or None where it did not exist yet.

    Its past may depend on what is `around` it. A record that tells nothing of its past was what it
    is.

    Raises:
        msgspec.ValidationError, LookupError, TypeError, AttributeError, ValueError: A history
            holds what pmem never wrote.
    """
    if begun(record) > at:
        return None
    if isinstance(record, Memory | Episode):
        return _undo_history(record, at, around)
    if isinstance(record, Chunk):
        return _chunk(record, at, around)
    if isinstance(record, Conversation):
        return _conversation(record, at, around)
    return record


def begun(record: Record) -> datetime:
    """Return since when a record has existed."""
    return made_at(record) if isinstance(record, Chunk) else created(record)


def made_at(chunk: Chunk) -> datetime:
    """Return when the messages of a chunk left the recent ones: its id's time.

    The id of an imported chunk has its first message's time; such a chunk counts as made when
    all its messages had been said.
    """
    said = (message.created_at for message in chunk.messages)
    return max(filter(None, (chunk.created_at, moment_of(chunk.id), *said)))


def _undo_history(record: Kept, at: datetime, around: "PastBackend") -> Kept | None:
    """Undo the history; the tokens, which it leaves out, are counted again."""
    earlier = as_of(record, at)
    if earlier is None or _text(earlier) == _text(record):
        return earlier
    return msgspec.structs.replace(earlier, tokens=around.count(_text(earlier)))


def _text(record: Memory | Episode) -> str:
    return record.content if isinstance(record, Memory) else record.summary


def _chunk(chunk: Chunk, at: datetime, around: "PastBackend") -> Chunk:
    into = chunk.merged_into
    if into is not None and not _existed(around, at, Chunk, into):
        into = None
    return msgspec.structs.replace(chunk, merged_into=into, facts=tuple(_facts(chunk.facts, at)))


def _conversation(conversation: Conversation, at: datetime, around: "PastBackend") -> Conversation:
    happened = tuple(event for event in conversation.history if event.at <= at)
    undone = _undone(conversation, at)
    chunks = around.chunks(conversation)
    made = [chunk for chunk in chunks if begun(chunk) <= at]
    unmade = [chunk for chunk in chunks if begun(chunk) > at]
    messages = _outside(conversation, made, unmade)
    recent = tuple(message for message in messages if message.created_at <= at)
    open_ = {chunk.id for chunk in unmade}
    kept = tuple(identifier for identifier in conversation.chunks if identifier not in open_)
    facts = chain(*(chunk.facts for chunk in unmade), conversation.facts)
    return msgspec.structs.replace(
        conversation,
        **{
            **msgspec.structs.asdict(undone),
            "updated_at": _last_change_at(conversation, at, chunks, around),
            "turns": max(0, conversation.turns - (len(messages) - len(recent))),
            "chunks": kept,
            "merged_chunks": _count_merged_chunks(undone, made, unmade),
            "recent_messages": recent,
            **_undo_pruning(conversation, at, recent),
            "facts": tuple(_facts(facts, at)),
            "active_facts": _active_facts(conversation, at, chunks, around),
            "milestones": tuple(
                item for item in conversation.milestones if _existed(around, at, Episode, item)
            ),
            "history": happened,
        },
    )


def _undone(conversation: Conversation, at: datetime) -> _Undone:
    names = _Undone.__struct_fields__
    unwinding = Unwinding({name: json_value(getattr(conversation, name)) for name in names})
    for event in reversed(conversation.history):
        if event.at > at:
            unwinding.undo(event)
    return msgspec.convert(unwinding.state, _Undone)


def _outside(
    conversation: Conversation, made: Sequence[Chunk], unmade: Sequence[Chunk]
) -> list[Message]:
    """Return the messages that no chunk of the moment holds; one may be moving between two."""
    inside = {message.id for chunk in made for message in chunk.messages}
    recent = [item for item in conversation.recent_messages if item.id not in inside]
    inside |= {message.id for message in recent}
    held = chain(*(chunk.messages for chunk in unmade))
    return [*each_once(message for message in held if message.id not in inside), *recent]


def _count_merged_chunks(undone: _Undone, made: Sequence[Chunk], unmade: Sequence[Chunk]) -> int:
    """Return how many chunks had no summary of their own.

    The last chunk of the moment is merged into none; it may have been cleared.
    """
    if not unmade:
        return undone.merged_chunks
    cleared = turns = 0
    for chunk in made:
        turns += len(chunk.messages)
        cleared += turns <= undone.cleared_turns
    return max(cleared, min(undone.merged_chunks, len(made) - 1))


def _undo_pruning(
    conversation: Conversation, at: datetime, recent: Sequence[Message]
) -> dict[str, object]:
    if conversation.pruned_at is None or conversation.pruned_at > at:
        return {"pruned": (), "pruned_at": None}
    here = {message.id for message in recent}
    return {"pruned": tuple(item for item in conversation.pruned if item in here)}


def _facts(facts: Iterable[Fact], at: datetime) -> Iterator[Fact]:
    """Yield the facts that had been stated, each as it stood."""
    for fact in facts:
        if fact.extracted_at <= at:
            later = _settled_after(fact, at)
            yield _pending(fact) if later else fact


def _pending(fact: Fact) -> Fact:
    return msgspec.structs.replace(fact, standing=Standing.PENDING, memory=None, settled_at=None)


def _settled_after(fact: Fact, at: datetime) -> bool:
    """Tell whether a fact was settled later; where it does not say, its memory's id does."""
    if fact.standing is Standing.PENDING:
        return False
    settled = fact.settled_at or moment_of(fact.memory or "")
    return settled is not None and settled > at


def _active_facts(
    conversation: Conversation, at: datetime, chunks: Sequence[Chunk], around: "PastBackend"
) -> tuple[str, ...]:
    facts = list(chain(conversation.facts, *(chunk.facts for chunk in chunks)))
    before = {fact.memory for fact in facts if not _settled_after(fact, at)}
    later = {fact.memory for fact in facts if _settled_after(fact, at)} - before
    return tuple(
        item
        for item in conversation.active_facts
        if item not in later and _existed(around, at, Memory, item)
    )


def _last_change_at(
    conversation: Conversation, at: datetime, chunks: Sequence[Chunk], around: "PastBackend"
) -> datetime:
    """Return the time of the latest change that still tells its time."""
    if conversation.updated_at <= at:
        return conversation.updated_at
    said = chain(conversation.recent_messages, *(chunk.messages for chunk in chunks))
    facts = chain(conversation.facts, *(chunk.facts for chunk in chunks))
    times = chain(
        (event.at for event in conversation.history),
        (message.created_at for message in said),
        (fact.settled_at for fact in facts),
        (around.begun(Episode, item) for item in conversation.milestones),
        (conversation.pruned_at,),
    )
    return max((time for time in times if time and time <= at), default=conversation.started_at)


def _existed(around: "PastBackend", at: datetime, type_: RecordType, identifier: str) -> bool:
    """Tell whether another record existed; one that cannot be read is taken to have."""
    since = around.begun(type_, identifier)
    return since is None or since <= at


class PastBackend(Unindexed):
    """The records of a backend as they were at a moment. Nothing can be written.

    A record is read when it is first asked for, with what its past depends on, and then kept.
    What `count` returns are a text's tokens.
    """

    def __init__(self, backend: Backend, at: datetime, count: Callable[[str], int]) -> None:
        self.count = count
        self._backend = backend
        self._at = at
        self._today: dict[tuple[RecordType, str], Record] = {}
        self._then: dict[tuple[RecordType, str], Record | None] = {}
        self._scanned: dict[RecordType, list[str]] = {}
        self._problems: dict[str, Problem] = {}
        self._pool: MemoryPool | None = None

    @property
    def problems(self) -> Sequence[Problem]:
        return [*self._backend.problems, *self._problems.values()]

    def ids(self, type_: RecordType, reference: str = "") -> list[str]:
        found = self._backend.ids(type_, reference)
        since = ((identifier, self.begun(type_, identifier)) for identifier in found)
        return [identifier for identifier, at in since if at is None or at <= self._at]

    def read(self, type_: type[R], identifier: str) -> R:
        then = self._as_it_was(type_, identifier, self._read(type_, identifier))
        if then is None:
            raise NotFound(f"{KINDS[type_]} {identifier} did not exist at that time")
        return then

    def scan(self, type_: type[R], without: str = "") -> Iterator[R]:  # noqa: ARG002 - none is kept
        if type_ is Conversation:  # whose past needs every chunk
            self._scan(Chunk)
        for identifier in self._scan(type_):
            try:
                record = self._as_it_was(type_, identifier, self._read(type_, identifier))
            except Damaged as error:
                path = f"{STORES[type_]}/{identifier}.json"
                self._problems.setdefault(path, Problem(path, error.code, error.message))
                continue
            if record is not None:
                yield record

    def searched(self, search: "Callable[[Pool], T]") -> T:
        if self._pool is None:
            self._pool = pool_of(self.scan)
        return search(self._pool)

    def moment(self) -> AbstractContextManager[None]:
        return self._backend.moment()

    def lock(self) -> AbstractContextManager[None]:
        raise Refused("what has been cannot be changed")

    def commit(self, changes: Sequence[Change]) -> None:  # noqa: ARG002 - the protocol's
        raise Refused("what has been cannot be changed")

    def begun(self, type_: RecordType, identifier: str) -> datetime | None:
        """Return when a record began, or None where it cannot be read."""
        try:
            return begun(self._read(type_, identifier))
        except _UNUSABLE:
            return None

    def chunks(self, conversation: Conversation) -> Sequence[Chunk]:
        """Return the chunks of a conversation as they are today, those that can be used."""
        return list(self._usable(conversation.chunks))

    def _usable(self, identifiers: Sequence[str]) -> Iterator[Chunk]:
        for identifier in identifiers:
            try:
                yield self._read(Chunk, identifier)
            except _UNUSABLE:
                continue

    def _read(self, type_: type[R], identifier: str) -> R:
        """Return a record as it is."""
        found = self._today.get((type_, identifier))
        if found is None:
            found = self._today[type_, identifier] = self._backend.read(type_, identifier)
        assert isinstance(found, type_)
        return found

    def _scan(self, type_: RecordType) -> list[str]:
        """Read all records of a type as they are, once, and return their ids."""
        if type_ not in self._scanned:
            read = {record.id: record for record in self._backend.scan(type_)}
            for identifier, record in read.items():
                self._today.setdefault((type_, identifier), record)
            self._scanned[type_] = list(read)
        return self._scanned[type_]

    def _as_it_was(self, type_: type[R], identifier: str, record: R) -> R | None:
        if (type_, identifier) not in self._then:
            try:
                self._then[type_, identifier] = past(record, self._at, self)
            except _ODD_HISTORY as error:
                raise Damaged(
                    f"the history of {KINDS[type_]} {identifier} cannot be undone: {error}"
                ) from None
        then = self._then[type_, identifier]
        assert then is None or isinstance(then, type_)
        return then
