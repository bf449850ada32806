"""What is searched of a record: its documents, their terms, and the facts for filters.

One record may hold several documents: a conversation holds its recent messages, a chunk holds
its messages and its summary. Whoever ranks, on disk or in memory, takes documents from here.
"""

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from itertools import islice
from typing import Any, Final, NamedTuple, TypeVar

import msgspec

from pmem.core.filters import cited_files
from pmem.core.outcomes import COMMIT
from pmem.core.policy import CATEGORY_OF_KIND, PROCEDURAL
from pmem.core.retrieval.collection import Document
from pmem.core.retrieval.forms import joined_words
from pmem.core.retrieval.signals import (
    ASSISTANT,
    CALL,
    INSIGHT,
    RESULT,
    day_terms,
    frequencies,
    repeats,
    traits,
)
from pmem.core.text.speech import Speech, speech_of
from pmem.core.text.terms import characters, fold, terms, written_dates
from pmem.core.trust import trust_of
from pmem.values.bounds import (
    SEARCHED_CHARACTERS,
    SEARCHED_MESSAGES,
    SEARCHED_NAME_CHARACTERS,
    SEARCHED_NAMES,
    SEARCHED_TERMS,
)
from pmem.values.ids import is_id, short
from pmem.values.records import (
    Chunk,
    Conversation,
    Episode,
    Memory,
    MemoryType,
    Message,
    Part,
    Record,
    Relationship,
    Scope,
    Standing,
    State,
)

_TEXTS: Final[dict[type[Record], tuple[str, ...]]] = {
    Memory: ("content",),
    Episode: ("summary", "context", "outcome"),
    Chunk: ("summary",),
}
_NAMES: Final[dict[type[Record], tuple[str, ...]]] = {
    Memory: ("subject", "category"),
    Episode: ("title",),
}
_LISTS: Final[dict[type[Record], tuple[str, ...]]] = {
    Memory: ("tags",),
    Episode: ("participants", "tags"),
    Chunk: ("key_topics",),
}

R = TypeVar("R", Memory, Episode, Chunk)


def searched_part(record: R) -> R:
    """Return a record with so much of its texts and names as is searched; mostly itself."""
    known = type(record)
    cut: dict[str, Any] = {}
    left = SEARCHED_CHARACTERS
    for name in _TEXTS[known]:
        text = getattr(record, name) or ""
        if len(text) > left:
            cut[name] = text[:left]
        left = max(0, left - len(text))
    for name in _NAMES.get(known, ()):
        if len(getattr(record, name) or "") > SEARCHED_NAME_CHARACTERS:
            cut[name] = getattr(record, name)[:SEARCHED_NAME_CHARACTERS]
    for name in _LISTS[known]:
        names = getattr(record, name)
        if len(names) > SEARCHED_NAMES or any(
            map(SEARCHED_NAME_CHARACTERS.__lt__, map(len, names))
        ):
            cut[name] = tuple(each[:SEARCHED_NAME_CHARACTERS] for each in names[:SEARCHED_NAMES])
    return msgspec.structs.replace(record, **cut) if cut else record


def searched_messages(messages: Sequence[Message]) -> list[tuple[int, Message]]:
    """Return the latest messages of a record with their places, and so much of each as is searched.

    All have the same limit, the highest that keeps them within `SEARCHED_CHARACTERS` together.
    """
    found = list(enumerate(messages))[-SEARCHED_MESSAGES:]
    lengths = [len(message.content) for _, message in found]
    if sum(lengths) > SEARCHED_CHARACTERS:
        most = _level(lengths, SEARCHED_CHARACTERS)
        found = [
            (place, msgspec.structs.replace(message, content=message.content[:most]))
            for place, message in found
        ]
    return [(place, _with_short_speaker(message)) for place, message in found]


def _with_short_speaker(message: Message) -> Message:
    if len(message.speaker or "") <= SEARCHED_NAME_CHARACTERS:
        return message
    name = (message.speaker or "")[:SEARCHED_NAME_CHARACTERS]
    return msgspec.structs.replace(message, speaker=name)


