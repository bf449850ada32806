"""Contradictions that a merge left in a record, until somebody settles them."""

from collections.abc import Iterable
from typing import Any

from pmem.core.threeway.history import SOURCE


def open_conflicts(events: Iterable[Any]) -> list[str]:
    """Return the fields in which two sides contradicted each other and that nobody settled.

    Whoever changes such a field after the merge has settled it.

    Args:
        events: A record's history as JSON, in its order.
    """
    found: dict[str, None] = {}
    for event in events:
        for field in event.get("before", {}):
            found.pop(field, None)
        if event.get("event") == "MERGE" and event.get("source") == SOURCE:
            found |= dict.fromkeys(event.get("detail", {}).get("conflict", ()))
    return sorted(found)
