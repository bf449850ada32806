"""Identifiers sort by time, are safe as file names, and are the same for the same source."""

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pmem.values import ids
from tests import strategies


@pytest.mark.row("S2.10.5")
@given(st.integers(0, 2**56), st.integers(0, 2**64))
def test_what_is_made_is_an_id_and_tells_its_moment(moment: int, chance: int) -> None:
    made = ids.make_id(moment, chance)
    assert ids.is_id(made)
    assert moment == int(made.partition("-")[0], 36)
    assert len(ids.short(made)) == 8


@pytest.mark.row("S2.10.5")
@given(strategies.moments, strategies.moments, st.integers(0, 2**42), st.integers(0, 2**42))
def test_ids_sort_by_their_moment(one: datetime, other: datetime, a: int, b: int) -> None:
    """Eight digits in base 36 reach from the middle of 1972 to the middle of 2059."""
    earlier, later = sorted((one, other))
    if ids.milliseconds(earlier) < ids.milliseconds(later):
        assert ids.make_id(ids.milliseconds(earlier), a) < ids.make_id(ids.milliseconds(later), b)


@given(strategies.times)
def test_milliseconds_agree_with_the_calendar(at: datetime) -> None:
    since = at - datetime(1970, 1, 1, tzinfo=UTC)
    assert max(0, round(since.total_seconds() * 1000)) == ids.milliseconds(at)


@pytest.mark.parametrize("at", [datetime.min, datetime.max, datetime(1969, 12, 31)])
def test_an_id_can_be_made_at_every_time(at: datetime) -> None:
    assert ids.is_id(ids.make_id(ids.milliseconds(at.replace(tzinfo=UTC)), 0))


@pytest.mark.parametrize(
    "text",
    [
        *("", "-00000000", "abc-0000000", "abc-000000000", "abc00000000", "../abc-00000000"),
        *("abc-0000000/", "abc-00000000\n", "abc-00000000.json", "ABC-00000000"),
        *("abc-0000000é", "abc-0000000٣", "abc\x00-00000000", "123456789012-00000000"),
        ".tmp-00000000",
    ],
)
def test_nothing_else_is_an_id(text: str) -> None:
    assert not ids.is_id(text)


@given(strategies.moments, st.lists(st.text(), max_size=3))
def test_derived_ids_depend_on_time_and_parts_alone(at: datetime, parts: list[str]) -> None:
    derived = ids.derived_id(at, *parts)
    assert ids.is_id(derived)
    assert derived == ids.derived_id(at, *parts)
    assert derived != ids.derived_id(at, *parts, "one more")


def test_derived_ids_of_an_earlier_pmem_stay_what_they_were() -> None:
    """Two clones of different age must agree on file names; never change these."""
    at = datetime(2026, 1, 2, 3, 4, 5, 6000, tzinfo=UTC)
    assert ids.derived_id(at, "message", "c", "1") == "mjwaid1q-glhfle5d"


@given(strategies.ids, st.integers(0, 20), st.integers(0, 8))
def test_any_prefix_of_either_part_fits(identifier: str, whole: int, short: int) -> None:
    assert ids.matches(identifier[:whole], identifier)
    assert ids.matches(ids.short(identifier)[:short], identifier)
    assert not ids.matches(identifier + "0", identifier)


@given(moment=strategies.moments, parts=st.lists(st.text(max_size=5), max_size=3))
def test_an_id_tells_when_it_was_made(moment: datetime, parts: list[str]) -> None:
    assert ids.moment_of(ids.derived_id(moment, *parts)) == moment


@pytest.mark.parametrize("text", ["", "k3v9k3v9", "no id", "zzzzzzzzzzz-00000000", "../x-00000000"])
def test_what_is_no_id_tells_no_time(text: str) -> None:
    assert ids.moment_of(text) is None
