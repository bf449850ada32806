"""What pmem keeps: the records of the four stores and the one way they become JSON.

Records are frozen values; a change makes a new one with one more event in its history. The order
of the fields below is that of the keys on disk, so equal records have equal bytes.
"""

from datetime import datetime
from enum import StrEnum
from typing import Annotated, Any, Final

import msgspec
import orjson
from msgspec import Meta

from pmem.values.json_layout import fold_lists
from pmem.values.times import in_utc, iso

SCHEMA: Final = 1

Share = Annotated[float, Meta(ge=0, le=1)]
Valence = Annotated[float, Meta(ge=-1, le=1)]
Count = Annotated[int, Meta(ge=0)]
Number = Annotated[int, Meta(ge=1)]
Time = Annotated[datetime, Meta(tz=True)]


class MemoryType(StrEnum):
    """What a long-term memory says."""

    FACT = "fact"
    DECISION = "decision"
    PREFERENCE = "preference"
    ENTITY = "entity"
    PROCEDURE = "procedure"
    CONSTRAINT = "constraint"
    GOAL = "goal"
    INSIGHT = "insight"
    DEAD_END = "dead_end"


class State(StrEnum):
    """Where a record stands in its life cycle; recall sees `active` only, unless asked."""

    ACTIVE = "active"
    ARCHIVED = "archived"
    SUPERSEDED = "superseded"
    MERGED = "merged"
    SOFT_DELETED = "soft_deleted"


class EventKind(StrEnum):
    """What happened to a record."""

    ADD = "ADD"
    UPDATE = "UPDATE"
    DELETE = "DELETE"
    MERGE = "MERGE"
    ARCHIVE = "ARCHIVE"
    SUPERSEDE = "SUPERSEDE"
    LINK = "LINK"
    UNLINK = "UNLINK"
    TTL = "TTL"
    RESTORE = "RESTORE"


class EpisodeType(StrEnum):
    """What kind of key moment an episode records."""

    DECISION_MADE = "decision_made"
    PROBLEM_SOLVED = "problem_solved"
    BREAKTHROUGH = "breakthrough"
    ISSUE_IDENTIFIED = "issue_identified"
    TASK_COMPLETED = "task_completed"
    PIVOT = "pivot"


class Role(StrEnum):
    """Who speaks in a message."""

    USER = "user"
    ASSISTANT = "assistant"
    SYSTEM = "system"
    TOOL = "tool"


class Status(StrEnum):
    """Where a conversation stands."""

    ACTIVE = "active"
    PAUSED = "paused"
    ENDED = "ended"


