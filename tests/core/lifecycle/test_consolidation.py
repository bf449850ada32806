"""Planning a consolidation: what it finds, what it leaves alone, and that it comes to rest."""

import random
from datetime import timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pmem.core.lifecycle.merging import absorbed
from pmem.core.lifecycle.plan import Action, UpkeepPlan
from pmem.core.lifecycle.states import restored
from pmem.core.retention import changed, linked, unlinked
from pmem.values.ids import short
from pmem.values.records import Access, Episode, EventKind, Memory, Relationship, Scope, State
from tests.conftest import NOW
from tests.core.lifecycle.makers import (
    DAY,
    after,
    crowds,
    event,
    identifier,
    link,
    memory,
    planned,
)
from tests.work import WITHIN, calls

SAME = ("We use PostgreSQL for the ledger.", "we use postgresql for the ledger")


def actions(plan: UpkeepPlan) -> list[Action]:
    return [step.action for step in plan.steps]


def survivors(*records: Memory | Episode, **rules: Any) -> list[Memory]:
    left = after(planned(*records, **rules), *records)
    memories = [record for record in left.values() if isinstance(record, Memory)]
    return [known for known in memories if known.state is State.ACTIVE]


@given(crowds(), st.integers(0, 400))
def test_a_second_run_at_the_same_moment_finds_nothing(
    crowd: list[Memory | Episode], days: int
) -> None:
    """A second later, a memory may be old enough to be archived."""
    now = NOW + days * DAY
    plan = planned(*crowd, now=now)
    left = after(plan, *crowd)
    again = planned(*left.values(), now=now)
    assert again.steps == ()
    assert again.waiting == 0


@given(crowds())
def test_the_order_of_the_records_and_the_moment_do_not_matter(
    crowd: list[Memory | Episode],
) -> None:
    names = [step.name for step in planned(*crowd).steps]
    assert [step.name for step in planned(*reversed(crowd)).steps] == names


@given(crowds())
def test_every_content_stays_in_a_record_and_pinned_ones_stay_active(
    crowd: list[Memory | Episode],
) -> None:
    left = after(planned(*crowd), *crowd)
    for record in crowd:
        found = left[record.id]
        if isinstance(record, Memory):
            assert isinstance(found, Memory)
            assert found.content == record.content
            assert not any(
                each.target == found.id for each in found.relationships[len(_own(record)) :]
            )
        assert found.history[: len(record.history)] == record.history
        if record.pinned:
            assert found.state in (State.ACTIVE, State.MERGED)


def _own(record: Memory | Episode) -> tuple[Relationship, ...]:
    return record.relationships if isinstance(record, Memory) else ()


@given(crowds(), st.integers(1, 4))
def test_run_after_run_with_a_small_cap_ends_where_one_run_ends(
    crowd: list[Memory | Episode], most: int
) -> None:
    left = {record.id: record for record in crowd}
    for _ in range(60):
        plan = planned(*left.values(), max_pairs=most, insights=False)
        taken = sum(
            len(step.touched) if step.action is Action.LINK else _merged(step.touched)
            for step in plan.steps
        )
        assert taken <= most
        left = after(plan, *left.values())
        if not plan.steps:
            break
    assert planned(*left.values(), insights=False).steps == ()


def _merged(touched: Any) -> int:
    return sum(
        isinstance(part.new, Memory) and part.new.state is State.MERGED is not part.old.state
        for part in touched
    )


@pytest.mark.row("S2.9.1")
@pytest.mark.parametrize(
    ("fields", "due"),
    [
        ({"created_at": NOW - 90 * DAY}, True),
        ({"created_at": NOW - 90 * DAY, "pinned": True}, False),
        ({"created_at": NOW - 90 * DAY, "access": Access(count=5)}, False),
        ({"created_at": NOW - 90 * DAY, "access": Access(count=1, last_at=NOW)}, False),
        ({"created_at": NOW - 90 * DAY, "state": State.MERGED}, False),
        ({"created_at": NOW - 30 * DAY}, True),
        ({"created_at": NOW - 30 * DAY + timedelta(milliseconds=1)}, False),
        ({"created_at": NOW - 30 * DAY, "importance": 0.6}, False),
        ({"created_at": NOW + 90 * DAY}, False),
    ],
)
def test_what_is_old_unpinned_and_hardly_present_is_archived(
    fields: dict[str, Any], due: bool
) -> None:
    known = memory(**fields)
    plan = planned(known)
    assert actions(plan) == [Action.ARCHIVE] * due
    if due:
        (gone,) = after(plan, known).values()
        assert isinstance(gone, Memory)
        assert (gone.state, gone.valid_until) == (State.ARCHIVED, NOW)


