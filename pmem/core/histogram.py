"""How a store came to be what it is: ages of what it holds, and its growth period by period."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import UTC, datetime, timedelta
from itertools import accumulate
from typing import Final

import msgspec

from pmem.values.times import UNDATED, shifted

AGES: Final = (
    ("today", 1),
    ("this_week", 7),
    ("this_month", 30),
    ("this_quarter", 91),
    ("this_year", 365),
)
"""The buckets of ages: their names, and the days that everything in them is younger than."""
OLDER: Final = "older"
MOST_PERIODS: Final = 60
"""Periods that a growth has at the most, unless even years are more."""
UNITS: Final = ("day", "week", "month", "year")


class Period(msgspec.Struct, frozen=True, kw_only=True):
    """A stretch of a store's life: what was added in it, and how many there were at its end."""

    start: datetime
    added: int
    total: int


class Growth(msgspec.Struct, frozen=True, kw_only=True):
    """A store's growth; `per` is how long a period is: a day, week, month or year."""

    per: str
    periods: tuple[Period, ...]


def by_age(made_after: Callable[[datetime], int], made: int, now: datetime) -> dict[str, int]:
    """Count how many things are how old; what is yet to come counts as of today.

    `made_after` returns how many were made after a moment, `made` is how many there are.

    Returns:
        Counts by bucket: the last 24 hours, 7, 30, 91 and 365 days, and whatever is older. Each
        time is in one bucket.
    """
    counts = {}
    younger = 0
    for name, days in AGES:
        more = made_after(shifted(now, -timedelta(days=days)))
        counts[name], younger = more - younger, more
    return {**counts, OLDER: made - younger}


def growth(times: Iterable[datetime] | Mapping[datetime, int], now: datetime) -> Growth:
    """Return how many things were made in each period from the first to the present.

    What came without a time counts in the first period.

    Returns:
        Periods of the shortest length of which there are no more than 60. Weeks begin on
        Mondays, everything in UTC.
    """
    counts = Counter(times)
    given = sorted(map(_in_utc, counts))
    dated = [at for at in given if at != UNDATED] or given
    if not dated:
        return Growth(per=UNITS[0], periods=())
    last = max(now, dated[-1])
    first, shorter = dated[0], UNITS[:-1]
    per = next((unit for unit in shorter if _periods(first, last, unit) <= MOST_PERIODS), UNITS[-1])
    added: Counter[datetime] = Counter()
    for at, many in counts.items():
        made = _in_utc(at)
        added[_start(first if made == UNDATED else made, per)] += many
    starts = list(_starts(first, last, per))
    totals = accumulate(added[start] for start in starts)
    return Growth(
        per=per,
        periods=tuple(
            Period(start=start, added=added[start], total=total)
            for start, total in zip(starts, totals, strict=True)
        ),
    )


def _in_utc(at: datetime) -> datetime:
    try:
        return at.astimezone(UTC)
    except OverflowError:  # in UTC it would lie outside the calendar
        return at.replace(tzinfo=UTC)


def _periods(first: datetime, last: datetime, per: str) -> int:
    """Count the periods from the one of `first` to the one of `last`."""
    if per == "month":
        return 12 * (last.year - first.year) + last.month - first.month + 1
    return (_start(last, per) - _start(first, per)).days // (7 if per == "week" else 1) + 1


def _starts(first: datetime, last: datetime, per: str) -> Iterator[datetime]:
    start: datetime | None = _start(first, per)
    while start is not None and start <= last:
        yield start
        start = _next(start, per)


def _start(at: datetime, per: str) -> datetime:
    """Return when the period began that a time lies in."""
    day = datetime(at.year, at.month, at.day, tzinfo=UTC)
    if per == "year":
        return day.replace(month=1, day=1)
    if per == "month":
        return day.replace(day=1)
    return day - timedelta(days=day.weekday()) if per == "week" else day  # the first is a Monday


def _next(start: datetime, per: str) -> datetime | None:
    """Return when the period after one begins; None at the calendar's end."""
    try:
        if per == "year":
            return start.replace(year=start.year + 1)
        if per == "month":
            return _start(start + timedelta(days=31), per)
        return start + timedelta(days=7 if per == "week" else 1)
    except (OverflowError, ValueError):
        return None
