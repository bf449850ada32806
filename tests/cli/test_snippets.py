"""What a search prints of a long text: the words around what was asked for."""

import pytest

from tests.faults.console import pmem

LONG = " ".join(f"word{number}" for number in range(60))


@pytest.mark.usefixtures("root")
def test_dots_stand_only_where_something_was_left_out() -> None:
    assert pmem("add", f"zebra {LONG}").code == 0
    assert pmem("add", f"{LONG} giraffe").code == 0
    assert pmem("add", "a short note of a lion").code == 0
    start, end, whole = (
        pmem("search", word).out.decode().splitlines()[0] for word in ("zebra", "giraffe", "lion")
    )
    assert start.endswith(" …")
    assert "… zebra" not in start
    assert end.endswith("giraffe")
    assert "… word" in end
    assert "…" not in whole
