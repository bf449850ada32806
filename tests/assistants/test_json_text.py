"""Changing somebody else's JSON: what is put in comes out again, and nothing else moves."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pmem.assistants.json_entries import (
    NoPlace,
    NotStrictJson,
    Path,
    parse,
    value_at,
    with_item,
    with_member,
    with_value,
    without,
)
from tests.assistants.configurations import BROKEN, texts

NEW = {"command": "pmem", "args": ["mcp"]}


@given(texts())
def test_a_text_is_read_as_the_standard_library_reads_it(text: str) -> None:
    root = parse(text)
    assert json.loads(text[root.start : root.end]) == json.loads(text) == value_at(text, ())
    assert [name for name, _ in root.names] == list(json.loads(text))


@given(st.text(alphabet='{}[]:,"\\ \n0.e-tru\u2028a', max_size=30))
def test_what_the_standard_library_refuses_is_refused(text: str) -> None:
    try:
        json.loads(text, parse_constant=lambda name: 1 / 0)
    except (ValueError, ZeroDivisionError):
        with pytest.raises(NotStrictJson):
            parse(text)
    else:
        parse(text)


@pytest.mark.parametrize("name", sorted(set(BROKEN) - {"not UTF-8"}))
def test_what_is_nearly_json_is_refused(name: str) -> None:
    with pytest.raises(NotStrictJson):
        parse(BROKEN[name].decode())


def test_what_is_nested_beyond_all_reason_is_refused() -> None:
    assert parse("[" * 100 + "]" * 100).kind == "["
    with pytest.raises(NotStrictJson):
        parse("[" * 100_000)


PATHS = st.sampled_from([(), ("mcpServers",), ("new",), ("hooks", "deep"), ("theme",)])


@given(texts(), PATHS)
def test_a_member_comes_out_as_it_went_in(text: str, path: Path) -> None:
    try:
        after = with_member(text, path, "new one", NEW)
    except NoPlace:
        return
    assert value_at(after, (*path, "new one")) == NEW
    assert without(after, (*path, "new one")) == text


@given(texts(), st.sampled_from([("hooks", "Stop"), ("new",), ("hooks", "new")]))
def test_an_item_comes_out_as_it_went_in(text: str, path: Path) -> None:
    try:
        after = with_item(text, path, NEW)
    except NoPlace:
        return
    items = value_at(after, path)
    assert items[-1] == NEW
    assert without(after, (*path, len(items) - 1)) == text


@given(texts(), texts())
def test_a_value_is_replaced_where_it_stands(text: str, other: str) -> None:
    for name in json.loads(text):
        after = with_value(text, (name,), json.loads(other))
        assert json.loads(after) == {**json.loads(text), name: json.loads(other)}
        assert list(json.loads(after)) == list(json.loads(text))


def test_lines_end_and_indent_as_those_around_them() -> None:
    text = '{\r\n\t"theme": "dark"\r\n}'
    assert with_member(text, ("servers",), "pmem", NEW) == (
        '{\r\n\t"theme": "dark",\r\n\t"servers": {\r\n\t\t"pmem": {\r\n\t\t\t"command": "pmem",'
        '\r\n\t\t\t"args": ["mcp"]\r\n\t\t}\r\n\t}\r\n}'
    )


def test_a_text_on_one_line_stays_on_one_line() -> None:
    after = with_member('{"a":1}', ("servers",), "pmem", NEW)
    assert after == '{"a":1,"servers": { "pmem": { "command": "pmem", "args": [ "mcp" ] } }}'


def test_a_container_that_was_made_goes_with_its_last_entry_and_one_that_was_there_stays() -> None:
    assert without(with_member("{}", ("a", "b"), "c", 1), ("a", "b", "c")) == "{}"
    made = with_member('{"a": {}}', ("a", "b"), "c", 1)
    assert without(made, ("a", "b", "c")) == '{"a": {}}'
    assert without('{\n  "a": {\n    "c": 1\n  }\n}\n', ("a", "c")) is None


def test_two_of_a_name_are_not_chosen_between() -> None:
    with pytest.raises(NoPlace):
        with_member('{"a": {}, "a": {}}', ("a",), "b", 1)
