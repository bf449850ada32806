"""The tokeniser: the terms of every kind of word, whatever is thrown at it, in linear time."""

import datetime
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pmem.core.retrieval.signals import (
    NUMBER,
    QUESTION,
    QUOTED,
    TIME,
    asks_how_many,
    asks_several,
    asks_what,
    asks_when,
    day_terms,
    holds_phrase,
    spoken_dates,
    traits,
)
from pmem.core.text.terms import (
    characters,
    date_terms,
    fold,
    parse_query,
    sequence,
    terms,
    time_vocabulary,
    written_dates,
)
from tests.core.retrieval.stores import DAY
from tests.work import STALLED, seconds


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("The children went camping", ["child", "go", "camp"]),
        ("Amelia's dogs", ["amelia", "dog"]),
        ("don't you think", ["think"]),
        ("getUserName", ["getusernam", "get", "user", "name"]),
        ("HTTPServer", ["httpserver", "http", "server"]),
        ("snake_case", ["snake_case", "snake", "case"]),
        ("src/core/main.py", ["src/core/main.py", "main.py", "src", "core", "main", "py"]),
        (r"src\main.py", ["src/main.py", "main.py", "src", "main", "py"]),
        ("v3.11.4", ["3.11.4", "3.11", "3", "11", "4"]),
        ("E0425", ["e0425", "0425"]),
        ("ECONNRESET", ["econnreset"]),
        ("C++ and C#", ["c++", "c#"]),
        ("1,000 euros", ["1000", "euro"]),
        ("8th", ["8"]),
        ("two", ["2"]),
        ("Café naïve Łódź", ["cafe", "naiv", "lodz"]),
        ("我喜欢猫", ["我喜", "喜欢", "欢猫"]),
        ("猫", ["猫"]),
        ("用Python写", ["用", "python", "写"]),
        ("한국어", ["한국", "국어"]),
        ("ＦＵＬＬ", ["full"]),
        ("ﬁle", ["file"]),
        ("", []),
        ("the of and", []),
        ("____ ... --- '''", []),
        ("\0\x01", []),
    ],
)
def test_each_kind_of_word_has_its_terms(text: str, expected: list[str]) -> None:
    assert expected == terms(text)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("我喜欢猫", ["我", "喜", "欢", "猫"]),
        ("猫 is cat", []),
        ("책을 읽다", ["책", "을", "읽", "다"]),
        ("猫を飼う", ["猫", "飼"]),
        ("コーヒー สวัสดี café", []),
        ("Python 3", []),
    ],
)
def test_characters_are_those_that_can_be_words_within_longer_ones(
    text: str, expected: list[str]
) -> None:
    assert expected == characters(text)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("went goes gone", "go"),
        ("children", "child"),
        ("mice", "mouse"),
        ("bought buying buys", "buy"),
        ("studies studied studying", "study"),
        ("colours", "color"),
        ("V2.0.1", "2.0.1"),
        ("STRASSE", "straße"),
        ("Ёлка", "елка"),
        ("ΘΆΛΑΣΣΑ", "θαλασσα"),
        ("ﾌﾟﾘﾝﾀｰ", "プリンター"),
        ("twelve", "12"),
        ("10,000", "10000"),
    ],
)
def test_spellings_of_one_word_have_one_term(one: str, other: str) -> None:
    assert {*terms(one)} == {*terms(other)}


words = st.sampled_from(
    "The wonderful Café e\u0301te\u0301 getUserName src/a_b.py v1.2 don't 猫が好き 한국어 C++ "
    '1,000 x@y.org — " Straße Ёж \U0001f600'.split(" ")
)
prose = st.lists(words, max_size=12).map(" ".join)
anything = st.text(max_size=60) | prose


@given(text=anything)
def test_any_text_has_terms_that_are_not_empty_and_always_the_same(text: str) -> None:
    found = terms(text)
    assert found == terms(text)
    assert all(found)
    assert found == [term for term in sequence(text) if term]
    assert all(len(term) <= 128 for term in found)


@given(text=anything)
def test_every_term_of_a_text_is_found_by_asking_for_its_own_words(text: str) -> None:
    for chunk in text.split():
        assert set(terms(chunk)) <= set(parse_query(chunk).terms)
        assert set(terms(chunk)) <= set(parse_query(text).terms)


@given(text=anything)
def test_composed_and_decomposed_letters_are_one(text: str) -> None:
    composed, apart = unicodedata.normalize("NFC", text), unicodedata.normalize("NFD", text)
    assert terms(composed) == terms(apart)
    assert characters(composed) == characters(apart)
    assert fold(composed) == fold(apart)


def test_quoted_parts_of_several_words_are_phrases() -> None:
    query = parse_query('who said "red bicycle" or “blue car” and "x')
    assert query.phrases == [("red", "bicycl"), ("blue", "car")]
    assert parse_query("「赤い猫」«deux mots»").phrases[1:] == [("deux", "mot")]
    assert parse_query('"the file" "of the"').phrases == []
    assert parse_query('"the lock of a file"').phrases == [("lock", "", "", "file")]
    assert parse_query('5" disk').phrases == []
    assert parse_query('"' * 999).phrases == []


