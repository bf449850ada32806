"""When a record was last used, and what recalls make of it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pmem.core.lifecycle.presence import last_use, presence, with_recalls
from pmem.values.records import Access, EventKind
from tests.conftest import NOW
from tests.core.lifecycle.makers import DAY, episode, event, memory

OLD = NOW - 60 * DAY


@pytest.mark.parametrize("kind", EventKind)
def test_to_write_or_restore_is_a_use_and_what_upkeep_does_is_none(kind: EventKind) -> None:
    used = memory(created_at=OLD, history=(event(kind, NOW - DAY),))
    uses = kind in (EventKind.ADD, EventKind.UPDATE, EventKind.RESTORE)
    assert last_use(used) == (NOW - DAY if uses else OLD)


def test_a_recall_is_a_use_of_memories_and_of_episodes() -> None:
    recalled = Access(count=1, last_at=NOW)
    assert last_use(memory(created_at=OLD, access=recalled)) == NOW
    assert last_use(episode(created_at=OLD)) == OLD
    assert last_use(episode(created_at=OLD, access=recalled)) == NOW
    assert last_use(memory(created_at=NOW, access=Access(count=1, last_at=OLD))) == NOW


@pytest.mark.row("S4.8.3")
@given(st.integers(0, 400), st.integers(0, 20))
def test_presence_halves_with_each_half_life_and_rises_with_recalls(days: int, count: int) -> None:
    known = memory(created_at=NOW - days * DAY, access=Access(count=count))
    assert presence(known, NOW, 30) == pytest.approx(
        min(1, 0.5 ** (days / 30) + min(0.5, count / 10))
    )
    assert presence(known, NOW - 1000 * DAY, 30) == 1


accesses = st.builds(
    Access,
    count=st.integers(0, 9),
    last_at=st.none() | st.integers(0, 9).map(lambda days: NOW - days * DAY),
)


@given(accesses, accesses, accesses)
def test_folding_recalls_adds_them_up_in_any_order(one: Access, two: Access, own: Access) -> None:
    known = memory(access=own)
    folded = with_recalls(with_recalls(known, one), two)
    assert folded == with_recalls(with_recalls(known, two), one)
    assert folded.access.count == one.count + two.count + own.count
    assert folded.history == known.history
    assert folded.updated_at == known.updated_at
