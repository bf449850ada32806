"""How alike texts and a question are by their letters."""

from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pmem.core.retrieval.ranked import alike_by_letters

WORDS = st.lists(st.sampled_from("cache caching cat Rechnung Rechnungen 猫 é 1.2 _".split()))
TEXTS = st.lists(WORDS.map(" ".join), max_size=6)


@given(WORDS.map(" ".join), TEXTS, st.randoms(use_true_random=False))
def test_the_most_alike_has_one_whatever_the_order(
    question: str, texts: list[str], lot: Random
) -> None:
    found = alike_by_letters(question, texts)
    assert all(0.0 <= share <= 1.0 for share in found)
    assert max(found, default=1.0) == 1.0
    order = list(range(len(texts)))
    lot.shuffle(order)
    again = alike_by_letters(question, [texts[place] for place in order])
    assert again == pytest.approx([found[place] for place in order])


@pytest.mark.parametrize(
    ("question", "near", "far"),
    [
        ("Rechnung löschen", "Rechnungen werden gelöscht", "Eine Reise nach Rom"),
        ("authenticate a user", "users and their authentication", "a used authority"),
        ("the databse is slow", "a slow database", "a slow date"),
    ],
)
def test_a_form_a_compound_and_a_slip_of_the_pen_are_near(
    question: str, near: str, far: str
) -> None:
    shares = alike_by_letters(question, [far, near, "something else"])
    assert shares[1] == 1.0 > shares[0]


def test_where_no_letters_are_shared_all_are_equal() -> None:
    assert alike_by_letters("kafka", ["The queue", "A list"]) == [1.0, 1.0]
    assert alike_by_letters("", ["The queue"]) == [1.0]
    assert alike_by_letters("kafka", []) == []
