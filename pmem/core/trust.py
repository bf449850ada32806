"""How far a memory can be trusted: what follows from where it came from and who changed it since.

`high` a person wrote, changed or agreed to, or a file of the project says; `medium` pmem itself
made of what was said; `low` an agent wrote, came in by an import, or was contradicted in a merge,
and no person has looked at it since. What follows is only as good as the history: whoever can
commit to a project can write any history. So a record's origin says besides who answers for what
its file holds: what the reviewed branch has was reviewed by people, what this person's pmem wrote
pmem knows, what is committed is in git's history. Anything else was changed from outside.
"""

from collections import Counter
from collections.abc import Collection, Iterable
from enum import StrEnum
from typing import Any, Final, NamedTuple, TypeVar

from msgspec.structs import asdict

from pmem.core.lines import shortened
from pmem.core.retention import TAKES_BACK
from pmem.errors import InvalidValue
from pmem.values.defaults import DEFAULT_CATEGORY, DEFAULT_IMPORTANCE
from pmem.values.records import SAID, Access, Episode, Event, EventKind, Memory, MemoryType


class Trust(StrEnum):
    """How far a memory or an episode can be trusted."""

    LOW = "low"
    MEDIUM = "medium"
    HIGH = "high"


class RecordOrigin(StrEnum):
    """Who answers for a record."""

    REVIEWED = "reviewed"  # the reviewed branch holds it
    COMMITTED = "committed"  # the last commit holds it, and whoever works here made it
    WRITTEN = "written"  # this person's pmem wrote it, and it is not committed
    BROUGHT = "brought"  # commits of others hold it, which nobody has reviewed
    OUTSIDE = "outside"  # something else changed it since the last commit
    MISSING = "missing"  # something else removed it since the last commit
    UNKNOWN = "unknown"  # nothing here can tell


OriginCounts = tuple[Counter[RecordOrigin], Counter[str]]
"""How many records have which origin, and how many each role of a server wrote last."""


LEVELS: Final = tuple(Trust)
"""The lowest first."""

AGREED: Final = "consent"
"""What an event's detail has where a person agreed."""

INHERITED: Final = "trust"
"""What an event's detail has where a record was made of others that are not trusted wholly, or is
again what it was when it was trusted so far."""

TOLD: Final = frozenset(SAID)
"""What a memory or an episode says."""

BINDING: Final = (MemoryType.CONSTRAINT, MemoryType.PROCEDURE)
"""Types that tell readers what to do."""
_NAME: Final = 40
"""Characters of an agent's name that are told."""
_COMMONPLACE: Final = 0.5
"""The significance of an episode of which nobody says more."""

_WRITING: Final = frozenset((EventKind.ADD, EventKind.UPDATE, EventKind.MERGE))
_SAYS: Final = TOLD | {"type"}
_GIT: Final = "git"
_CONTRADICTED: Final = "conflict"
"""What the detail of git's merge has where two branches contradicted each other."""
_IMPORT: Final = "import"
_MANUAL: Final = "manual"
_CONVERSATION: Final = "conversation"
_FILES: Final = frozenset(("notes", "adr"))
"""What follows a file of the project is as trusted as that."""
_MARK: Final = "stops_edits"

DOUBTED: Final = frozenset((RecordOrigin.BROUGHT, RecordOrigin.OUTSIDE, RecordOrigin.MISSING))
"""What nobody has reviewed, and whoever works here did not write."""

_MARKS: Final = {RecordOrigin.BROUGHT: "not reviewed", RecordOrigin.OUTSIDE: "changed outside pmem"}

R = TypeVar("R", Memory, Episode)


def trust_of(record: Any) -> Trust | None:
    """Return how far a record can be trusted; None where it is no memory and no episode."""
    if isinstance(record, Memory | Episode):
        trust, is_of_talk = _begun(record), _is_of_talk(record)
        for event in record.history:
            trust = _after(trust, event, is_of_talk=is_of_talk)
        return trust
    level = getattr(record, "trust", None)
    return None if level is None else Trust(level)


def with_trust(record: Any) -> dict[str, Any]:
    """Return a record's fields as answers give them: with how far it can be trusted."""
    trust = trust_of(record)
    fields = asdict(record)
    return fields if trust is None else {**fields, "trust": trust}


def reaches(record: Any, least: str) -> bool:
    """Tell whether a record is trusted at least so far; what has no trust is not."""
    wanted = level_of(least)
    trust = trust_of(record)
    return trust is not None and LEVELS.index(trust) >= wanted


