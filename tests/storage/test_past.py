"""A backend of the past: it reads what is asked, once, and refuses to write."""

from datetime import UTC, datetime, timedelta
from unittest import mock

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pmem.errors import Damaged, NotFound, Refused
from pmem.storage.backend import Change
from pmem.storage.past import PastBackend, begun
from pmem.values.records import STORES, Conversation, Episode, Event, EventKind, Memory, Record
from tests import strategies
from tests.conftest import NOW
from tests.storage.folders import memory
from tests.storage.in_memory import InMemory


def backend_of(*records: Record) -> InMemory:
    backend = InMemory()
    backend.commit([Change(type(record), record.id, record) for record in records])
    return backend


def at(moment: datetime, *records: Record) -> PastBackend:
    return PastBackend(backend_of(*records), moment, len)


LATER = NOW + timedelta(days=1)
OLD = memory("mjwaid1q-00000001", "old")
NEW = Memory(
    id="mjwaid1q-00000002",
    content="new",
    category="knowledge",
    valid_from=LATER,
    created_at=LATER,
    updated_at=LATER,
)
ODD = Memory(
    id="mjwaid1q-00000003",
    content="odd",
    category="knowledge",
    valid_from=NOW,
    created_at=NOW,
    updated_at=LATER,
    history=(Event(event=EventKind.LINK, at=LATER, detail={"link": "to nowhere"}),),
)


def test_what_was_not_there_yet_is_not_found() -> None:
    past = at(LATER - timedelta(milliseconds=1), OLD, NEW)
    assert past.ids(Memory) == [OLD.id]
    assert list(past.scan(Memory)) == [OLD]
    with pytest.raises(NotFound, match=f"memory {NEW.id} did not exist at that time"):
        past.read(Memory, NEW.id)
    assert at(LATER, OLD, NEW).ids(Memory) == [OLD.id, NEW.id]


def test_nothing_can_be_written() -> None:
    past = at(LATER, OLD)
    with pytest.raises(Refused):
        past.lock()
    with pytest.raises(Refused):
        past.commit([])


def test_only_what_a_reference_fits_is_read_and_that_once() -> None:
    past = at(LATER, *(memory(f"mjwaid1q-{number:08d}") for number in range(50)), NEW)
    with mock.patch.object(InMemory, "read", autospec=True, side_effect=InMemory.read) as read:
        for _ in range(3):
            assert past.ids(Memory, "00000007") == ["mjwaid1q-00000007"]
            assert past.read(Memory, "mjwaid1q-00000007").id == "mjwaid1q-00000007"
            assert past.ids(Episode, "00000007") == []
    assert [call.args[2] for call in read.call_args_list] == ["mjwaid1q-00000007"]


def test_a_history_that_cannot_be_undone_is_a_problem_and_no_crash() -> None:
    past = at(NOW, OLD, ODD)
    assert list(past.scan(Memory)) == [item for item in (OLD,) if begun(item) <= NOW]
    assert [problem.code for problem in past.problems] == ["damaged"]
    with pytest.raises(Damaged, match=f"the history of memory {ODD.id} cannot be undone"):
        past.read(Memory, ODD.id)
    assert ODD in at(LATER, ODD).scan(Memory)


def test_what_is_damaged_today_stays_so() -> None:
    past = at(LATER, OLD)
    with mock.patch.object(InMemory, "read", side_effect=Damaged("it is broken")):
        assert past.ids(Memory) == [OLD.id]
        with pytest.raises(Damaged, match="it is broken"):
            past.read(Memory, OLD.id)


@given(
    records=st.lists(strategies.any_record, max_size=4, unique_by=lambda record: record.id),
    moment=strategies.times,
)
def test_whatever_is_kept_nothing_of_the_future_shows(
    records: list[Record], moment: datetime
) -> None:
    past = at(moment, *records)
    for type_ in STORES:
        for found in past.scan(type_):
            assert begun(found) <= moment
            if isinstance(found, Conversation):
                assert all(said.created_at <= moment for said in found.recent_messages)
            if isinstance(found, Memory | Episode | Conversation):
                assert all(event.at <= moment for event in found.history)
    end = PastBackend(backend_of(*records), datetime.max.replace(tzinfo=UTC), len)
    assert [list(end.scan(type_)) for type_ in STORES] == [
        list(backend_of(*records).scan(type_)) for type_ in STORES
    ]
