"""Ages and growth: nothing is counted twice, nothing is lost, whatever the clocks say."""

from collections import Counter
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pmem.upkeep.statistics import MOST_PERIODS, OLDER, Growth, by_age, growth
from pmem.values.times import UNDATED
from tests import strategies
from tests.conftest import NOW

near = st.integers(-3, 3000).map(lambda days: NOW - timedelta(days=days, hours=days % 24))


def _at(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


def ages(times: list[datetime], now: datetime) -> dict[str, int]:
    def made(after: datetime, until: datetime | None) -> int:
        return sum(time > after and (until is None or time <= until) for time in times)

    return by_age(made, len(times), now)


@given(st.lists(strategies.times, max_size=20), strategies.times)
def test_every_time_has_one_age(times: list[datetime], now: datetime) -> None:
    counts = ages(times, now)
    assert len(times) == sum(counts.values())
    assert counts == {name: sum(ages([at], now)[name] for at in times) for name in ages([], now)}


@pytest.mark.parametrize(
    ("ago", "bucket"),
    [
        (timedelta(days=-400), "today"),
        (timedelta(0), "today"),
        (timedelta(days=1) - timedelta(milliseconds=1), "today"),
        (timedelta(days=1), "this_week"),
        (timedelta(days=7), "this_month"),
        (timedelta(days=30), "this_quarter"),
        (timedelta(days=91), "this_year"),
        (timedelta(days=365), OLDER),
        (NOW - UNDATED, OLDER),
    ],
)
def test_an_age_is_in_its_bucket(ago: timedelta, bucket: str) -> None:
    assert [bucket] == [name for name, count in ages([NOW - ago], NOW).items() if count]


def grown_by(*times: datetime) -> Growth:
    return growth(Counter(times), NOW)


@given(st.lists(near, max_size=30))
def test_growth_adds_up(times: list[datetime]) -> None:
    grown = grown_by(*times)
    assert len(times) == sum(period.added for period in grown.periods)
    assert len(times) == (grown.periods[-1].total if grown.periods else 0)
    starts = [period.start for period in grown.periods]
    assert starts == sorted(set(starts))
    assert grown.per == "year" or len(starts) <= MOST_PERIODS
    total = 0
    for period in grown.periods:
        total += period.added
        assert total == period.total
    if times:
        assert starts[0] <= min(times)
        assert starts[-1] <= max(NOW, *times)


@given(st.lists(strategies.times, max_size=4), strategies.times)
def test_growth_adds_up_at_both_ends_of_the_calendar(times: list[datetime], now: datetime) -> None:
    assert len(times) == sum(period.added for period in growth(Counter(times), now).periods)


@pytest.mark.parametrize(
    ("first", "per", "periods", "start"),
    [
        ("2026-11-21", "day", 1, "2026-11-21"),
        ("2026-09-23", "day", 60, "2026-09-23"),
        ("2026-09-22", "week", 9, "2026-09-21"),
        ("2025-10-06", "week", 59, "2025-10-06"),
        ("2024-01-31", "month", 35, "2024-01-01"),
        ("2021-12-31", "month", 60, "2021-12-01"),
        ("2021-11-30", "year", 6, "2021-01-01"),
    ],
)
def test_periods_are_as_short_as_there_is_room_for(
    first: str, per: str, periods: int, start: str
) -> None:
    grown = grown_by(_at(first), NOW)
    assert (per, periods) == (grown.per, len(grown.periods))
    assert _at(start) == grown.periods[0].start


def test_an_empty_store_has_not_grown() -> None:
    assert grown_by() == ("day", ())


def test_what_came_without_a_time_counts_in_the_first_period() -> None:
    grown = grown_by(UNDATED, NOW - timedelta(days=1), NOW, UNDATED)
    assert [3, 1] == [period.added for period in grown.periods]


def test_a_clock_that_ran_ahead_lengthens_the_growth() -> None:
    grown = grown_by(NOW, NOW + timedelta(days=2))
    assert [(1, 1), (0, 1), (1, 2)] == [(period.added, period.total) for period in grown.periods]
