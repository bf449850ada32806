"""Counting tokens: how far the estimate lies from the truth, and what always holds of it."""

import json
import sys
from pathlib import Path
from typing import Any, Final

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from pmem.core.tokens import Tokenizer, count_tokens, counter
from pmem.errors import InvalidValue
from tests.vocabulary import bring_library_back, needs_the_library
from tests.work import seconds

CORPUS: Final = Path(__file__).parent / "tokens_corpus"
COUNTS: Final[dict[str, dict[str, list[int]]]] = json.loads(
    (CORPUS / "counts.json").read_text(encoding="utf-8")
)
EVERY_KIND: Final = pytest.mark.parametrize("kind", sorted(COUNTS))
EVERY_VOCABULARY: Final = pytest.mark.parametrize("vocabulary", ["o200k_base", "cl100k_base"])
MOST: Final = 1.05

anything = st.text() | st.text("aAbzZ09 \n\t.,:;()\"'-_/=éя日ガ한！😀—\ud800", max_size=40)


@pytest.fixture(autouse=True)
def _with_the_library(monkeypatch: pytest.MonkeyPatch) -> None:
    bring_library_back(monkeypatch)


def texts(kind: str) -> list[str]:
    """Return the texts of a kind in the order of their counts."""
    return (CORPUS / f"{kind}.txt").read_text(encoding="utf-8").rstrip("\n").split("\n%%\n")


@pytest.mark.row("S2.12.3", "S3.2.1", "S3.10.2")
@EVERY_KIND
def test_the_estimate_of_a_kind_lies_at_most_five_percent_above(kind: str) -> None:
    exact = COUNTS[kind]["o200k_base"]
    estimate = sum(map(count_tokens, texts(kind)))
    assert sum(exact) <= estimate <= sum(exact) * MOST


@EVERY_KIND
def test_no_single_text_of_a_kind_is_far_off(kind: str) -> None:
    for text, exact in zip(texts(kind), COUNTS[kind]["o200k_base"], strict=True):
        assert exact * 0.7 <= count_tokens(text) <= exact * 1.3


@needs_the_library
@EVERY_VOCABULARY
@EVERY_KIND
def test_the_recorded_counts_are_the_librarys(kind: str, vocabulary: Tokenizer) -> None:
    assert list(map(counter(vocabulary), texts(kind))) == COUNTS[kind][vocabulary]


@needs_the_library
@EVERY_VOCABULARY
@given(anything)
def test_a_vocabulary_counts_any_text(vocabulary: Tokenizer, text: str) -> None:
    count = counter(vocabulary)
    assert count(text) == count(text)
    assert bool(text) == bool(count(text))
    assert count(text) <= len(text.encode("utf-8", "surrogatepass"))


@needs_the_library
@EVERY_VOCABULARY
def test_a_lone_surrogate_counts_as_a_replacement_character(vocabulary: Tokenizer) -> None:
    count = counter(vocabulary)
    assert count("a \ud800 b") == count("a \ufffd b")
    assert count("\ud83d\ude00 \udfff") == count("😀 \ufffd")


@pytest.mark.row("S3.10.8")
@EVERY_VOCABULARY
def test_without_its_library_a_vocabulary_says_how_to_install_it(
    vocabulary: Tokenizer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "rs_bpe.bpe", None)
    with pytest.raises(InvalidValue, match=vocabulary) as caught:
        counter(vocabulary)
    assert "pip install 'pmem-cli[tokens]'" in caught.value.hint


def test_an_unknown_tokenizer_names_the_known_ones() -> None:
    unknown: Any = "o300k_base"
    with pytest.raises(InvalidValue, match="o300k_base") as caught:
        counter(unknown)
    assert "o200k_base" in caught.value.hint


@given(anything, anything)
@example("", "")
@example("\n", "\n\n")
@example("a  ", "  b")
def test_texts_that_meet_at_a_line_break_cost_no_more_than_apart(first: str, second: str) -> None:
    apart = count_tokens(first + "\n") + count_tokens(second)
    assert apart - 1 <= count_tokens(first + "\n" + second) <= apart


@given(anything, anything)
@example("12", "3")
def test_what_is_appended_never_lowers_the_estimate(first: str, second: str) -> None:
    assert count_tokens(first + second) >= count_tokens(first)


def test_up_to_three_digits_cost_the_same() -> None:
    assert count_tokens("1") == count_tokens("12") == count_tokens("123") == 1
    assert count_tokens("1234") == count_tokens("123456") < count_tokens("1234567")


@pytest.mark.long
@pytest.mark.parametrize(
    "unit", ["a", " ", "\n", "1", "a1", "A,a ", '"', "é ", "日本", "한글 ", "😀", "\ud800", "\0"]
)
def test_a_megabyte_of_anything_takes_linear_time(unit: str) -> None:
    long = unit * (1_000_000 // len(unit.encode("utf-8", "surrogatepass")))
    quarter = long[: len(long) // 4]
    assert any(
        seconds(lambda: count_tokens(long)) < 10 * seconds(lambda: count_tokens(quarter)) + 0.05
        for _ in range(5)
    )
    assert count_tokens(long) <= 4 * count_tokens(quarter) + 4
