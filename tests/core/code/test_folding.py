"""Reformatting changes no folded text, and everything else does."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pmem.core.code.folding import (
    MOST_BYTES,
    FoldedLines,
    bare_of,
    fold,
    folded_digest,
    indentation,
)
from pmem.core.code.languages import UNKNOWN, Language, language_of, pieces
from tests.labelled import read_rows

PYTHON, SCRIPT, GO, RUST = map(language_of, (".py", ".ts", ".go", ".rs"))
TEXT = language_of(".toml")
LANGUAGES = [
    PYTHON,
    SCRIPT,
    GO,
    RUST,
    TEXT,
    *map(language_of, (".sh", ".php", ".cs", ".cpp", ".rb")),
]
languages = st.sampled_from(LANGUAGES)
words = st.sampled_from(["settle", "x", "order9", "Größe", "_total", "if", "5"])
signs = st.sampled_from(["(", ")", "{", "}", ";", "=", "==", "+", ".", "[", "]", "=>", "!"])
strings = st.sampled_from(['"a  b"', '"\\"\\n"', "'x'", '"{ ( "'])
blanks = st.sampled_from([" ", "  ", "\t", "\n", "\n\n    ", " \r\n\t"])
code = st.lists(st.one_of(words, signs, strings), max_size=20)
any_text = st.one_of(
    st.binary(max_size=200),
    st.text("ab \t\n\"'`#/*\\<-@rR(){}[],:;", max_size=80).map(str.encode),
)
LAYOUTS = read_rows(__file__, "layouts.jsonl")


def folded(text: str, suffix: str = ".py") -> bytes:
    return fold(text.encode(), language_of(suffix))


@given(any_text, languages)
def test_the_pieces_of_a_text_are_the_text(text: bytes, language: Language) -> None:
    found = list(pieces(text, language.literals))
    assert b"".join(text[start:end] for _, start, end in found) == text
    assert all(start < end for _, start, end in found)


@given(code, st.data())
def test_white_space_between_signs_means_nothing_in_a_free_layout(
    tokens: list[str], data: st.DataObject
) -> None:
    one, other = ("".join(token + data.draw(blanks, "blank") for token in tokens) for _ in range(2))
    assert folded(one, ".rs") == folded(other, ".rs")


@given(code, st.integers(0, 30), st.sampled_from(["a", "+", '"', "7"]))
def test_any_other_sign_is_a_change(tokens: list[str], at: int, sign: str) -> None:
    place = min(at, len(tokens))
    more = [*tokens[:place], sign, *tokens[place:]]
    assert folded(" ".join(tokens), ".rs") != folded(" ".join(more), ".rs")


def program(steps: list[int], width: str, *, apart: bool) -> str:
    """Write a program of so many lines, each a step deeper than the last at the most."""
    lines, depth = [], 0
    for number, step in enumerate(steps):
        depth = min(step, depth + 1) if number else 0
        call = "f(\n\n a,\n   b,\n)" if apart else "f(a, b)"
        lines.append(f"{width * depth}x{number} = {call}")
        lines += [""] * apart
    return "\n".join(lines)


steps = st.lists(st.integers(0, 4), max_size=12)


@given(steps, st.sampled_from(["  ", "    ", "\t"]), st.sampled_from(["", "   ", "\t"]))
def test_python_may_be_indented_by_any_width_and_broken_in_brackets(
    depths: list[int], width: str, margin: str
) -> None:
    plain = program(depths, " ", apart=False)
    other = program(depths, width, apart=True)
    moved = "".join(margin + line + "\n" for line in other.split("\n"))
    assert folded(plain) == folded(other) == folded(moved)


@given(code, code, code, st.data())
def test_a_text_is_found_again_whatever_its_lines_have_become(
    before: list[str], cited: list[str], after: list[str], data: st.DataObject
) -> None:
    if not cited or cited[0] in "()":  # a line with nothing else begins no text
        return
    digest = folded_digest(" ".join(cited).encode(), RUST)
    assert digest is not None
    parts = [
        "".join(token + data.draw(blanks) for token in part).strip()
        for part in (before, cited, after)
    ]
    lines = [line.encode() for part in parts for line in re.split("\r?\n", part)]
    places = FoldedLines(lines).places(bare_of(digest))
    digests = {folded_digest(b"\n".join(lines[first - 1 : last]), RUST) for first, last in places}
    assert digest in digests


@given(st.binary(max_size=60), st.text(max_size=60))
def test_a_made_up_digest_is_found_nowhere_and_breaks_nothing(text: bytes, digest: str) -> None:
    assert FoldedLines(text.split(b"\n")).places(bare_of(digest + "!")) == []


def test_of_texts_as_long_only_the_same_one_is_found() -> None:
    digest = folded_digest(b"line 107", UNKNOWN)
    assert digest is not None
    lines = FoldedLines([b"line %d" % number for number in range(100, 200)])
    assert lines.places(bare_of(digest)) == [(8, 8)]


def test_a_text_too_long_has_no_folded_digest() -> None:
    assert folded_digest(b"x" * MOST_BYTES, UNKNOWN) is not None
    assert folded_digest(b"x" * (MOST_BYTES + 1), UNKNOWN) is None


def test_a_tab_leads_to_the_next_eighth_column() -> None:
    assert [indentation(line) for line in (b"x", b"  x", b"\tx", b"  \tx", b"")] == [0, 2, 8, 8, 0]


@pytest.mark.parametrize(("is_same", "suffix", "one", "other"), LAYOUTS)
def test_what_formatters_do_is_no_change_and_white_space_that_means_something_is_kept(
    is_same: bool, suffix: str, one: str, other: str
) -> None:
    assert (folded(one, suffix) == folded(other, suffix)) is is_same
