"""Other programs' formats: each module turns bytes into values, or values into bytes."""

from datetime import UTC, datetime
from typing import Final

import msgspec

UNDATED: Final = datetime(1970, 1, 1, tzinfo=UTC)
"""The time of what comes without one; never the present, so that importing a file again
finds the same records."""


class Skipped(msgspec.Struct, frozen=True):
    """Something that was not taken in: where it stands, and why."""

    where: str
    why: str
