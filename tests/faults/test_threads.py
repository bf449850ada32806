"""Some seconds of the storm of threads; `python -m tests.faults.threads` is the long one."""

import pytest

from tests.faults.threads import apart

CALLS = 40
"""Of each thread: some ten seconds of them."""
LONGEST = 120.0


@pytest.mark.long
def test_threads_that_share_a_project_crash_nothing_and_get_right_answers() -> None:
    code, told = apart(CALLS, LONGEST, seed=1)
    assert told["wrongs"] == []
    assert code == 0
    assert set(told["calls"]) == {"search", "context", "show", "list", "add", "edit"}
    assert all(told["turned"].values())