def _level(lengths: Sequence[int], most: int) -> int:
    """Return the highest level to which lengths may be cut so that their sum is within bounds."""
    left = most
    for place, length in enumerate(sorted(lengths)):
        share = left // (len(lengths) - place)
        if length > share:
            return share
        left -= length
    return most


RECENT: Final = 10**12
"""The place of a conversation's first recent message: behind every chunk."""

_CHUNK: Final = 10**6
_MOST_CHUNKS: Final = 10**6 - 1
_MOST_ACCESSES: Final = 10**9
_SUBJECT: Final = 2.0
_TAGS: Final = 1.5
_LABEL: Final = 0.5
_BITS: Final = {Speech.ASSISTANT: ASSISTANT, Speech.CALL: CALL, Speech.RESULT: RESULT}
_SITTING: Final = 3600
"""Seconds: memories of one hour were written for one occasion."""


class Facts(Part, frozen=True, kw_only=True):
    """What filters may ask of a document; see `core.filters.Filter`."""

    created_at: datetime
    updated_at: datetime | None = None
    type: str | None = None
    category: str | None = None
    subject: str | None = None
    tags: tuple[str, ...] = ()
    scope: Scope | None = None
    app: str | None = None
    role: str | None = None
    speaker: str | None = None
    importance: float | None = None
    pinned: bool = False
    trust: str | None = None
    state: State = State.ACTIVE
    valid_from: datetime | None = None
    valid_until: datetime | None = None
    places: tuple[str, ...] = ()
    cited: tuple[str, ...] = ()


class IndexedDocument(NamedTuple):
    """A document with everything that an index keeps of it, by its own id.

    `frequencies` are weighted by field, `place` ascends within its session, `text` is for quoted
    phrases, `name_terms` are of its speaker's name, `facts` what filters ask, and `links` start at
    it.
    """

    id: str
    document: Document
    frequencies: Mapping[str, float]
    place: int
    text: str
    name_terms: Sequence[str]
    facts: Facts
    links: Sequence[Relationship] = ()

    @property
    def category(self) -> str:
        """By which the document is seen or not (see `core.policy`)."""
        return CATEGORY_OF_KIND.get(self.document.kind) or self.facts.category or ""

    @property
    def is_procedural(self) -> bool:
        """Whether it tells how something is done."""
        return self.category == PROCEDURAL or self.facts.type == MemoryType.PROCEDURE


def number_of(identifier: str) -> int:
    """Return the number of a document: its short id read as a number, below 2 ** 42.

    An id that pmem would not have given is hashed instead; outside tools write such ids.
    """
    if is_id(identifier) and identifier == identifier.lower():
        return int(short(identifier), 36)
    from hashlib import blake2b

    digest = blake2b(identifier.encode("utf-8", "surrogatepass"), digest_size=5)
    return int.from_bytes(digest.digest(), "big")


def entries(record: Record) -> Iterator[IndexedDocument]:
    """Yield the documents of a record."""
    left = SEARCHED_TERMS
    for entry in _entries(record):
        count = len(entry.frequencies)
        if count > left:
            kept = dict(islice(entry.frequencies.items(), left))
            yield entry._replace(frequencies=kept)
        else:
            yield entry
        left = max(0, left - count)


def _entries(record: Record) -> Iterator[IndexedDocument]:
    if isinstance(record, Memory):
        yield _memory(searched_part(record))
    elif isinstance(record, Episode):
        yield _episode(searched_part(record))
    elif isinstance(record, Chunk):
        if record.merged_into is None and not _is_of_commits(record):
            # one that is merged stands in a later chunk's, and what commits say in their messages
            yield _chunk(searched_part(record))
        yield from _messages(record.messages, record, record.conversation)
    elif isinstance(record, Conversation):
        yield from _messages(record.recent_messages, record, record.id)


def _messages(
    messages: Sequence[Message], record: Chunk | Conversation, conversation: str
) -> Iterator[IndexedDocument]:
    first = _first_place(record)
    rejected = {one.message for one in record.facts if one.standing is Standing.REJECTED}
    for place, message in searched_messages(messages):
        is_refused = message.id in rejected and _is_of_commits(record)
        if message.removed or is_refused:
            continue
        text = messages[place].content[:SEARCHED_CHARACTERS]
        yield _message(message, conversation, record.app, first + place)._replace(text=text)


