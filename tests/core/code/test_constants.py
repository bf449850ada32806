"""What a line gives to a name, in programs and in settings."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pmem.core.code.constants import assignments, same_value
from pmem.core.code.definitions import parse_symbol
from pmem.core.code.languages import Language, language_of
from tests.labelled import read_rows

LANGUAGES = [
    language_of(suffix) for suffix in (".py", ".ts", ".rs", ".go", ".yaml", ".sh", ".json")
]


VALUES = read_rows(__file__, "values.jsonl")


def values(source: str, name: str, suffix: str) -> list[tuple[str, str]]:
    symbol = parse_symbol(name)
    assert symbol is not None
    lines = [line.encode() for line in source.split("\n")]
    return [
        (f"{one.first}-{one.last}", one.value.decode())
        for one in assignments(lines, symbol, language_of(suffix), 0)
    ]


@pytest.mark.parametrize(
    "line",
    [
        "# X = 3",
        "if X == 3:",
        "f(X=4)",
        "x = X = 3",
        "return X",
        "def X(): pass",
        "X += 1",
        "X -= 1",
        "self.X = 3",
        "MAX = 3",
        "X_MAX = 3",
        "print('X = 3')",
        '"X = 3"',
        "X => 3",
        "X ~ 3",
        "X::y",
    ],
)
def test_other_lines_with_the_name_give_none(line: str) -> None:
    assert values(line, "X", ".py") == []


@pytest.mark.parametrize(
    ("one", "other", "wanted"),
    [
        ("[1, 2]", "[1,2]", True),
        ("[1, 2]", "[\n  1,\n  2,\n]", True),
        ('"a b"', '"a  b"', False),
        ("3", "3.0", False),
        ('"3"', "3", False),
        ("- 3", "-3", True),
    ],
)
def test_values_are_compared_without_white_space(one: str, other: str, wanted: bool) -> None:
    for suffix in (".py", ".ts", ".toml"):
        language = language_of(suffix)
        assert same_value(one.encode(), other.encode(), language) == wanted


@given(
    st.lists(st.text("X =:;,#'\"`([{}])\\n\n3", max_size=20).map(str.encode), max_size=9),
    st.sampled_from(LANGUAGES),
)
def test_any_text_gives_what_stands_in_it(lines: list[bytes], language: Language) -> None:
    lines = b"\n".join(lines).split(b"\n")
    symbol = parse_symbol("X")
    assert symbol is not None
    for one in assignments(lines, symbol, language, 0):
        assert 1 <= one.first <= one.last <= len(lines)
        kept = b"".join(b"\n".join(lines[one.first - 1 : one.last]).split())
        assert b"".join(one.value.split())[:1] in kept


@pytest.mark.parametrize(("suffix", "source", "name", "places", "value"), VALUES)
def test_a_line_gives_a_value(suffix: str, source: str, name: str, places: str, value: str) -> None:
    assert values(source, name, suffix) == [(places, value)]