def level_of(name: str) -> int:
    """Return where a level stands among all of them, from 0 for the lowest."""
    if name not in LEVELS:
        raise InvalidValue(f"there is no trust {name!r}", f"there are {', '.join(LEVELS)}")
    return LEVELS.index(Trust(name))


def lowest(*records: Memory | Episode) -> Trust:
    """Return the least that one of several records is trusted."""
    return min((trust_of(record) or Trust.LOW for record in records), key=LEVELS.index)


def peers(record: R, others: Iterable[R]) -> list[R]:
    """Return those of others that are trusted at least as far as a record, in their order."""
    least = trust_of(record) or Trust.LOW
    return [other for other in others if reaches(other, least)]


def doubt(record: Memory | Episode) -> int:
    """Return a number that sorts records, the most trusted first."""
    return -LEVELS.index(trust_of(record) or Trust.LOW)


def inherited(*records: Memory | Episode) -> dict[str, str]:
    """Return what an event's detail says of what its record is made of, unless all is trusted."""
    trust = lowest(*records)
    return {} if trust is Trust.HIGH else {INHERITED: trust}


def modest(record: Memory | Episode, prominent: Collection[str]) -> dict[str, Any]:
    """Return what a record from somebody else may not claim of itself, as it is to be instead.

    It is not pinned, was never recalled, and is worth no more than others of its type. What binds
    readers becomes a fact, and what stands among the constraints, or in a category that contexts
    show whole, goes where such memories are by default.
    """
    if isinstance(record, Episode):
        worth = min(record.significance, _COMMONPLACE)
        return {"pinned": False, "significance": worth, "access": Access()}
    type_ = MemoryType.FACT if record.type in BINDING else record.type
    is_loud = record.category in {DEFAULT_CATEGORY[MemoryType.CONSTRAINT], *prominent}
    return {
        "type": type_,
        "category": DEFAULT_CATEGORY[type_] if is_loud else record.category,
        "importance": min(record.importance, DEFAULT_IMPORTANCE[type_]),
        "pinned": False,
        "stops_edits": False,
        "access": Access(),
    }


def noting(record: Any) -> Event | None:
    """Return by which event an agent wrote what a record says, where no person has agreed."""
    last = None
    for event in getattr(record, "history", ()):
        if event.event in _WRITING and _doubts(event):
            last = None
        elif event.agent and _says(event) and not (_is_new(event) and _is_of_talk(record)):
            last = event
    return last if last is not None and trust_of(record) is Trust.LOW else None


def noted_by(record: Any) -> str:
    """Return the agent that wrote what a record says, where no person has agreed; else nothing."""
    event = noting(record)
    return "" if event is None else event.agent


def assistant_of(agent: str | None, actor: str) -> str:
    """Return what stands for an agent that works for somebody; nothing where there is none."""
    return f"{agent} {actor}" if agent else ""


def may_be_told(record: Any, noted_for: str | None) -> bool:
    """Tell whether contexts and hooks show a record by itself.

    They do not show what agents noted, but that of `noted_for` (see `assistant_of`; None for all),
    nor an episode that was imported, before a person agrees.
    """
    event = noting(record)
    if event is not None:
        return noted_for in (None, assistant_of(event.agent, event.actor))
    return not isinstance(record, Episode) or trust_of(record) is not Trust.LOW


def label_of(record: Any, *, plain: bool = False) -> str:
    """Return how far a record can be trusted, as it is told before its text; see `mark_of`.

    Where that is to be `plain`, nothing tells that nobody confirmed what an agent noted.
    """
    agent = noted_by(record)
    return "" if agent and plain else mark_of(trust_of(record), agent)


def mark_of(trust: Trust | None, agent: str = "") -> str:
    """Return how a level is told beside a text, of what an `agent` noted that nobody confirmed it.

    Nothing where there is nothing to say.
    """
    if agent:
        return f"(noted by {shortened(agent, _NAME)}, not confirmed) "
    return "" if trust in (None, Trust.HIGH) else f"(trust: {trust}) "


def _begun(record: Memory | Episode) -> Trust:
    """Return how far a record can be trusted by its kind of source, before anything happened."""
    if isinstance(record, Episode):
        return Trust.HIGH if record.turns is None else Trust.MEDIUM
    kind = record.source.kind
    if kind.startswith(_IMPORT):
        return Trust.LOW
    return Trust.HIGH if kind == _MANUAL or kind in _FILES else Trust.MEDIUM


