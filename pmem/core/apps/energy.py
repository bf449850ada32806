"""What models may spend on apps' memories: units that come back with time."""

from datetime import datetime
from typing import Final

SECONDS_AN_HOUR: Final = 3600
PER_HOUR: Final = 20.0
"""Units that come back each hour."""
FLOOR: Final = 0.2
"""Share of the units below which work that needs a model waits."""
CREATION: Final = 12.0
"""Units that a model costs to sum up a conversation."""
COMPACTION: Final = 25.0
"""Units that a model costs to compact."""


def refilled(
    level: float, since: datetime, now: datetime, capacity: float, per_hour: float
) -> float:
    """Return the units there are now; a clock that ran backwards counts as no time passed."""
    hours = max(0.0, (now - since).total_seconds() / SECONDS_AN_HOUR)
    return min(capacity, level + hours * per_hour)


def may_spend(level: float, capacity: float, floor: float) -> bool:
    """Tell whether work that costs units may run: only above the floor, a share of the capacity."""
    return level > capacity * floor
