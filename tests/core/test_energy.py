"""Energy comes back with time, never beyond what there may be, and is kept back below the floor."""

from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pmem.storage.local.appstate import may_spend, refilled
from tests.conftest import NOW

UNITS = st.floats(0, 1e6)


@pytest.mark.parametrize(
    ("hours", "units"), [(0, 40), (1, 60), (2.5, 90), (3, 100), (1000, 100), (-5, 40)]
)
def test_units_come_back_by_the_hour_up_to_the_capacity(hours: float, units: float) -> None:
    assert refilled(40, NOW, NOW + timedelta(hours=hours), 100, 20) == units


@given(UNITS, UNITS, UNITS, st.floats(-1e5, 1e5))
def test_no_clock_gives_more_than_the_capacity_or_takes_anything(
    level: float, capacity: float, per_hour: float, hours: float
) -> None:
    found = refilled(level, NOW, NOW + timedelta(hours=hours), capacity, per_hour)
    assert min(level, capacity) <= found <= capacity


@pytest.mark.row("S0.6.4")
@pytest.mark.parametrize(
    ("level", "allowed"), [(100, True), (20.01, True), (20, False), (0, False)]
)
def test_work_runs_above_the_floor_only(level: float, allowed: bool) -> None:
    assert may_spend(level, 100, 0.2) is allowed