def _is_of_commits(record: Chunk | Conversation) -> bool:
    """Tell whether a record has commits in place of talk; what they say is git's to keep."""
    return any(one.startswith(COMMIT) for fact in record.facts for one in fact.evidence)


def summary_id(chunk: Chunk) -> str:
    """Return the id of a chunk's summary as a document: that of what it begins with.

    Chunks that two branches made of the same messages tell one thing, which is found once.
    """
    return f"{chunk.conversation}/{chunk.messages[0].id}" if chunk.messages else chunk.id


def place_of(message: Message, record: Chunk | Conversation) -> int:
    """Return a message's place within its conversation, ascending."""
    held = record.messages if isinstance(record, Chunk) else record.recent_messages
    return _first_place(record) + held.index(message)


def _first_place(record: Chunk | Conversation) -> int:
    return min(record.number, _MOST_CHUNKS) * _CHUNK if isinstance(record, Chunk) else RECENT


def text_of(record: Memory | Episode | Chunk | Message) -> str:
    """Return the text that phrases are looked for in."""
    if isinstance(record, Episode):
        return f"{record.title}: {record.summary}"
    return record.summary if isinstance(record, Chunk) else record.content


def searched_text(record: Memory | Episode | Chunk | Message) -> str:
    """Return all of a text that a search looks at: of a memory, what stands beside it, too."""
    text = text_of(record)
    if isinstance(record, Memory):
        text = "\n".join((text, _about(record), _beside(record), *record.tags))
    return text[:SEARCHED_CHARACTERS]


def shown_text(record: Memory | Episode | Chunk | Message) -> str:
    """Return the text of a record for readers: the title of an episode that repeats it once."""
    if isinstance(record, Episode) and repeats_title(record):
        return record.summary
    return text_of(record)


def repeats_title(episode: Episode) -> bool:
    """Tell whether an episode begins with the words of its title."""
    title = _plain(episode.title).rstrip(".…")
    return _plain(episode.summary).startswith(title)


def _plain(text: str) -> str:
    return " ".join(fold(text).split())


def _add_unspelt(counts: dict[str, float], text: str) -> None:
    """Count what a text says without spelling it out, which makes it no longer.

    Single characters within its words, the names of months in dates of digits, and words written
    apart that others write together.
    """
    for letter in characters(text):
        counts[letter] = counts.get(letter, 0.0) + 1.0
    for term in written_dates(text) + joined_words(text):
        counts.setdefault(term, 1.0)


def _drop_repeats(counts: dict[str, float], words: Sequence[str]) -> None:
    """Leave `repeats` out of counts; the length stays, so they raise no memory."""
    for term, times in repeats(words).items():
        counts[term] -= times


def _document(identifier: str, kind: str, counts: Mapping[str, float], **facts: Any) -> Document:
    length, peak = sum(counts.values()), max(counts.values(), default=0.0)
    return Document(number_of(identifier), kind, length, peak, **facts)


def _about(memory: Memory) -> str:
    return memory.subject or memory.scope.user or memory.scope.actor or ""


def _memory(memory: Memory) -> IndexedDocument:
    words = terms(memory.content)
    about = _about(memory)
    counts = frequencies(
        [
            (words, 1.0),
            (terms(about), _SUBJECT),
            (terms(_beside(memory)), 1.0),
            (terms(" ".join(memory.tags)), _TAGS),
            (terms(f"{memory.category} {memory.type}"), _LABEL),
        ]
    )
    facts = Facts(
        created_at=memory.created_at,
        updated_at=memory.updated_at,
        type=memory.type,
        category=memory.category,
        subject=memory.subject,
        tags=memory.tags,
        scope=memory.scope,
        app=memory.scope.app,
        importance=memory.importance,
        pinned=memory.pinned,
        trust=trust_of(memory),
        state=memory.state,
        valid_from=memory.valid_from,
        valid_until=memory.valid_until,
        places=memory.places,
        cited=cited_files(memory),
    )
    document = _document(
        memory.id,
        "memory",
        counts,
        traits=traits(memory.content, words) | INSIGHT * (memory.type is MemoryType.INSIGHT),
        timestamp=memory.updated_at.timestamp(),
        importance=memory.importance,
        accesses=min(memory.access.count, _MOST_ACCESSES),
        session=_sitting(memory),
        about=about,
    )
    _drop_repeats(counts, words)
    for term in day_terms(memory.content, memory.created_at.date()):
        counts[term] = counts.get(term, 0.0) + 1.0
    _add_unspelt(counts, f"{memory.content} {memory.subject or ''} {' '.join(memory.tags)}")
    links, text = memory.relationships[:SEARCHED_NAMES], searched_text(memory)
    place = int(memory.id.partition("-")[0], 36) if is_id(memory.id) else 0
    return IndexedDocument(memory.id, document, counts, place, text, (), facts, links)


