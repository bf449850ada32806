"""Records and their bytes: one canonical form, and no key lost that an older pmem knows not."""

import json
from datetime import UTC, datetime
from typing import Any

import msgspec
import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pmem.storage.files.recordfile import parse, serialise
from pmem.values.records import (
    LATER,
    Event,
    EventKind,
    Memory,
    Message,
    Record,
    Relationship,
    Role,
    Source,
    dump,
    dump_line,
)
from tests import strategies
from tests.conftest import NOW

UNKNOWN = {"new_flag": True, "new_text": "später", "new_list": [1, {"deep": None}]}


def _path(record: Record) -> str:
    return f"/store/{record.id}.json"


def _parsed(record: Record, data: bytes) -> Record:
    return parse(data, type(record), _path(record))


def _memory(**fields: Any) -> Memory:
    known: dict[str, Any] = {
        "id": "mjwaid1q-00000001",
        "content": "Use tabs.",
        "category": "style",
        "valid_from": NOW,
        "created_at": NOW,
        "updated_at": NOW,
    }
    return Memory(**known | fields)


@given(strategies.any_record)
def test_what_is_written_reads_back_equal(record: Record) -> None:
    assert record == _parsed(record, dump(record))


@given(strategies.any_record)
def test_load_and_save_give_the_same_bytes(record: Record) -> None:
    data = dump(record)
    again = _parsed(record, data)
    assert data == dump(again)
    assert data == serialise(again, data, _path(record))
    assert data == serialise(again, None, _path(record))


@given(strategies.any_record)
def test_bytes_are_indented_utf8_with_a_final_newline(record: Record) -> None:
    data = dump(record)
    assert data.endswith(b"}\n")
    assert b"\r" not in data
    value = json.loads(data.decode("utf-8"))
    assert data.decode() == json.dumps(value, ensure_ascii=False, indent=2) + "\n" or (
        orjson.loads(data) == value  # the two writers differ in floats and empty lists only
    )


@given(strategies.any_record)
def test_keys_stand_in_the_order_of_the_fields(record: Record) -> None:
    written = [name for name in record.__struct_fields__ if _is_written(record, name)]
    assert written == list(json.loads(dump(record)))


def _is_written(record: Record, name: str) -> bool:
    """Tell whether a field is in a file; those from before there was one stay alike."""
    return name not in LATER or bool(getattr(record, name))


@given(strategies.any_record)
def test_one_line_says_the_same_as_the_file(record: Record) -> None:
    line = dump_line(record)
    assert b"\n" not in line
    told = json.loads(line)
    assert json.loads(dump(record)) == {n: told[n] for n in told if _is_written(record, n)}


@given(strategies.any_record, strategies.any_record, strategies.unknown_keys)
def test_unknown_keys_of_the_record_survive_a_rewrite(
    record: Record, other: Record, extra: dict[str, Any]
) -> None:
    new = other if type(other) is type(record) else record
    new = msgspec.structs.replace(new, id=record.id)
    previous = dump(json.loads(dump(record)) | extra)
    rewritten = serialise(new, previous, _path(record))
    assert new == _parsed(record, rewritten)
    assert json.loads(dump(new)) | extra == json.loads(rewritten)
    assert rewritten == serialise(new, rewritten, _path(record))


def _with_unknown_keys(value: Any, *, inside: bool = True) -> Any:
    """Put unknown keys into every object that is a part of a record."""
    if isinstance(value, list) and inside:
        return [_with_unknown_keys(item) for item in value]
    if not isinstance(value, dict) or not inside:
        return value
    free = ("before", "detail", "tool_call", "tool_result")
    grown = {key: _with_unknown_keys(item, inside=key not in free) for key, item in value.items()}
    return grown | UNKNOWN


def _distinct(record: Record) -> bool:
    """Tell whether the parts of every list can be told apart."""
    events: tuple[Event, ...] = getattr(record, "history", ())
    links: tuple[Relationship, ...] = getattr(record, "relationships", ())
    said: tuple[Message, ...] = getattr(record, "messages", getattr(record, "recent_messages", ()))
    return (
        len({(event.event, event.at) for event in events}) == len(events)
        and len({(link.target, link.type) for link in links}) == len(links)
        and len({message.id for message in said}) == len(said)
    )


@given(strategies.any_record.filter(_distinct))
def test_unknown_keys_at_every_level_survive_a_rewrite(record: Record) -> None:
    previous = dump(_with_unknown_keys(json.loads(dump_line(record))))
    assert json.loads(previous) == json.loads(serialise(record, previous, _path(record)))


