"""Which memories a search brings along: the same from every backend, whatever is edited."""

import os
import tempfile
from collections.abc import Iterable
from datetime import timedelta
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pmem.core.filters import Filter
from pmem.core.retrieval.pool import Pool
from pmem.operations import table
from pmem.project.workspace import Workspace
from pmem.search.hits import SearchRequest
from pmem.search.search import SearchResult
from pmem.storage.backend import Backend, Change
from pmem.values.records import Conversation, Memory, Record, State
from tests.asking import ask
from tests.conftest import NOW
from tests.effort import examples
from tests.storage.folders import json_files, memory
from tests.storage.in_memory import InMemory
from tests.storage.searches import conversation, link_to, message

WORDS = ("apple", "apple river", "stone", "the apple and the stone")
REQUESTS = (
    SearchRequest(query="apple", top_k=2, related=9),
    SearchRequest(query="apple stone", related=1),
    SearchRequest(query="river", wanted=Filter(tags=("fruit",)), related=9),
    SearchRequest(query="apple", wanted=Filter(states=()), top_k=3, related=9),
    SearchRequest(query="stone", at=NOW + timedelta(minutes=5), top_k=1, related=9),
)

numbers = st.integers(0, 7)
made = st.builds(
    lambda number, text, state, tags, links, days: memory(
        f"mjwaid1q-{number:08d}",
        text,
        state=state,
        tags=tags,
        valid_until=NOW + timedelta(days=days) if days else None,
        relationships=tuple(links),
    ),
    numbers,
    st.sampled_from(WORDS),
    st.sampled_from([State.ACTIVE, State.ACTIVE, State.ACTIVE, State.ARCHIVED]),
    st.sampled_from([(), ("fruit",)]),
    st.lists(
        st.builds(
            link_to,
            numbers,
            st.sampled_from([0.0, 0.3, 0.6, 1.0]),
            st.sampled_from(["related_to", "contradicts"]),
        ),
        max_size=3,
    ),
    st.sampled_from([0, 0, 0, -1]),
)


def commit(backend: Backend, changes: Iterable[tuple[type[Record], str, Record | None]]) -> None:
    with backend.lock():
        for type_, id_, _ in changes:
            if id_ in backend.ids(type_):
                backend.read(type_, id_)
        backend.commit([Change(*change) for change in changes])


def put(backend: Backend, *records: Record) -> Backend:
    commit(backend, [(type(record), record.id, record) for record in records])
    return backend


def asked(backend: Backend, request: SearchRequest) -> SearchResult:
    return ask(
        Workspace("/nowhere", now=NOW + timedelta(hours=1), backend=backend), table.SEARCH, request
    )


def linked(number: int, text: str = "words", *links: Any, **fields: Any) -> Memory:
    return memory(f"mjwaid1q-{number:08d}", text, relationships=links, **fields)


@pytest.fixture(params=["memory", "files"])
def backend(request: pytest.FixtureRequest, root: str) -> Backend:
    return InMemory() if request.param == "memory" else json_files(root)


def seen(backend: Backend) -> set[tuple[str, str, str, float]]:
    """Return the links that a pool knows: the last digits of their ends, type and strength."""

    def look(pool: Pool) -> set[tuple[str, str, str, float]]:
        everything = [int(f"{number:08d}", 36) for number in range(8)]
        found = list(pool.links(everything))
        ids = {
            number: place.id[-1]
            for number, place in pool.places({n for link in found for n in link[:2]}).items()
        }
        return {(ids[link.near], ids[link.far], link.type, link.strength) for link in found}

    return backend.searched(look)


@pytest.mark.row("S1.2.9")
def test_a_link_is_seen_from_both_ends(backend: Backend) -> None:
    put(backend, linked(1, "a", link_to(2, 0.7, "x")), linked(2))
    assert seen(backend) == {("1", "2", "x", 0.7), ("2", "1", "x", 0.7)}


def test_a_link_to_what_is_not_there_is_none_until_it_comes(backend: Backend) -> None:
    put(backend, linked(1, "a", link_to(2, 0.7)))
    assert seen(backend) == set()
    put(backend, linked(2))
    assert len(seen(backend)) == 2
    commit(backend, [(Memory, "mjwaid1q-00000002", None)])
    assert seen(backend) == set()


@pytest.mark.parametrize("state", [state for state in State if state is not State.ACTIVE])
@pytest.mark.parametrize("end", [1, 2])
def test_only_links_between_active_memories_count(backend: Backend, state: State, end: int) -> None:
    both = {1: linked(1, "a", link_to(2, 0.7)), 2: linked(2)}
    put(backend, *both.values())
    put(backend, msgspec.structs.replace(both[end], state=state))
    assert seen(backend) == set()
    put(backend, both[end])
    assert len(seen(backend)) == 2


def test_a_memory_is_not_linked_to_itself_nor_to_a_conversation(backend: Backend) -> None:
    said = conversation("mjwaid1q-00000003", message("mjwaid1q-00000004", "words"))
    links = (link_to(1, 1.0), link_to(3, 1.0), link_to(4, 1.0))
    put(backend, linked(1, "a", *links), said)
    assert seen(backend) == set()


def test_links_follow_every_edit_of_the_memory_that_has_them(backend: Backend) -> None:
    put(backend, linked(1, "a", link_to(2, 0.7)), linked(2), linked(3))
    put(backend, linked(1, "b", link_to(3, 0.2, "x"), link_to(3, 0.2, "y")))
    assert {link for link in seen(backend) if link[0] == "1"} == {
        ("1", "3", "x", 0.2),
        ("1", "3", "y", 0.2),
    }
    put(backend, linked(1, "b"))
    assert seen(backend) == set()


def test_a_conversation_that_takes_a_memorys_place_has_no_links(backend: Backend) -> None:
    put(backend, linked(1, "a", link_to(2, 0.7)), linked(2))
    put(backend, conversation("mjwaid1q-00000009", message("mjwaid1q-00000001", "words")))
    assert seen(backend) == set()
    commit(backend, [(Conversation, "mjwaid1q-00000009", None)])
    assert len(seen(backend)) == 2


batches = st.lists(st.lists(made | numbers, min_size=1, max_size=6), min_size=1, max_size=4)


@settings(max_examples=examples(60))
@given(batches=batches)
def test_every_backend_brings_the_same_along(batches: list[list[Memory | int]]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        both: tuple[Backend, ...] = (InMemory(), json_files(os.path.join(folder, "memory")))
        for batch in batches:
            changes: dict[str, Memory | None] = {}
            for item in batch:
                id_ = item.id if isinstance(item, Memory) else f"mjwaid1q-{item:08d}"
                changes[id_] = item if isinstance(item, Memory) else None
            for backend in both:
                commit(backend, [(Memory, id_, record) for id_, record in changes.items()])
            assert seen(both[0]) == seen(both[1])
            for request in REQUESTS:
                one, other = (asked(backend, request) for backend in both)
                assert one.related == other.related
                assert [hit.id for hit in one.hits] == [hit.id for hit in other.hits]
                hits = {hit.id for hit in one.hits}
                assert {related.via for related in one.related} <= hits
                assert hits.isdisjoint(related.id for related in one.related)
