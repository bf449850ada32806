"""Dates in words: `yesterday`, `friday`, `2 weeks ago`, `eom`, as the present makes them.

The words are those of taskwarrior and git; docs/decisions/0058 says why no library reads them.
"""

import re
from calendar import monthrange
from datetime import datetime, timedelta
from typing import Final

_DAYS: Final = {"today": 0, "yesterday": -1, "tomorrow": 1}
_WEEKDAYS: Final = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_SECONDS: Final = {"second": 1, "minute": 60, "hour": 3_600, "day": 86_400, "week": 604_800}
_MONTHS: Final = {"month": 1, "quarter": 3, "year": 12}
_LETTERS: Final = {"w": "week", "m": "month", "q": "quarter", "y": "year"}
_SIDES: Final = {"last": -1, "this": 0, "next": 1}
_EDGE: Final = re.compile(r"([se])o([wmqy])|(s)tart of ([a-z]+)|(e)nd of ([a-z]+)")
_COUNT: Final = re.compile(r"(in )?([0-9]{1,5}|an?) ([a-z]{3,}?)s?( ago)?")
_AGE: Final = re.compile(r"(in )?([0-9]{1,5})([smhdw])( ago)?")
_SHORT: Final = {name[0]: name for name in _SECONDS}
LENGTH: Final = 40
"""Characters that a date in words has at the most."""


def read_date_words(text: str, now: datetime, today: datetime, *, ahead: bool) -> datetime | None:
    """Return the moment in UTC, or the day, that words mean; None where they mean none.

    A day, such as `today` of whoever wrote the text, is its first instant, without a zone. The end
    of a week, month, quarter or year is the first day after it. With `ahead` a bare weekday or
    duration lies in the future. A moment that leaves the calendar raises `OverflowError` or
    `ValueError`.
    """
    words = " ".join(text.lower().split()) if len(text) <= LENGTH else ""
    if words == "now":
        return now
    if words in _DAYS:
        return today + timedelta(days=_DAYS[words])
    return (
        _weekday(words, today, ahead=ahead)
        or _near(words, today)
        or _edge(words, today)
        or _read_count(words, now, ahead=ahead)
    )


def _weekday(words: str, today: datetime, *, ahead: bool) -> datetime | None:
    """Return the latest such day, today as well; or the next one, where they lie ahead."""
    number = _weekday_number(words)
    if number is None:
        return None
    back = (today.weekday() - number) % 7
    return today - timedelta(days=back - 7 if ahead else back)


def _weekday_number(word: str) -> int | None:
    """Return a weekday's number, Monday's being 0; three letters will do."""
    for number, name in enumerate(_WEEKDAYS):
        if word in (name, name[:3]):
            return number
    return None


def _near(words: str, today: datetime) -> datetime | None:
    """Read `last friday`, `this week`, `next month`: a period is its start."""
    side, _, what = words.partition(" ")
    if side not in _SIDES:
        return None
    number = _weekday_number(what)
    if number is None:
        return _start(what, today, _SIDES[side])
    if side == "this":
        return today + timedelta(days=number - today.weekday())
    if side == "next":
        return _weekday(what, today, ahead=True)
    return _weekday(what, today - timedelta(days=1), ahead=False)


def _edge(words: str, today: datetime) -> datetime | None:
    """Read `eom` and `end of month`, `sow` and `start of week`."""
    found = _EDGE.fullmatch(words)
    if not found:
        return None
    edge, period = (part for part in found.groups() if part)
    return _start(_LETTERS.get(period, period), today, 1 if edge == "e" else 0)


def _start(period: str, today: datetime, steps: int) -> datetime | None:
    """Return the start of this week, month, quarter or year, or of one so many steps from it."""
    if period == "week":
        return today + timedelta(days=7 * steps - today.weekday())
    length = _MONTHS.get(period)
    if length is None:
        return None
    first = today.month - (today.month - 1) % length
    return _plus_months(today.replace(month=first, day=1), length * steps)


def _read_count(words: str, now: datetime, *, ahead: bool) -> datetime | None:
    """Read `2 weeks`, `a month ago`, `in 3 days`, `2w ago`."""
    found = _COUNT.fullmatch(words) or _AGE.fullmatch(words)
    if not found or (found[1] and found[4]):
        return None
    unit = _SHORT.get(found[3], found[3])
    number = int(found[2]) if found[2].isdigit() else 1
    by = number if found[1] or (ahead and not found[4]) else -number
    if unit in _MONTHS:
        return _plus_months(now, by * _MONTHS[unit])
    return now + timedelta(seconds=by * _SECONDS[unit]) if unit in _SECONDS else None


def _plus_months(at: datetime, months: int) -> datetime:
    """Return a moment so many months later, on the month's last day where it is shorter."""
    year, month = divmod(at.year * 12 + at.month - 1 + months, 12)
    if not 1 <= year <= 9_999:
        raise OverflowError
    return at.replace(year=year, month=month + 1, day=min(at.day, monthrange(year, month + 1)[1]))
