"""What the decoder says against a value, in words that a reader understands."""

from datetime import datetime
from typing import Annotated, Any, Literal

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pmem.core.exactjson import sentence

Time = Annotated[datetime, msgspec.Meta(tz=True)]


class Inner(msgspec.Struct, forbid_unknown_fields=True):
    at: Time


class Outer(msgspec.Struct, forbid_unknown_fields=True):
    text: str | None = None
    count: Annotated[int, msgspec.Meta(ge=1, le=5)] = 2
    size: float = 1.0
    word: Annotated[str, msgspec.Meta(min_length=2)] = "xx"
    form: Literal["one", "two"] = "one"
    tags: tuple[str, ...] = ()
    pair: tuple[int, int] = (1, 2)
    table: dict[str, int] = {}
    parts: tuple[Inner, ...] = ()
    either: str | tuple[str, ...] = ""


def said(value: Any, **choices: tuple[str, ...]) -> str:
    with pytest.raises(msgspec.ValidationError) as caught:
        msgspec.convert(value, Outer)
    return sentence(caught.value, choices)


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ([], "it must be an object, not a list"),
        ({"text": 1}, "text must be text, not a whole number"),
        ({"count": 0}, "count must be at least 1"),
        ({"count": 10**30}, "count must be at most 5"),
        ({"count": 1.5}, "count must be a whole number, not one with a fraction"),
        ({"size": "x"}, "size must be a number, not text"),
        ({"word": "x"}, "word must have at least 2 characters"),
        ({"form": "three"}, "form cannot be 'three'"),
        ({"tags": [1]}, "tags[0] must be text, not a whole number"),
        ({"tags": None}, "tags must be a list, not null"),
        ({"pair": [1]}, "pair must have 2 items"),
        ({"table": {"x": "y"}}, "table[...] must be a whole number, not text"),
        ({"table": {1: 2}}, "a key of table must be text, not a whole number"),
        ({"parts": [{}]}, "parts[0] has no `at`"),
        ({"parts": [{"at": "soon"}]}, "parts[0].at must be a time such as 2026-11-21T14:30:00Z"),
        ({"parts": [{"at": 1}]}, "parts[0].at must be a time such as 2026-11-21T14:30:00Z"),
        ({"either": 1}, "either must be text or a list, not a whole number"),
        ({"colour": 1}, "it has the unknown key `colour`"),
        ({"` - at ": 1}, "it has the unknown key ``"),
    ],
)
def test_every_mistake_has_its_sentence(value: Any, expected: str) -> None:
    assert said(value) == expected


def test_choices_are_told_where_they_are_known() -> None:
    assert said({"form": "three"}, form=("one", "two")) == "form must be one of one, two"


@given(st.recursive(st.none() | st.booleans() | st.integers() | st.text(), st.lists))
def test_no_word_of_the_decoder_is_left(value: Any) -> None:
    for name in Outer.__struct_fields__:
        assert "Expected" not in _told({name: value})


def _told(value: Any) -> str:
    try:
        msgspec.convert(value, Outer)
    except msgspec.ValidationError as error:
        return sentence(error)
    return ""
