"""The words that changed between two texts."""

from hypothesis import given
from hypothesis import strategies as st

from pmem.core.history_values import MOST_WORDS, word_changes

TEXTS = st.lists(st.sampled_from(["a", "b", "c", ""]), max_size=12).map(" ".join)


def test_the_words_that_changed_stand_between_those_that_did_not() -> None:
    assert list(word_changes("CI takes 9 minutes", "CI takes 6 minutes there")) == [
        ("same", "CI takes"),
        ("removed", "9"),
        ("added", "6"),
        ("same", "minutes"),
        ("added", "there"),
    ]


@given(TEXTS, TEXTS)
def test_either_text_can_be_read_out_of_the_changes(before: str, after: str) -> None:
    changes = list(word_changes(before, after))
    assert " ".join(text for fate, text in changes if fate != "added") == before
    assert " ".join(text for fate, text in changes if fate != "removed") == after


def test_very_long_texts_are_not_compared_word_by_word() -> None:
    long = "word " * MOST_WORDS
    assert [fate for fate, _ in word_changes(long, f"{long}more")] == ["removed", "added"]
