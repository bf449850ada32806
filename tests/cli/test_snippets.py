"""How much of a long text a hit shows, and how it says that there is more."""

import pytest

from tests.faults.console import pmem

MOST = 40


@pytest.mark.usefixtures("project")
@pytest.mark.parametrize(
    ("text", "shown"),
    [
        (f"{'word ' * MOST}apple", "word apple"),
        (f"apple{' word' * MOST}", "word …"),
        (f"apple{' word' * (MOST - 1)}", f" apple{' word' * (MOST - 1)}"),
        (f"{'ahead ' * 50}apple{' behind' * 50}", f"… {'ahead ' * 8}apple{' behind' * 31} …"),
    ],
    ids=["shown to its end", "goes on", "has just room", "from shortly before what was asked for"],
)
def test_a_long_text_is_shown_around_what_was_asked_for(text: str, shown: str) -> None:
    assert pmem("add", text).code == 0
    (line,) = pmem("search", "apple").out.decode().splitlines()
    assert line.endswith(shown)
