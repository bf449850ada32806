"""A memory that holds instead of another one, which held until now."""

from datetime import timedelta

import pytest

from pmem import Project
from pmem.errors import InvalidValue
from pmem.values.ids import short
from pmem.values.records import EventKind, MemoryType, State
from tests.conftest import NOW

LATER = NOW + timedelta(days=3)


@pytest.fixture
def old(root: str) -> str:
    project = Project(root, actor="ada", now=NOW)
    added = project.add(
        "The API answers within 200 ms",
        "constraint",
        subject="api",
        tags=("speed",),
        importance=0.9,
        pinned=True,
        user="mira",
    )
    return added.memory.id


@pytest.fixture
def project(root: str) -> Project:
    return Project(root, actor="tom", now=LATER)


def test_the_new_one_is_like_the_old_one_but_for_what_was_said(project: Project, old: str) -> None:
    new = project.supersede(old, "The API answers within 100 ms", tags=("fast",)).memory
    assert (new.type, new.subject, new.tags) == (MemoryType.CONSTRAINT, "api", ("fast",))
    assert (new.importance, new.pinned, new.scope.user) == (0.9, True, "mira")
    assert (new.created_at, new.valid_from, new.valid_until) == (LATER, LATER, None)
    assert new.tokens == project.workspace.count(new.content)
    assert new.history[0].detail == {"supersedes": old}


def test_the_old_one_is_kept_and_held_until_now(project: Project, old: str) -> None:
    done = project.supersede(old, "The API answers within 100 ms")
    kept = done.superseded
    assert (kept.id, kept.state, kept.valid_until) == (old, State.SUPERSEDED, LATER)
    assert kept.history[-1].event is EventKind.SUPERSEDE
    assert kept.history[-1].detail == {"by": done.memory.id}
    before = project.list(at=LATER - timedelta(seconds=1)).items
    assert [memory.id for memory in before] == [old]
    assert [memory.id for memory in project.list().items] == [done.memory.id]
    assert [hit.id for hit in project.search("API").hits] == [done.memory.id]


def test_the_new_one_may_hold_since_some_time_ago(project: Project, old: str) -> None:
    since = NOW + timedelta(days=1)
    done = project.supersede(old, "The API answers within 100 ms", valid_from=since)
    assert (done.memory.valid_from, done.superseded.valid_until) == (since, since)


def test_a_judgement_of_the_old_one_is_not_the_new_ones(project: Project, old: str) -> None:
    other = project.add("The API has a cache", force=True).memory.id
    project.link(old, other, "depends_on")
    project.link(old, other, "contradicts")
    new = project.supersede(old, "The API answers within 100 ms").memory
    links = {(link.type, link.target) for link in new.relationships}
    assert links == {("depends_on", other), ("supersedes", old)}


def test_one_that_exists_can_take_the_place(project: Project, old: str) -> None:
    new = project.add("The API answers within 100 ms", force=True).memory
    done = project.supersede_by(old, new.id)
    assert (done.memory.id, done.memory.content) == (new.id, new.content)
    assert [link.target for link in done.memory.relationships if link.type == "supersedes"] == [old]
    assert done.superseded.state is State.SUPERSEDED


def test_restored_it_holds_again_as_long_as_it_did(project: Project, old: str) -> None:
    end = LATER + timedelta(days=9)
    project.edit(old, valid_until=end)
    project.supersede(old, "The API answers within 100 ms")
    (back,) = project.restore(old)
    assert (back.state, getattr(back, "valid_until", None)) == (State.ACTIVE, end)


def test_nothing_is_written_when_the_new_one_would_never_hold(project: Project, old: str) -> None:
    before = project.list().items
    with pytest.raises(InvalidValue, match="cannot be valid until"):
        project.supersede(old, "Never", valid_until=LATER - timedelta(days=1))
    assert project.list().items == before


def test_nothing_takes_a_place_before_it_holds(project: Project, old: str) -> None:
    since = LATER + timedelta(days=300)
    with pytest.raises(InvalidValue, match="only from"):
        project.supersede(old, "The API answers within 100 ms", valid_from=since)
    assert [hit.id for hit in project.search("API").hits] == [old]


def test_the_same_again_supersedes_nothing(project: Project, old: str) -> None:
    with pytest.raises(InvalidValue, match="would say the same"):
        project.supersede(old, "The API answers within 200 ms", importance=0.9)
    assert [memory.id for memory in project.list().items] == [old]


def test_what_does_not_hold_any_more_cannot_be_superseded_and_what_holds_is_told(
    project: Project, old: str
) -> None:
    new = project.supersede(old, "The API answers within 100 ms").memory
    with pytest.raises(InvalidValue, match="is superseded, not active") as refused:
        project.supersede(old, "The API answers within 50 ms")
    assert refused.value.hint == f"{short(new.id)} holds instead"
