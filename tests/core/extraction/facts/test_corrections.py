"""What a correction is, and which of the statements before it goes."""

import pytest

from pmem.core.extraction.facts import corrected, is_correction, with_corrected


@pytest.mark.parametrize(
    "text",
    [
        "No, use 8082.",
        "nope, it is the other one",
        "Wait, the port is 8082.",
        "Sorry, we need two of them.",
        "Correction: the port is 8082.",
        "I meant 8082",
        "ok, no, use tabs",
        "Use 8082 instead.",
    ],
)
def test_a_message_that_takes_something_back_is_a_correction(text: str) -> None:
    assert is_correction(text)


@pytest.mark.parametrize(
    "text",
    [
        "The port is 8082.",
        "No copies are needed.",
        "no, really?",
        "Use tabs instead of dots.",
        "",
        "<",
    ],
)
def test_what_only_says_more_is_none(text: str) -> None:
    assert not is_correction(text)


@pytest.mark.parametrize(
    ("said", "place"),
    [
        ("the port is 8082", 1),
        ("use 8082 instead", 1),
        ("use NATS instead", 2),
        ("Ada prefers long names", 0),
        ("make it quick", None),
    ],
)
def test_what_shares_words_or_has_a_value_of_the_kind_is_replaced(
    said: str, place: int | None
) -> None:
    earlier = ("Ada prefers short names", "the port is 8081", "we decided to use Kafka")
    assert corrected(said, earlier) == place
    assert corrected(said, ()) is None


def test_a_correction_tells_what_it_is_about() -> None:
    old = "the port is 8081"
    assert with_corrected("use 8082 instead", old) == f"use 8082 instead (before: {old})"
    assert with_corrected("the port is 8082", old) == "the port is 8082"
    assert len(with_corrected("use 8082 instead", "x" * 500)) == 500
