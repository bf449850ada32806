"""JSON that is read and written again without a change."""

import json

import orjson
import pytest
from hypothesis import given

from pmem.core.rawjson import NotJson, dump, load
from pmem.values.json_layout import fold_lists
from pmem.values.records import dump as dump_record
from tests import strategies


@given(strategies.any_record)
def test_a_records_file_is_written_again_as_it_was(record: object) -> None:
    data = dump_record(record)
    assert dump(load(data)) == data


@given(strategies.objects)
def test_any_object_has_the_form_that_records_have(value: object) -> None:
    option = orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE
    data = fold_lists(orjson.dumps(value, option=option))
    assert dump(load(data)) == data


@pytest.mark.parametrize("number", ["1e-7", "1E400", "0.10", "-0.0", "1e16", "9" * 30])
def test_a_number_stays_as_it_was_written(number: str) -> None:
    data = f'{{\n  "n": {number}\n}}\n'.encode()
    assert dump(load(data)) == data


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"[]",
        b"{",
        b'{"a": 1, "a": 2}',
        b'{"a": NaN}',
        b'{"a": Infinity}',
        b'{"a": "\xff"}',
        b"<<<<<<< ours\n{}\n",
        b'{"a":' * 100_000,
        b"[" * 1_000_000,
    ],
)
def test_what_is_no_object_is_refused(data: bytes) -> None:
    with pytest.raises(NotJson):
        load(data)


def test_what_is_nested_too_deep_is_called_so_at_any_depth() -> None:
    with pytest.raises(NotJson, match=r"^nested too deep$"):
        load(b'{"a":' * 100_000)


def test_what_cannot_be_written_is_refused() -> None:
    with pytest.raises(NotJson, match="half a character"):
        dump(load(b'{"a": "\\ud800"}'))
    with pytest.raises(NotJson, match="too deep"):
        dump(load(b'{"a":' * 100 + b"1" + b"}" * 100))


def test_a_large_file_is_read_and_written() -> None:
    value = {f"key {number}": ["日本" * 50, number] for number in range(5000)}
    assert load(dump(value)) == json.loads(json.dumps(value))
