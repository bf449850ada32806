"""What a memory learned, changed and forgot from one state to another.

Two states are compared record by record, by id: what was written and taken back in between
leaves no trace. What only keeps the books (recalls, tokens, histories, times of changes) is no
change.
"""

from collections.abc import Iterable, Iterator, Mapping
from enum import StrEnum
from typing import Any, Final

import msgspec

from pmem.core.journal import one_line
from pmem.core.lifecycle.states import successor_of
from pmem.core.retention import json_value
from pmem.core.retrieval.documents import repeats_title
from pmem.values.ids import short
from pmem.values.records import KINDS, Episode, Memory, Record, Relationship, State

Kept = Memory | Episode
Records = Mapping[str, Kept]

_BOOKS: Final = ("id", "schema", "access", "tokens", "history", "updated_at", "relationships")
_RANKS: Final = tuple(
    "decision constraint dead_end procedure preference goal fact entity insight".split()
)
"""Types in the order in which a reader wants them; episodes follow."""


class ChangeReason(StrEnum):
    """How a record came or went."""

    ADDED = "added"
    RESTORED = "restored"
    SUPERSEDED = "superseded"
    MERGED = "merged"
    ARCHIVED = "archived"
    REMOVED = "removed"
    PURGED = "purged"


_GONE: Final = {
    State.SUPERSEDED: ChangeReason.SUPERSEDED,
    State.MERGED: ChangeReason.MERGED,
    State.ARCHIVED: ChangeReason.ARCHIVED,
    State.SOFT_DELETED: ChangeReason.REMOVED,
}


class LinkChange(msgspec.Struct, frozen=True, kw_only=True):
    """A link to another memory that was made or cut, or whose strength changed."""

    type: str
    target: str
    strength: float


class FieldChange(msgspec.Struct, frozen=True, kw_only=True):
    """A field's value before and after, as JSON."""

    before: Any
    after: Any


class About(msgspec.Struct, frozen=True, kw_only=True):
    """Which record an entry is about; `text` says on one line what it is or was."""

    id: str
    short: str
    kind: str
    type: str
    subject: str | None
    text: str


class Learned(About, frozen=True, kw_only=True):
    """A record that is recalled now and was not before; `replaces` are those it stands for."""

    how: ChangeReason
    replaces: tuple[str, ...]
    linked: tuple[LinkChange, ...]


class Changed(About, frozen=True, kw_only=True):
    """A record that says something else now, field by field, or is linked otherwise."""

    fields: dict[str, FieldChange]
    linked: tuple[LinkChange, ...]
    unlinked: tuple[LinkChange, ...]


class Forgotten(About, frozen=True, kw_only=True):
    """A record that is not recalled any more; `by` is the one that stands in its place."""

    how: ChangeReason
    by: str | None


class Difference(msgspec.Struct, frozen=True, kw_only=True):
    """What was learned, changed and forgotten, each sorted by type, then by age."""

    learned: tuple[Learned, ...]
    changed: tuple[Changed, ...]
    forgotten: tuple[Forgotten, ...]


def compare(before: Records, after: Records) -> Difference:
    """Return what differs between two states of a memory."""
    gone = sorted(_forgotten(before, after), key=_order)
    replaced: dict[str, list[str]] = {}
    for entry in gone:
        if entry.by is not None:
            replaced.setdefault(entry.by, []).append(entry.id)
    learned = (
        _learned_entry(record, before.get(identifier), replaced.get(identifier, ()))
        for identifier, record in after.items()
        if _is_active(record) and not _is_active(before.get(identifier))
    )
    pairs = ((before[id_], record) for id_, record in after.items() if id_ in before)
    return Difference(
        learned=tuple(sorted(learned, key=_order)),
        changed=tuple(sorted(_find_changed(pairs), key=_order)),
        forgotten=tuple(gone),
    )


def changed_fields(before: Record, after: Record) -> dict[str, FieldChange]:
    """Return the fields in which a record differs, in their order on disk."""
    return {
        name: FieldChange(before=json_value(was), after=json_value(became))
        for name in after.__struct_fields__
        if name not in _BOOKS
        if (was := getattr(before, name, None)) != (became := getattr(after, name))
    }


def links(before: Record, after: Record) -> tuple[tuple[LinkChange, ...], tuple[LinkChange, ...]]:
    """Return the links that were made or made anew, and those that were cut."""
    known, now = _links_of(before), _links_of(after)
    made = tuple(
        _link(tie)
        for key, tie in now.items()
        if key not in known or known[key].strength != tie.strength
    )
    return made, tuple(_link(tie) for key, tie in known.items() if key not in now)


def about(record: Kept) -> dict[str, Any]:
    """Return which record this is, as the fields of `About`."""
    subject, text = (
        (record.subject, record.content)
        if isinstance(record, Memory)
        else (None if repeats_title(record) else record.title, record.summary)
    )
    return {
        "id": record.id,
        "short": short(record.id),
        "kind": KINDS[type(record)],
        "type": str(record.type),
        "subject": subject,
        "text": one_line(text),
    }


def _learned_entry(record: Kept, earlier: Kept | None, replaces: Iterable[str]) -> Learned:
    made = _links_of(record).values()
    return Learned(
        **about(record),
        how=ChangeReason.ADDED if earlier is None else ChangeReason.RESTORED,
        replaces=tuple(replaces),
        linked=tuple(_link(tie) for tie in made) if earlier is None else links(earlier, record)[0],
    )


def _forgotten(before: Records, after: Records) -> Iterator[Forgotten]:
    """Yield what is gone for good, and what left recall or left it in another way."""
    for identifier, record in before.items():
        now = after.get(identifier)
        if now is None:
            yield Forgotten(**about(record), how=ChangeReason.PURGED, by=None)
        elif now.state is not record.state and not _is_active(now):
            yield Forgotten(**about(record), how=_GONE[now.state], by=successor_of(now) or None)


def _find_changed(pairs: Iterable[tuple[Kept, Kept]]) -> Iterator[Changed]:
    """Yield what is recalled as it was before, or as little, and says something else."""
    for before, after in pairs:
        if before.state is not after.state or type(before) is not type(after):
            continue
        fields, (made, cut) = changed_fields(before, after), links(before, after)
        if fields or made or cut:
            yield Changed(**about(after), fields=fields, linked=made, unlinked=cut)


def _links_of(record: Record) -> dict[tuple[str, str], Relationship]:
    ties = record.relationships if isinstance(record, Memory) else ()
    return {(tie.target, tie.type): tie for tie in ties}


def _link(tie: Relationship) -> LinkChange:
    return LinkChange(type=tie.type, target=tie.target, strength=tie.strength)


def _is_active(record: Kept | None) -> bool:
    return record is not None and record.state is State.ACTIVE


def _order(entry: About) -> tuple[bool, int, str, str]:
    """Sort by kind and type as a reader wants them, then by age."""
    place = _RANKS.index(entry.type) if entry.type in _RANKS else len(_RANKS)
    return (entry.kind != KINDS[Memory], place, entry.type, entry.id)
