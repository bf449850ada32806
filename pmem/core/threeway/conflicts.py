"""Contradictions that a merge left in a record, until somebody settles them."""

from collections.abc import Iterable, Mapping
from typing import Any, Final

from pmem.core.threeway.history import SOURCE

SETTLED: Final = "settled"
"""What an event's detail has that says which fields a person decided."""
REOPENED: Final = "reopened"
"""What an event's detail has that takes back what settled contradictions: those that are open."""


def open_conflicts(events: Iterable[Any]) -> dict[str, Any]:
    """Return the fields in which two sides contradicted each other and that nobody settled.

    Whoever changes such a field after the merge has settled it, and so has whoever says so.

    Returns:
        What the side that did not win said, by field, in alphabetical order.
    """
    found: dict[str, Any] = {}
    for event in events:
        before, detail = event.get("before", {}), event.get("detail", {})
        for field in (*before, *_fields(detail, SETTLED)):
            found.pop(field, None)
        again = detail.get(REOPENED) if isinstance(detail, Mapping) else None
        if isinstance(again, Mapping):  # a command that settled some was taken back
            found = {field: again[field] for field in again if isinstance(field, str)}
        if event.get("event") == "MERGE" and event.get("source") == SOURCE:
            found |= {field: before.get(field) for field in _fields(detail, "conflict")}
    return dict(sorted(found.items()))


def _fields(detail: Any, name: str) -> list[str]:
    """Return the fields that an event's detail names; other programs may write anything there."""
    named = detail.get(name) if isinstance(detail, Mapping) else None
    return [field for field in named if isinstance(field, str)] if isinstance(named, list) else []
