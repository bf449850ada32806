"""What has changed since a thread last looked: a few lines at the head of its next context."""

from collections.abc import Collection, Iterable, Iterator, Sequence
from datetime import datetime
from hashlib import blake2b
from typing import Final

import msgspec

from pmem.records import Event, EventKind, Memory, State

MOST: Final = 3
"""Bullets in a header."""
CONTENT_CHARACTERS: Final = 100
CATEGORY_CHARACTERS: Final = 40
_READ_CHARACTERS: Final = 2000
_FINGERPRINT_BYTES: Final = 8
_UNTOLD: Final = (EventKind.LINK, EventKind.UNLINK)
_TURNS: Final = (
    EventKind.MERGE,
    EventKind.ARCHIVE,
    EventKind.SUPERSEDE,
    EventKind.DELETE,
    EventKind.TTL,
    EventKind.RESTORE,
)
"""Events that take a memory out of recall, or bring it back."""
_WENT: Final = (EventKind.ARCHIVE, EventKind.SUPERSEDE, EventKind.DELETE, EventKind.TTL)
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
_EVENT = msgspec.json.Encoder(order="deterministic")


class Change(msgspec.Struct, frozen=True, kw_only=True):
    """What a thread is told about one memory: the most telling of its new events."""

    id: str
    event: EventKind
    at: datetime
    actor: str
    category: str
    content: str


def fingerprint(memory_id: str, event: Event) -> int:
    """Return a number of 64 bits that stands for an event.

    Args:
        memory_id: The memory that it happened to.
        event: What happened. Everything in it counts; where it stands in a history does not.
    """
    whole = memory_id.encode() + b"\0" + _EVENT.encode(event)
    return int.from_bytes(blake2b(whole, digest_size=_FINGERPRINT_BYTES).digest(), "big")


def fingerprints(memories: Iterable[Memory]) -> set[int]:
    """Return the fingerprints of everything that a thread may be told about memories."""
    return {fingerprint(memory.id, event) for memory in memories for event in _told_events(memory)}


def changes(memories: Iterable[Memory], seen: Collection[int]) -> list[Change]:
    """Return what is new to a thread, the newest first and at most one change per memory.

    Args:
        memories: All of them, whatever their state.
        seen: The fingerprints of the events that the thread knows.
    """
    found = []
    for memory in memories:
        new = [event for event in _told_events(memory) if fingerprint(memory.id, event) not in seen]
        if new:
            found.append(_change(memory, new))
    return sorted(found, key=lambda change: (change.at, change.id), reverse=True)


def header(revision: int, new: Sequence[Change], most: int = MOST) -> list[str]:
    """Write the lines that tell a model what has changed; none when nothing has.

    Args:
        revision: The thread's revision before these changes.
        new: The changes, the newest first.
        most: Bullets at the most.

    Returns:
        A headline, which says how many changes there are where not all are shown, and one line
        for each change. No content can add a line of its own.
    """
    if not new:
        return []
    left = f" (the newest {most} of {len(new)})" if len(new) > most else ""
    return [f"Memory updates since rev {revision}{left}:", *map(_bullet, new[:most])]


def _told_events(memory: Memory) -> Iterator[Event]:
    """Yield the events that make a bullet; a file written by hand has only its beginning."""
    if not memory.history:
        yield Event(event=EventKind.ADD, at=memory.created_at)
    for event in memory.history:
        if event.event not in _UNTOLD:
            yield event


def _change(memory: Memory, new: Sequence[Event]) -> Change:
    event = _most_telling(sorted(new, key=lambda event: event.at))
    kind = event.event
    if memory.state is State.ACTIVE and kind in _WENT:
        kind = EventKind.UPDATE  # it came late, and what undid it is known
    return Change(
        id=memory.id,
        event=kind,
        at=event.at,
        actor=event.actor,
        category=memory.category,
        content=memory.content,
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


def _bullet(change: Change) -> str:
    category = _one_line(change.category, CATEGORY_CHARACTERS)
    return f"- {_WORDS[change.event]}: [{category}] {_one_line(change.content, CONTENT_CHARACTERS)}"


def _one_line(text: str, most: int) -> str:
    """Fold a text into one short line, with everything hidden in it made visible."""
    folded = " ".join(text[:_READ_CHARACTERS].split())
    shown = "".join(
        letter if letter.isprintable() else f"\\u{{{ord(letter):x}}}" for letter in folded[:most]
    )
    is_whole = len(text) <= _READ_CHARACTERS and len(folded) <= most >= len(shown)
    return shown if is_whole else shown[: most - 1].rstrip() + "…"
