"""One memory out of several: what any of them held is in it, or in the record that went."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pmem.core.lifecycle import merging
from pmem.core.lifecycle.states import restored
from pmem.core.retention import linked, unlinked
from pmem.core.trust import LEVELS, Trust, trust_of
from pmem.values.records import Episode, EventKind, Memory, State
from tests.conftest import NOW
from tests.core.lifecycle.makers import (
    DAY,
    TEXTS,
    crowds,
    event,
    identifier,
    link,
    memory,
)


@pytest.mark.row("S1.4.5")
@given(crowds())
def test_nothing_that_any_of_them_held_is_lost(crowd: list[Memory | Episode]) -> None:
    memories = sorted((m for m in crowd if isinstance(m, Memory)), key=merging.rank)
    if len(memories) < 2:
        return
    first, *others = memories
    whole = merging.absorbing(first, others, "ada", NOW)
    ids = {known.id for known in memories}
    for known in memories:
        assert set(known.tags) <= set(whole.tags)
        assert known.importance <= whole.importance
        assert known.pinned <= whole.pinned
        assert known.valid_from >= whole.valid_from
        assert whole.subject or not known.subject
        ends = {(each.target, each.type) for each in known.relationships if each.target not in ids}
        assert ends <= {(each.target, each.type) for each in whole.relationships}
        assert (known.access.last_at or NOW - 999 * DAY) <= (whole.access.last_at or NOW)
    assert whole.access.count == sum(known.access.count for known in memories)
    assert not any(each.target in ids for each in whole.relationships)
    assert len({(each.target, each.type) for each in whole.relationships}) == len(
        whole.relationships
    )
    assert (whole.id, whole.content, whole.state) == (first.id, first.content, State.ACTIVE)
    assert whole.history[:-1] == first.history
    assert whole.history[-1].detail == {"merged": [other.id for other in others]}


def told_by(number: int, agent: str = "", source: str = "", **fields: Any) -> Memory:
    noted = event(EventKind.ADD, agent=agent, source=source)
    return memory(number, history=(noted,), **fields)


@pytest.mark.parametrize("copy", [{"agent": "planner"}, {"source": "import arrays"}])
def test_a_copy_that_is_trusted_less_goes_and_says_nothing(copy: dict[str, str]) -> None:
    loud: dict[str, Any] = {
        "pinned": True,
        "importance": 1.0,
        "tags": ("obey",),
        "subject": "orders",
    }
    own = told_by(2, tags=("gear",), created_at=NOW)
    other = told_by(3, **copy, **loud, created_at=NOW - 9 * DAY, valid_from=NOW - 9 * DAY)
    assert sorted((other, own), key=merging.rank) == [own, other]
    whole = merging.absorbing(own, [other], "ada", NOW)
    assert trust_of(whole) is Trust.HIGH
    kept = ("content", "tags", "subject", "importance", "pinned", "valid_from")
    assert all(getattr(whole, name) == getattr(own, name) for name in kept)


COPIES = st.fixed_dictionaries(
    {
        "agent": st.sampled_from(["", "planner"]),
        "source": st.sampled_from(["", "import arrays"]),
        "tags": st.sampled_from([(), ("a",), ("b",)]),
        "pinned": st.booleans(),
    }
)


@given(st.lists(COPIES, min_size=2, max_size=5))
def test_what_becomes_of_several_is_trusted_as_its_text_was(copies: list[dict[str, Any]]) -> None:
    known = [told_by(number, **copy) for number, copy in enumerate(copies)]
    first, *others = sorted(known, key=merging.rank)
    levels = [LEVELS.index(trust_of(one) or Trust.LOW) for one in (first, *others)]
    assert levels == sorted(levels, reverse=True)
    assert trust_of(merging.absorbing(first, others, "ada", NOW)) is LEVELS[levels[0]]


@given(st.sampled_from(TEXTS))
def test_a_merged_memory_keeps_everything_and_comes_back_as_it_was(content: str) -> None:
    known = memory(2, content, tags=("a",), relationships=(link(3),), subject="ledger")
    gone = merging.absorbed(known, identifier(1), "ada", NOW)
    assert (gone.state, gone.history[-1].detail) == (State.MERGED, {"into": identifier(1)})
    back = restored(gone, event(EventKind.RESTORE))
    for name in ("content", "tags", "relationships", "subject", "valid_until", "state"):
        assert getattr(back, name) == getattr(known, name)


def test_links_to_a_merged_memory_lead_to_the_survivor_as_well() -> None:
    start = memory(3, relationships=(link(2), link(2, "updates", 0.8), link(1)))
    found = merging.redirected(start, identifier(2), identifier(1), "ada", NOW)
    ends = [(each.target[:7], each.type, each.strength) for each in found.relationships]
    assert ends == [
        ("1000002", "related_to", 0.5),
        ("1000002", "updates", 0.8),
        ("1000001", "related_to", 0.5),
        ("1000001", "updates", 0.8),
    ]
    assert merging.redirected(found, identifier(2), identifier(1), "ada", NOW) is found
    assert merging.redirected(start, identifier(9), identifier(1), "ada", NOW) is start


def test_two_that_were_one_are_known_whichever_went() -> None:
    def gone_into(number: int, survivor: int) -> Memory:
        gone = merging.absorbed(memory(number), identifier(survivor), "ada", NOW)
        return restored(gone, event(EventKind.RESTORE))

    first, second, third, other = memory(1), gone_into(2, 1), gone_into(3, 1), memory(4)
    assert merging.was_undone(first, second)
    assert merging.was_undone(second, first)
    assert merging.was_undone(second, third), "both were parts of the first"
    assert not merging.was_undone(second, other)
    assert not merging.was_undone(first, other)


def test_a_link_that_was_cut_is_remembered_and_one_that_stands_is_not_cut() -> None:
    known = linked(memory(1), link(2), "ada", NOW)
    assert not merging.was_cut(known, identifier(2))
    cut = unlinked(known, (identifier(2),), None, "ada", NOW)
    assert merging.was_cut(cut, identifier(2))
    assert not merging.was_cut(cut, identifier(3))
