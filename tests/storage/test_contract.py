"""One contract, held by every backend."""

import contextlib
from collections.abc import Callable, Iterable
from datetime import timedelta
from functools import partial
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pmem.core.filters import EVERYTHING, Filter, passes
from pmem.core.findings import Finding
from pmem.core.lifecycle.states import successors_of
from pmem.core.record_keys import twin_keys, word_keys_of
from pmem.errors import NotFound
from pmem.project.workspace import Workspace
from pmem.storage.backend import REPLACED, Backend, Change, near_pairs_among
from pmem.storage.postgres.records import ServerRecords
from pmem.storage.postgres.server import Server
from pmem.storage.store import Store
from pmem.values.defaults import LINK_AT
from pmem.values.records import (
    KINDS,
    STORES,
    Chunk,
    Citation,
    Conversation,
    Episode,
    Event,
    EventKind,
    Memory,
    Record,
    Relationship,
    Scope,
    State,
)
from pmem.vcs.doubts import find_unsound_successions
from tests import strategies
from tests.conftest import NOW
from tests.storage.folders import json_files, memory, twins
from tests.storage.in_memory import InMemory

Make = Callable[[], Backend]


@pytest.fixture(params=["memory", "files", "postgres"])
def make(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Make:
    """Return what makes an empty backend."""
    if request.param == "memory":
        return InMemory
    if request.param == "postgres":
        made: Callable[[], Server] = request.getfixturevalue("new_project")
        return lambda: ServerRecords(made())
    return lambda: json_files(str(tmp_path_factory.mktemp("files")))


@pytest.fixture
def backend(make: Make) -> Backend:
    return make()


def put(backend: Backend, *records: Record) -> None:
    with backend.lock():
        for record in records:
            if record.id in backend.ids(type(record)):
                backend.read(type(record), record.id)
        backend.commit([Change(type(record), record.id, record) for record in records])


def drop(backend: Backend, type_: type[Record], *identifiers: str) -> None:
    with backend.lock():
        backend.commit([Change(type_, identifier, None) for identifier in identifiers])


def id_of(number: int) -> str:
    return f"mjwaid1q-{number:08d}"


def test_an_empty_backend_has_nothing(backend: Backend) -> None:
    for type_ in STORES:
        assert backend.ids(type_) == []
        assert list(backend.scan(type_)) == []
    assert list(twins(backend, "content:x")) == []
    assert not backend.problems


@given(record=strategies.any_record)
def test_what_is_committed_reads_back_equal(make: Make, record: Record) -> None:
    backend = make()
    put(backend, record)
    assert record == backend.read(type(record), record.id)
    assert [record] == list(backend.scan(type(record)))
    assert [record.id] == backend.ids(type(record))


@given(records=st.lists(strategies.any_record, max_size=6, unique_by=lambda record: record.id))
def test_stores_are_apart_and_sorted_by_id(make: Make, records: list[Record]) -> None:
    backend = make()
    put(backend, *records)
    for type_ in STORES:
        expected = sorted(record.id for record in records if type(record) is type_)
        assert expected == backend.ids(type_)
        assert expected == [record.id for record in backend.scan(type_)]


def test_a_reference_finds_the_ids_that_it_fits(backend: Backend) -> None:
    put(backend, *(memory(id_of(number)) for number in (1, 2, 12)))
    first, second, twelfth = backend.ids(Memory)
    assert backend.ids(Memory, "mjwaid1q") == [first, second, twelfth]
    assert backend.ids(Memory, "0000001") == [twelfth]
    assert backend.ids(Memory, "0000000") == [first, second]
    assert backend.ids(Memory, "1") == []
    assert backend.ids(Memory, "00000012") == backend.ids(Memory, twelfth) == [twelfth]
    assert backend.ids(Episode, "mjwaid1q") == []


@pytest.mark.parametrize("type_", STORES)
@pytest.mark.parametrize("identifier", [id_of(1), "", "../x", "no id", ".", "a/b-00000000"])
def test_what_is_not_there_is_not_found(
    backend: Backend, type_: type[Record], identifier: str
) -> None:
    with pytest.raises(NotFound):
        backend.read(type_, identifier)


def test_a_missing_record_is_named_with_its_kind(backend: Backend) -> None:
    with pytest.raises(NotFound) as caught:
        backend.read(Episode, id_of(1))
    assert caught.value.message == f"there is no {KINDS[Episode]} {id_of(1)}"


def test_a_commit_may_mix_stores_and_kinds_of_change(backend: Backend) -> None:
    talk = Conversation(id=id_of(3), started_at=NOW, updated_at=NOW)
    put(backend, memory(id_of(1)), memory(id_of(2)), talk)
    with backend.lock():
        backend.read(Memory, id_of(2))
        backend.commit(
            [
                Change(Memory, id_of(1), None),
                Change(Memory, id_of(2), memory(id_of(2), "new")),
                Change(Conversation, id_of(3), None),
                Change(Memory, id_of(4), memory(id_of(4))),
            ]
        )
    assert backend.ids(Memory) == [id_of(2), id_of(4)]
    assert backend.ids(Conversation) == []


def test_removing_what_is_not_there_is_no_error(backend: Backend) -> None:
    drop(backend, Memory, id_of(1))
    drop(backend, Chunk, id_of(1), id_of(2))
    assert backend.ids(Memory) == []


def test_an_empty_commit_changes_nothing(backend: Backend) -> None:
    with backend.lock():
        backend.commit([])
    assert backend.ids(Memory) == []


def test_several_commits_fit_under_one_lock(backend: Backend) -> None:
    with backend.lock():
        backend.commit([Change(Memory, id_of(1), memory(id_of(1), "first"))])
        assert [found.content for found in twins(backend, "content:first")] == ["first"]
        backend.commit([Change(Memory, id_of(2), memory(id_of(2), "second"))])
        assert [found.content for found in twins(backend, "content:second")] == ["second"]
        backend.read(Memory, id_of(1))
        backend.commit([Change(Memory, id_of(1), memory(id_of(1), "third"))])
        assert list(twins(backend, "content:first")) == []
    assert [found.content for found in backend.scan(Memory)] == ["third", "second"]


def test_the_lock_is_free_again_after_an_error(backend: Backend) -> None:
    with pytest.raises(ZeroDivisionError), backend.lock():
        raise ZeroDivisionError
    put(backend, memory(id_of(1)))
    assert backend.ids(Memory) == [id_of(1)]


FILTERS = st.builds(
    Filter,
    types=st.lists(st.sampled_from(["fact", "goal"]), max_size=1).map(tuple),
    tags=st.lists(st.sampled_from("ab"), max_size=1).map(tuple),
    app=st.none() | st.sampled_from("ab"),
    pinned=st.none() | st.booleans(),
    path=st.none() | st.sampled_from(["a.py", "src/a.py", "src", "db/b.sql"]),
    states=st.lists(st.sampled_from(State), max_size=2).map(tuple),
    importance_min=st.none() | strategies.shares,
    created_before=st.none() | strategies.times,
)


@given(records=st.lists(strategies.memories, max_size=5), wanted=FILTERS)
def test_a_scan_yields_exactly_what_passes(
    make: Make, records: list[Memory], wanted: Filter
) -> None:
    backend = make()
    records = list({record.id: record for record in records}.values())
    put(backend, *records)
    expected = sorted(record.id for record in records if passes(record, wanted))
    assert expected == [record.id for record in Store(backend, Memory).find(wanted)]


@pytest.mark.row("S2.7.7")
@pytest.mark.parametrize(
    ("wanted", "expected"),
    [
        (EVERYTHING, [1, 2, 3]),
        (Filter(), [1, 2]),
        (Filter(tags=("a", "b")), [1]),
        (Filter(tags=("a",)), [1, 2]),
        (Filter(categories=("style", "knowledge")), [1, 2]),
        (Filter(subject="  TABS "), [1]),
        (Filter(app="shop"), [2]),
        (Filter(user="me"), []),
        (Filter(by="ANN"), [2]),
        (Filter(by="nobody"), []),
        (Filter(importance_min=0.5), [1]),
        (Filter(importance_max=0.5), [1, 2]),
        (Filter(pinned=True), [2]),
        (Filter(path="src/a.py"), [1, 2]),
        (Filter(path="src"), [2]),
        (Filter(path="src/b.py"), [1]),
        (Filter(states=(State.ARCHIVED,)), [3]),
        (Filter(created_after=NOW), [1, 2]),
        (Filter(created_before=NOW), []),
        (Filter(updated_after=NOW + timedelta(seconds=1)), [2]),
    ],
)
def test_each_filter_means_what_it_says(
    backend: Backend, wanted: Filter, expected: list[int]
) -> None:
    later = NOW + timedelta(seconds=1)
    shop = Scope(app="shop")
    put(
        backend,
        memory(
            id_of(1), subject="Tabs", tags=("a", "b"), category="style", places=("*.py", "!/a.py")
        ),
        memory(
            id_of(2),
            tags=("a",),
            scope=shop,
            importance=0.4,
            pinned=True,
            history=(Event(event=EventKind.ADD, at=NOW, actor="Joanna Lee"),),
            updated_at=later,
            citations=(Citation(file="src/a.py", digest="00"),),
        ),
        memory(id_of(3), state=State.ARCHIVED),
    )
    assert [id_of(number) for number in expected] == [
        record.id for record in Store(backend, Memory).find(wanted)
    ]


contents = st.sampled_from(["Use tabs.", "use  TABS.", "Use spaces.", ""])
subjects = st.none() | st.sampled_from(["Tabs", " tabs", "spaces"])
alike = st.builds(
    memory,
    st.integers(0, 5).map(id_of),
    contents,
    subject=subjects,
    state=st.sampled_from([State.ACTIVE, State.ACTIVE, State.SOFT_DELETED]),
)


@given(
    batches=st.lists(st.lists(alike | st.integers(0, 5), max_size=3), max_size=4),
    most=st.integers(1, 3),
)
def test_twins_and_holders_of_words_are_what_a_look_at_every_record_finds(
    make: Make, batches: list[list[Memory | int]], most: int
) -> None:
    backend = make()
    for batch in batches:
        changes = {item if isinstance(item, int) else item.id: item for item in batch}
        gone = [id_of(item) for item in changes.values() if isinstance(item, int)]
        drop(backend, Memory, *gone)
        put(backend, *[item for item in changes.values() if isinstance(item, Memory)])
        known = list(backend.scan(Memory))
        for key in ("subject:tabs", "subject:spaces", "content:use tabs.", "content:"):
            assert [record for record in known if key in twin_keys(record)] == twins(backend, key)
        held = {
            key: [found.id for found in known if key in word_keys_of(found)]
            for key in ("use", "tab", "space", "none")
        }
        expected = {key: ids for key, ids in held.items() if len(ids) <= most}
        assert expected == backend.holders(Memory, held.keys(), most)


_OUT: Any = {
    EventKind.SUPERSEDE: (State.SUPERSEDED, "by"),
    EventKind.MERGE: (State.MERGED, "into"),
    EventKind.DELETE: (State.SOFT_DELETED, ""),
    EventKind.ARCHIVE: (State.ARCHIVED, ""),
    EventKind.RESTORE: (State.ACTIVE, ""),
    EventKind.LINK: (None, "supersedes"),
}


@st.composite
def moved(draw: st.DrawFn) -> Memory:
    """Return a memory that went through some states, as two branches may have left it."""
    events, state = [Event(event=EventKind.ADD, at=NOW)], State.ACTIVE
    for kind in draw(st.lists(st.sampled_from(sorted(_OUT)), max_size=4)):
        after, way = _OUT[kind]
        before = {} if after is None or draw(st.booleans()) else {"state": str(state)}
        other = id_of(draw(st.integers(0, 5)))
        detail: dict[str, Any] = {way: other} if way else {}
        if kind is EventKind.LINK:
            detail = {"link": {"type": way, "target": other}}
        events.append(Event(event=kind, at=NOW, before=before, detail=detail))
        state = after or state
    return memory(id_of(draw(st.integers(0, 5))), state=state, history=tuple(events))


@given(batches=st.lists(st.lists(moved(), max_size=4), max_size=4))
def test_of_what_gave_way_all_is_found_that_a_look_at_every_memory_finds(
    make: Make, batches: list[list[Memory]]
) -> None:
    def doubts(given: Iterable[Memory]) -> set[Finding]:
        found = {one.id: one for one in given}
        found |= {id_: known[id_] for one in found.values() for id_ in successors_of(one)
                  if id_ in known}  # fmt: skip
        return {*find_unsound_successions("", found, known.keys())}

    backend = make()
    for batch in batches:
        put(backend, *{one.id: one for one in batch}.values())
        known = {one.id: one for one in backend.scan(Memory)}
        assert doubts(backend.gave_way()) == doubts(backend.select(Memory, REPLACED))
        backend.mark(Memory, "gave way", [one.id for one in known.values() if successors_of(one)])
        if any(backend.marked(Memory, "gave way")):
            assert doubts(backend.gave_way("gave way")) == doubts(known.values())


@st.composite
def tied(draw: st.DrawFn) -> Memory:
    ends = draw(st.sets(st.integers(0, 5), max_size=3))
    strength = draw(st.sampled_from([0.5, LINK_AT, 1.0]))
    return memory(
        id_of(draw(st.integers(0, 5))),
        draw(st.sampled_from("abcd")),
        state=draw(st.sampled_from([State.ACTIVE, State.ACTIVE, State.ARCHIVED])),
        relationships=tuple(
            Relationship(target=id_of(end), type="related_to", strength=strength) for end in ends
        ),
    )


@given(
    batches=st.lists(st.lists(tied() | st.integers(0, 5), max_size=4), max_size=4),
    rules=st.lists(st.sampled_from("ab"), min_size=4, max_size=4),
)
def test_near_pairs_are_those_that_a_look_at_every_memory_finds_and_judged_once(
    make: Make, batches: list[list[Memory | int]], rules: list[str]
) -> None:
    judged: list[tuple[Memory, Memory]] = []

    def judge(one: Memory, other: Memory, rule: str) -> bool:
        judged.append((one, other))
        return (one.content < other.content) is (rule == "a")

    backend = make()
    for batch, rule in zip(batches, rules, strict=False):
        changes = {item if isinstance(item, int) else item.id: item for item in batch}
        drop(backend, Memory, *[id_of(item) for item in changes.values() if isinstance(item, int)])
        put(backend, *[item for item in changes.values() if isinstance(item, Memory)])
        asked = partial(judge, rule=rule)
        expected = near_pairs_among(backend.select, asked)
        assert backend.near_pairs(rule, asked) == expected
        judged.clear()
        assert backend.near_pairs(rule, asked) == expected
        assert not judged or isinstance(backend, InMemory)


@given(changes=st.lists(alike | st.integers(0, 5), max_size=6))
def test_what_is_pending_is_alike_as_if_it_were_written(
    make: Make, changes: list[Memory | int]
) -> None:
    written, pending = make(), make()
    for backend in (written, pending):
        put(backend, memory(id_of(0), "Use tabs."), memory(id_of(1), "Use spaces."))
    store = Store(pending, Memory)
    for item in changes:
        if isinstance(item, int):
            drop(written, Memory, id_of(item))
            store.remove(id_of(item))
        else:
            put(written, store.put(item))
        found = store.alike(("tab", "space", "use"), 9)
        assert Store(written, Memory).alike(("tab", "space", "use"), 9) == found


def test_a_store_shows_what_is_pending_and_forgets_it(backend: Backend) -> None:
    put(backend, memory(id_of(1), "one"), memory(id_of(2), "two"))
    store = Store(backend, Memory)
    store.put(memory(id_of(3), "one"))
    store.put(msgspec.structs.replace(store.get(id_of(1)), content="other"))
    store.remove(id_of(2))
    assert store.ids() == [id_of(1), id_of(3)]
    assert [found.content for found in store.find()] == ["other", "one"]
    assert [found.id for found in store.twins("content:one")] == [id_of(3)]
    with pytest.raises(NotFound):
        store.get(id_of(2))
    assert [change.id for change in store.changes()] == [id_of(1), id_of(2), id_of(3)]
    store.forget()
    assert [found.content for found in store.find()] == ["one", "two"]
    assert store.changes() == []


@pytest.fixture
def workspaces(make: Make) -> Any:
    return lambda: Workspace("/nowhere", now=NOW, backend=make())


@pytest.mark.row("S3.10.10")
def test_a_transaction_that_fails_writes_nothing(workspaces: Callable[[], Workspace]) -> None:
    workspace = workspaces()
    with contextlib.suppress(ZeroDivisionError), workspace.transaction():
        workspace.memories.put(memory(id_of(1)))
        raise ZeroDivisionError
    assert workspace.memories.ids() == []
