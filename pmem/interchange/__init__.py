"""Other programs' formats: each module turns bytes into values, or values into bytes."""

import msgspec


class Skipped(msgspec.Struct, frozen=True):
    """Something that was not taken in: where it stands, and why."""

    where: str
    why: str
