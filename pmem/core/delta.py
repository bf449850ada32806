"""What has changed since a thread's last look: lines for the head of its next context."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Final

import msgspec

from pmem.core.lines import shortened
from pmem.core.trust import RecordOrigin, Trust, mark_of, noted_by, origin_mark, trust_of
from pmem.core.visible import one_visible_line
from pmem.values.defaults import grade
from pmem.values.records import Event, EventKind, Memory, State

MOST: Final = 3
"""Bullets in a header."""
CONTENT_CHARACTERS: Final = 100
CATEGORY_CHARACTERS: Final = 40
_READ_CHARACTERS: Final = 2000
_FINGERPRINT_BYTES: Final = 8
_UNTOLD: Final = (EventKind.LINK, EventKind.UNLINK)
_CITED: Final = {"citations"}
"""An event that changed nothing else is no news: the memory says what it said."""
_WORDS: Final[dict[EventKind, str]] = {
    EventKind.ADD: "+created",
    EventKind.UPDATE: "↑updated",
    EventKind.MERGE: "↔merged",
    EventKind.ARCHIVE: "↓archived",
    EventKind.SUPERSEDE: "→superseded",
    EventKind.DELETE: "-deleted",
    EventKind.TTL: "-soft_deleted",
    EventKind.RESTORE: "↩restored",
}
_TURNS: Final = _WORDS.keys() - {EventKind.ADD, EventKind.UPDATE}
"""Events that take a memory out of recall, or bring it back."""
_WENT: Final = _TURNS - {EventKind.MERGE, EventKind.RESTORE}
_TAKEN: Final = {EventKind.ADD: "supersedes", EventKind.MERGE: "merged"}
"""Where an event says what its memory took over."""
_TAKERS: Final = {EventKind.MERGE: "into", EventKind.SUPERSEDE: "by"}
"""Where an event says what took its memory over."""
_EVENT = msgspec.json.Encoder(order="deterministic")


class MemoryNews(msgspec.Struct, frozen=True, kw_only=True):
    """What a thread is told about one memory: the most telling of its new events.

    `combined` is how many memories it was merged from, itself included; 0 where it was not.
    `importance` is its grade, from 1 to 5; 0 where it is not known.
    `trust` is how far the memory can be trusted as it is now; `noted_by` is the agent that noted
    it, where nobody has confirmed it. `origin` is there where nobody has reviewed it, and whoever
    works here did not write it.
    """

    id: str
    event: EventKind
    at: datetime
    actor: str
    category: str
    content: str
    trust: Trust = Trust.HIGH
    noted_by: str = ""
    combined: int = 0
    importance: int = 0
    origin: RecordOrigin | msgspec.UnsetType = msgspec.UNSET


def fingerprint(memory_id: str, event: Event) -> int:
    """Return a number of 64 bits that stands for an event."""
    from hashlib import blake2b  # a context without a thread needs none

    whole = memory_id.encode() + b"\0" + _EVENT.encode(event)
    return int.from_bytes(blake2b(whole, digest_size=_FINGERPRINT_BYTES).digest(), "big")


def fingerprints(memories: Iterable[Memory]) -> set[int]:
    """Return the fingerprints of everything that a thread may be told about memories."""
    return {fingerprint(memory.id, event) for memory in memories for event in _told_events(memory)}


def changes(memories: Collection[Memory], seen: Collection[int]) -> list[MemoryNews]:
    """Return what is new to a thread, the newest first and at most one change per memory.

    A memory that another one took over makes no change where the other one tells of it: of a
    merge the survivor is told, and of a replacement the new memory.
    """
    heirs = _heirs(memories)
    found = []
    for memory in memories:
        new = [event for event in _told_events(memory) if fingerprint(memory.id, event) not in seen]
        if not new:
            continue
        telling = _most_telling(sorted(new, key=lambda event: event.at))
        if not _is_told_by_heir(memory.id, telling, heirs):
            found.append(_change(memory, telling, new))
    return sorted(found, key=lambda change: (change.at, change.id), reverse=True)


def seen_with(
    memories: Collection[Memory], new: Collection[MemoryNews], told: Collection[str]
) -> set[int]:
    """Return the fingerprints of what a thread has seen once it was told some of the changes.

    The others wait, and so does what their memories took over.
    """
    waiting = {change.id for change in new}.difference(told)
    if not waiting:
        return fingerprints(memories)
    heirs = _heirs(memories)
    return {
        fingerprint(memory.id, event)
        for memory in memories
        if memory.id not in waiting
        for event in _told_events(memory)
        if memory.id in told
        or waiting.isdisjoint(_ids_in(event, _TAKERS))
        or not _is_told_by_heir(memory.id, event, heirs)
    }


def header(revision: int, new: Sequence[MemoryNews], *, plain: bool = False) -> list[str]:
    """Write the lines that tell a model what has changed; none when nothing has.

    Returns:
        A headline, which says how many changes there are where not all are shown, and one line
        for each change. No content can add a line of its own.
    """
    if not new:
        return []
    shown = [_bullet(change, plain=plain) for change in new[:MOST]]
    left = f" (the newest {MOST} of {len(new)})" if len(new) > MOST else ""
    return [f"Memory updates since rev {revision}{left}:", *shown]


def _told_events(memory: Memory) -> Iterator[Event]:
    """Yield the events that make a bullet; a file written by hand has only its beginning."""
    if not memory.history:
        yield Event(event=EventKind.ADD, at=memory.created_at)
    for event in memory.history:
        if event.event not in _UNTOLD and event.before.keys() != _CITED:
            yield event


def _heirs(memories: Iterable[Memory]) -> dict[str, set[str]]:
    """Return, by id, which memories say that they took a memory over."""
    heirs: dict[str, set[str]] = {}
    for memory in memories:
        taken = {name for event in memory.history for name in _ids_in(event, _TAKEN)}
        for name in taken - {memory.id}:
            heirs.setdefault(name, set()).add(memory.id)
    return heirs


def _ids_in(event: Event, keys: Mapping[EventKind, str]) -> list[str]:
    """Return the ids that an event has where its kind says so."""
    named = event.detail.get(keys.get(event.event, ""))
    return [one for one in (named if isinstance(named, list) else [named]) if isinstance(one, str)]


def _is_told_by_heir(memory_id: str, event: Event, heirs: Mapping[str, Collection[str]]) -> bool:
    """Tell whether the memory that took another one over says so.

    Two that took each other over both speak for themselves.
    """
    return any(
        heir in heirs.get(memory_id, ()) and memory_id not in heirs.get(heir, ())
        for heir in _ids_in(event, _TAKERS)
    )


def _change(memory: Memory, telling: Event, new: Sequence[Event]) -> MemoryNews:
    kind = telling.event
    went = kind in _WENT or (kind is EventKind.MERGE and _ids_in(telling, _TAKERS))
    if (memory.state is State.ACTIVE and went) or (
        kind is EventKind.ADD and _ids_in(telling, _TAKEN)
    ):
        kind = EventKind.UPDATE  # it came late, and what undid it is known; or it replaces another
    merges = [event for event in new if event.event is EventKind.MERGE]
    merged = {taken for event in merges for taken in _ids_in(event, _TAKEN)}
    return MemoryNews(
        id=memory.id,
        event=kind,
        at=telling.at,
        actor=telling.actor,
        category=memory.category,
        content=memory.content,
        trust=trust_of(memory) or Trust.LOW,
        noted_by=noted_by(memory),
        combined=len(merged) + 1 if merged and kind is EventKind.MERGE else 0,
        importance=grade(memory.importance),
    )


def _most_telling(new: Sequence[Event]) -> Event:
    """Choose among a memory's new events, the oldest first: where it stands, else its beginning.

    A memory that was created, removed and restored meanwhile is created to the thread.
    """
    created = next((event for event in new if event.event is EventKind.ADD), None)
    turn = next((event for event in reversed(new) if event.event in _TURNS), None)
    if turn is not None and not (created and turn.event is EventKind.RESTORE):
        return turn
    return created or new[-1]


def _bullet(change: MemoryNews, *, plain: bool) -> str:
    category = _one_line(change.category, CATEGORY_CHARACTERS)
    combined = f"Combined {change.combined} memories: " if change.combined else ""
    content = _one_line(combined + change.content, CONTENT_CHARACTERS)
    doubt = origin_mark(change.origin)
    is_new = change.event is EventKind.ADD and change.importance and not doubt
    weight = f" (imp={change.importance})" if is_new else ""
    mark = "" if plain and change.noted_by else mark_of(change.trust, change.noted_by)
    return f"- {_WORDS[change.event]}: [{category}] {doubt}{mark}{content}{weight}"


def _one_line(text: str, most: int) -> str:
    """Fold a text into one short line, with everything hidden in it made visible."""
    return shortened(one_visible_line(" ".join(text[:_READ_CHARACTERS].split())), most)
