"""Selecting and counting by an index gives what asking every record gives."""

import random
from collections.abc import Callable
from datetime import timedelta

import msgspec
import pytest

from pmem.core.filters import Filter
from pmem.core.policy import Reach
from pmem.core.record_keys import judged_key, twin_keys
from pmem.core.selection import COLUMNS, Order, Portion, Selection, selected_among
from pmem.core.trust import Trust
from pmem.storage.backend import Backend, Change, tally_of
from pmem.storage.limited import Limited
from pmem.storage.postgres.records import ServerRecords
from pmem.storage.postgres.server import Server
from pmem.storage.store import Store
from pmem.values.records import Conversation, Memory, MemoryType, State
from tests.conftest import NOW
from tests.effort import examples
from tests.search.test_context_selection import drawn, id_of
from tests.storage.folders import json_files
from tests.storage.in_memory import InMemory
from tests.storage.searches import conversation, message

SELECTIONS = (
    Selection(),
    Selection(wanted=Filter()),
    Selection(wanted=Filter(types=("constraint", "fact"), states=())),
    Selection(wanted=Filter(categories=("profile",), pinned=False)),
    Selection(wanted=Filter(states=(), subject=" PARSER ", agent="bo")),
    Selection(wanted=Filter(states=(State.ARCHIVED,), importance_min=0.5, importance_max=0.9)),
    Selection(wanted=Filter(states=(), tags=("none",))),
    Selection(wanted=Filter(trust=Trust.HIGH)),
    Selection(wanted=Filter(states=(), app="mail", created_after=NOW - timedelta(minutes=3))),
    Selection(wanted=Filter(states=(), updated_before=NOW - timedelta(minutes=1))),
    Selection(wanted=Filter(states=(), user="ann")),
    Selection(holding_at=NOW),
    Selection(holding_at=NOW, outside=("profile", "event"), procedures=False),
    Selection(reach=Reach(apps=frozenset(), categories=frozenset({"knowledge", "profile"}))),
    Selection(reach=Reach(procedures=False, apps=frozenset({"mail"}))),
    Selection(ids=(id_of(3), id_of(5), "nobody")),
    Selection(subjects=("parser", "rules"), least=(("importance", 0.9),)),
    Selection(wanted=Filter(), on_subject=True),
    Selection(wanted=Filter(), keys=("subject:parser", "subject:nothing", judged_key(id_of(3)))),
)
ORDERS: tuple[Order, ...] = (
    (),
    ("-id",),
    ("tokens", "created", "moment"),
    ("-importance", "-worth", "created"),
    ("-happened", "-id"),
    ("subject", "-valid_until"),
)


def both(indexed: Backend, seed: int) -> tuple[Backend, Backend]:
    """Return the same memories with an index, and without."""
    memories = drawn(seed, 60)
    plain = InMemory()
    for backend in (indexed, plain):
        with backend.lock():
            backend.commit([Change(Memory, each.id, each) for each in memories])
    return indexed, plain


@pytest.fixture(params=["files", "postgres"])
def indexed(request: pytest.FixtureRequest, root: str) -> Backend:
    """Return a backend that answers from an index."""
    if request.param == "files":
        return json_files(root)
    made: Callable[[], Server] = request.getfixturevalue("new_project")
    return ServerRecords(made())


@pytest.mark.parametrize("seed", range(examples(6)))
def test_an_index_selects_and_counts_what_a_look_at_every_record_does(
    indexed: Backend, seed: int
) -> None:
    files, plain = both(indexed, seed)
    chance = random.Random(seed)
    everything = list(plain.scan(Memory))
    for selection in SELECTIONS:
        for order in ORDERS:
            limit = chance.choice((None, 0, 1, 7))
            expected = selected_among(everything, selection, order, limit)
            assert files.select(Memory, selection, order, limit) == expected
            assert plain.select(Memory, selection, order, limit) == expected
        columns = chance.sample(sorted(COLUMNS), 2)
        expected_counts = tally_of(everything, selection, columns)
        assert files.tally(Memory, selection, columns) == expected_counts
        assert files.tally(Memory, selection) == tally_of(everything, selection, ())


@pytest.mark.parametrize("seed", range(3))
def test_portions_bring_at_least_what_was_asked_for_and_nothing_else(
    indexed: Backend, seed: int
) -> None:
    files, plain = both(indexed, seed)
    base = Selection(wanted=Filter(), holding_at=NOW)
    narrow = Selection(wanted=Filter(types=(MemoryType.FACT,)), holding_at=NOW)
    keys = tuple(judged_key(id_of(number)) for number in range(60))
    keyed = msgspec.structs.replace(base, keys=keys)
    portions = [Portion(narrow, ("tokens",), 3), Portion(keyed)]
    all_of_base = {each.id for each in plain.some_of(Memory, base, portions)}
    found = files.some_of(Memory, base, portions)
    assert files.select(Memory, keyed) == plain.select(Memory, keyed)
    assert found == sorted(found, key=lambda each: each.id)
    assert {each.id for each in plain.select(Memory, narrow, ("tokens",), 3)} <= {
        each.id for each in found
    }
    judging = {each.id for each in plain.select(Memory, base) if set(keys) & set(twin_keys(each))}
    assert judging <= {each.id for each in found} <= all_of_base


def test_what_is_about_to_be_written_is_selected_and_counted_too(root: str) -> None:
    files, _ = both(json_files(root), 1)
    store = Store(files, Memory)
    first, second, *_ = store.select(Selection(wanted=Filter()))
    store.remove(first.id)
    store.put(msgspec.structs.replace(second, importance=1.0, pinned=True))
    wanted = Selection(wanted=Filter(pinned=True))
    assert second.id in {each.id for each in store.select(wanted)}
    assert first.id not in {each.id for each in store.select()}
    assert store.count(wanted) == len(store.select(wanted))
    assert store.select(Selection(), ("-importance", "-id"), 1)[0].importance == 1.0
    assert second.id in {each.id for each in store.some_of(wanted, [])}


def test_somebody_with_an_allowlist_selects_and_counts_what_they_may_see(root: str) -> None:
    files, plain = both(json_files(root), 2)
    reach = Reach(who="bo", categories=frozenset({"knowledge"}), apps=frozenset())
    limited, slow = Limited(files, reach), Limited(plain, reach)
    for selection in SELECTIONS[:5]:
        expected = [each for each in plain.scan(Memory) if reach.admits(each)]
        expected = [each for each in expected if selection.judge()(each)]
        assert limited.select(Memory, selection) == slow.select(Memory, selection) == expected
        assert sum(limited.tally(Memory, selection).values()) == len(expected)
        portion = Portion(selection, ("-importance",), 4)
        cut = limited.select(Memory, selection, ("-importance",), 4)
        found = limited.some_of(Memory, selection, [portion])
        assert {each.id for each in cut} <= {each.id for each in found}
        assert all(map(reach.admits, found))


def test_other_records_are_selected_by_what_they_have(root: str) -> None:
    files = json_files(root)
    said = conversation("mjwaid1q-c0000001", message("m-00000001", "The apple"))
    with files.lock():
        files.commit([Change(Conversation, said.id, said)])
    assert files.select(Conversation, Selection(wanted=Filter())) == [said]
    assert files.select(Conversation, Selection(wanted=Filter(types=("fact",)))) == []
    assert files.tally(Conversation, Selection(), ("kind", "events")) == {("activity", 1): 1}
