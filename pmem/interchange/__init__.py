"""Other programs' formats: each module turns bytes into values, or values into bytes."""

import msgspec


class Skipped(msgspec.Struct, frozen=True):
    """Something that was not taken in: where it stands, and why."""

    where: str
    why: str


class UnusedPart(msgspec.Struct, frozen=True):
    """A part of a file that an import has no use for: what it is, and its lines from one."""

    file: str
    what: str
    lines: tuple[int, int]
