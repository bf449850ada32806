"""JSON from outside: every whole number as it stands, or a refusal; and where a mistake is."""

import json
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from pmem.core.exactjson import InexactJson, read

NUMBERS = st.integers() | st.integers(-(10**300), 10**300)
VALUES: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | NUMBERS | st.text(st.characters(codec="utf-8")),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(max_size=3), inner),
    max_leaves=8,
)


@given(VALUES)
@example(2**63)
@example(2**64)
@example(-(2**63) - 1)
@example({"a": [10**40, "1" * 40]})
def test_what_is_written_is_read_exactly(value: Any) -> None:
    written = json.dumps(value)
    assert read(written) == value
    assert read(written.encode()) == value
    assert json.dumps(read(written)) == written


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (b"", "it is empty"),
        (b" \n", "it is empty"),
        (b"{", "it ends too soon"),
        (b'{"a": "x', "it ends too soon"),
        (b'{"a":1,}', "the mistake is at column 8"),
        (b'{"a":\n NaN}', "it has half a character, or a number that JSON does not know"),
        (b"[NaN, " + b"1" * 5000, "it has half a character, or a number that JSON does not know"),
        (b"[NaN, " + b"[" * 9000, "it has half a character, or a number that JSON does not know"),
        (b'{"a":\n no}', "the mistake is at line 2, column 2"),
        (b"hello", "the mistake is at column 1"),
        (b'{"a":"\xff"}', "it is not UTF-8 at byte 6"),
        (b"[" * 100_000, "it is nested too deep"),
        (b"1" * 5000, "it has a number too large to be kept"),
        (b"1e999", "it has a number too large to be kept"),
        ("\ud800", "it is not UTF-8 at byte 0"),
    ],
)
def test_what_is_no_json_gets_a_sentence(data: bytes | str, why: str) -> None:
    with pytest.raises(InexactJson) as caught:
        read(data)
    assert str(caught.value) == why


@given(st.binary(max_size=40) | st.text('[]{}",:0123456789.eE-+ntf\\u ').map(str.encode))
def test_anything_is_read_or_refused(data: bytes) -> None:
    try:
        value = read(data)
    except InexactJson:
        return
    assert json.loads(data) == value
