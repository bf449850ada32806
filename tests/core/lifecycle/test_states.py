"""States: every way out of recall leads back, with nothing lost on the way."""

from datetime import datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from pmem.core.lifecycle.states import MOVES, can_move, closed, moved, restored
from pmem.core.retention import changed
from pmem.values.records import EventKind, Memory, State
from pmem.values.times import iso
from tests.conftest import NOW
from tests.core.lifecycle.makers import DAY, event, memory

LEAVING = (EventKind.ARCHIVE, EventKind.SUPERSEDE, EventKind.MERGE)
REMOVING = (EventKind.DELETE, EventKind.TTL)
moments = st.integers(-100, 100).map(lambda days: NOW + days * DAY)


def left(known: Memory, kind: EventKind, at: datetime) -> Memory:
    """Let a memory leave recall as the commands do."""
    if kind in REMOVING:
        return moved(known, event(kind, at), purge_at=at + 30 * DAY)
    fields = {} if kind is EventKind.MERGE else {"valid_until": closed(known, at)}
    return moved(known, event(kind, at), **fields)


@given(
    begin=moments,
    length=st.none() | st.integers(0, 200),
    first=st.sampled_from((*LEAVING, *REMOVING)),
    then=st.none() | st.sampled_from(REMOVING),
    at=moments,
)
def test_whatever_took_a_memory_out_restoring_gives_back_the_validity_it_had(
    begin: datetime, length: int | None, first: EventKind, then: EventKind | None, at: datetime
) -> None:
    end = None if length is None else begin + length * DAY
    known = memory(created_at=begin, valid_until=end)
    gone = left(known, first, at)
    if then and can_move(gone.state, then):
        gone = left(gone, then, at + DAY)
    back = restored(gone, event(EventKind.RESTORE, at + 2 * DAY))
    assert (back.state, back.valid_until, back.purge_at) == (State.ACTIVE, end, None)
    again = restored(left(back, first, at), event(EventKind.RESTORE))
    assert again.valid_until == end


@given(first=st.sampled_from(LEAVING), end=st.none() | moments, then=st.booleans())
def test_an_end_that_somebody_sets_meanwhile_is_kept(
    first: EventKind, end: datetime | None, then: bool
) -> None:
    gone = left(memory(valid_until=NOW + DAY / 2), first, NOW)
    edited = changed(gone, event(EventKind.UPDATE), valid_until=end, content="new")
    if then:
        edited = left(edited, EventKind.DELETE, NOW)
    back = restored(edited, event(EventKind.RESTORE))
    assert back.content == "new"
    if end != gone.valid_until:
        assert back.valid_until == end


def test_what_merging_in_git_kept_of_another_branch_is_not_what_closed_a_memory() -> None:
    gone = left(memory(), EventKind.SUPERSEDE, NOW)
    noted = replace(event(EventKind.MERGE), source="git", before={"valid_until": iso(NOW - DAY)})
    back = restored(replace(gone, history=(*gone.history, noted)), event(EventKind.RESTORE))
    assert back.valid_until is None


@given(begin=moments, end=st.none() | moments, at=moments)
def test_closing_never_ends_a_validity_before_it_began_nor_later_than_it_would(
    begin: datetime, end: datetime | None, at: datetime
) -> None:
    found = closed(memory(created_at=begin, valid_until=end), at)
    assert found <= max(at, begin)
    assert end is None or found <= end
    assert end is not None or found >= begin


@pytest.mark.parametrize("state", State)
@pytest.mark.parametrize("kind", MOVES)
def test_an_event_that_a_state_does_not_allow_does_not_happen(
    state: State, kind: EventKind
) -> None:
    known = memory(state=state)
    if can_move(state, kind):
        assert moved(known, event(kind)).state is MOVES[kind].end
    else:
        with pytest.raises(AssertionError):
            moved(known, event(kind))
