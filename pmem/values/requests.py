"""What several use cases are asked with."""

from datetime import datetime

import msgspec


class NoArguments(msgspec.Struct, frozen=True, kw_only=True):
    """A request that leaves nothing to be said."""


class AtRequest(msgspec.Struct, frozen=True, kw_only=True):
    """A request about everything: as it is, or as it was at a moment or a git revision."""

    at: datetime | str | None = None
