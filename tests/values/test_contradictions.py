"""Settings that contradict each other are refused; those that mean little together are told."""

import pytest

from pmem.errors import InvalidValue
from pmem.values.config import Settings
from pmem.values.setting_groups import check_together


@pytest.mark.row("S2.13.20")
@pytest.mark.parametrize(
    ("name", "value", "told"),
    [
        ("max_context_tokens", 10_000, r"\(10,000 together\) leave nothing"),
        ("working_memory_tokens", 126_000, r"\(128,000 together\) leave nothing"),
    ],
)
def test_a_value_that_contradicts_another_is_refused(name: str, value: float, told: str) -> None:
    with pytest.raises(InvalidValue, match=told):
        check_together(Settings(), name, value)


@pytest.mark.row("S2.13.20")
@pytest.mark.parametrize(
    ("name", "value", "told"),
    [
        ("chunk_size", 21, "a chunk takes half"),
        ("max_recent_messages", 9, "a chunk takes half"),
        ("min_recent_messages", 51, "so many of the latest messages stay"),
        ("max_messages", 9, "so many of the latest messages stay"),
    ],
)
def test_a_value_that_another_one_limits_is_told(name: str, value: int, told: str) -> None:
    assert told in check_together(Settings(), name, value)


@pytest.mark.parametrize(
    ("name", "value"),
    [("chunk_size", 20), ("max_messages", 10), ("secrets.gate", "off")],
)
def test_what_goes_together_is_not_spoken_of(name: str, value: object) -> None:
    assert check_together(Settings(), name, value) == ""