def test_a_phrase_does_not_reach_over_a_stop_word() -> None:
    (phrase,) = parse_query('"lock file"').phrases
    assert holds_phrase(sequence("the stale lock file"), phrase)
    assert not holds_phrase(sequence("lock the file"), phrase)
    (phrase,) = parse_query('"lock the file"').phrases
    assert holds_phrase(sequence("we lock the file"), phrase)
    assert not holds_phrase(sequence("a lock file"), phrase)


def test_capitals_within_a_sentence_are_names() -> None:
    assert parse_query("What did Ann tell the Bobbsey Twins?").names == {"ann", "bobbsey", "twin"}


def test_dates_in_digits_are_the_words_of_a_date() -> None:
    assert written_dates("from 2023-01-08 to 2024-12-31") == [
        *("2023", "januari", "8"),
        *("2024", "decemb", "31"),
    ]
    assert written_dates("2023-13-05 12023-01-05 2023-1-5") == []


def test_a_date_in_digits_counts_as_words_too() -> None:
    assert set(date_terms(2023, 5, 8)) <= set(parse_query("what happened on 2023-05-08?").terms)
    assert "may" not in parse_query("2023-13-05").terms
    with pytest.raises(IndexError):
        date_terms(2023, 13, 1)


HOSTILE = {
    "letters": "a" * 100_000,
    "capitals": "Aa" * 50_000,
    "underscores": "a_" * 50_000,
    "dots": "a." * 50_000,
    "slashes": "/a.b" * 25_000,
    "apostrophes": "n't" * 33_000,
    "digits": "1," * 50_000,
    "thousands": "1,000" * 20_000,
    "pluses": "a+" * 50_000,
    "marks": "a" + "\u0316\u0301" * 25_000,
    "quotes": '"' * 100_000,
    "quoted letters": '"a"' * 33_000,
    "opening quotes": "“" * 33_000,
    "opening corners": "「a" * 25_000,
    "guillemets": "«a" * 33_000,
    "han": "猫" * 33_000,
    "han and latin": "猫a" * 25_000,
    "hangul jamo": "\u1112\u1161\u11ab" * 11_000,
    "ligatures": "\ufdfa" * 33_000,
    "brackets": "[" * 100_000,
    "closed brackets": "[]" * 50_000,
    "spaces": " " * 100_000,
    "blank end": "?" + " " * 100_000,
    "questions": "what " * 20_000,
    "have": "what has " * 11_000,
    "ago": "two days " * 11_000,
    "last": "last " * 20_000,
    "dates": "2023-05-08" * 10_000,
    "digits only": "9" * 100_000,
    "regular expression": ".*(a|b)+$[" * 10_000,
}


@pytest.mark.some(12)
@pytest.mark.parametrize("name", HOSTILE)
def test_a_hundred_kilobytes_of_anything_do_not_stall(name: str) -> None:
    text = HOSTILE[name]

    def read() -> None:
        parse_query(text)
        characters(text)
        traits(text, terms(text))
        day_terms(text, DAY)
        for asks in (asks_when, asks_how_many, asks_what, asks_several):
            asks(text)

    assert seconds(read) < STALLED


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("I went yesterday", ["2023", "may", "9"]),
        ("last Friday", ["2023", "may", "5"]),
        ("next Monday", ["2023", "may", "15"]),
        ("tomorrow", ["2023", "may", "11"]),
        ("a year ago", ["2022"]),
        ("two weeks ago", ["april"]),
        ("3 days ago", ["2023", "may", "7"]),
        ("last month", ["april"]),
        ("last week", ["may"]),
        ("999 years ago", ["1024"]),
        ("nine years of last resorts", []),
    ],
)
def test_dates_that_a_message_names_are_words_of_it(text: str, expected: list[str]) -> None:
    assert expected == spoken_dates(text, datetime.date(2023, 5, 10))  # a Wednesday


def test_dates_outside_the_calendar_are_left_out() -> None:
    assert spoken_dates("two days ago", datetime.date(1, 1, 1)) == []
    assert spoken_dates("tomorrow", datetime.date(9999, 12, 31)) == []


def test_questions_tell_what_they_ask_for() -> None:
    assert asks_when("When did Ann buy a car?")
    assert asks_when("On what day did she leave?")
    assert asks_when("什么时候开会")
    assert not asks_when("What did they do in the end, and when did it rain?")
    assert asks_how_many("How many cars?")
    assert asks_what("Which car?")
    assert asks_several("What books has Ann read?")
    assert asks_several("Which hobbies do they both have?")
    assert not asks_several("When did Ann buy a car?")


def test_traits_say_what_a_message_shows() -> None:
    def shown(text: str) -> int:
        return traits(text, terms(text))

    assert shown("I left on Monday") == TIME
    assert shown("It costs 7") == NUMBER
    assert shown("Why? [a picture of a cat]") == QUESTION
    assert shown('I read "Dune"') == QUOTED
    assert shown("nothing of that") == 0
    assert "monday" in time_vocabulary()
