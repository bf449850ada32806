"""What memories are worth to a task: each rule by itself, and all of them together."""

from datetime import timedelta
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from pmem.core.context.worth import (
    Valuation,
    Worth,
    first_subjects,
    subject_of,
    tie,
)
from pmem.values.records import Memory, MemoryType
from tests.conftest import NOW


def memory(name: str = "a", **fields: Any) -> Memory:
    return Memory(
        **{
            "id": f"m-0000000{name}",
            "content": f"Memory {name}",
            "category": "knowledge",
            "valid_from": NOW,
            "created_at": NOW,
            "updated_at": NOW,
            "tokens": 10,
            **fields,
        }
    )


def test_each_rule_adds_its_part() -> None:
    one = memory(type=MemoryType.CONSTRAINT, subject="Parser", importance=0.9)
    near = frozenset({one.id})
    akin = {"parser": ("m-0000000b",)}
    task = Valuation({one.id: 0.5}, akin, {one.id: 0.5}, applying=near)
    worth = task.worth(one)
    assert worth == pytest.approx((0.5, 1.0, 0.3, 0.2, 0.4, 0.0, 0.1))
    assert worth.value == pytest.approx(2.5)
    assert worth.always == pytest.approx(0.7)


def test_kin_is_the_subject_of_a_first_answer_however_it_is_written() -> None:
    answers = [memory(str(n), subject=f"subject {n}") for n in range(20)]
    found = [memory(subject=None), *answers]
    subjects = first_subjects(found, {one.id: 1.0 for one in found})
    assert subjects.keys() == {f"subject {n}" for n in range(11)}
    assert subject_of(memory(subject=" Subject  3")) in subjects


def test_only_what_answers_well_has_kin_and_what_has_a_place_is_none() -> None:
    good, faint = memory("a", subject="roadmap"), memory("b", subject="ci")
    subjects = first_subjects([good, faint], {good.id: 1.0, faint.id: 0.2})
    assert subjects == {"roadmap": (good.id,)}
    other = memory("c", subject="roadmap", type=MemoryType.DEAD_END)
    placed = replace(other, id="m-0000000d", places=("src/**",))
    task = Valuation(subjects=subjects)
    assert task.worth(other).kin > 0 == task.worth(placed).kin


@pytest.mark.parametrize("type_", MemoryType)
def test_what_only_informs_is_kin_of_an_answer_only_where_it_answers(type_: MemoryType) -> None:
    good, one = memory("a", subject="roadmap"), memory("b", subject="roadmap", type=type_)
    task = Valuation(subjects=first_subjects([good], {good.id: 1.0}))
    informs = type_ in ("fact", "entity", "goal")
    assert (task.worth(one).kin > 0) is not informs
    assert replace(task, answers={one.id: 0.1}).worth(one).kin > 0


def test_what_an_answer_shares_has_to_tell_enough_for_how_well_it_answers() -> None:
    one = memory("a", type=MemoryType.FACT)
    for answers, nats, is_apt in ((0.5, 2.0, False), (0.7, 2.0, True), (0.5, 3.0, True)):
        task = Valuation({one.id: answers}, information={one.id: nats})
        assert task.is_apt(one, task.worth(one)) is is_apt
    sure, faint = Valuation({one.id: 0.75}), Valuation({one.id: 0.4})
    assert sure.is_apt(one, sure.worth(one))
    rule = replace(one, type=MemoryType.CONSTRAINT)
    assert faint.is_apt(rule, faint.worth(rule)) > faint.is_apt(one, faint.worth(one))


def test_a_memory_is_no_kin_of_itself() -> None:
    alone, twins = memory("a", subject="roadmap"), [memory(n, subject="ci") for n in "bc"]
    found = [alone, *twins]
    answers = {one.id: 1.0 for one in found}
    task = Valuation(answers=answers, subjects=first_subjects(found, answers))
    assert task.akin(alone) is None
    assert [task.akin(one) for one in twins] == [twins[1].id, twins[0].id]
    assert task.worth(alone).kin == 0 < task.worth(twins[0]).kin


@pytest.mark.parametrize("type_", MemoryType)
def test_only_a_rule_without_a_place_stands_for_every_task(type_: MemoryType) -> None:
    one = memory("a", type=type_)
    task = Valuation(standing={one.id: 1.0})
    is_rule = type_ in ("constraint", "procedure", "preference", "decision")
    assert task.standing_first([one]) == [one] * is_rule
    placed = replace(one, places=("src/**",), importance=1.0)
    assert task.standing_first([placed]) == []


def test_what_every_task_needs_is_pinned_lifted_standing_or_shown_whole() -> None:
    plain = memory("p", type=MemoryType.CONSTRAINT)
    pinned = memory("q", pinned=True)
    lifted = memory("r", importance=0.9)
    asked = memory("s", type=MemoryType.DECISION)
    whole = memory("t", category="profile")
    steps = memory("u", category="profile", type=MemoryType.PROCEDURE)
    modes = {"profile": "all", "procedural": "rag"}
    task = Valuation({plain.id: 1.0}, standing={asked.id: 1.0}, modes=modes)
    found = task.standing_first([plain, asked, lifted, pinned, whole, steps])
    assert [one.id for one in found[:1]] == [pinned.id]
    assert {one.id for one in found[1:]} == {asked.id, lifted.id, whole.id}


@given(st.permutations(range(6)))
def test_equals_are_ordered_by_type_and_time_and_never_by_chance(order: list[int]) -> None:
    types = (MemoryType.CONSTRAINT, MemoryType.FACT)
    made = [
        memory(str(n), type=types[n % 2], content=f"{n}", created_at=NOW + timedelta(hours=n // 2))
        for n in range(6)
    ]
    others = [
        msgspec.structs.replace(one, id=f"m-{chance:08d}")
        for one, chance in zip(made, order, strict=True)
    ]
    for memories in (made, others):
        found = sorted((memories[n] for n in order), key=tie)
        assert [one.content for one in found] == ["0", "2", "4", "1", "3", "5"]


@pytest.mark.parametrize(
    ("worth", "percent"),
    [
        (Worth(), 1.0),
        (Worth(answers=0.25), 4.0),
        (Worth(answers=1.0), 30.6),
        (Worth(answers=1.0, kin=0.3), 45.5),
        (Worth(standing=0.2), 1.1),
        (Worth(standing=0.4), 4.1),
        (Worth(lifted=0.4), 6.5),
        (Worth(whole=0.4), 6.5),
        (Worth(place=1.0), 100.0),
    ],
)
def test_how_likely_a_task_needs_a_memory_is_what_the_fitted_model_says(
    worth: Worth, percent: float
) -> None:
    assert 100 * worth.likelihood == pytest.approx(percent, abs=0.1)
