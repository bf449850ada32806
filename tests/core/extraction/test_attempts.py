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
        (
            "Right. A shared cache only works when all hosts are in one zone, which isn't so here.",
            "A shared cache",
            "only works when all hosts are in one zone, which isn't so here",
        ),
        (
            "The issue is that `flock` is not honoured on NFS. The fix: use a lease file instead.",
            "use `flock`",
            "`flock` is not honoured on NFS; use a lease file instead",
        ),
        (
            "The problem is that the vendor counts retries. Two an hour are free."
            " So use the queue instead of a loop.",
            "a loop",
            "the vendor counts retries; use the queue instead",
        ),
        (
            "The template engine keeps dropping the front matter. Let me try another way:",
            "The template engine",
            "it keeps dropping the front matter",
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
        "A shared cache only works when all hosts are in one zone.",
        "The issue is that `flock` is not honoured on NFS. It is a known one.",
        "The issue is that writes are slow. Use a queue instead.",
        "Use a lease file instead.",
        "The template engine keeps dropping the front matter.",
        "The template engine is new. Let me try another way.",
        "It keeps failing on the front matter. Let me try another way.",
    ],
)
def test_questions_plans_and_what_gives_no_reason_are_none(text: str) -> None:
    assert list(failed_attempts(text)) == []


@given(st.text(max_size=300))
def test_any_text_is_read(text: str) -> None:
    for found in failed_attempts(text):
        assert found.tried
        assert found.because
