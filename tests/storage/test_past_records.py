"""The past of single records: whole chunks or none, and nothing that was not there yet."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from itertools import pairwise

import msgspec
import pytest
from hypothesis import given

from pmem.storage.backend import Change
from pmem.storage.past import PastBackend, past
from pmem.values.ids import make_id, milliseconds
from pmem.values.records import (
    Chunk,
    Conversation,
    Event,
    EventKind,
    Fact,
    Memory,
    MemoryType,
    Message,
    Record,
    Role,
    Standing,
    Status,
)
from tests import strategies
from tests.conftest import NOW
from tests.storage.in_memory import InMemory

END = datetime.max.replace(tzinfo=UTC, microsecond=0)


def kept(*records: Record) -> PastBackend:
    """Return what is kept around a record."""
    backend = InMemory()
    backend.commit([Change(type(record), record.id, record) for record in records])
    return PastBackend(backend, END, len)


NOTHING = kept()


def after(seconds: float) -> datetime:
    return NOW + timedelta(seconds=seconds)


def id_at(seconds: float, number: int = 0) -> str:
    return make_id(milliseconds(after(seconds)), number)


def message(second: int) -> Message:
    return Message(
        id=id_at(second), role=Role.USER, content=f"turn {second}", created_at=after(second)
    )


def chunk(made: float, *seconds: int, **fields: object) -> Chunk:
    said = tuple(map(message, seconds))
    return msgspec.structs.replace(
        Chunk(
            id=id_at(made, 7),
            conversation=id_at(0, 9),
            number=1,
            summary="in short",
            key_topics=("turns",),
            created_at=said[-1].created_at,
            messages=said,
        ),
        **fields,
    )


def talk(*chunks: Chunk, recent: Sequence[int] = (), **fields: object) -> Conversation:
    said = tuple(map(message, recent))
    return msgspec.structs.replace(
        Conversation(
            id=id_at(0, 9),
            started_at=NOW,
            updated_at=after(1000),
            turns=len(said) + sum(len(part.messages) for part in chunks),
            chunks=tuple(part.id for part in chunks),
            recent_messages=said,
        ),
        **fields,
    )


def talk_at(at: datetime, conversation: Conversation, *around: Record) -> Conversation:
    found = past(conversation, at, kept(*around))
    assert isinstance(found, Conversation)
    return found


def said(conversation: Conversation) -> list[str]:
    return [item.content for item in conversation.recent_messages]


def test_a_chunk_was_not_there_before_its_messages_left_the_recent_ones() -> None:
    made = chunk(9, 1, 2, 3)
    assert past(made, after(8.9), NOTHING) is None
    assert past(made, after(9), NOTHING) == made


def test_until_then_its_messages_stood_among_the_recent_ones() -> None:
    made = chunk(5, 1, 2, 3)
    today = talk(made, recent=[4, 5, 6])
    then = talk_at(after(4), today, made)
    assert (said(then), then.turns, then.chunks) == (
        ["turn 1", "turn 2", "turn 3", "turn 4"],
        4,
        (),
    )
    later = talk_at(after(5), today, made)
    assert (said(later), later.turns, later.chunks) == (["turn 4", "turn 5"], 5, (made.id,))


@pytest.mark.parametrize("second", range(11))
def test_a_message_is_found_exactly_once_at_every_moment(second: int) -> None:
    chunks = (chunk(5, 1, 2), chunk(7, 3, 4))
    today = talk(*chunks, recent=[5, 6, 7, 8])
    then = talk_at(after(second), today, *chunks)
    held = [past(part, after(second), NOTHING) for part in chunks]
    inside = [m.content for part in held if isinstance(part, Chunk) for m in part.messages]
    assert [*inside, *said(then)] == [f"turn {n}" for n in range(1, 9) if n <= second]
    assert then.turns == min(second, 8)
    assert then.updated_at == after(min(second, 8))


def test_an_imported_chunk_was_there_when_all_of_it_had_been_said() -> None:
    """Its id is derived from its first message, which tells nothing."""
    imported = chunk(1, 1, 2, 3)
    today = talk(imported, recent=[4])
    assert past(imported, after(2), NOTHING) is None
    assert said(talk_at(after(2), today, imported)) == ["turn 1", "turn 2"]
    assert past(imported, after(3), NOTHING) == imported


def test_a_message_that_is_just_moving_is_there_once() -> None:
    made = chunk(3, 1, 2)
    moving = talk(made, recent=[1, 2, 3], turns=3)
    assert said(talk_at(after(9), moving, made)) == ["turn 3"]
    assert said(talk_at(after(2), moving, made)) == ["turn 1", "turn 2"]


def test_a_chunk_was_merged_once_the_one_that_it_went_into_was_there() -> None:
    newer = chunk(9, 5, 6)
    older = chunk(4, 1, 2, merged_into=newer.id)
    assert past(older, after(8), kept(newer)) == msgspec.structs.replace(older, merged_into=None)
    assert past(older, after(9), kept(newer)) == older
    today = talk(older, newer, recent=[9], merged_chunks=1)
    assert talk_at(after(8), today, older, newer).merged_chunks == 0
    assert talk_at(after(9), today, older, newer).merged_chunks == 1


def test_what_was_cleared_before_stays_cleared() -> None:
    older, newer = chunk(4, 1, 2), chunk(9, 5, 6)
    today = talk(older, newer, recent=[9], merged_chunks=1, cleared_turns=2)
    assert talk_at(after(8), today, older, newer).merged_chunks == 1


def test_a_long_chain_of_merged_chunks_is_no_matter() -> None:
    made = [chunk(n, n) for n in range(1, 3000)]
    chain = [msgspec.structs.replace(one, merged_into=next_.id) for one, next_ in pairwise(made)]
    around = kept(*chain, made[-1])
    assert [past(part, after(99), around) for part in chain[:98]] == chain[:98]


def test_a_chunk_that_cannot_be_read_keeps_its_place() -> None:
    lost, made = chunk(4, 1, 2), chunk(9, 3, 4)
    then = talk_at(after(8), talk(lost, made, recent=[9]), made)
    assert (said(then), then.turns, then.chunks) == (["turn 3", "turn 4"], 4, (lost.id,))


def test_a_conversation_stood_as_its_history_tells() -> None:
    ended = Event(
        event=EventKind.UPDATE,
        at=after(5),
        before={"status": "paused", "ended_at": None, "outcome": None, "newer_field": 1},
    )
    today = talk(
        status=Status.ENDED, ended_at=after(5), outcome="Done", history=(ended,), title="Bread"
    )
    then = talk_at(after(4), today)
    assert (then.status, then.ended_at, then.outcome, then.history) == (
        Status.PAUSED,
        None,
        None,
        (),
    )
    assert talk_at(after(5), today).outcome == "Done"
    assert past(today, NOW - timedelta(milliseconds=1), NOTHING) is None


def test_what_was_pruned_later_is_not_pruned_yet() -> None:
    today = talk(recent=[1, 2, 3], pruned=(message(1).id,), pruned_at=after(3))
    assert talk_at(after(2), today).pruned == ()
    assert talk_at(after(3), today).pruned == today.pruned


def fact(standing: Standing, **fields: object) -> Fact:
    made = Fact(
        id=id_at(1, 3),
        content="Mira bakes",
        type=MemoryType.FACT,
        confidence=0.8,
        message=message(1).id,
        extracted_at=after(1),
        standing=standing,
    )
    return msgspec.structs.replace(made, **fields)


@pytest.mark.parametrize(
    ("settled", "second", "expected"),
    [
        (fact(Standing.REJECTED, settled_at=after(5)), 4, [Standing.PENDING]),
        (fact(Standing.REJECTED, settled_at=after(5)), 5, [Standing.REJECTED]),
        (fact(Standing.REJECTED), 2, [Standing.REJECTED]),
        (fact(Standing.PROMOTED, memory=id_at(5)), 4, [Standing.PENDING]),
        (fact(Standing.PROMOTED, memory=id_at(5)), 5, [Standing.PROMOTED]),
        (fact(Standing.PROMOTED, memory="no id"), 4, [Standing.PROMOTED]),
        (fact(Standing.PENDING), 0, []),
    ],
)
def test_a_fact_stood_as_it_or_its_memorys_id_tells(
    settled: Fact, second: int, expected: list[Standing]
) -> None:
    then = talk_at(after(second), talk(recent=[1], facts=(settled,)))
    assert [item.standing for item in then.facts] == expected
    assert all(item.memory is None for item in then.facts if item.standing == "pending")


def test_the_tokens_of_an_earlier_text_are_counted_again() -> None:
    edit = Event(event=EventKind.UPDATE, at=after(5), before={"content": "short"})
    memory = Memory(
        id=id_at(0),
        content="a longer text",
        category="knowledge",
        valid_from=NOW,
        created_at=NOW,
        updated_at=after(5),
        tokens=4,
        history=(edit,),
    )
    then = past(memory, NOW, NOTHING)
    assert isinstance(then, Memory)
    assert (then.content, then.tokens) == ("short", 5)


@given(strategies.any_record)
def test_at_the_end_of_time_everything_is_as_it_is(record: Record) -> None:
    assert past(record, END, NOTHING) == record
