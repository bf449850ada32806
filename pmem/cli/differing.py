"""What differs between two states of the memory, as rows under headings."""

from collections.abc import Callable, Iterable, Iterator
from typing import Any, Final, NamedTuple, Protocol

from pmem.cli.event_words import sides
from pmem.core.changelog import (
    About,
    Changed,
    ChangeReason,
    FieldChange,
    Forgotten,
    Learned,
    LinkChange,
)
from pmem.values.ids import short
from pmem.vcs.provenance import Touch

_VALUE: Final = 60
_BODY: Final = 120
BODIES: Final = ("content", "summary")
_REPLACED: Final = (ChangeReason.SUPERSEDED, ChangeReason.MERGED)
HEADINGS: Final = {
    "Learned": "green",
    "Changed": "",
    "Replaced": "magenta",
    "Forgotten": "red",
}

Say = Callable[[str], str]
"""Turns a text from the memory into one that its surroundings can hold."""


class Differing(Protocol):
    """What was learned, changed and forgotten, between whatever two states."""

    @property
    def learned(self) -> tuple[Learned, ...]:
        """What is recalled in the later one alone."""
        ...

    @property
    def changed(self) -> tuple[Changed, ...]:
        """What says something else in the later one."""
        ...

    @property
    def forgotten(self) -> tuple[Forgotten, ...]:
        """What is recalled in the earlier one alone."""
        ...


class ChangelogRow(NamedTuple):
    """One entry: which record it is about, and what is said of it."""

    entry: About
    said: str


def sections(found: Differing, say: Say) -> Iterator[tuple[str, list[ChangelogRow]]]:
    """Yield every heading that has entries; what replaces another one is shown once, there.

    `say` makes a text fit for its surroundings.
    """
    texts = {entry.id: entry for entry in (*found.changed, *found.learned)}
    replaced = [entry for entry in found.forgotten if entry.how in _REPLACED]
    told = {entry.by for entry in replaced}
    sections = {
        "Learned": [_learned_row(entry, say) for entry in found.learned if entry.id not in told],
        "Changed": [_changed_row(entry, say) for entry in found.changed],
        "Replaced": [_replaced_row(entry, texts, say) for entry in replaced],
        "Forgotten": [_gone(entry, say) for entry in found.forgotten if entry.how not in _REPLACED],
    }
    yield from ((heading, rows) for heading, rows in sections.items() if rows)


def _learned_row(entry: Learned, say: Say) -> ChangelogRow:
    restored = " (restored)" if entry.how is ChangeReason.RESTORED else ""
    return ChangelogRow(
        entry, f"{_titled(entry, say)}{restored}{_after(_ties(entry.linked, '', say))}"
    )


def _changed_row(entry: Changed, say: Say) -> ChangelogRow:
    parts = list(differences_of(entry, say))
    rewritten = any(name in entry.fields for name in BODIES)
    return ChangelogRow(entry, "; ".join(parts if rewritten else [_titled(entry, say), *parts]))


def differences_of(entry: Changed | Touch, say: Say) -> Iterator[str]:
    """Yield what has changed in a record: its fields, then its links."""
    yield from _fields(entry.fields, say)
    yield from linked(entry, say)


def linked(entry: Changed | Touch, say: Say) -> Iterator[str]:
    """Yield where a record links to from now on, and where it links to no longer."""
    yield from _ties(entry.linked, "", say)
    yield from _ties(entry.unlinked, "no longer ", say)


def _replaced_row(entry: Forgotten, texts: dict[str, Any], say: Say) -> ChangelogRow:
    into = "" if entry.by is None else say(short(entry.by))
    new = texts.get(entry.by or "")
    now = f"{say(new.text)} ({into})" if new else into or "nothing"
    word = " (merged)" if entry.how is ChangeReason.MERGED else ""
    return ChangelogRow(entry, f"{_titled(entry, say)} → {now}{word}")


def _gone(entry: Forgotten, say: Say) -> ChangelogRow:
    return ChangelogRow(entry, f"{_titled(entry, say)} ({entry.how})")


def _fields(fields: dict[str, FieldChange], say: Say) -> Iterator[str]:
    """Say field by field what was and what is; texts from where they begin to differ."""
    for name, change in fields.items():
        yield f"{say(name)}: " + " → ".join(map(say, sides_of(name, change)))


def sides_of(name: str, change: FieldChange) -> list[str]:
    """Say what a field was and what it is."""
    most = _BODY if name in BODIES else _VALUE
    return sides(name, {name: change.before}, {name: change.after}, most)


def _ties(links: Iterable[LinkChange], word: str, say: Say) -> Iterator[str]:
    for link in links:
        yield f"{word}{say(link.type.replace('_', ' '))} {say(short(link.target))}"


def _after(parts: Iterable[str]) -> str:
    return "".join(f"; {part}" for part in parts)


def _titled(entry: About, say: Say) -> str:
    return f"{say(entry.subject)}: {say(entry.text)}" if entry.subject else say(entry.text)


def type_of(entry: About) -> str:
    """Return the type of what an entry is about: of a memory as `--type` takes it."""
    return entry.type if entry.kind == "memory" else entry.type.replace("_", " ")
