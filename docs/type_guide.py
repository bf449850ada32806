"""What each type of memory is for, and what pmem does with it: docs/types.md."""

from collections.abc import Mapping
from typing import Final

import msgspec

from pmem.values.records import MemoryType


class TypeGuide(msgspec.Struct, frozen=True, kw_only=True):
    """What to write down as a type, an example, and what the type does.

    Attributes:
        meaning: What to write down as this type.
        example: A memory of it.
        effect: What it does in search, contexts and ageing.
    """

    meaning: str
    example: str
    effect: str


GUIDE: Final[Mapping[MemoryType, TypeGuide]] = {
    MemoryType.FACT: TypeGuide(
        meaning="How things are: what you would look up or ask again.",
        example="CI runs on two runners with four cores each",
        effect="Shown where it answers; half-life without use 180 days.",
    ),
    MemoryType.DECISION: TypeGuide(
        meaning="What was chosen, and why; --instead-of says what was not.",
        example="We use PostgreSQL, because orders need transactions",
        effect="Before facts in contexts; shown when its files are opened; never fades.",
    ),
    MemoryType.PREFERENCE: TypeGuide(
        meaning="How somebody likes things done, though another way works.",
        example="Ana prefers small commits with a subject of at most 60 characters",
        effect="Before decisions in contexts; in rule files; never fades.",
    ),
    MemoryType.ENTITY: TypeGuide(
        meaning="Who or what it is: a person, a service, a customer.",
        example="Ben owns the CI; ask him before you change its runners",
        effect="Shown where it answers; half-life without use a year.",
    ),
    MemoryType.PROCEDURE: TypeGuide(
        meaning="How something is done, step by step.",
        example="Release: 1. Bump the version. 2. Tag it. 3. Watch the dashboard",
        effect="Recalled, in no standing block; never fades.",
    ),
    MemoryType.CONSTRAINT: TypeGuide(
        meaning="What must or must not be, for everyone.",
        example="The API answers within 200 ms",
        effect="First in contexts; shown when its files are opened, in rule files; never fades.",
    ),
    MemoryType.GOAL: TypeGuide(
        meaning="What somebody wants to reach.",
        example="Version 1.0 runs on Windows",
        effect="Starts at importance 0.8; shown where it answers; never fades.",
    ),
    MemoryType.INSIGHT: TypeGuide(
        meaning="What several memories show; `consolidate` notes them as `relationship_dynamic`.",
        example="Every outage of this year began with a change of settings",
        effect="Shown where it answers; half-life without use 90 days.",
    ),
    MemoryType.DEAD_END: TypeGuide(
        meaning="What was tried and failed, and why; see `pmem tried`.",
        example="Tried to raise the retries to 5. It failed: the vendor blocked us",
        effect="Shown first when its files are opened, until it is settled; never fades.",
    ),
}
