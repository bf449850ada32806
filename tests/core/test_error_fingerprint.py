"""An error is recognised wherever and whenever it happens again, and told from others."""

import json
import re
from typing import Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pmem.core.error_fingerprint import (
    DIGITS,
    essence,
    evidence_of,
    fingerprint,
    masked,
    telling_line,
)
from pmem.core.outcomes import ERROR, check_evidence
from tests.labelled import sections
from tests.work import STALLED, seconds

TRACE: Final = 'Traceback (most recent call last):\n  File "/w/pay.py", line 9, in f\n    go()\n'


SETS: Final = {
    heading: [json.loads(line) for line in lines]
    for heading, lines in sections("core/sets/errors.txt").items()
}
"""What programs wrote, the telling line marked; pairs of one error, and of two."""


@pytest.mark.parametrize("text", SETS["telling"])
def test_the_last_exception_tells_or_the_first_error_or_the_last_line(text: str) -> None:
    (marked,) = (line.rpartition("@")[2] for line in text.split("\n") if "@" in line)
    assert telling_line(text.replace("@", "")) == marked.replace("\x1b[0m", "").rstrip()


def test_a_panic_tells_its_reason_in_the_next_line() -> None:
    text = "thread 'main' panicked at src/main.rs:4:5:\nno rate for the month\nnote: run\n"
    assert telling_line(text).endswith("panicked at src/main.rs:4:5: no rate for the month")
    assert telling_line("") == ""


@pytest.mark.parametrize(("one", "other"), SETS["same"])
def test_neither_details_nor_who_reports_it_make_another_error(one: str, other: str) -> None:
    assert fingerprint(one) == fingerprint(other) is not None


@pytest.mark.parametrize(("one", "other"), SETS["other"])
def test_other_words_are_another_error(one: str, other: str) -> None:
    assert None not in (fingerprint(one), fingerprint(other))
    assert fingerprint(one) != fingerprint(other)


@pytest.mark.parametrize(
    "text",
    ["", "\n \n", "AssertionError", "E   assert 3 == 4", "exit status 1", "make: *** [x] Error 1",
     "3 failed, 2 passed in 0.3s", "npm ERR! code 1\nnpm ERR! path /w",
     "FAILURE: Build failed with an exception.", "FAILED tests/a.py::test_b - assert 3 == 4",
     "error: 7", "KeyError: 3", "Killed"],
)  # fmt: skip
def test_what_says_too_little_has_no_fingerprint(text: str) -> None:
    assert fingerprint(text) is None
    assert evidence_of(text) == ()


def test_a_fingerprint_stays_what_it_is_from_version_to_version() -> None:
    assert evidence_of(f"{TRACE}ValueError: no rate for 3 'EUR' in /w/x.csv") == (
        "error:598affa9daa1f3f6",
    )


WORDS: Final = st.lists(
    st.sampled_from("vendor blocked the ledger closed rate retry can't E0382".split()),
    min_size=3,
    max_size=8,
    unique=True,
)
DETAILS: Final = st.one_of(
    st.integers(0, 10**12).map(str),
    st.floats(0, 1e6).map("{:.3f}s".format),
    st.times().map(lambda time: time.isoformat()),
    st.integers(0, 2**64).map(hex),
    st.uuids().map(lambda each: "3fa9c2d" + each.hex),
)
PATHS: Final = st.lists(st.from_regex(r"[a-z0-9_.-]{1,9}", fullmatch=True), min_size=2).map(
    "/".join
)
QUOTES: Final = st.sampled_from(["''", '""', "``", "‘’", "“”"])
QUOTED: Final = st.builds("{0[0]}{1}{0[1]}".format, QUOTES, st.text("ab 1/é", max_size=9))


@given(st.data(), WORDS)
def test_what_differs_in_its_details_alone_is_the_same(
    data: st.DataObject, words: list[str]
) -> None:
    kinds = [data.draw(st.sampled_from([DETAILS, PATHS, QUOTED])) for _ in words]

    def line() -> str:
        return " ".join(
            f"{word} {data.draw(kind)}" for word, kind in zip(words, kinds, strict=True)
        )

    one, other = f"ValueError: {line()}", f"ValueError: {line()}"
    assert masked(one) == masked(other)
    assert fingerprint(one) == fingerprint(f"{TRACE}{other}\n") is not None


@given(st.text() | st.text("E :'\"`/\\0a\n\r\x1b[]rorER", max_size=200))
def test_any_text_is_read(text: str) -> None:
    found = fingerprint(text)
    assert found is None or re.fullmatch(f"[0-9a-f]{{{DIGITS}}}", found)
    assert evidence_of(text)[:1] == (() if found is None else (ERROR + found,))
    assert found is None or check_evidence([ERROR + found])
    assert "\n" not in masked(telling_line(text))


@pytest.mark.long
@pytest.mark.parametrize(
    "part",
    ["a", " ", "'", '"', "`", "‘", "“", "«", "/", "\\", "0", "0:", "a:", ".", "Error", "Error.",
     "E ", "error", "error ", "error:", "\x1b", "\x1b[", "\x1b]", "\x1b[0;", "\r", "\n", "(", "=",
     "[a] ", "1:1 ", "a:1:", "10:00 ", "E x\n", "XError: \n", " panicked at :\n",
     "Traceback (most recent call last):\n", "\ud800"],
)  # fmt: skip
def test_the_time_is_linear_in_the_text(part: str) -> None:
    text = part * (300_000 // len(part))
    assert seconds(lambda: fingerprint(text)) < STALLED
    assert seconds(lambda: masked(text)) < STALLED
    assert seconds(lambda: essence(text)) < STALLED
