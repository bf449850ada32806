"""Times in and out: ISO 8601 with a zone, kept in UTC, to the millisecond."""

import re
from datetime import UTC, datetime, time, timedelta
from typing import Final

from pmem.errors import InvalidValue

UNDATED: Final = datetime(1970, 1, 1, tzinfo=UTC)
"""The time of what came without one; never the present, so that importing a file again finds
the same records."""
HOW_TO_WRITE_A_TIME: Final = (
    "write it as 2026-11-21, 2026-11-21T14:30:00Z, 3d, friday or '2 weeks ago'; "
    "`pmem help times` shows every form"
)

_AGO = r"(?!\d{6,7}d)(\d{1,7})([smhdw])"
"""Not 1234567d: as days that is three thousand years, as the start of a commit's id a revision."""
_UNITS = {"s": "seconds", "m": "minutes", "h": "hours", "d": "days", "w": "weeks"}
HALF_LIFE_DAYS: Final = 30
"""Days without recall that halve a memory in rankings, and wherever S2's manner is asked for."""


def parse_time(text: str, now: datetime, *, ahead: bool = False) -> datetime:
    """Read a time as people and programs write it.

    Args:
        text: ISO 8601 (a time without a zone is taken as UTC), a date, an age such as `3d` or
            `2w`, or words such as `friday`, which mean days of the local zone.
        now: The present.
        ahead: Whether the time is kept as an end, a start or a review: then an age or a weekday
            lies after `now`, and a day in words is kept as that date's midnight in UTC. Else it
            is the moment when the day begins in the local zone.

    Raises:
        InvalidValue: The text is none of these.
    """
    age = re.fullmatch(_AGO, text.strip())
    try:
        if age:
            by = timedelta(**{_UNITS[age[2]]: int(age[1])})
            return shifted(now, by) if ahead else now - by
        return parse_moment(text)
    except InvalidValue:
        return _words(text, now, ahead=ahead)
    except OverflowError:
        raise _no_time(text) from None


def _words(text: str, now: datetime, *, ahead: bool) -> datetime:
    from pmem.values.date_words import read_date_words

    try:
        today = now.astimezone().replace(hour=0, minute=0, second=0, microsecond=0, tzinfo=None)
        at = read_date_words(text, now, today, ahead=ahead)
        if at is None:
            raise _no_time(text)
        return in_utc(at if at.tzinfo or ahead else at.astimezone())
    except (OverflowError, ValueError):
        raise _no_time(text) from None


def _no_time(text: str) -> InvalidValue:
    return InvalidValue(f"{text!r} is not a time", HOW_TO_WRITE_A_TIME)


def parse_moment(value: object) -> datetime:
    """Read a time that other programs wrote: ISO 8601, in UTC without a zone."""
    try:
        return in_utc(datetime.fromisoformat(str(value).strip()))
    except (ValueError, OverflowError):
        raise InvalidValue(f"{value!r} is not a time") from None


def in_utc(at: datetime) -> datetime:
    """Return `at` in UTC, cut to the millisecond; no zone means UTC.

    Raises:
        OverflowError: The time leaves the calendar when moved to UTC.
    """
    aware = at.replace(tzinfo=UTC) if at.tzinfo is None else at.astimezone(UTC)
    return aware.replace(microsecond=aware.microsecond // 1000 * 1000)


def shifted(at: datetime, by: timedelta) -> datetime:
    """Return a moment moved by a duration, as far as the calendar goes."""
    try:
        return at + by
    except OverflowError:
        end = datetime.max if by > timedelta() else datetime.min
        return end.replace(tzinfo=at.tzinfo)


def is_date(at: datetime) -> bool:
    """Return whether a time was kept for a whole day: it is a date's midnight in UTC."""
    return at.astimezone(UTC).time() == time.min


def day(at: datetime) -> str:
    """Return a moment's date for people; what came without a time is `undated`."""
    return iso(at)[:10] if at.year > UNDATED.year else "undated   "


def iso(at: datetime) -> str:
    """Write a UTC time as ISO 8601, with milliseconds only where there are any."""
    unit = "milliseconds" if at.microsecond else "seconds"
    return at.isoformat(timespec=unit).replace("+00:00", "Z")
