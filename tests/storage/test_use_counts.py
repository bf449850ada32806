"""What sessions were shown and used: once for each session, added up in time, never without end."""

import os
from collections.abc import Iterable
from datetime import timedelta
from unittest import mock

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pmem.errors import ReadOnly
from pmem.storage.local import sessions
from pmem.storage.local.sessions import (
    KEPT,
    KeptPrompts,
    ReadSoFar,
    ShownItems,
    UseCount,
    UseCounts,
    name_of,
)
from pmem.storage.local.shown_keys import key_of
from pmem.storage.local.state import LocalState
from tests.conftest import NOW

ONE, TWO = "mjwaid1q-00000001", "mjwaid1q-00000002"


def counts(root: str) -> UseCounts:
    return UseCounts(LocalState(root))


def note(
    root: str, thread: str, shown: Iterable[str], used: Iterable[str] = (), days: float = 0
) -> None:
    counts(root).note(thread, "/t", 10, shown, set(used), NOW + timedelta(days=days))


def sums(root: str) -> dict[str, tuple[int, int]]:
    return {item: (use.shown, use.used) for item, use in counts(root).all().items()}


def test_nothing_is_made_before_something_is_noted(root: str) -> None:
    assert counts(root).all() == {}
    assert counts(root).session("s", "/t", NOW) == ReadSoFar()
    assert counts(root).of(ONE) is None
    assert not os.path.exists(f"{root}/local")


def test_a_record_counts_once_for_each_session_however_often_that_stops(root: str) -> None:
    for _ in range(3):
        note(root, "s", [ONE, TWO], [ONE])
    note(root, "s", [], [TWO])
    note(root, "other", [ONE])
    assert sums(root) == {ONE: (2, 1), TWO: (1, 1)}
    assert counts(root).of(ONE) == UseCount(2, 1, NOW)


def test_what_was_used_stays_used(root: str) -> None:
    note(root, "s", [ONE], [ONE])
    note(root, "s", [ONE])
    assert sums(root) == {ONE: (1, 1)}


def test_what_a_session_was_shown_is_what_hooks_have_noted(root: str) -> None:
    keys = [key_of(ONE, "text"), f"touched {key_of(TWO, 'text')}", f"stopped {TWO}", "start resume"]
    ShownItems(LocalState(root)).note("s", keys, NOW)
    both = frozenset({ONE, TWO})
    assert counts(root).session("s", "/t", NOW) == ReadSoFar(0, both, both)
    note(root, "s", both, [ONE])
    assert counts(root).session("s", "/t", NOW) == ReadSoFar(10, frozenset({TWO}), frozenset())
    assert counts(root).session("s", "/else", NOW).offset == 0
    assert counts(root).session("other", "/t", NOW) == ReadSoFar()
    assert counts(root).shown("s") == both


def test_what_was_cleared_from_a_session_can_still_be_used(root: str) -> None:
    shown = ShownItems(LocalState(root))
    shown.note("s", [key_of(ONE, "text")], NOW)
    note(root, "s", [ONE])
    shown.note("s", [key_of(TWO, "text")], NOW, afresh=True)
    found = counts(root).session("s", "/t", NOW)
    assert (set(found.unused), set(found.fresh)) == ({ONE, TWO}, {TWO})


def test_a_month_later_sessions_are_added_up_and_counted_no_more(root: str) -> None:
    ShownItems(LocalState(root)).note("s", [key_of(ONE, "text")], NOW)
    note(root, "s", [ONE, TWO], [ONE])
    note(root, "t", [ONE])
    note(root, "u", [TWO], [TWO], days=40)
    assert sums(root) == {ONE: (2, 1), TWO: (2, 1)}
    later = NOW + KEPT + timedelta(days=2)
    assert counts(root).session("s", "/t", later) == ReadSoFar()
    note(root, "v", [ONE], [ONE], days=80)
    assert sums(root) == {ONE: (3, 2), TWO: (2, 1)}


@given(
    st.lists(
        st.tuples(
            st.sampled_from("abc"), st.sampled_from([ONE, TWO]), st.booleans(), st.integers(0, 90)
        ),
        max_size=12,
    )
)
def test_the_sums_are_those_of_the_sessions_whatever_is_added_up_when(
    tmp_path_factory: pytest.TempPathFactory, noted: list[tuple[str, str, bool, int]]
) -> None:
    root = str(tmp_path_factory.mktemp("memory"))
    expected: dict[str, dict[str, bool]] = {}
    for number, (thread, item, is_used, day) in enumerate(sorted(noted, key=lambda one: one[3])):
        name = f"{thread}{number}"  # a session that is over before the next one begins
        note(root, name, [item], [item] * is_used, days=day)
        expected.setdefault(item, {})[name] = is_used
    assert sums(root) == {item: (len(of), sum(of.values())) for item, of in expected.items()}


def test_it_grows_to_a_limit_and_keeps_what_was_shown_last(root: str) -> None:
    with (
        mock.patch.object(sessions, "MOST_ROWS", 20),
        mock.patch.object(sessions, "MOST_RECORDS", 5),
    ):
        for number in range(60):
            note(root, f"s{number}", [f"mjwaid1q-{number:08}"], days=number / 100)
    kept = sorted(sums(root))
    assert len(kept) <= 26
    assert kept[-1] == "mjwaid1q-00000059"


def test_nothing_is_noted_where_nothing_may_be_written(root: str) -> None:
    state = LocalState(root, read_only=True)
    with pytest.raises(ReadOnly):
        UseCounts(state).note("s", "/t", 1, [ONE], set(), NOW)
    with pytest.raises(ReadOnly):
        KeptPrompts(state).keep("s", [("Which one?", NOW)], NOW)
    assert UseCounts(state).all() == {}
    assert KeptPrompts(state).all() == []


def test_prompts_are_kept_once_for_a_month_and_only_the_newest(root: str) -> None:
    kept = KeptPrompts(LocalState(root))
    kept.keep("s", [("Which one?", NOW)], NOW)
    kept.keep("t", [("Which one?", NOW + timedelta(hours=1)), ("And why?", NOW)], NOW)
    assert sorted((one.text, one.thread) for one in kept.all()) == [
        ("And why?", "t"), ("Which one?", "s")
    ]  # fmt: skip
    with mock.patch.object(sessions, "MOST_PROMPTS", 3):
        days = [(f"Day {day}?", NOW + timedelta(days=day)) for day in range(1, 9)]
        kept.keep("s", days, NOW + timedelta(days=8))
    assert [one.text for one in kept.all()] == ["Day 8?", "Day 7?", "Day 6?"]
    kept.forget([name_of("Day 7?"), "nosuch"])
    kept.keep("s", [], NOW + timedelta(days=7) + KEPT)
    assert [one.text for one in kept.all()] == ["Day 8?"]
