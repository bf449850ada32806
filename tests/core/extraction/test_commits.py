"""What a commit's message says that is worth keeping."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pmem.core.extraction.commits import plain_subject, proposals_of, reverted_subject
from pmem.values.records import MemoryType

REVERT = """Revert "feat(api): Cache the rates (#41)"

This reverts commit 0123456789abcdef0123456789abcdef01234567.

Customers saw yesterday's prices for an hour."""


def test_a_revert_is_a_dead_end_with_its_reason() -> None:
    (found,) = proposals_of(REVERT)
    assert found.type is MemoryType.DEAD_END
    assert (found.tried, found.because) == (
        "Cache the rates",
        "Customers saw yesterday's prices for an hour.",
    )
    assert found.content.startswith("Tried: Cache the rates. It failed: Customers saw")


def test_a_revert_without_a_reason_is_less_sure() -> None:
    (bare,) = proposals_of('Revert "Cache the rates"\n\nThis reverts commit 0123456.')
    (told,) = proposals_of(REVERT)
    assert bare.because == "it was reverted, and the commit gives no reason"
    assert bare.confidence < told.confidence


REVERTS = {
    "revert: cache the rates\n\nIt served stale prices.": "It served stale prices.",
    "Revert cache of rates\n\nThis breaks refunds.": "This breaks refunds.",
    'Revert "Cache"\n\nReason for revert: it broke the build of main': "it broke the build of main",
    'Revert "Cache"\n\n- broke CI on Windows\n- slow': "broke CI on Windows slow",
    'Revert "Cache"\n\nIt fails here.\nSigned-off-by: Ada <a@b.org>': "It fails here.",
    'Revert "Cache"\n\nThis reverts commit 0123456.\n\nSee https://x.org/1': None,
    'Revert "Cache"\n\nReviewed-by: Ada': None,
    'Back out "Cache"\n\nCrashes with two workers.': "Crashes with two workers.",
}


@pytest.mark.parametrize("text", REVERTS)
def test_every_form_of_a_revert_tells_its_reason(text: str) -> None:
    (found,) = proposals_of(text)
    assert found.type is MemoryType.DEAD_END
    given = REVERTS[text]
    assert found.because == (given or "it was reverted, and the commit gives no reason")


SUBJECTS = {
    "Revert the retry: the vendor blocks us after three calls": (
        "the retry", "the vendor blocks us after three calls",
    ),
    "Revert the retry - it doubles the load": ("the retry", "it doubles the load"),
    "Revert retries because the vendor blocks us": ("retries", "the vendor blocks us"),
    "revert(api): fix(pay): cache of rates, because it served stale prices (#12)": (
        "cache of rates", "it served stale prices",
    ),
    "Revert board files: add the node of the fan": ("board files: add the node of the fan", None),
    "Revert the page: the docs": ("the page: the docs", None),
    'Revert "Cache: the rates of today are kept"': ("the rates of today are kept", None),
    "Revert the retry: the vendor blocks us\n\nCustomers paid twice for it.": (
        "the retry", "Customers paid twice for it.",
    ),
}  # fmt: skip


@pytest.mark.parametrize("text", SUBJECTS)
def test_a_reason_in_the_subject_of_a_revert_is_told(text: str) -> None:
    (found,) = proposals_of(text)
    tried, because = SUBJECTS[text]
    reason = because or "it was reverted, and the commit gives no reason"
    assert (found.tried, found.because) == (tried, reason)


@pytest.mark.parametrize(
    "subject", ["Start", "wip", "Initial commit", "More fixes.", "feat: updates"]
)
def test_a_subject_that_says_nothing_stands_before_no_reason(subject: str) -> None:
    reason = "We use the old parser because it keeps the comments of a file."
    (found, *_) = proposals_of(f"{subject}\n\n{reason}")
    assert found.content == reason
    (found,) = proposals_of(f"{subject}\n\nRejected: Kafka | it has no routing")
    assert found.content == "Kafka was rejected: it has no routing"


