"""What fuzz tests share: the patience of a test that must pass on any machine."""

import pytest

from tests.fuzz import judging


@pytest.fixture(autouse=True)
def _patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let an input take all the time before it is cut off; `python -m tests.fuzz` is strict."""
    monkeypatch.setattr(judging, "MOST_SECONDS", judging.CUT_OFF_SECONDS)
