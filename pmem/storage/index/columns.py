"""What selections ask of records, as columns of the index.

A column says what the filter of its name compares. Times are microseconds since 1970.
"""

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any, Final

from pmem.core.filters import created, fold, importance_of, updated
from pmem.core.policy import app_of, category_of, is_procedural
from pmem.core.trust import LEVELS, trust_of
from pmem.values.records import Record
from pmem.values.times import UNDATED

_TICK: Final = timedelta(microseconds=1)


def ticks(at: datetime) -> int:
    """Return a moment as the columns keep it."""
    return (at - UNDATED) // _TICK


def _time(field: str) -> Callable[[Any], int | None]:
    def column(record: Any) -> int | None:
        at = getattr(record, field, None)
        return None if at is None else ticks(at)

    return column


def _scope(field: str) -> Callable[[Any], str | None]:
    return lambda record: getattr(getattr(record, "scope", None), field, None)


def _trust(record: Any) -> int | None:
    trust = trust_of(record)
    return None if trust is None else LEVELS.index(trust)


_COLUMNS: Final[dict[str, tuple[str, Callable[[Any], Any]]]] = {
    "state": ("text", lambda record: str(getattr(record, "state", "active"))),
    "type": ("text", lambda record: getattr(record, "type", None)),
    "category": ("text", lambda record: getattr(record, "category", None)),
    "kind": ("text", category_of),
    "procedural": ("integer", is_procedural),
    "app": ("text", app_of),
    "user": ("text", _scope("user")),
    "agent": ("text", _scope("agent")),
    "run": ("text", _scope("run")),
    "actor": ("text", _scope("actor")),
    "role": ("text", _scope("role")),
    "subject": ("text", lambda record: fold(getattr(record, "subject", None) or "")),
    "importance": ("real", importance_of),
    "pinned": ("integer", lambda record: getattr(record, "pinned", False)),
    "trust": ("integer", _trust),
    "created": ("integer", lambda record: ticks(created(record))),
    "updated": ("integer", lambda record: ticks(updated(record))),
    "valid_from": ("integer", _time("valid_from")),
    "valid_until": ("integer", _time("valid_until")),
    "tokens": ("integer", lambda record: getattr(record, "tokens", 0)),
}

COLUMNS: Final = {name: type_ for name, (type_, _) in _COLUMNS.items()}
"""The columns and their types."""


def column_values(record: Record) -> list[Any]:
    """Return what the columns hold of a record, in their order."""
    return [column(record) for _, column in _COLUMNS.values()]
