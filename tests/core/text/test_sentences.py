"""Sentences and their words: one table of where a sentence ends, for all who read."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pmem.core.text.sentences import read, sentences, split_sentences
from pmem.core.text.words import spelled_out
from tests.labelled import read_rows
from tests.work import STALLED, seconds

PIECES = st.sampled_from(
    "a|B|1|e.g|Dr|no| |. |.|!|?|…|\n|`|)|\"|。|」|;|**|- |'|’|not|can".split("|")
)
TEXTS = st.text(max_size=200) | st.lists(PIECES, max_size=40).map("".join)

ENDS = read_rows(__file__, "sentences.jsonl")


@pytest.mark.row("S1.13.8")
@pytest.mark.parametrize(("text", "expected"), ENDS)
def test_a_sentence_ends_where_the_table_says(text: str, expected: list[str]) -> None:
    assert split_sentences(text) == expected


@pytest.mark.parametrize("word", "Dr dr Mr mr Mrs Ms Prof prof St e.g i.e vs cf approx".split())
def test_an_abbreviation_before_a_name_ends_no_sentence(word: str) -> None:
    assert split_sentences(f"We saw {word}. Lind.") == [f"We saw {word}. Lind."]


@pytest.mark.parametrize("word", "etc al a.m p.m Inc Ltd Jr".split())
def test_an_abbreviation_may_end_a_sentence_before_a_capital(word: str) -> None:
    assert split_sentences(f"We saw {word}. and left.") == [f"We saw {word}. and left."]
    assert split_sentences(f"We saw {word}. Then") == [f"We saw {word}.", "Then"]


@given(TEXTS)
def test_no_letter_is_lost_or_added_or_moved(text: str) -> None:
    parted = "".join("".join(split_sentences(f"x{text}")).split())
    assert [c for c in parted if c.isalpha()] == [c for c in f"x{text}" if c.isalpha()]


def test_a_semicolon_parts_what_a_message_states() -> None:
    said = [one.text for one in sentences("It failed; we left. 好的；走吧")]
    assert said == ["It failed", "we left.", "好的", "走吧"]


def test_only_prose_of_a_message_is_read() -> None:
    said = [one.text for one in sentences("It works.\n```\ncode. here\n```\n> quoted\nDone.")]
    assert said == ["It works.", "Done."]


def test_words_stand_where_the_text_has_them() -> None:
    one = read('We can\'t use "tabs" in `a.b`, see https://a.b?')
    assert read("He said “go” now").words == ["he", "said", '"', "now"]
    assert one.words == ["we", "cannot", "use", '"', "in", "`", ",", "see", "://"]
    assert [one.text[begin:end] for begin, end in one.places][:3] == ["We", "can't", "use"]
    assert one.asked
    assert [one.capital(number) for number in range(3)] == [True, False, False]


@pytest.mark.parametrize(
    ("word", "meant"),
    [
        ("don't", "do not"),
        ("dont", "do not"),
        ("didn’t", "did not"),
        ("can't", "can not"),
        ("cannot", "can not"),
        ("won't", "will not"),
        ("shan't", "shall not"),
        ("we've", "we have"),
        ("they'll", "they will"),
        ("i'd", "i would"),
        ("i'm", "i am"),
        ("you're", "you are"),
        ("it's", "it is"),
        ("let's", "let us"),
        ("gonna", "going to"),
        ("anna's", "anna's"),
        ("o'clock", "o'clock"),
        ("'s", "'s"),
        ("n't", "n't"),
        ("word", "word"),
    ],
)
def test_a_contraction_is_the_words_it_stands_for(word: str, meant: str) -> None:
    assert " ".join(spelled_out(word)) == meant


@pytest.mark.long
@pytest.mark.parametrize(
    "unit", [".", "`", ". ", "e.g.", '"', "a.b", "!?", "\n", "- ", "'", "。」"]
)
def test_a_megabyte_of_anything_is_parted_quickly(unit: str) -> None:
    text = unit * (1_000_000 // len(unit))
    assert seconds(lambda: split_sentences(text)) < STALLED
    assert seconds(lambda: list(sentences(text))) < STALLED
