"""What the history of a merged record says: which values had their place, and who decided since."""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from pmem.core.threeway.history import SOURCE
from pmem.core.threeway.values import Object, canonical

_LINKS: Final = "relationships"
_LINKED: Final = ("link", "replaced", "removed")
"""Where events on links keep them, instead of all links there were."""


class Told:
    """The history of a merge's result, beside those of its sides.

    Args:
        sides: The records that were merged, and what they started from.
        result: The merged record.
    """

    def __init__(self, sides: tuple[Object, ...], result: Object) -> None:
        known = {canonical(event) for side in sides for event in side.get("history", ())}
        self._events = list(result.get("history", ()))
        self._new = [event for event in self._events if canonical(event) not in known]
        edits = [event for event in self._new if event.get("source") != SOURCE]
        self.touched = bool(edits)
        self.decided = {field for event in edits for field in _fields(event)}
        self._values: dict[str, set[str]] | None = None
        self._fresh: dict[str, set[str]] | None = None

    def has(self, field: str, value: Any) -> bool:
        """Tell whether the history keeps a value that a field had, or had in it."""
        if self._values is None:
            self._values = _kept(self._events)
        return canonical(value) in self._values.get(field, ())

    def notes(self, field: str, value: Any) -> bool:
        """Tell whether an event that neither side has keeps such a value."""
        if self._fresh is None:
            self._fresh = _kept(self._new)
        return canonical(value) in self._fresh.get(field, ())

    def times(self) -> set[str]:
        """Return when everything happened."""
        return {event["at"] for event in self._events}


def _fields(event: Any) -> Iterator[str]:
    """Yield the fields that an event is about."""
    yield from event.get("before", ())
    if event.get("event") in ("LINK", "UNLINK"):
        yield _LINKS


def _kept(events: list[Any]) -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    for event in events:
        for field, value in event.get("before", {}).items():
            found.setdefault(field, set()).update(_inner(value))
        detail = event.get("detail")
        for field, value in _details(detail) if isinstance(detail, Mapping) else ():
            found.setdefault(field, set()).update(_inner(value))
    return found


def _details(detail: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    yield from ((_LINKS, detail[name]) for name in _LINKED if name in detail)
    kept = detail.get("kept")
    for item in kept if isinstance(kept, list) else ():
        path = item.get("path") if isinstance(item, Mapping) else None
        if isinstance(path, list) and path and isinstance(path[0], str):
            yield path[0], item.get("value")


def _inner(value: Any) -> Iterator[str]:
    """Yield a value and everything in it, as texts that can be compared."""
    yield canonical(value)
    if isinstance(value, Mapping):
        for inner in value.values():
            yield from _inner(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _inner(inner)
