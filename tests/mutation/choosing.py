"""A plugin of pytest that runs the tests of a list only, in its order."""

from pathlib import Path

import pytest

CHOSEN = "chosen.txt"


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    tests = Path(CHOSEN).read_text(encoding="utf-8").split("\0")
    order = {test: place for place, test in enumerate(tests)}
    chosen = [item for item in items if item.nodeid in order]
    items[:] = sorted(chosen, key=lambda item: order[item.nodeid])