@pytest.mark.row("S2.12.5")
@pytest.mark.parametrize("number", [2, 7, 8, 9, 20, 300])
def test_many_copies_of_one_text_are_one_memory_after_one_run(number: int) -> None:
    copies = [memory(n, tags=(f"t{n}",)) for n in range(number)]
    plan = planned(*copies)
    left = after(plan, *copies)
    active = [m for m in left.values() if m.state is State.ACTIVE]
    assert [m.id for m in active] == [identifier(0)]
    assert isinstance(active[0], Memory)
    assert active[0].tags == tuple(f"t{n}" for n in range(number))
    assert planned(*left.values()).steps == ()


@pytest.mark.parametrize("best", [0, 5, 19, 20])
def test_copies_and_the_same_in_other_words_are_one_whoever_survives(best: int) -> None:
    copies = [memory(n, SAME[0]) for n in range(20)]
    crowd = [*copies, memory(20, "For the ledger we use PostgreSQL.")]
    crowd[best] = changed(crowd[best], event(EventKind.UPDATE), pinned=True)
    assert [known.id for known in survivors(*crowd)] == [identifier(best)]


def test_too_many_words_in_too_many_orders_come_to_rest_in_one_run() -> None:
    chance = random.Random(5)
    words = "red green blue grey pink cyan".split()
    crowd = [
        memory(n, " ".join(chance.sample(words, 6)), importance=chance.choice((0.4, 0.5)))
        for n in range(150)
    ]
    left = after(planned(*crowd), *crowd)
    assert planned(*left.values()).steps == ()


@pytest.mark.parametrize(
    ("fields", "why"),
    [
        ({"category": "project"}, "categories knowledge and project"),
        ({"subject": "invoices"}, "about ledger and invoices"),
        ({"valid_until": NOW + 9 * DAY}, "different times"),
        ({"scope": Scope(user="ada")}, None),
        ({"state": State.ARCHIVED}, None),
        ({"valid_until": NOW - DAY / 2}, None),
        ({"valid_from": NOW + DAY}, None),
    ],
)
def test_what_is_not_quite_the_same_is_left_alone(fields: dict[str, Any], why: str | None) -> None:
    crowd = [memory(1, SAME[0], subject="ledger"), memory(2, SAME[1], **fields)]
    plan = planned(*crowd)
    assert Action.MERGE not in actions(plan)
    assert len(plan.notices) == (why is not None)
    if why is not None:
        assert why in plan.notices[0].why


def test_a_subject_is_taken_over_once_and_another_is_left_alone() -> None:
    crowd = [
        memory(1, SAME[0], pinned=True),
        memory(2, SAME[0], subject="ledger"),
        memory(3, SAME[0], subject="Ledger "),
        memory(4, SAME[0], subject="invoices"),
    ]
    assert [(m.id, m.subject) for m in survivors(*crowd)] == [
        (identifier(1), "ledger"),
        (identifier(4), "invoices"),
    ]


def test_a_pair_that_was_brought_back_is_left_alone_and_so_are_two_that_were_one() -> None:
    crowd = [
        memory(1, SAME[0]),
        *(
            restored(
                absorbed(memory(n, SAME[0]), identifier(1), "ada", NOW), event(EventKind.RESTORE)
            )
            for n in (2, 3)
        ),
    ]
    plan = planned(*crowd)
    assert Action.MERGE not in actions(plan)
    assert {notice.why for notice in plan.notices} == {"they were merged once, and brought back"}
    fresh = memory(4, SAME[0])
    assert identifier(4) not in [known.id for known in survivors(*crowd, fresh)]


