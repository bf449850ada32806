"""Words for days mean the day of who types them; what is kept for a day is shown as that date."""

import os
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from pmem.cli.screens.drawing import ScreenView
from pmem.values.times import parse_moment, parse_time
from tests.faults.console import pmem

Zone = Callable[[str], None]


@pytest.fixture
def zone(monkeypatch: pytest.MonkeyPatch) -> Iterator[Zone]:
    """Return what moves this process into a time zone."""
    if not hasattr(time, "tzset"):
        pytest.skip("this system has no time zone for a process")

    def move(name: str) -> None:
        monkeypatch.setenv("TZ", name)
        time.tzset()

    yield move
    os.environ["TZ"] = "UTC"
    time.tzset()


KEPT = [
    ("Europe/Berlin", "2026-10-24T22:30:00Z", "tomorrow", "2026-10-26"),
    ("Pacific/Auckland", "2026-11-26T12:30:00Z", "today", "2026-11-27"),
    ("America/Los_Angeles", "2026-11-27T03:00:00Z", "tomorrow", "2026-11-27"),
    ("Pacific/Kiritimati", "2026-11-26T12:30:00Z", "friday", "2026-12-04"),
    ("Pacific/Pago_Pago", "2026-11-27T10:00:00Z", "friday", "2026-11-27"),
    ("Asia/Kathmandu", "2026-11-26T18:20:00Z", "tomorrow", "2026-11-28"),
    ("Asia/Kathmandu", "2026-11-30T18:20:00Z", "eom", "2027-01-01"),
    ("UTC", "2026-11-26T23:59:59Z", "tomorrow", "2026-11-27"),
]


@pytest.mark.parametrize(("where", "now", "word", "date"), KEPT)
def test_a_word_that_is_kept_for_a_day_is_the_date_of_who_types_it(
    zone: Zone, where: str, now: str, word: str, date: str
) -> None:
    zone(where)
    kept = parse_time(word, parse_moment(now), ahead=True)
    assert kept == datetime.fromisoformat(date).replace(tzinfo=UTC)


def test_a_day_to_look_back_to_begins_at_the_midnight_of_who_types_it(zone: Zone) -> None:
    now = parse_moment("2026-11-26T12:30:00Z")
    zone("Pacific/Auckland")
    assert parse_time("today", now) == parse_moment("2026-11-26T11:00:00Z")
    assert parse_time("yesterday", now) == parse_moment("2026-11-25T11:00:00Z")
    zone("Europe/Berlin")
    after_the_clocks_changed = parse_moment("2026-10-26T12:00:00Z")
    assert parse_time("saturday", after_the_clocks_changed) == parse_moment("2026-10-23T22:00:00Z")


def test_an_age_is_a_moment_and_no_day(zone: Zone) -> None:
    zone("Pacific/Auckland")
    now = parse_moment("2026-11-26T12:30:00Z")
    assert parse_time("2 days ago", now) == parse_moment("2026-11-24T12:30:00Z")
    assert parse_time("in 2 hours", now, ahead=True) == parse_moment("2026-11-26T14:30:00Z")


@pytest.mark.parametrize("where", ["Pacific/Kiritimati", "Pacific/Pago_Pago", "Asia/Kathmandu"])
def test_a_date_is_drawn_as_that_date_to_everybody(zone: Zone, where: str) -> None:
    zone(where)
    now = datetime(2026, 11, 21, 14, 30, tzinfo=UTC)
    assert ScreenView(80, now).when(parse_moment("2027-06-08")) == "8 Jun 2027"


def test_a_date_is_near_as_the_local_day_sees_it(zone: Zone) -> None:
    now = parse_moment("2026-11-26T12:30:00Z")
    date = parse_moment("2026-11-27")
    for where, said in (("Pacific/Auckland", "today"), ("Pacific/Pago_Pago", "tomorrow")):
        zone(where)
        assert ScreenView(80, now).when(date) == said


def test_an_end_that_has_begun_in_utc_alone_is_taken(zone: Zone, tmp_path: Path) -> None:
    os.chdir(tmp_path)
    assert pmem("init").code == 0
    zone("America/Los_Angeles")
    now = ("--now", "2026-11-27T03:00:00Z")
    done = pmem(*now, "add", "The site is closed", "--valid-until", "tomorrow", "--json")
    assert done.data["memory"]["valid_until"] == "2026-11-27T00:00:00Z"
    assert pmem(*now, "add", "Closed", "--valid-until", "today").code == 3