def _is_of_talk(record: Any) -> bool:
    """Tell whether pmem made a record of what was said, whoever ran it."""
    if isinstance(record, Episode):
        return record.turns is not None
    return isinstance(record, Memory) and record.source.kind == _CONVERSATION


def _after(trust: Trust, event: Event, *, is_of_talk: bool) -> Trust:
    restored = event.detail.get(INHERITED) if TAKES_BACK in event.detail else None
    if restored in LEVELS:
        return Trust(restored)
    follows = event.source in _FILES and not event.agent
    if event.event not in _WRITING or (follows and AGREED not in event.detail):
        return trust
    if AGREED in event.detail:
        return Trust.HIGH
    if _doubts(event):
        return Trust.LOW
    if event.agent or event.source:
        most = _most(event, is_of_talk=is_of_talk)
        return min(trust, most, key=LEVELS.index) if _says(event) else trust
    return Trust.HIGH if event.event is EventKind.UPDATE else trust


def _says(event: Event) -> bool:
    """Tell whether an event changes what a record says."""
    return _is_new(event) or (event.event in _WRITING and not _SAYS.isdisjoint(event.before))


def _is_new(event: Event) -> bool:
    return event.event is EventKind.ADD


def _doubts(event: Event) -> bool:
    """Tell whether an event takes all trust away: an import, or branches that disagree."""
    contradicted = event.source == _GIT and _CONTRADICTED in event.detail
    return contradicted or event.source.startswith(_IMPORT)


def _most(event: Event, *, is_of_talk: bool) -> Trust:
    """Return how far what an agent or pmem itself wrote can be trusted at the most.

    A merge writes nothing new: it is worth as much as what went into it.
    """
    if event.agent and not (_is_new(event) and is_of_talk):
        return Trust.LOW
    most = Trust.HIGH if event.event is EventKind.MERGE else Trust.MEDIUM
    made_of = event.detail.get(INHERITED)
    return min(most, Trust(made_of), key=LEVELS.index) if made_of in LEVELS else most


def may_be_marked(memory: Memory) -> bool:
    """Tell whether a person may mark a memory: no agent made it, and no import brought it."""
    begun = [event for event in memory.history if event.event is EventKind.ADD]
    return memory.source.kind == _MANUAL and not any(each.agent or each.source for each in begun)


def may_stop(memory: Memory) -> bool:
    """Tell whether a memory's mark counts.

    It does where a person set it by an edit, and nobody who is trusted less has changed what the
    memory says since. A history can be forged, so the user's own settings have to allow it as well.
    """
    if not memory.stops_edits or not may_be_marked(memory) or trust_of(memory) is not Trust.HIGH:
        return False
    marked = [event for event in memory.history if _MARK in event.before]
    return bool(marked) and not (marked[-1].agent or marked[-1].source)


class Holder(NamedTuple):
    """What git holds of a record: the objects that the reviewed branch, the last commit, commits
    made here and those of a merge under way have, and the object of its file.

    `is_tracked` says whether git has the memory at all.
    """

    file: Collection[str]
    reviewed: str | None
    committed: str | None
    made_here: Collection[str] = ()
    merging: Collection[str] = ()
    is_tracked: bool = True


def origin_of(held: Holder | None, *, written: bool | None) -> RecordOrigin:
    """Return where a record that is there comes from.

    Args:
        held: What git holds; None where it cannot be asked.
        written: Whether the file is as this person's pmem last wrote it; None where it never
            wrote the record, or does not know.
    """
    if held is not None and held.reviewed in held.file:
        return RecordOrigin.REVIEWED
    is_committed = held is not None and held.committed in held.file
    if written:
        return RecordOrigin.COMMITTED if is_committed else RecordOrigin.WRITTEN
    if held is None or not held.is_tracked:
        return RecordOrigin.UNKNOWN if written is None else RecordOrigin.OUTSIDE
    if is_committed:
        is_own = not set(held.file).isdisjoint(held.made_here)
        return RecordOrigin.COMMITTED if is_own else RecordOrigin.BROUGHT
    return (
        RecordOrigin.BROUGHT
        if not set(held.file).isdisjoint(held.merging)
        else RecordOrigin.OUTSIDE
    )


def origin_mark(origin: object) -> str:
    """Return how an origin is told beside a text; nothing where there is nothing to say."""
    mark = _MARKS.get(origin) if isinstance(origin, RecordOrigin) else None
    return f"({mark}) " if mark else ""
