"""What was tried and failed, as people and assistants say it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pmem.core.extraction.attempts import failed_attempts
from tests.labelled import read_rows


@given(st.text(max_size=300))
def test_any_text_is_read(text: str) -> None:
    for found in failed_attempts(text):
        assert found.tried
        assert found.because


@pytest.mark.parametrize(("text", "tried", "because"), read_rows(__file__, "attempts.jsonl"))
def test_a_failure_is_told_with_its_reason_and_nothing_else_is(
    text: str, tried: str | None, because: str
) -> None:
    assert list(failed_attempts(text)) == ([(tried, because)] if tried else [])
