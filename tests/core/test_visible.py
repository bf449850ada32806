"""What nobody can see is written out; what shapes the letters that people see stays."""

import re
import unicodedata
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pmem.core.visible import visible

LONGEST = len(r"\u{e01ef}")
KEPT_BEHIND_OTHERS = "\u200c\u200d\ufe0e\ufe0f"
HIDDEN_RANGES = (
    ("control", 0x00, 0x08),
    ("control", 0x0B, 0x1F),
    ("delete and C1", 0x7F, 0x9F),
    ("soft hyphen", 0xAD, 0xAD),
    ("grapheme joiner", 0x34F, 0x34F),
    ("Arabic letter mark", 0x61C, 0x61C),
    ("Hangul fillers", 0x115F, 0x1160),
    ("Khmer vowels without a shape", 0x17B4, 0x17B5),
    ("Mongolian selectors", 0x180B, 0x180F),
    ("zero width", 0x200B, 0x200D),
    ("marks of direction", 0x200E, 0x200F),
    ("separators and embeddings", 0x2028, 0x202E),
    ("word joiner and isolates", 0x2060, 0x206F),
    ("Hangul filler", 0x3164, 0x3164),
    ("halves of pairs", 0xD800, 0xDFFF),
    ("variation selectors", 0xFE00, 0xFE0F),
    ("byte order mark", 0xFEFF, 0xFEFF),
    ("narrow filler", 0xFFA0, 0xFFA0),
    ("annotations", 0xFFF0, 0xFFFB),
    ("shorthand", 0x1BCA0, 0x1BCA3),
    ("music", 0x1D173, 0x1D17A),
    ("tags", 0xE0000, 0xE007F),
    ("further variation selectors", 0xE0100, 0xE01EF),
)


@pytest.mark.parametrize(("name", "first", "last"), HIDDEN_RANGES)
def test_every_hidden_character_is_written_out(name: str, first: int, last: int) -> None:
    wrong = [
        f"{name}: {number:x}"
        for number in range(first, last + 1)
        if visible(f"a{chr(number)}b") != f"a\\u{{{number:x}}}b"
    ]
    assert wrong == []


@pytest.mark.parametrize(
    "text",
    [
        "👨‍👩‍👧‍👦 family",
        "👩🏽‍💻 and 🧑‍⚖️",
        "❤️‍🔥",
        "🏳️‍🌈 🏴‍☠️",
        "🇩🇪🇯🇵",
        "1️⃣ #️⃣",
        "⚠️ ©️ ℹ️ ☎︎",
        "می‌خواهم",
        "क्‍ष र‍्य",
        "ශ්‍රී ලංකා",
        "അവന്‍ പോയി",
        "日本語 한국어 עברית العربية ไทย",
        "e\u0301 ﬁ ½ ∑",
        "tab\tand\nline",
        "no-break\xa0space, ideographic\u3000space",
    ],
)
def test_what_people_read_stays(text: str) -> None:
    assert visible(text) == text


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a\u200db", r"a\u{200d}b"),
        ("日\u200d本", r"日\u{200d}本"),
        ("👩\u200d", r"👩\u{200d}"),
        ("👩\u200dx", r"👩\u{200d}x"),
        ("👩\u200d\u200d👩", r"👩\u{200d}\u{200d}👩"),
        ("م\u200c\u200c\u200dن", "م\u200c" + r"\u{200c}\u{200d}ن"),
        ("a\ufe0fb", r"a\u{fe0f}b"),
        ("❤\ufe0f\ufe0e\ufe0f", "❤\ufe0f" + r"\u{fe0e}\u{fe0f}"),
        ("\ufe0f", r"\u{fe0f}"),
        ("a\r\nb", "a\\u{d}\nb"),
        ("\x1b[31mred", r"\u{1b}[31mred"),
        ("\U0001f3f4\U000e0067\U000e007f", "🏴" + r"\u{e0067}\u{e007f}"),
        ("葛\U000e0100", r"葛\u{e0100}"),
    ],
)
def test_what_shapes_nothing_is_written_out(text: str, expected: str) -> None:
    assert visible(text) == expected


pieces = st.sampled_from([*KEPT_BEHIND_OTHERS, "👩", "❤", "م", "क", "्", "a", "日", "\n", "\x00"])
texts = st.text() | st.lists(pieces).map("".join)


@given(st.text(st.characters(exclude_categories=("C", "Z")) | st.just(" ")))
def test_printable_text_is_unchanged(text: str) -> None:
    odd = {"\u034f", "\u115f", "\u1160", "\u17b4", "\u17b5", "\u3164", "\uffa0", *"\ufe0e\ufe0f"}
    seen = "".join(
        letter
        for letter in text
        if letter not in odd and "VARIATION SELECTOR" not in unicodedata.name(letter, "")
    )
    assert visible(seen) == seen


@given(texts.filter(lambda text: "\\" not in text))
def test_nothing_is_lost(text: str) -> None:
    read = re.sub(r"\\u\{([0-9a-f]+)\}", lambda found: chr(int(found[1], 16)), visible(text))
    assert read == text


@given(texts)
def test_hidden_characters_that_stay_stand_alone(text: str) -> None:
    pairs = set(pairwise(visible(text))) - {("\ufe0f", "\u200d")}
    assert not any(
        one in KEPT_BEHIND_OTHERS and other in KEPT_BEHIND_OTHERS for one, other in pairs
    )


def test_a_long_text_is_written_out_at_once() -> None:
    for text in ("\u200d" * 300_000, "👩\u200d" * 100_000, "word\n" * 200_000):
        assert len(visible(text)) <= LONGEST * len(text)
