"""Where a record comes from: who answers for what its file holds.

What the reviewed branch holds was reviewed by people; what this person's pmem wrote, pmem knows;
what is committed is in the history of git. Anything else was changed from outside.
"""

from collections.abc import Collection
from enum import StrEnum
from typing import Final, NamedTuple


class RecordOrigin(StrEnum):
    """Who answers for a record."""

    REVIEWED = "reviewed"  # the reviewed branch holds it
    COMMITTED = "committed"  # the last commit holds it, and whoever works here made it
    WRITTEN = "written"  # this person's pmem wrote it, and it is not committed
    BROUGHT = "brought"  # commits of others hold it, which nobody has reviewed
    OUTSIDE = "outside"  # something else changed it since the last commit
    MISSING = "missing"  # something else removed it since the last commit
    UNKNOWN = "unknown"  # nothing here can tell


DOUBTED: Final = frozenset((RecordOrigin.BROUGHT, RecordOrigin.OUTSIDE, RecordOrigin.MISSING))
"""What nobody has reviewed, and whoever works here did not write."""

_MARKS: Final = {RecordOrigin.BROUGHT: "not reviewed", RecordOrigin.OUTSIDE: "changed outside pmem"}


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
