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
    assert bare.because == "it was reverted"
    assert bare.confidence < told.confidence


@pytest.mark.parametrize(
    "subject",
    ['Revert "Revert "Cache the rates""', 'Reapply "Cache the rates"', "Reland the cache"],
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