def _beside(memory: Memory) -> str:
    """Return what a memory says beside its content: what was rejected, and how it went."""
    if not (memory.instead_of or memory.outcomes or memory.review_if):
        return ""
    said = (*memory.instead_of, *(each.text for each in memory.outcomes), memory.review_if or "")
    return " ".join(said)[:SEARCHED_CHARACTERS]


def _sitting(memory: Memory) -> int | None:
    """Return what a memory was written along with: its conversation, else the hour.

    What is not active any more keeps nothing company.
    """
    if memory.state is not State.ACTIVE:
        return None
    if memory.source.conversation:
        return number_of(memory.source.conversation)
    return int(memory.created_at.timestamp()) // _SITTING


def _episode(episode: Episode) -> IndexedDocument:
    outcome = "" if episode.outcome == episode.summary else episode.outcome or ""
    text = " ".join((episode.summary, episode.context, outcome, *episode.participants))
    counts = frequencies(
        [
            (terms(text), 1.0),
            (terms(episode.title), _SUBJECT),
            (terms(" ".join(episode.tags)), _TAGS),
            (terms(episode.type.replace("_", " ")), _LABEL),
        ]
    )
    facts = Facts(
        created_at=episode.created_at,
        updated_at=episode.updated_at,
        type=episode.type,
        app=episode.app,
        tags=episode.tags,
        importance=episode.significance,
        pinned=episode.pinned,
        trust=trust_of(episode),
        state=episode.state,
    )
    document = _document(
        episode.id,
        "episode",
        counts,
        traits=traits(text, terms(text)),
        timestamp=episode.created_at.timestamp(),
        importance=episode.significance,
    )
    _add_unspelt(counts, f"{episode.title} {text}")
    return IndexedDocument(episode.id, document, counts, 0, text_of(episode), (), facts)


def _chunk(chunk: Chunk) -> IndexedDocument:
    counts = frequencies([(terms(chunk.summary), 1.0), (terms(" ".join(chunk.key_topics)), 1.0)])
    identifier = summary_id(chunk)
    document = _document(
        identifier,
        "chunk",
        counts,
        timestamp=chunk.created_at.timestamp(),
    )
    _add_unspelt(counts, chunk.summary)
    facts = Facts(created_at=chunk.created_at, app=chunk.app)
    return IndexedDocument(identifier, document, counts, 0, chunk.summary, (), facts)


def _message(message: Message, conversation: str, app: str | None, place: int) -> IndexedDocument:
    words = terms(message.content)
    told = words + day_terms(message.content, message.created_at.date())
    counts = frequencies([(told, 1.0)])
    document = _document(
        message.id,
        "message",
        counts,
        traits=traits(message.content, words) | _BITS.get(speech_of(message), 0),
        session=number_of(conversation),
        speaker=message.speaker or "",
        timestamp=message.created_at.timestamp(),
        importance=0.5 if message.importance is None else message.importance,
    )
    facts = Facts(
        created_at=message.created_at,
        app=app,
        role=message.role,
        speaker=message.speaker,
        importance=message.importance,
    )
    names = terms(message.speaker or "")
    _add_unspelt(counts, message.content)
    return IndexedDocument(message.id, document, counts, place, message.content, names, facts)
