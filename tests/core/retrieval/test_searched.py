"""How much of a record is searched: all of what people write, and a part of what nobody would."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pmem.core.retrieval.documents import entries, searched_messages, searched_part
from pmem.values import bounds
from pmem.values.records import Conversation, Memory, Message, Relationship, Role
from tests.conftest import NOW


def memory(content: str = "The gear turns", **fields: Any) -> Memory:
    known: dict[str, Any] = dict.fromkeys(("valid_from", "created_at", "updated_at"), NOW)
    known |= {"id": "mjwaid1q-00000001", "category": "x"}
    return Memory(content=content, **known | fields)


def message(number: int, content: str) -> Message:
    return Message(id=f"x-{number:08d}", role=Role.USER, content=content, created_at=NOW)


def talk(*contents: str) -> Conversation:
    said = tuple(message(number, content) for number, content in enumerate(contents))
    return Conversation(id="x-10000000", started_at=NOW, updated_at=NOW, recent_messages=said)


def terms(record: Memory | Conversation) -> set[str]:
    return {term for entry in entries(record) for term in entry.frequencies}


def test_an_ordinary_record_is_searched_as_it_is() -> None:
    ordinary = memory(tags=("gear", "wheel"), subject="gears")
    assert searched_part(ordinary) is ordinary


def test_of_a_long_text_the_beginning_is_searched() -> None:
    found = terms(memory("gear " + "x " * bounds.SEARCHED_CHARACTERS + "wheel"))
    assert ("gear" in found, "wheel" in found) == (True, False)


def test_of_many_tags_and_links_the_first_are_searched() -> None:
    count = bounds.SEARCHED_NAMES + 1
    links = tuple(Relationship(target=f"x-{n:08d}", type="related_to") for n in range(count))
    (entry,) = entries(memory(tags=tuple(f"t{n}" for n in range(count)), relationships=links))
    assert len(entry.facts.tags) == len(entry.links) == bounds.SEARCHED_NAMES


@pytest.mark.parametrize("field", ["subject", "tags"])
def test_a_name_beyond_all_reason_is_searched_in_part(field: str) -> None:
    long = "gear " + "x" * bounds.SEARCHED_CHARACTERS
    fields: dict[str, Any] = {field: (long,) if field == "tags" else long}
    (entry,) = entries(memory(**fields))
    held = entry.facts.tags[0] if field == "tags" else entry.facts.subject
    assert held is not None
    assert len(held) == bounds.SEARCHED_NAME_CHARACTERS


def test_a_record_has_so_many_terms_at_the_most() -> None:
    wide = "".join(chr(0x4E00 + number % 20_000) for number in range(0, 7 * 240_000, 7))
    found = [*entries(talk(wide, wide[::-1], "gear"))]
    assert sum(len(entry.frequencies) for entry in found) <= bounds.SEARCHED_TERMS


def test_of_very_many_messages_the_latest_are_searched() -> None:
    record = talk(*["gear"] * (bounds.SEARCHED_MESSAGES + 5))
    found = [*entries(record)]
    assert len(found) == bounds.SEARCHED_MESSAGES
    assert found[-1].id == record.recent_messages[-1].id


@given(st.lists(st.integers(0, 400_000), max_size=12))
def test_long_messages_share_what_is_searched_and_short_ones_are_searched_whole(
    lengths: list[int],
) -> None:
    said = [message(number, "x" * length) for number, length in enumerate(lengths)]
    kept = [len(found.content) for _, found in searched_messages(said)]
    assert sum(kept) <= max(bounds.SEARCHED_CHARACTERS, 0)
    level = max(kept, default=0)
    assert all(
        now == length or level - 1 <= now <= level
        for now, length in zip(kept, lengths, strict=True)
    )
