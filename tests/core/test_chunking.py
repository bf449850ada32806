"""What moves into chunks."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pmem.core.chunking import fitting, overflow
from pmem.errors import InvalidValue
from pmem.values.records import Message, Role
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


def worked(kinds: str) -> list[Message]:
    """Return a person's words (p), calls of tools (c) and their results (r)."""
    fields: dict[str, dict[str, Any]] = {
        "p": {},
        "c": {"role": Role.ASSISTANT, "tool_call": {"name": "ls"}},
        "r": {"role": Role.TOOL, "tool_result": {"name": "ls"}},
    }
    return [message(number, **fields[kind]) for number, kind in enumerate(kinds)]


@pytest.mark.parametrize(
    ("said", "chunk"),
    [
        ("ppppcrppp", "ppppcr"),
        ("pppppcrpp", "ppppp"),
        ("ppppccrrp", "pppp"),
        ("pppccrrpp", "ppp"),
        ("pcrcrcrcr", "pcrcr"),
        ("crrrrrrrr", "crrrrr"),
        ("rrrpppprp", "rrrppp"),
    ],
)
def test_a_call_is_not_parted_from_its_results(said: str, chunk: str) -> None:
    chunks, recent = overflow(worked(said), 8, 6)
    assert [*map(len, chunks)] == [len(chunk)]
    assert [*chunks[0], *recent] == worked(said)


@given(st.text("pcr", max_size=60), st.integers(1, 30), st.integers(1, 30), st.integers(0, 60))
def test_work_with_tools_said_one_by_one_and_all_at_once_comes_to_the_same(
    kinds: str, most: int, size: int, cut: int
) -> None:
    said = worked(kinds)
    first, rest = overflow(said[:cut], most, size)
    second, recent = overflow([*rest, *said[cut:]], most, size)
    assert overflow(said, most, size) == ([*first, *second], recent) or size > most
    assert len(recent) <= most


SIZES = st.lists(st.integers(1, 40) | st.integers(90, 300), max_size=60)


def weighed(sizes: list[int]) -> tuple[list[Message], dict[str, int]]:
    said = talk(len(sizes))
    return said, {item.id: size for item, size in zip(said, sizes, strict=True)}


@given(SIZES, st.integers(1, 30), st.integers(1, 30))
def test_no_chunk_takes_more_bytes_than_allowed_unless_one_message_does(
    sizes: list[int], most: int, size: int
) -> None:
    said, bytes_of = weighed(sizes)
    chunks, recent = overflow(said, most, size, lambda item: bytes_of[item.id], 100)
    assert [*(item for chunk in chunks for item in chunk), *recent] == said
    for held in (*chunks, recent):
        assert len(held) <= 1 or sum(bytes_of[item.id] for item in held) <= 100
    assert recent or not said


@given(SIZES, st.integers(1, 30), st.integers(1, 30), st.integers(0, 60))
def test_large_messages_one_by_one_and_all_at_once_come_to_the_same(
    sizes: list[int], most: int, size: int, cut: int
) -> None:
    said, bytes_of = weighed(sizes)

    def moved(messages: list[Message]) -> tuple[list[tuple[Message, ...]], tuple[Message, ...]]:
        return overflow(messages, most, size, lambda item: bytes_of[item.id], 100)

    first, rest = moved(said[:cut])
    second, recent = moved([*rest, *said[cut:]])
    assert moved(said) == ([*first, *second], recent)


@pytest.mark.long
def test_a_message_larger_than_a_record_may_be_is_refused_and_any_other_fits() -> None:
    wide = message(content="\x01" * 1_000_000, tool_result=["x" * 500_000])
    assert fitting(wide) is wide
    with pytest.raises(InvalidValue, match="bytes with its tool's call and result"):
        fitting(message(tool_result=["\x01" * 1_500_000]))


@pytest.mark.parametrize(("count", "chunks", "recent"), [(20, 0, 20), (21, 1, 11), (250, 23, 20)])
def test_the_defaults_of_the_design(count: int, chunks: int, recent: int) -> None:
    moved, stay = overflow(talk(count), 20, 10)
    assert (chunks, recent) == (len(moved), len(stay))
