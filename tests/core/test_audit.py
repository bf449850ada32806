"""The audit trail: what its references name, whatever happened."""

from datetime import timedelta
from hashlib import sha256
from typing import Any

import pytest
from hypothesis import given

from pmem.core.journal import AuditRow, digest, row, steps
from pmem.core.retention import changed, linked, unlinked
from pmem.values.records import Event, EventKind, Memory, Relationship, State, dump_line
from tests import strategies
from tests.conftest import NOW
from tests.core.test_journal import edited, memory

OTHER = "mjwaid1q-00000002"
FIRST, THEN = digest("at first"), digest("then")


def last(record: Memory) -> AuditRow:
    return row(steps(record)[-1])


def after(kind: EventKind, detail: dict[str, Any] | None = None, **fields: Any) -> AuditRow:
    event = Event(event=kind, at=NOW + timedelta(minutes=1), actor="ada", detail=detail or {})
    return last(changed(memory(), event, **fields))


def test_a_digest_is_that_of_the_contents_bytes() -> None:
    assert f"sha256:{sha256('数据库'.encode()).hexdigest()}" == digest("数据库")


@pytest.mark.parametrize(
    ("found", "references"),
    [
        (last(memory()), (None, FIRST)),
        (last(edited(memory(), "then", 1)), (FIRST, THEN)),
        (after(EventKind.UPDATE, importance=0.9), (FIRST, FIRST)),
        (after(EventKind.DELETE, state=State.SOFT_DELETED), (FIRST, None)),
        (after(EventKind.TTL, state=State.SOFT_DELETED), (FIRST, None)),
        (after(EventKind.ARCHIVE, state=State.ARCHIVED), (FIRST, None)),
        (after(EventKind.RESTORE, state=State.ACTIVE), (None, FIRST)),
        (after(EventKind.MERGE, {"into": OTHER}, state=State.MERGED), (FIRST, OTHER)),
        (after(EventKind.SUPERSEDE, {"by": {"id": OTHER}}, state=State.SUPERSEDED), (FIRST, OTHER)),
        (after(EventKind.MERGE, {"merged": [OTHER]}, content="then"), (FIRST, THEN)),
        (after(EventKind.MERGE, state=State.MERGED), (FIRST, None)),
    ],
)
def test_references_name_contents_or_where_an_event_leads(
    found: AuditRow, references: tuple[str | None, str | None]
) -> None:
    assert references == (found.old_ref, found.new_ref)


def test_links_name_the_memory_that_they_lead_to() -> None:
    one = linked(memory(), Relationship(target=OTHER, type="x"), "ada", NOW)
    stronger = linked(one, Relationship(target=OTHER, type="x", strength=0.9), "ada", NOW)
    cut = unlinked(stronger, (OTHER,), None, "ada", NOW)
    rows = [row(step) for step in steps(cut)][1:]
    assert [(None, OTHER), (OTHER, OTHER), (OTHER, None)] == [
        (found.old_ref, found.new_ref) for found in rows
    ]


@pytest.mark.row("S1.8.2")
def test_a_row_says_who_did_what_when_to_which_and_how() -> None:
    found = last(edited(memory(user="mira"), "then", 1))
    assert "mjwaid1q-00000001:2" == found.id
    assert ("mjwaid1q-00000001", "ada") == (found.memory_id, found.actor)
    assert NOW + timedelta(minutes=1) == found.ts
    assert {
        "kind": "memory",
        "scope": {"user": "mira"},
        "before": {"content": "at first"},
        "after": {"content": "then"},
    } == found.meta


@given(strategies.memories)
def test_a_later_event_changes_no_row_of_an_earlier_one(record: Memory) -> None:
    event = Event(event=EventKind.UPDATE, at=record.updated_at, actor="ada")
    longer = changed(record, event, content=record.content + "!")
    if record.history:
        before = [dump_line(row(step)) for step in steps(record)]
        assert before == [dump_line(row(step)) for step in steps(longer)][:-1]