REASONS = """
because it keeps the comments of the file
since the new one loses comments on every save
as it breaks the build on Windows machines
which is due to a bug in the old scheduler
as it caused two outages in the last month
otherwise the lock is held for the whole request
to avoid a second round trip to the database
which fails on machines without a swap partition
it turned out that the vendor blocks us after ten
the old one led to a deadlock under heavy load
the old one does not support more than one region
the cache crashed whenever two workers started
"""
NONE = """
this adds a new option and documents how it is used
the function now takes a list of paths in place of one
tests were added for every branch of the parser
it returns the number of rows that were changed
the page shows a spinner while the data is loading
we also rename the variable to match the others
a follow-up will remove the old code and its tests
the command prints a short summary at the end
all other files stay as they were before this change
"""


def test_sentences_with_a_reason_are_told_from_others() -> None:
    def gives(line: str) -> bool:
        body = f"We changed the queue in this place, {line}."
        return any(proposals_of(f"Replace the queue\n\n{body}"))

    assert [line for line in REASONS.strip().splitlines() if not gives(line)] == []
    assert [line for line in NONE.strip().splitlines() if gives(line)] == []


@pytest.mark.parametrize(
    "subject",
    [
        'Revert "Revert "Cache the rates""',
        'Reapply "Cache the rates"',
        "Reland the cache",
        "Revert to the old layout",
        "Roll back transactions on error",
    ],
)
def test_what_comes_back_is_no_dead_end(subject: str) -> None:
    assert list(proposals_of(subject)) == []


def test_trailers_say_what_they_are_called() -> None:
    text = (
        "Use RabbitMQ\n\nConstraint: It must survive a restart\nRejected: Kafka | no routing\n"
        "Decision: Topics are named by team\nDirective: Never purge by hand\nReviewed-by: Ada"
    )
    assert [(one.type, one.content) for one in proposals_of(text)] == [
        (MemoryType.CONSTRAINT, "It must survive a restart"),
        (MemoryType.DECISION, "Use RabbitMQ, instead of Kafka: no routing"),
        (MemoryType.DECISION, "Topics are named by team"),
        (MemoryType.CONSTRAINT, "Never purge by hand"),
    ]


def test_a_sentence_with_a_reason_stands_behind_what_the_commit_does() -> None:
    text = "Pin the parser\n\nThe new one is faster. We pin the old one because it keeps comments."
    (found,) = proposals_of(text)
    assert found.type is MemoryType.DECISION
    assert found.content == "Pin the parser. We pin the old one because it keeps comments."


@pytest.mark.parametrize(
    "body",
    [
        "- We pin the old one because it keeps comments.",
        "> We pin the old one because it keeps comments, he said.",
        "See https://example.org/why because it is told there in full.",
        "    return because_it_keeps_comments_and_nothing_else(parser);",
        "It keeps comments and that is all that there is to say of it.",
        "Because.",
    ],
)
def test_lists_quotes_links_and_code_give_no_reason(body: str) -> None:
    assert list(proposals_of(f"Pin the parser\n\n{body}")) == []


def test_programs_that_keep_dependencies_fresh_give_none() -> None:
    text = "Bump it\n\nWe bump the old one because the new one keeps comments."
    assert list(proposals_of(text, "renovate[bot]")) == []


@pytest.mark.parametrize(
    ("subject", "plain"),
    [
        ("fix(api)!: Cache the rates (#41)", "Cache the rates"),
        ("net/http: cache the rates", "cache the rates"),
        ("[core] Cache the rates", "Cache the rates"),
        ("Keep one rule: the last one wins", "Keep one rule: the last one wins"),
    ],
)
def test_a_subject_goes_without_what_only_sorts_it(subject: str, plain: str) -> None:
    assert plain_subject(subject) == plain


@given(st.text(max_size=400), st.text(max_size=40))
def test_any_message_is_read(text: str, author: str) -> None:
    for found in proposals_of(text, author):
        assert found.content.strip()
        assert 0 < found.confidence < 0.9
    reverted_subject(text)
