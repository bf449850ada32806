"""What an assistant made use of: what it names, and what it quotes."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pmem.assistants.session_work import LEAST_QUOTED, SessionWork, ShownText, named, quoted
from pmem.values.records import Memory
from tests.conftest import NOW

ID = "mjwaid1q-k3v9m2x1"
OTHER = "mjwaid1q-p7q2abcd"
RETRIES = "Webhooks are retried five times, because the vendor blocks us for an hour after that"


def shown(text: str = RETRIES, identifier: str = ID) -> ShownText:
    made: dict[str, Any] = dict.fromkeys(("valid_from", "created_at", "updated_at"), NOW)
    return ShownText(Memory(id=identifier, content=text, category="knowledge", **made), text)


def wrote(*texts: str) -> SessionWork:
    return SessionWork(written=texts)


@pytest.mark.parametrize(
    "text", ["see k3v9m2x1.", "(mjwaid1q-k3v9m2x1)", "k3v9m2x1", "as `k3v9m2x1` says"]
)
def test_a_record_is_named_by_its_short_and_its_whole_id(text: str) -> None:
    assert named([ID, OTHER], wrote("first", text)) == {ID}


@pytest.mark.parametrize("text", ["", "K3V9M2X1", "k3v9m2x", "k3v9m2x12", "xk3v9m2x1"])
def test_a_part_of_a_word_is_no_id(text: str) -> None:
    assert named([ID], wrote(text)) == set()


def test_six_words_in_a_row_are_a_quotation_whatever_stands_between_them() -> None:
    said = "As noted: webhooks are RETRIED\n  five times - because of limits."
    assert quoted([shown()], wrote(said)) == {ID}
    assert quoted([shown()], wrote("webhooks are retried five times")) == set()
    assert quoted([shown()], wrote("webhooks are retried", "five times because the")) == set()
    assert quoted([shown()], wrote("webhooks are often retried five times because")) == set()


def test_characters_without_spaces_count_for_half_a_word() -> None:
    text = "支付回调最多重试五次因为供应商会封锁我们一个小时"
    assert quoted([shown(text)], wrote("所以支付回调最多重试五次因为供应商会封锁")) == {ID}
    assert quoted([shown(text)], wrote("支付回调最多重试")) == set()


WORDS = st.lists(st.text("abcdeé", min_size=1, max_size=3), min_size=1, max_size=14)


@given(text=WORDS, before=WORDS, after=WORDS, first=st.integers(0, 13), many=st.integers(1, 14))
def test_any_part_of_a_text_is_a_quotation_from_six_words_on(
    text: list[str], before: list[str], after: list[str], first: int, many: int
) -> None:
    part = text[first : first + many]
    said = [*("q" + word for word in before), *part, *("q" + word for word in after)]
    found = quoted([shown(" ".join(text))], wrote(" ".join(said)))
    assert found == ({ID} if len(part) >= LEAST_QUOTED else set())