def test_unknown_keys_follow_their_part_when_others_come_and_go() -> None:
    links = [Relationship(target=f"mjwaid1q-0000000{n}", type="supports") for n in (2, 3, 4)]
    value = json.loads(dump_line(_memory(relationships=tuple(links))))
    for number, link in enumerate(value["relationships"]):
        link["new_number"] = number
    changed = _memory(relationships=(links[2], Relationship(target="a-00000000", type="x")))
    rewritten = json.loads(serialise(changed, dump(value), _path(changed)))
    assert [link.get("new_number") for link in rewritten["relationships"]] == [2, None]


def test_events_of_one_moment_keep_their_own_unknown_keys() -> None:
    """With a fixed clock many events agree in kind and time."""
    twin = Event(event=EventKind.UPDATE, at=NOW)
    value = json.loads(dump_line(_memory(history=(twin, twin, twin))))
    for number, event in enumerate(value["history"]):
        event["new_number"] = number
    grown = _memory(history=(twin, twin, twin, twin))
    rewritten = json.loads(serialise(grown, dump(value), _path(grown)))
    assert [event.get("new_number") for event in rewritten["history"]] == [0, 1, 2, None]


def test_a_known_key_that_is_taken_out_stays_out() -> None:
    source = Source(kind="file", file="a.py", lines="1-2")
    previous = dump(_memory(source=source, subject="tabs"))
    cleared = _memory()
    assert dump(cleared) == serialise(cleared, previous, _path(cleared))


def test_a_default_written_out_by_hand_gives_way_to_a_new_value() -> None:
    value = json.loads(dump_line(_memory(source=Source(file="a.py"))))
    value["source"]["kind"] = "manual"
    changed = _memory(source=Source(kind="import", file="a.py"))
    rewritten = serialise(changed, dump(value), _path(changed))
    assert changed == parse(rewritten, Memory, _path(changed))


@pytest.mark.parametrize("number", [2**64, -(2**63) - 1, 10**40])
def test_a_number_of_an_unknown_key_comes_out_as_it_is(number: int) -> None:
    previous = json.dumps(json.loads(dump_line(_memory())) | {"new_number": number}).encode()
    rewritten = serialise(_memory(content="new"), previous, "/store/mjwaid1q-00000001.json")
    assert json.loads(rewritten)["new_number"] == number


@given(st.datetimes(timezones=st.just(UTC)))
def test_times_are_kept_to_the_millisecond(at: datetime) -> None:
    memory = _memory(created_at=at)
    read = parse(dump(memory), Memory, _path(memory))
    assert at.replace(microsecond=at.microsecond // 1000 * 1000) == read.created_at
    assert dump(memory) == dump(read)


@pytest.mark.parametrize("edge", ["0001-01-01T00:00:00+14:00", "9999-12-31T23:59:59-12:00"])
def test_a_time_at_the_calendar_s_edge_can_be_written(edge: str) -> None:
    memory = _memory(created_at=datetime.fromisoformat(edge))
    data = dump(memory)
    assert edge == json.loads(data)["created_at"]
    assert data == dump(parse(data, Memory, _path(memory)))


def test_the_bytes_of_a_memory_are_these() -> None:
    """The file format is a promise: this changes only together with the schema."""
    memory = _memory(
        subject="tabs",
        tags=("a", "b"),
        relationships=(Relationship(target="a-00000000", type="x", created_at=NOW),),
        history=(Event(event=EventKind.ADD, at=NOW, actor="me"),),
    )
    expected = """{
  "id": "mjwaid1q-00000001",
  "schema": 1,
  "type": "fact",
  "content": "Use tabs.",
  "category": "style",
  "subject": "tabs",
  "tags": ["a", "b"],
  "scope": {},
  "importance": 0.5,
  "pinned": false,
  "state": "active",
  "valid_from": "2026-11-21T14:30:00.250Z",
  "valid_until": null,
  "purge_at": null,
  "relationships": [
    {
      "target": "a-00000000",
      "type": "x",
      "created_at": "2026-11-21T14:30:00.250Z"
    }
  ],
  "source": {},
  "created_at": "2026-11-21T14:30:00.250Z",
  "updated_at": "2026-11-21T14:30:00.250Z",
  "access": {},
  "tokens": 0,
  "history": [
    {
      "event": "ADD",
      "at": "2026-11-21T14:30:00.250Z",
      "actor": "me"
    }
  ]
}
"""
    assert expected == dump(memory).decode()


def test_what_has_no_json_form_is_refused() -> None:
    message = Message(id="x", role=Role.USER, content="", created_at=NOW, tool_call=object())
    with pytest.raises(TypeError):
        dump(message)
