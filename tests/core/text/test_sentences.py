"""Sentences and their words: one table of where a sentence ends, for all who read."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pmem.core.text.sentences import read, sentences, split_sentences
from pmem.core.text.words import spelled_out
from tests.work import STALLED, seconds

ENDS = [
    # full stops that end a sentence
    ("It takes 200 ms. Then it stops.", ["It takes 200 ms.", "Then it stops."]),
    ("Run the test. Ask the host. Go.", ["Run the test.", "Ask the host.", "Go."]),
    ("Use v1.2. Then wait 3.5 s.", ["Use v1.2.", "Then wait 3.5 s."]),
    ("Run main.py. Then stop.", ["Run main.py.", "Then stop."]),
    ("See https://a.b/c.d?x=y. It works.", ["See https://a.b/c.d?x=y.", "It works."]),
    ("I came 1st. Then Plan B. We left.", ["I came 1st.", "Then Plan B.", "We left."]),
    ("No. Never.", ["No.", "Never."]),
    ("that works. let's go.", ["that works.", "let's go."]),
    ("What? Yes! Good.", ["What?", "Yes!", "Good."]),
    ("Really ? Yes ! Good.", ["Really ?", "Yes !", "Good."]),
    # and those that do not
    ("Ask Dr. Weber or Mrs. Lind.", ["Ask Dr. Weber or Mrs. Lind."]),
    ("Use a store, e.g. Redis, i.e. a server.", ["Use a store, e.g. Redis, i.e. a server."]),
    ("It has approx. 5 rows in St. Gallen.", ["It has approx. 5 rows in St. Gallen."]),
    ("See No. 5 and fig. 3.", ["See No. 5 and fig. 3."]),
    ("Logs etc. are kept. Rows etc. We left.", ["Logs etc. are kept.", "Rows etc.", "We left."]),
    ("Call at 5 p.m. or later.", ["Call at 5 p.m. or later."]),
    ("cd .. then git add . && git push", ["cd .. then git add . && git push"]),
    ("Type `git add . && x` twice. Done.", ["Type `git add . && x` twice.", "Done."]),
    # dots in between
    ("Well... maybe. Wait... It fails", ["Well... maybe.", "Wait...", "It fails"]),
    ("Yes… perhaps… No.", ["Yes… perhaps…", "No."]),
    # what closes goes with what it closes
    ('He said "go." Then we left.', ['He said "go."', "Then we left."]),
    ("(It failed.) We left.", ["(It failed.)", "We left."]),
    ("**It failed.** We left.", ["**It failed.**", "We left."]),
    ("It works!🎉 Next.", ["It works!🎉", "Next."]),
    ("It works! 🎉 Next.", ["It works!", "🎉 Next."]),
    # Chinese and Japanese
    ("这是。那是！好吗？好", ["这是。", "那是！", "好吗？", "好"]),
    ("他说「好。」然后走了。", ["他说「好。」然后走了。"]),
    ("他说“好。”我们走了。", ["他说“好。”", "我们走了。"]),
    # a semicolon joins
    ("It failed; we left.", ["It failed; we left."]),
    # lines
    ("## Problem\n- one item\n2. another", ["Problem", "one item", "another"]),
    ("use tabs\nkeep it short", ["use tabs", "keep it short"]),
    (
        "We have decided that the server has to listen on the port that\nis written in the file.",
        ["We have decided that the server has to listen on the port that is written in the file."],
    ),
    (
        "We have decided that the server has to listen on the port that:\nis written.",
        ["We have decided that the server has to listen on the port that:", "is written."],
    ),
    (
        "We have decided that the server has to listen on the port that\n- is written",
        ["We have decided that the server has to listen on the port that", "is written"],
    ),
    (
        "We have decided that the server has to listen on the port there\nAnna agrees",
        ["We have decided that the server has to listen on the port there", "Anna agrees"],
    ),
    (
        "We have decided that the server has to listen on the port there\n\nas ever",
        ["We have decided that the server has to listen on the port there", "as ever"],
    ),
    ("#17 is done. -x is an option", ["#17 is done.", "-x is an option"]),
    ("", []),
]
PIECES = st.sampled_from(
    "a|B|1|e.g|Dr|no| |. |.|!|?|…|\n|`|)|\"|。|」|;|**|- |'|’|not|can".split("|")
)
TEXTS = st.text(max_size=200) | st.lists(PIECES, max_size=40).map("".join)


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
