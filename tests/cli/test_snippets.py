"""How much of a long text a hit shows, and how it says that there is more."""

import pytest

from tests.faults.console import pmem

pytestmark = pytest.mark.usefixtures("project")
MOST = 40


def shown(text: str) -> str:
    """Return the line of the one hit for `apple`."""
    assert pmem("add", text).code == 0
    (line,) = pmem("search", "apple").out.decode().splitlines()
    return line


def test_a_text_that_is_shown_to_its_end_has_no_dots_behind_it() -> None:
    assert shown(f"{'word ' * MOST}apple").endswith("word apple")


def test_a_text_that_goes_on_says_so() -> None:
    assert shown(f"apple{' word' * MOST}").endswith("word …")


def test_a_text_that_has_just_room_is_shown_as_it_is() -> None:
    assert "…" not in shown(f"apple{' word' * (MOST - 1)}")


def test_a_text_is_shown_from_shortly_before_what_was_asked_for() -> None:
    line = shown(f"{'ahead ' * 50}apple{' behind' * 50}")
    assert f"… {'ahead ' * 8}apple{' behind' * 31} …" in line