def test_those_that_one_stays_apart_from_still_become_one() -> None:
    first = memory(1, SAME[0], pinned=True)
    for number in (2, 3):
        gone = absorbed(first, identifier(number), "ada", NOW)
        first = restored(gone, event(EventKind.RESTORE))
    left = survivors(first, memory(2, SAME[0]), memory(3, SAME[0]))
    assert (len(left), left[0].id) == (2, identifier(1))


def test_links_to_what_is_merged_lead_to_the_survivor_also_along_a_chain() -> None:
    """The first pair's survivor takes over a link to what the second pair merges."""
    crowd = [
        memory(1, SAME[0], pinned=True),
        memory(2, SAME[0], relationships=(link(4),)),
        memory(3, "Ana owns billing.", pinned=True, importance=0.1),
        memory(4, "Ana owns billing."),
    ]
    left = {known.id: known for known in survivors(*crowd)}
    assert left.keys() == {identifier(1), identifier(3)}
    assert [each.target for each in left[identifier(1)].relationships] == [
        identifier(4),
        identifier(3),
    ]


def test_newer_memories_are_linked_to_the_older_ones_that_they_update() -> None:
    older, newer = memory(1, "The limit is 10 requests."), memory(2, "The limit is 20 requests.")
    plan = planned(newer, older)
    (step,) = plan.steps
    assert step.touched[0].record == newer
    assert step.rests_on == (older,)
    assert "--superseded-by" in step.advice
    (made,) = after(plan, newer, older)[newer.id].relationships  # type: ignore[union-attr]
    assert (made.target, made.type) == (older.id, "updates")


@pytest.mark.parametrize("start", [1, 2])
def test_a_link_that_was_removed_by_hand_does_not_come_back(start: int) -> None:
    crowd = [memory(1, "The limit is 10 requests."), memory(2, "The limit is 20 requests.")]
    own = crowd[start - 1]
    both = unlinked(
        linked(own, link(3 - start), "ada", NOW), (identifier(3 - start),), None, "a", NOW
    )
    crowd[start - 1] = both
    assert planned(*crowd).steps == ()


@pytest.mark.row("S1.4.3")
def test_what_waits_is_counted_once_and_the_rest_is_left() -> None:
    copies = [memory(n) for n in range(20)]
    plan = planned(*copies, max_pairs=5)
    assert plan.waiting == 14
    assert sum(len(step.touched) - 1 for step in plan.steps) == 5
    assert plan.notices == ()


@pytest.mark.long
@pytest.mark.row("S1.4.6")
@pytest.mark.parametrize(
    "crowd",
    [
        [memory(n, "Done.", subject=f"task {n}") for n in range(3000)],
        [memory(n, "Done.", category=f"c{n}") for n in range(3000)],
        [memory(n, "Done.") for n in range(3000)],
        [memory(n, "Done.", subject=f"task {n}" if n % 2 else None) for n in range(3000)],
    ],
    ids=["subjects", "categories", "copies", "half of them with subjects"],
)
def test_thousands_of_copies_cost_no_more_than_they_are(crowd: list[Memory]) -> None:
    plan = planned(*crowd, max_pairs=10)
    assert calls(lambda: planned(*crowd, max_pairs=10)) < WITHIN * 2000
    assert len(plan.notices) <= len(crowd)
    assert plan.waiting <= len(crowd)


def test_what_was_said_last_is_the_newer_one_whichever_was_made_first() -> None:
    edited = changed(
        memory(1, "The limit is 10 MB", created_at=NOW - 20 * DAY),
        event(EventKind.UPDATE, NOW - DAY),
        content="The limit is 50 MB",
    )
    other = memory(2, "The limit is 20 MB", created_at=NOW - 10 * DAY)
    (step,) = planned(edited, other).steps
    assert step.touched[0].record.id == edited.id
    assert "20 mb became 50 mb" in step.why
    assert step.advice.endswith(f"`pmem edit {short(other.id)} --superseded-by {short(edited.id)}`")
