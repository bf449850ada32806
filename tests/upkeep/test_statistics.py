"""Figures about the memory: each against a plain count of what was put in."""

from datetime import datetime, timedelta

import msgspec
from hypothesis import given, settings
from hypothesis import strategies as st

from pmem import Project
from pmem.operations import table
from pmem.project.setup import write_setting
from pmem.project.workspace import Workspace
from pmem.storage.backend import Change
from pmem.upkeep.statistics import LISTED, MemoryFigures
from pmem.values.fields import AtRequest
from pmem.values.records import Access, Episode, EpisodeType, Memory, Record, State, dump_line
from tests import strategies
from tests.asking import ask
from tests.conftest import NOW
from tests.effort import examples
from tests.storage.in_memory import InMemory


def store(*records: Record, now: datetime = NOW) -> Workspace:
    backend = InMemory()
    backend.commit([Change(type(record), record.id, record) for record in records])
    return Workspace("/nowhere", now=now, backend=backend)


def figures(workspace: Workspace) -> MemoryFigures:
    return ask(workspace, table.STATS, AtRequest())


def memory(number: int, **fields: object) -> Memory:
    made: dict[str, object] = {
        "id": f"mjwaid1q-{number:08}",
        "content": f"Text {number}",
        "category": "knowledge",
        "valid_from": NOW,
        "created_at": NOW,
        "updated_at": NOW,
    }
    return Memory(**(made | fields))  # type: ignore[arg-type]


def days(count: float) -> datetime:
    return NOW + timedelta(days=count)


@settings(max_examples=examples(25))
@given(
    st.lists(strategies.any_record, max_size=8, unique_by=lambda record: record.id),
    strategies.times,
)
def test_figures_add_up_over_any_records_at_any_time(records: list[Record], now: datetime) -> None:
    found = figures(store(*records, now=now))
    memories = [record for record in records if isinstance(record, Memory)]
    active = [record for record in memories if record.state is State.ACTIVE]
    assert len(memories) == found.memories == sum(found.by_state.values())
    assert len(memories) == sum(period.added for period in found.growth)
    assert len(active) == sum(found.by_age.values()) == sum(found.by_type.values())
    assert min(len(active), 2 * LISTED) >= len(found.most_used) + len(found.least_used)
    used = [item.id for item in (*found.most_used, *found.least_used)]
    assert len(used) == len(set(used))
    assert [item.when for item in found.expiring] == sorted(item.when for item in found.expiring)
    assert all(item.when > now for item in found.expiring)
    dump_line(found)


def test_an_empty_store_has_figures_too() -> None:
    found = figures(store())
    assert (found.memories, found.overdue, found.budget_share) == (0, 0, 0.0)
    assert (found.growth, found.expiring, found.least_used) == ((), (), ())


def test_what_ends_next_is_what_expires_or_may_be_purged() -> None:
    gone = State.SOFT_DELETED
    episode = Episode(
        id="e-00000001",
        type=EpisodeType.PIVOT,
        title="A turn",
        summary="It turned",
        state=gone,
        purge_at=days(2),
        created_at=NOW,
        updated_at=NOW,
    )
    records = (
        memory(1, valid_until=days(3)),
        memory(2, state=gone, purge_at=days(1), valid_until=days(0.5)),
        memory(3, valid_until=days(-1)),
        memory(4, state=gone, purge_at=NOW),
        memory(5, state=State.ARCHIVED, valid_until=days(1)),
        memory(6),
        episode,
    )
    found = figures(store(*records))
    assert [("purge", "Text 2"), ("purge", "A turn"), ("expires", "Text 1")] == [
        (item.what, item.text) for item in found.expiring
    ]
    assert 2 == found.overdue


def test_an_episode_whose_title_is_empty_ends_as_any_other() -> None:
    untitled = Episode(
        id="mjwaid1q-00000007",
        type=EpisodeType.PIVOT,
        title="",
        summary="It turned",
        state=State.SOFT_DELETED,
        purge_at=days(2),
        created_at=NOW,
        updated_at=NOW,
    )
    (ending,) = figures(store(untitled)).expiring
    assert (ending.what, ending.text) == ("purge", "")


def test_only_the_next_few_endings_are_listed() -> None:
    found = figures(store(*(memory(n, valid_until=days(9 - n)) for n in range(8))))
    assert ["Text 7", "Text 6", "Text 5", "Text 4", "Text 3"] == [
        item.text for item in found.expiring
    ]


def test_the_most_used_are_not_among_the_least_used() -> None:
    uses = [0, 7, 0, 9, 9, 1, 3, 2, 0]
    memories = [
        memory(number, access=Access(count=count, last_at=days(number) if count else None))
        for number, count in enumerate(uses)
    ]
    found = figures(store(*memories))
    assert [("Text 4", 9), ("Text 3", 9), ("Text 1", 7), ("Text 6", 3), ("Text 7", 2)] == [
        (item.text, item.count) for item in found.most_used
    ]
    assert ["Text 0", "Text 2", "Text 8", "Text 5"] == [item.text for item in found.least_used]


def test_nothing_that_was_never_recalled_is_most_used() -> None:
    archived = memory(2, state=State.ARCHIVED, access=Access(count=9))
    found = figures(store(memory(1), archived))
    assert ((), ["Text 1"]) == (found.most_used, [item.text for item in found.least_used])


def test_recalls_that_wait_count_like_those_in_the_records(root: str) -> None:
    project = Project(root, actor="ada", now=days(-90))
    faint = project.add("Faint", importance=0.4).memory.id
    write_setting(f"{root}/config.toml", "decay", "s2")
    later = Project(root, actor="ada", now=NOW)
    assert 1 == later.stats().due
    for _ in range(5):
        later.show(faint)
    found = later.stats()
    assert (0, [5]) == (found.due, [item.count for item in found.most_used])


def test_the_budget_is_a_contexts_and_its_share_that_of_active_memories() -> None:
    workspace = store(memory(1, tokens=300), memory(2, tokens=900, state=State.ARCHIVED))
    found = figures(workspace)
    assert workspace.settings.default_budget == found.budget
    assert (300, round(300 / found.budget, 4)) == (found.tokens, found.budget_share)


def test_a_project_gives_the_same_figures(workspace: Workspace) -> None:
    project = Project(workspace.root, actor="ada", now=NOW)
    project.add("One", valid_until=days(2))
    found = project.stats()
    assert figures(workspace) == found
    assert ["One"] == [item.text for item in found.expiring]
    assert set(msgspec.to_builtins(found)) == set(found.__struct_fields__)
