"""Contradictions that a merge left in a record, until somebody settles them."""

from collections.abc import Iterable, Mapping
from typing import Any

from pmem.core.threeway.history import SOURCE


def open_conflicts(events: Iterable[Any]) -> dict[str, Any]:
    """Return the fields in which two sides contradicted each other and that nobody settled.

    Whoever changes such a field after the merge has settled it, and so has whoever says so.

    Args:
        events: A record's history as JSON, in its order.

    Returns:
        What the side that did not win said, by field, in alphabetical order.
    """
    found: dict[str, Any] = {}
    for event in events:
        before, detail = event.get("before", {}), event.get("detail", {})
        for field in (*before, *_fields(detail, "settled")):
            found.pop(field, None)
        if event.get("event") == "MERGE" and event.get("source") == SOURCE:
            found |= {field: before.get(field) for field in _fields(detail, "conflict")}
    return dict(sorted(found.items()))


def _fields(detail: Any, name: str) -> list[str]:
    """Return the fields that an event's detail names; other programs may write anything there."""
    named = detail.get(name) if isinstance(detail, Mapping) else None
    return [field for field in named if isinstance(field, str)] if isinstance(named, list) else []
