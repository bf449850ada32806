"""The log of all histories: its order, its filters, and what each event led to."""

from datetime import datetime, timedelta

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pmem.core.journal import Historic, JournalKind, Wanted, entry, log, one_line, steps
from pmem.core.retention import changed, json_value
from pmem.values.records import KINDS, Conversation, Event, EventKind, Memory, Scope, dump_line
from tests import strategies
from tests.conftest import NOW
from tests.core.test_retention import Step, changes, cuts, links
from tests.effort import examples

historic: st.SearchStrategy[Historic] = (
    strategies.memories | strategies.episodes | strategies.conversations
)


def memory(number: int = 1, at: datetime = NOW, user: str | None = None) -> Memory:
    return Memory(
        id=f"mjwaid1q-0000000{number}",
        content="at first",
        category="knowledge",
        scope=Scope(user=user),
        valid_from=at,
        created_at=at,
        updated_at=at,
        history=(Event(event=EventKind.ADD, at=at, actor="ada"),),
    )


def edited(record: Memory, content: str, minutes: int, actor: str = "ada") -> Memory:
    at = NOW + timedelta(minutes=minutes)
    return changed(record, Event(event=EventKind.UPDATE, at=at, actor=actor), content=content)


@pytest.mark.row("S1.8.3")
@given(st.lists(st.one_of(changes(), links(), cuts()), min_size=1, max_size=10))
def test_each_step_tells_what_the_memory_was_right_after_it(story: list[Step]) -> None:
    """Every value is found again from the last state and the histories alone."""
    record = memory()
    snapshots = [record]
    for number, step in enumerate(story, start=1):
        later = step(record, NOW + timedelta(minutes=number))
        snapshots += [later] * (len(later.history) - len(record.history))
        record = later
    kept = msgspec.json.decode(dump_line(record), type=Memory)
    told = steps(kept)
    assert len(snapshots) == len(told)
    for snapshot, step_told in zip(snapshots, told, strict=True):
        for field in ("content", "tags", "state", "importance", "purge_at"):
            assert json_value(getattr(snapshot, field)) == step_told.value(field)
        for field, value in step_told.after.items():
            assert json_value(getattr(snapshot, field)) == value
        assert step_told.event.before.keys() == step_told.after.keys()


def test_an_update_tells_both_sides_of_a_change() -> None:
    record = edited(edited(memory(), "then", 1), "at last", 2)
    sides = [(step.event.before, step.after) for step in steps(record)]
    assert [
        ({}, {}),
        ({"content": "at first"}, {"content": "then"}),
        ({"content": "then"}, {"content": "at last"}),
    ] == sides
    assert ["at first", "then", "at last"] == [step.text for step in steps(record)]
    assert "at first" == steps(record)[1].earlier("content")


def test_a_record_written_by_hand_was_made_and_no_more() -> None:
    record = msgspec.structs.replace(memory(), history=())
    (only,) = steps(record)
    assert (EventKind.ADD, NOW, 1) == (only.event.event, only.event.at, only.place)
    talk = Conversation(id="a-00000001", title="Talk", started_at=NOW, updated_at=NOW)
    assert ["Talk"] == [entry(step).text for step in log([talk], Wanted())]


@pytest.mark.row("S1.1.2")
@settings(max_examples=examples(40))
@given(st.lists(historic, max_size=4))
def test_the_log_has_every_event_of_any_records_in_one_order(records: list[Historic]) -> None:
    found = log(records, Wanted())
    assert sum(max(1, len(record.history)) for record in records) == len(found)
    assert [step.order for step in found] == sorted(step.order for step in found)
    for step in found:
        said = entry(step)
        assert (said.id, said.kind) == (step.record.id, KINDS[type(step.record)])
        assert "\n" not in said.text
        assert said.after.keys() <= said.before.keys()
        dump_line(said)


def test_events_of_one_moment_stand_by_id_and_then_by_place() -> None:
    first, second = edited(memory(1), "b", 0), edited(memory(2), "c", 0)
    found = log([second, first], Wanted())
    assert [(step.record.id[-1], step.place) for step in found] == [
        ("1", 1),
        ("1", 2),
        ("2", 1),
        ("2", 2),
    ]


@pytest.mark.parametrize(
    ("wanted", "places"),
    [
        (Wanted(), [(1, 1), (2, 1), (2, 2)]),
        (Wanted(user="mira"), [(2, 1), (2, 2)]),
        (Wanted(app="shop"), []),
        (Wanted(actor="Ben"), [(2, 2)]),
        (Wanted(actor="be"), [(2, 2)]),
        (Wanted(actor="bend"), []),
        (Wanted(events=(EventKind.ADD,)), [(1, 1), (2, 1)]),
        (Wanted(events=(EventKind.TTL, EventKind.UPDATE)), [(2, 2)]),
        (Wanted(kinds=(JournalKind.MEMORY,)), [(1, 1), (2, 1), (2, 2)]),
        (Wanted(kinds=(JournalKind.EPISODE, JournalKind.CONVERSATION)), []),
        (Wanted(after=NOW + timedelta(minutes=5)), [(2, 2)]),
        (Wanted(before=NOW + timedelta(minutes=5)), [(1, 1), (2, 1)]),
    ],
)
def test_filters_choose_events(wanted: Wanted, places: list[tuple[int, int]]) -> None:
    records = [memory(1), edited(memory(2, user="mira"), "new", 5, "Ben")]
    found = [(int(step.record.id[-1]), step.place) for step in log(records, wanted)]
    assert places == found


def test_a_program_is_found_by_its_name_where_no_person_is_named() -> None:
    merged = changed(memory(1), Event(event=EventKind.MERGE, at=NOW, source="git"), content="new")
    assert [2] == [step.place for step in log([merged], Wanted(actor="GI"))]


def test_only_memories_concern_a_user() -> None:
    talk = Conversation(id="a-00000001", title="mira", started_at=NOW, updated_at=NOW)
    assert [] == log([talk], Wanted(user="mira"))
    assert [talk] == [step.record for step in log([talk], Wanted())]


@given(st.text(), st.integers(2, 80))
def test_a_line_is_one_line_and_no_longer_than_asked(text: str, most: int) -> None:
    line = one_line(text, most)
    assert len(line) <= most
    assert line.splitlines() in ([], [line])
    assert one_line(line, most) == line
