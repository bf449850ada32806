"""What was tried and failed, as people and assistants say it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pmem.core.extraction.attempts import failed_attempts


@pytest.mark.parametrize(
    ("text", "tried", "because"),
    [
        (
            "I tried raising the retries to 5, but the vendor blocked us for an hour.",
            "raising the retries to 5",
            "the vendor blocked us for an hour",
        ),
        (
            "We've already tried a lock file and it failed on network drives.",
            "a lock file",
            "it failed on network drives",
        ),
        (
            "Caching the rates did not work because customers saw old prices.",
            "Caching the rates",
            "customers saw old prices",
        ),
        (
            "Done. We reverted the new parser because it lost comments.",
            "the new parser",
            "it lost comments",
        ),
        (
            "We dropped the second index since writes took twice as long!",
            "the second index",
            "writes took twice as long",
        ),
    ],
)
def test_a_failure_is_told_with_its_reason(text: str, tried: str, because: str) -> None:
    assert list(failed_attempts(text)) == [(tried, because)]


@pytest.mark.parametrize(
    "text",
    [
        "Have you tried raising the retries, or did the vendor block us?",
        "If we tried a lock file it would fail on network drives.",
        "I tried raising the retries and the vendor was happy.",
        "This did not work because of the rain.",
        "Let me try a lock file, but it may fail.",
        "The file reverts to its base when the branch is gone.",
        "It did not work.",
        "We should have reverted the new parser because it lost comments.",
    ],
)
def test_questions_plans_and_what_gives_no_reason_are_none(text: str) -> None:
    assert list(failed_attempts(text)) == []


@given(st.text(max_size=300))
def test_any_text_is_read(text: str) -> None:
    for found in failed_attempts(text):
        assert found.tried
        assert found.because
