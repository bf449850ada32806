"""Times are read as people write them, and written as ISO 8601 in UTC."""

from contextlib import suppress
from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pmem.errors import InvalidValue
from pmem.values.times import in_utc, iso, parse_time
from tests import strategies
from tests.conftest import NOW
from tests.labelled import sections

SETS = sections("values/times.txt")
"""Words, as said on the Saturday that NOW is: when they lie behind, and ahead."""


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2026-11-21", "2026-11-21T00:00:00Z"),
        ("2026-11-21T14:30:00Z", "2026-11-21T14:30:00Z"),
        ("2026-11-21T14:30:00", "2026-11-21T14:30:00Z"),
        ("2026-11-21T14:30:00+02:00", "2026-11-21T12:30:00Z"),
        ("2026-11-21T14:30:00.123999Z", "2026-11-21T14:30:00.123Z"),
        (" 2026-11-21T14:30Z ", "2026-11-21T14:30:00Z"),
        ("3d", "2026-11-18T14:30:00.250Z"),
        ("2w", "2026-11-07T14:30:00.250Z"),
        ("90m", "2026-11-21T13:00:00.250Z"),
        ("1h", "2026-11-21T13:30:00.250Z"),
        ("10s", "2026-11-21T14:29:50.250Z"),
    ],
)
def test_times_are_read_as_people_write_them(text: str, expected: str) -> None:
    assert expected == iso(parse_time(text, NOW))


@pytest.mark.parametrize(
    "text",
    [
        "",
        "someday",
        "friday friday",
        "last 3 weeks",
        "in 2 weeks ago",
        "next",
        "9999 years ago",
        "2026-13-01",
        "2026-02-30",
        "9999999w",
        "12345678d",
        "1234567d",  # the start of a commit's id, as git shortens it
        "123456d",
        "-3d",
        "3 d",
        "3y",
        "0001-01-01T00:00:00+14:00",
        "9999-12-31T23:59:59-14:00",
        "1763735400",
        "2026-11-21T25:00:00Z",
        "٣d\x00",
    ],
)
def test_anything_else_is_refused_in_one_sentence(text: str) -> None:
    with pytest.raises(InvalidValue) as caught:
        parse_time(text, NOW)
    assert f"{text!r} is not a time" == caught.value.message
    assert "3d" in caught.value.hint


@pytest.mark.parametrize(
    ("text", "behind", "ahead"),  # NOW is a Saturday
    [row.split(" | ") for row in SETS["words"]],
)
def test_words_say_a_time_behind_or_ahead(text: str, behind: str, ahead: str) -> None:
    assert behind == iso(parse_time(text, NOW))
    assert (ahead or behind) == iso(parse_time(text, NOW, ahead=True))


def test_a_month_from_its_last_day_ends_on_the_last_day_of_a_shorter_one() -> None:
    assert parse_time("in 1 month", datetime(2027, 1, 31, tzinfo=UTC)).day == 28
    assert parse_time("a year ago", datetime(2028, 2, 29, tzinfo=UTC)).day == 28


@given(strategies.times, st.sampled_from(["friday", "2 weeks", "5h", "a year", "3 months"]))
def test_what_lies_behind_is_never_ahead(now: datetime, text: str) -> None:
    with suppress(InvalidValue):
        assert parse_time(text, now) <= now
    with suppress(InvalidValue):
        assert parse_time(text, now, ahead=True) > now


@given(strategies.times)
def test_writing_and_reading_gives_the_same_time(at: datetime) -> None:
    assert at == parse_time(iso(at), NOW)


@given(
    st.datetimes(datetime(2, 1, 1), datetime(9998, 1, 1)),
    st.integers(-14 * 60, 14 * 60).filter(bool),
)
def test_any_zone_becomes_the_same_moment_in_utc(at: datetime, minutes: int) -> None:
    there = at.replace(tzinfo=timezone(timedelta(minutes=minutes)))
    here = in_utc(there)
    assert here.tzinfo == UTC
    assert timedelta(0) <= there - here < timedelta(milliseconds=1)
    assert here == in_utc(here)


@given(st.text(max_size=30))
def test_no_text_makes_the_parser_stumble(text: str) -> None:
    with suppress(InvalidValue):
        assert parse_time(text, NOW).tzinfo == UTC


@given(st.integers(0, 9_999_999), st.sampled_from("smhdw"), st.sampled_from([1, 2026, 9999]))
def test_ages_never_leave_the_calendar(number: int, unit: str, year: int) -> None:
    try:
        at = parse_time(f"{number}{unit}", datetime(year, 12, 31, tzinfo=UTC))
    except InvalidValue:
        return
    assert at <= datetime(year, 12, 31, tzinfo=UTC)