class Part(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Base of every value inside a record; what has its default value is not written."""


class Record(msgspec.Struct, frozen=True, kw_only=True):
    """Base of every record: one JSON file each."""

    id: str
    schema: int = SCHEMA


class Event(Part, frozen=True, kw_only=True):
    """One entry of a record's history.

    `before` holds the earlier value of every field that changed, as JSON; `detail` says
    more where a field's earlier value would not (the link that was made, say). `actor` is the
    person, and `agent` the agent where one did it for them.
    """

    event: EventKind
    at: Time
    actor: str = ""
    agent: str = ""
    source: str = ""
    before: dict[str, Any] = {}
    detail: dict[str, Any] = {}


class Relationship(Part, frozen=True, kw_only=True):
    """A directed link to another memory; `target` and `type` together identify it."""

    target: str
    type: str
    strength: Share = 0.5
    created_at: Time | None = None


JUDGEMENTS: Final = frozenset({"contradicts", "supersedes", "updates"})
"""Types of links that say what one memory makes of another: they speak for neither of them."""


class Source(Part, frozen=True, kw_only=True):
    """Where a memory comes from; `memory` is the one of somebody's own that it is a copy of."""

    kind: str = "manual"
    conversation: str | None = None
    message: str | None = None
    file: str | None = None
    lines: str | None = None
    commit: str | None = None
    memory: str | None = None


class Citation(Part, frozen=True, kw_only=True):
    """A file of the project that shows what a memory says, lines of it, or a name in it.

    `file` is seen from the project's top, `lines` are the first and the last, counted from one, and
    `symbol` is such as `Billing.settle` or `RETRIES=3`. `digest` recognises the text, `folded` in
    any layout (see `core.citations`); `blob` and `commit` are git's names, as cited.
    """

    file: str
    lines: tuple[Number, Number] | None = None
    symbol: str | None = None
    digest: str
    folded: str | None = None
    blob: str | None = None
    commit: str | None = None

    @property
    def place(self) -> str:
        """What is cited, such as `src/main.py:10-20` or `src/main.py::settle`."""
        numbers = "-".join(dict.fromkeys(map(str, self.lines or ())))
        within = f":{numbers}" if numbers else ""
        return f"{self.file}{within if self.symbol is None else f'::{self.symbol}'}"


class Settlement(Part, frozen=True, kw_only=True):
    """Why a dead end is none any more: since when, who says so, and the reason."""

    at: Time
    by: str = ""
    reason: str = ""


class OutcomeVerdict(StrEnum):
    """How a decision turned out."""

    GOOD = "good"
    BAD = "bad"
    MIXED = "mixed"


class Consequence(Part, frozen=True, kw_only=True):
    """What became of a decision: when and who says so, how it turned out, and what happened."""

    at: Time
    by: str = ""
    verdict: OutcomeVerdict
    text: str = ""


class Scope(Part, frozen=True, kw_only=True):
    """Whom a memory concerns; empty means everyone."""

    app: str | None = None
    user: str | None = None
    agent: str | None = None
    run: str | None = None
    actor: str | None = None
    role: str | None = None


class Access(Part, frozen=True, kw_only=True):
    """How often a record was recalled, as folded in by consolidation."""

    count: Count = 0
    last_at: Time | None = None


class Memory(Record, frozen=True, kw_only=True):
    """A long-term memory.

    `places` are patterns of the files that it applies to (see `core.places`); what it rests on, and
    what makes it stale, are its `citations`. A dead end says what was `tried`, and `because` of
    what it failed; its `evidence` names an error (`error:` and its fingerprint) or a commit
    (`commit:` and its id), and once it is `settled`, nobody is warned of it. A decision was taken
    `instead_of` alternatives and has had `outcomes`; it is to be looked at again at `review_at`, or
    when `review_if` comes true. One that `stops_edits` may stop an edit of the files at its places.
    """

    type: MemoryType = MemoryType.FACT
    content: str
    category: str
    subject: str | None = None
    tags: tuple[str, ...] = ()
    scope: Scope = Scope()
    importance: Share = 0.5
    pinned: bool = False
    state: State = State.ACTIVE
    valid_from: Time
    valid_until: Time | None = None
    purge_at: Time | None = None
    relationships: tuple[Relationship, ...] = ()
    source: Source = Source()
    citations: tuple[Citation, ...] = ()
    places: tuple[str, ...] = ()
    tried: str | None = None
    because: str | None = None
    evidence: tuple[str, ...] = ()
    settled: Settlement | None = None
    instead_of: tuple[str, ...] = ()
    outcomes: tuple[Consequence, ...] = ()
    review_at: Time | None = None
    review_if: str | None = None
    stops_edits: bool = False
    created_at: Time
    updated_at: Time
    access: Access = Access()
    tokens: Count = 0
    history: tuple[Event, ...] = ()


class TurnRange(Part, frozen=True, kw_only=True):
    """First and last turn of a stretch of conversation, counted from one."""

    start: Count
    end: Count


class Episode(Record, frozen=True, kw_only=True):
    """A key moment of a conversation, and the app that this was held in, if it was in one."""

    type: EpisodeType
    title: str
    summary: str
    context: str = ""
    participants: tuple[str, ...] = ()
    outcome: str | None = None
    valence: Valence = 0.0
    significance: Share = 0.5
    linked_memories: tuple[str, ...] = ()
    conversation: str | None = None
    app: str | None = None
    turns: TurnRange | None = None
    tags: tuple[str, ...] = ()
    pinned: bool = False
    state: State = State.ACTIVE
    purge_at: Time | None = None
    created_at: Time
    updated_at: Time
    access: Access = Access()
    tokens: Count = 0
    history: tuple[Event, ...] = ()


class Removal(Part, frozen=True, kw_only=True):
    """When the text of a message was removed, who did it, and the reason."""

    at: Time
    by: str = ""
    reason: str = ""


class Message(Part, frozen=True, kw_only=True):
    """One message, kept verbatim, unless its text was `removed`. A pinned one is never pruned."""

    id: str
    external_id: str | None = None
    role: Role
    speaker: str | None = None
    content: str
    created_at: Time
    tokens: Count = 0
    importance: Share | None = None
    pinned: bool = False
    tool_call: Any = None
    tool_result: Any = None
    removed: Removal | None = None


class Standing(StrEnum):
    """What became of a fact that a message stated."""

    PENDING = "pending"
    PROMOTED = "promoted"
    REJECTED = "rejected"


class Origin(Part, frozen=True, kw_only=True):
    """Which model wrote something: its name, its prompt and version, and what it was asked."""

    model: str
    prompt: str
    digest: str


class Fact(Part, frozen=True, kw_only=True):
    """Something that a message states; promoted, it is a memory of its own.

    `user` is who said it, if that is known, and `subject` the same where it is about that person.
    `settled_at` is when it was promoted or rejected. `places`, `tried`, `because` and `evidence`
    are those of the memory that it may become. `made_by` is the model that found it, if one did.
    """

    id: str
    content: str
    type: MemoryType
    confidence: Share
    subject: str | None = None
    user: str | None = None
    message: str
    extracted_at: Time
    standing: Standing = Standing.PENDING
    memory: str | None = None
    settled_at: Time | None = None
    places: tuple[str, ...] = ()
    tried: str | None = None
    because: str | None = None
    evidence: tuple[str, ...] = ()
    made_by: Origin | None = None


class Conversation(Record, frozen=True, kw_only=True):
    """A conversation: its recent messages verbatim, and the ids of its chunks in order.

    The first `merged_chunks` have no summary of their own in contexts: they are merged into the
    next one, or were said before the conversation was cleared. `pruned` are ids of messages that
    contexts leave out, `facts` what recent messages state, `active_facts` memories of facts, and
    `unread_from` is the first message not read for facts. In an `app`, it leaves a memory to it.
    """

    external_id: str | None = None
    title: str | None = None
    app: str | None = None
    status: Status = Status.ACTIVE
    started_at: Time
    ended_at: Time | None = None
    updated_at: Time
    outcome: str | None = None
    turns: Count = 0
    cleared_turns: Count = 0
    chunks: tuple[str, ...] = ()
    merged_chunks: Count = 0
    recent_messages: tuple[Message, ...] = ()
    pruned: tuple[str, ...] = ()
    pruned_at: Time | None = None
    facts: tuple[Fact, ...] = ()
    active_facts: tuple[str, ...] = ()
    unread_from: str | None = None
    milestones: tuple[str, ...] = ()
    history: tuple[Event, ...] = ()


class Chunk(Record, frozen=True, kw_only=True):
    """The older messages of a conversation, ten or so together, with a summary.

    A chunk that is `merged_into` a later one keeps its messages; its summary is a part of
    that one's. `facts` are those that its messages state. `app` is the conversation's. `made_by`
    is the model that wrote the summary, if one did.
    """

    conversation: str
    app: str | None = None
    number: Count
    merged_into: str | None = None
    summary: str
    key_topics: tuple[str, ...] = ()
    tokens: Count = 0
    created_at: Time
    messages: tuple[Message, ...]
    facts: tuple[Fact, ...] = ()
    made_by: Origin | None = None


RecordType = type[Record]

STORES: Final[dict[RecordType, str]] = {
    Memory: "long-term-memory",
    Episode: "episodic-memory",
    Conversation: "conversations",
    Chunk: "conversation-chunks",
}
"""Each record type and the folder that holds it."""
RECORD_TYPES: Final[dict[str, RecordType]] = {folder: type_ for type_, folder in STORES.items()}
"""What each folder's records are."""

KINDS: Final[dict[RecordType, str]] = {
    Memory: "memory",
    Episode: "episode",
    Conversation: "conversation",
    Chunk: "chunk",
}
"""Each record type's name in commands and answers."""

SAID: Final = (
    *("content", "subject", "title", "summary", "context", "outcome", "category", "tags"),
    *("tried", "because", "instead_of", "outcomes", "review_if"),
)
"""The fields that say something in words, of all kinds of records."""

LATER: Final = frozenset(
    """app citations places tried because evidence settled instead_of outcomes review_at review_if
    stops_edits made_by unread_from""".split()
)
"""Fields that records of the first version did not have: an empty one is not written."""


def plain(value: Any) -> Any:
    """Turn a record, a part or a result into dictionaries, lists and scalars.

    Times become ISO 8601 text. The result is what every front end prints as JSON.
    """
    return msgspec.to_builtins(value, builtin_types=(datetime,), str_keys=True, enc_hook=None)


def dump_line(value: Any) -> bytes:
    """Write any value as one line of JSON, without the line's end."""
    return _json(plain(value), orjson.OPT_PASSTHROUGH_DATETIME)


def stored(record: Record) -> Any:
    """Turn a record into what its file holds: a later field only where it says something."""
    value = plain(record)
    for name in LATER & value.keys():
        if value[name] in (None, (), False):
            del value[name]
    return value


def dump(value: Any) -> bytes:
    """Write a value as the files on disk are: two spaces, UTF-8, a final newline."""
    option = orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE | orjson.OPT_PASSTHROUGH_DATETIME
    return fold_lists(_json(stored(value) if isinstance(value, Record) else plain(value), option))


def _json(value: Any, option: int) -> bytes:
    try:
        return orjson.dumps(value, default=_time, option=option)
    except TypeError:
        whole = _in_full(value, indent=2 if option & orjson.OPT_INDENT_2 else None)
        if whole is None:
            raise
    return whole + b"\n" if option & orjson.OPT_APPEND_NEWLINE else whole


def _in_full(value: Any, indent: int | None) -> bytes | None:
    """Write JSON with whole numbers beyond 64 bits, which orjson refuses; None for no JSON."""
    import json

    apart = None if indent else (",", ":")
    try:
        written = json.JSONEncoder(
            ensure_ascii=False, allow_nan=False, default=_time, indent=indent, separators=apart
        )
        return written.encode(value).encode()
    except (TypeError, ValueError):
        return None


def _time(value: Any) -> str:
    if isinstance(value, datetime):
        try:
            return iso(in_utc(value))
        except OverflowError:  # in UTC it would lie outside the calendar
            return iso(value)
    raise TypeError(f"{type(value).__name__} has no JSON form")
