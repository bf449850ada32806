"""JSON values as merging sees them: when two are the same, and which moment is later."""

import json
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, Final

Object = Mapping[str, Any]
"""A JSON object."""

BEGINNING: Final = datetime.min.replace(tzinfo=UTC)


class Doubt(Exception):
    """Something is not as pmem writes it, so it is not for pmem to merge."""


class _Missing:
    """The value of a key that is not there."""

    def __bool__(self) -> bool:
        return False


MISSING: Final = _Missing()
_PLAIN: Final = (str, bool, int, _Missing, type(None))


def canonical(value: Any) -> str:
    """Write a value as JSON in the one form that equal values share."""
    if value is MISSING:
        return ""
    return json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":"))


def same(one: Any, other: Any) -> bool:
    """Tell whether two values are the same JSON; unlike in Python, true is not 1."""
    if one is other:
        return True
    if isinstance(one, _PLAIN) or isinstance(other, _PLAIN):
        return type(one) is type(other) and bool(one == other)
    return canonical(one) == canonical(other)


def moment(value: Any) -> datetime:
    """Read a time as records hold it.

    Raises:
        Doubt: It is anything else.
    """
    try:
        at = datetime.fromisoformat(value)
    except (TypeError, ValueError):
        raise Doubt(f"{value!r} is not a time") from None
    if at.tzinfo is None:
        raise Doubt(f"{value!r} has no time zone")
    return at


def moment_in(item: Any, field: str) -> datetime:
    """Return the time that an object has in a field; the beginning of time where it has none."""
    value = item.get(field) if isinstance(item, Mapping) else None
    return BEGINNING if value is None else moment(value)
