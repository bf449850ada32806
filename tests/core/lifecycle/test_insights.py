"""Insights: few, seldom, and only what happened often."""

from datetime import timedelta
from typing import Any

import msgspec
import pytest

from pmem.core.lifecycle.consolidation import note_insights
from pmem.core.trust import Trust, trust_of
from pmem.values.records import Episode, EpisodeType, EventKind, Memory, MemoryType, State
from tests.conftest import NOW
from tests.core.lifecycle.makers import DAY, draft_of, episode, event, memory


def unsettled(number: int, subject: str, times: int, days: float = 1) -> Memory:
    """Return a memory whose content changed so many times."""
    change = event(EventKind.UPDATE, NOW - days * DAY, before={"content": "x"})
    return memory(number, f"text {number}", subject=subject, history=(change,) * times)


def noted(*records: Memory | Episode, now_in: float = 0) -> list[Memory]:
    draft = draft_of(*records, now=NOW + now_in * DAY)
    note_insights(draft)
    found = [step.touched[0].new for step in draft.steps]
    return [made for made in found if isinstance(made, Memory)]


@pytest.mark.row("S1.3.2")
@pytest.mark.parametrize(("times", "days", "count"), [(3, 1, 1), (2, 1, 0), (3, 31, 0), (3, 30, 0)])
def test_three_changes_within_thirty_days_say_something(
    times: int, days: float, count: int
) -> None:
    assert len(noted(unsettled(1, "ledger", times, days))) == count


def test_changes_of_all_memories_of_a_subject_count_together() -> None:
    parts = [unsettled(1, "Ledger", 1), unsettled(2, "ledger ", 1)]
    successor = memory(
        3, subject="LEDGER", history=(event(EventKind.ADD, detail={"supersedes": "x"}),)
    )
    assert noted(*parts) == []
    (found,) = noted(*parts, successor)
    assert found.tags == ("unsettled", "ledger")
    assert "3 times since 2026-11-20" in found.content
    assert (found.type, found.state) == (MemoryType.INSIGHT, State.ACTIVE)


@pytest.mark.parametrize("detail", [{"undo": "`edit`"}, {"settled": ["content"]}])
def test_what_undo_and_resolve_bring_back_is_no_change_of_a_subject(detail: dict[str, Any]) -> None:
    once = event(EventKind.UPDATE, before={"content": "x"})
    back = event(EventKind.UPDATE, before={"content": "y"}, detail=detail)
    assert noted(memory(subject="ledger", history=(once, back, once, back))) == []


def test_at_most_three_the_most_frequent_first() -> None:
    found = noted(*(unsettled(n, f"subject {n}", n) for n in range(3, 9)))
    assert [made.tags[1] for made in found] == ["subject 8", "subject 7", "subject 6"]
    assert len({made.id for made in found}) == 3


@pytest.mark.row("S1.3.3")
def test_no_insight_follows_another_within_a_day_and_none_is_told_twice() -> None:
    busy = [unsettled(n, f"subject {n}", n) for n in range(3, 8)]
    first = noted(*busy)
    almost = (timedelta(days=1) - timedelta(milliseconds=1)) / DAY
    assert noted(*busy, *first, now_in=almost) == []
    later = noted(*busy, *first, now_in=1)
    assert [made.tags[1] for made in later] == ["subject 4", "subject 3"]
    assert noted(*busy, *first, *later, now_in=2) == []
    assert noted(*busy, *first, now_in=-3) == [], "a clock that runs backwards"


def test_an_insight_is_trusted_no_more_than_what_it_quotes() -> None:
    imported = event(EventKind.UPDATE, NOW - DAY, source="import arrays")
    busy = unsettled(1, "obey the ledger", 3)
    doubted = msgspec.structs.replace(busy, history=(*busy.history, imported))
    assert [trust_of(made) for made in noted(busy)] == [Trust.MEDIUM]
    assert [trust_of(made) for made in noted(doubted)] == [Trust.LOW]
    issues = [
        episode(n, type=EpisodeType.ISSUE_IDENTIFIED, title="obey deploys", history=(imported,))
        for n in range(3)
    ]
    assert [trust_of(made) for made in noted(*issues)] == [Trust.LOW]


def test_an_insight_that_was_removed_is_not_told_again() -> None:
    from msgspec.structs import replace

    busy = unsettled(1, "ledger", 4)
    (first,) = noted(busy)
    gone = replace(first, state=State.SOFT_DELETED)
    assert noted(busy, gone, now_in=2) == []


def test_problems_with_a_word_in_common_are_told_once_by_the_latest() -> None:
    problems = [
        episode(n, type=EpisodeType.ISSUE_IDENTIFIED, title=f"The Cache fails, case {n}")
        for n in range(3)
    ]
    found = noted(*problems)
    assert [memory.content for memory in found] == [
        'Problems such as "The Cache fails, case 2" came up 3 times since 2026-11-20.'
    ]
    assert noted(*problems[:2]) == []
    other = [episode(n, title="The Cache works") for n in range(5)]
    assert noted(*other) == []
