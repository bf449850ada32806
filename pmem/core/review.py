"""What a change to a project has to do with memories, and what its author is asked."""

from collections.abc import Iterable
from enum import StrEnum
from typing import Any, Final

import msgspec

from pmem.core.filters import fold
from pmem.core.journal import one_line
from pmem.core.lifecycle.neighbours import JUDGED, may_meet
from pmem.core.outcomes import warns
from pmem.values.ids import short
from pmem.values.records import Memory, MemoryType

RULES: Final = (MemoryType.DEAD_END, MemoryType.CONSTRAINT, MemoryType.PREFERENCE)
"""Types of memories that say what is to be done at their places, the most urgent first."""
_MANUAL: Final = "manual"


class ReviewKind(StrEnum):
    """What a change has to do with a memory, the most important first."""

    STOPS = "stops"
    STANDING = "standing"
    CITED = "cited"
    CLASH = "clash"
    APPLIES = "applies"
    UNSOURCED = "unsourced"
    SETTLED = "settled"


ANSWERED: Final = frozenset(
    {ReviewKind.STOPS, ReviewKind.STANDING, ReviewKind.CITED, ReviewKind.CLASH}
)
"""Kinds that wait for an answer; the others are only to be known."""


class ChangedPlace(msgspec.Struct, frozen=True, kw_only=True):
    """A place that a change touches: a file as it is called after the change, and a line there.

    The line is None where none can be named. `cited` is what a memory cites there, if it does,
    `gone` whether the file is no more, and `change` what was cited and what the file says now.
    """

    file: str
    line: int | None = None
    cited: str | None = None
    gone: bool = False
    change: str = ""


class ReviewFinding(msgspec.Struct, frozen=True, kw_only=True):
    """What a change has to do with one memory.

    `places` are those that are concerned, `other` is another memory that is (which contradicts
    this one, or fixes it) and `other_text` what it says, `reason` why a dead end is settled.
    """

    kind: ReviewKind
    id: str
    short: str
    type: str
    subject: str | None
    text: str
    places: tuple[ChangedPlace, ...] = ()
    other: str | None = None
    other_text: str | None = None
    reason: str | None = None

    @property
    def waits(self) -> bool:
        """Whether it waits for an answer."""
        return self.kind in ANSWERED

    @property
    def meaning(self) -> str:
        """What the change does, in words that a place may follow."""
        return _MEANINGS[self.kind]

    @property
    def advice(self) -> str:
        """What to do about it; nothing where it is only to be known."""
        gone = next((place.cited for place in self.places if place.gone and place.cited), None)
        if gone is not None:
            return _GONE.format(name=self.short, cited=gone)
        other = short(self.other) if self.other else ""
        return _ADVICE.get(self.kind, "").format(name=self.short, other=other)


_MEANINGS: Final = {
    ReviewKind.STOPS: "a person marked it to stop edits here",
    ReviewKind.STANDING: "a dead end rests on what this change edits",
    ReviewKind.CITED: "this change edits what a memory rests on",
    ReviewKind.CLASH: "another memory says otherwise on the same subject",
    ReviewKind.APPLIES: "applies to what this change edits",
    ReviewKind.UNSOURCED: "was added without a source",
    ReviewKind.SETTLED: "a dead end that this change settles",
}
_ADVICE: Final = {
    ReviewKind.STOPS: "keep to it, or `pmem edit {name} --no-stop-edits`",
    ReviewKind.STANDING: (
        '`pmem edit {name} --settled "WHY"` if it is no longer one;'
        " then `pmem check --accept {name}` cites the text as it is now"
    ),
    ReviewKind.CITED: (
        "`pmem edit {name} TEXT` if it is no longer right;"
        " then `pmem check --accept {name}` cites the text as it is now"
    ),
    ReviewKind.CLASH: (
        "`pmem edit {other} --superseded-by {name}` keeps this one alone,"
        " `pmem edit {name} --link {other}` says that both are right"
    ),
    ReviewKind.UNSOURCED: "`pmem edit {name} --cite FILE:LINES` says what it rests on",
}


_GONE: Final = (
    "`pmem edit {name} --uncite {cited}`, with `--cite` for what it rests on now,"
    " or `pmem rm {name}`"
)


def finding(kind: ReviewKind, memory: Memory, **fields: Any) -> ReviewFinding:
    """Return what a change has to do with a memory."""
    return ReviewFinding(
        kind=kind,
        id=memory.id,
        short=short(memory.id),
        type=memory.type,
        subject=memory.subject,
        text=one_line(memory.content),
        **fields,
    )


def most_important(findings: Iterable[ReviewFinding]) -> tuple[ReviewFinding, ...]:
    """Return each memory's most important finding, the most important first."""
    ordered = sorted(findings, key=_rank)
    first = {found.id: found for found in reversed(ordered)}
    return tuple(found for found in ordered if first[found.id] is found)


def is_rule(memory: Memory) -> bool:
    """Tell whether a memory says what is to be done at its places."""
    if not memory.places or memory.type not in RULES:
        return False
    return memory.type is not MemoryType.DEAD_END or warns(memory)


def has_source(memory: Memory) -> bool:
    """Tell whether a memory says what it comes from or rests on; an app's comes from the app."""
    source = memory.source
    named = (source.conversation, source.message, source.file, source.commit, memory.scope.app)
    return bool(source.kind != _MANUAL or any(named) or memory.citations or memory.evidence)


def clashes(memory: Memory, others: Iterable[Memory]) -> list[Memory]:
    """Return the memories that say something else on a memory's subject to the same people.

    Where somebody linked two of them, both hold; links that pmem makes by judging do not say so.
    """
    subject = fold(memory.subject or "")
    if not subject:
        return []
    from pmem.core.lifecycle.linking import says_otherwise

    return [
        other
        for other in others
        if other.id != memory.id
        and fold(other.subject or "") == subject
        and may_meet(memory.scope, other.scope)
        and not _both_hold(memory, other)
        and says_otherwise(memory, other)
    ]


def _both_hold(one: Memory, other: Memory) -> bool:
    ties = [(tie, other.id) for tie in one.relationships]
    ties += [(tie, one.id) for tie in other.relationships]
    types = {tie.type for tie, end in ties if tie.target == end}
    return not types <= set(JUDGED)


def _rank(found: ReviewFinding) -> tuple[int, int, str, str]:
    kinds = list(ReviewKind)
    types = [str(type_) for type_ in RULES]
    urgency = types.index(found.type) if found.type in types else len(types)
    return (
        kinds.index(found.kind),
        urgency,
        found.places[0].file if found.places else "",
        found.id,
    )
