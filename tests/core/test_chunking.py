"""What moves into chunks."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pmem.core.chunking import overflow
from pmem.records import Message, Role
from tests.conftest import NOW


def message(number: int = 0, content: str = "Nothing special here", **fields: Any) -> Message:
    known: dict[str, Any] = {"role": Role.USER, "created_at": NOW}
    return Message(id=f"x-{number:08d}", content=content, **known | fields)


def talk(count: int) -> list[Message]:
    return [message(number) for number in range(count)]


@given(st.integers(0, 80), st.integers(1, 30), st.integers(1, 30))
def test_every_message_is_in_one_chunk_or_stays(count: int, most: int, size: int) -> None:
    said = talk(count)
    chunks, recent = overflow(said, most, size)
    assert [*(item for chunk in chunks for item in chunk), *recent] == said
    assert len(recent) <= most
    assert all(len(chunk) == size for chunk in chunks) or size > most
    assert recent or not count
    assert all(chunks)
    assert not chunks or count > most


@given(st.integers(0, 80), st.integers(1, 30), st.integers(1, 30), st.integers(0, 80))
def test_saying_one_by_one_and_all_at_once_come_to_the_same(
    count: int, most: int, size: int, cut: int
) -> None:
    said = talk(count)
    at_once = overflow(said, most, size)
    first, rest = overflow(said[:cut], most, size)
    second, recent = overflow([*rest, *said[cut:]], most, size)
    if size <= most:
        assert at_once == ([*first, *second], recent)


@pytest.mark.parametrize(("count", "chunks", "recent"), [(20, 0, 20), (21, 1, 11), (250, 23, 20)])
def test_the_defaults_of_the_design(count: int, chunks: int, recent: int) -> None:
    moved, stay = overflow(talk(count), 20, 10)
    assert (chunks, recent) == (len(moved), len(stay))
