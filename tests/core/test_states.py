"""What restoring goes by: a history, whoever wrote it."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from pmem.core.lifecycle.states import restored
from pmem.values.records import Event, EventKind, Memory, State
from tests.conftest import NOW

END = NOW + timedelta(days=9)


def archived(before: dict[str, Any]) -> Memory:
    gone = Event(event=EventKind.ARCHIVE, at=NOW, before={"state": "active", **before})
    return Memory(
        id="mwqi0000-aaaaaaaa",
        content="We use Redis",
        category="knowledge",
        state=State.ARCHIVED,
        valid_from=NOW,
        valid_until=END,
        created_at=NOW,
        updated_at=NOW,
        history=(gone,),
    )


@pytest.mark.parametrize(
    ("earlier", "end"),
    [
        (None, None),
        ("2027-01-01T00:00:00Z", datetime(2027, 1, 1, tzinfo=UTC)),
        ("2027-01-01T00:00:00", END),
        ("tomorrow", END),
        (5, END),
        (["2027-01-01T00:00:00Z"], END),
    ],
)
def test_an_end_that_is_no_time_stays_as_it_is(earlier: Any, end: datetime | None) -> None:
    back = restored(archived({"valid_until": earlier}), Event(event=EventKind.RESTORE, at=NOW))
    assert (State.ACTIVE, end) == (back.state, back.valid_until)
