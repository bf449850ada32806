"""A folder and a server become equal, whatever was done on both, and wherever it was cut short."""

import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from datetime import datetime, timedelta
from itertools import count
from typing import Any
from unittest import mock

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pmem import Project
from pmem.errors import InvalidValue, NotFound, Refused, Unfinished, Unreachable
from pmem.memory.changes import RecordsRequest
from pmem.memory.lifecycle import PurgeRequest
from pmem.memory.requests import AddRequest, EditRequest
from pmem.operations import table
from pmem.project.setup import initialise
from pmem.project.workspace import Workspace
from pmem.storage.jsonfiles import JsonFiles
from pmem.storage.local.sync_base import SyncBase
from pmem.storage.postgres.exchange import ServerSide
from pmem.storage.postgres.server import Server
from pmem.upkeep.sync import Synced, SyncRequest
from pmem.values.records import STORES, Memory, dump
from tests.asking import ask
from tests.conftest import NOW
from tests.database.test_guarantees import termination
from tests.effort import examples
from tests.postgres import served
from tests.storage.faults import Death
from tests.storage.folders import opened, tree, write

STEPS = (
    (SyncBase, "begin"), (ServerSide, "write"), (JsonFiles, "replace_files"),
    (SyncBase, "end"), (ServerSide, "forget"),
)  # fmt: skip


@contextmanager
def death(at: int) -> Iterator[None]:
    """Let the process end before, or right after, one of the steps of a sync."""
    passed = 0

    def dying(original: Callable[..., Any]) -> Callable[..., Any]:
        def step(*args: Any, **kwargs: Any) -> Any:
            nonlocal passed
            passed += 1
            if passed == at:
                raise Death
            result = original(*args, **kwargs)
            passed += 1
            if passed == at:
                raise Death
            return result

        return step

    with ExitStack() as patches:
        for owner, name in STEPS:
            replaced = dying(getattr(owner, name))
            patches.enter_context(mock.patch.object(owner, name, replaced))
        with suppress(Death):
            yield


class TwoSides:
    """A folder and a server, and what has been said on either."""

    def __init__(self, root: str, server: Server) -> None:
        self.root, self.server = root, server
        self.clock = NOW
        self.said: dict[str, set[str]] = {}
        self.edited: dict[str, set[str]] = {"folder": set(), "server": set()}
        self.purged: set[str] = set()

    def tick(self) -> datetime:
        self.clock += timedelta(seconds=1)
        return self.clock

    def side(self, name: str) -> Workspace:
        if name == "folder":
            return opened(self.root, now=self.tick(), lock_timeout=5.0)
        return served(self.root, self.server, now=self.tick())

    @contextmanager
    def change(self, name: str) -> Iterator[None]:
        """Note what a deed changes; it outlives what the other side deleted before they met again.

        A deed may change more than it names: deleting a memory for good takes off the links to it.
        """
        before = self.records(name)
        with suppress(NotFound, Refused, InvalidValue):
            yield
        changed = {key for key, data in self.records(name).items() if data != before.get(key)}
        self.edited[name] |= changed
        self.purged -= changed

    def add(self, name: str, text: str) -> None:
        with self.change(name):
            done = ask(self.side(name), table.ADD, AddRequest(content=text, force=True))
            self.said[done.memory.id] = {text}

    def edit(self, name: str, place: int, text: str) -> None:
        identifier = self.some(name, place)
        with self.change(name):
            request = EditRequest(reference=identifier, content=text)
            ask(self.side(name), table.EDIT, request)
            self.said[identifier].add(text)

    def tag(self, name: str, place: int, text: str) -> None:
        request = EditRequest(reference=self.some(name, place), add_tags=(text,))
        with self.change(name):
            ask(self.side(name), table.EDIT, request)

    def remove(self, name: str, place: int) -> None:
        request = RecordsRequest(references=(self.some(name, place),))
        with self.change(name):
            ask(self.side(name), table.REMOVE, request)

    def purge(self, name: str, place: int) -> None:
        identifier, other = self.some(name, place), {"folder": "server", "server": "folder"}[name]
        with self.change(name):
            request = PurgeRequest(references=(identifier,), force=True)
            ask(self.side(name), table.PURGE, request)
            self.said[identifier] = set()  # the other side's change may keep the rest
            if identifier not in self.edited[other]:
                self.purged.add(identifier)

    def some(self, name: str, place: int) -> str:
        known = sorted(self.side(name).memories.ids())
        return known[place % len(known)] if known else "0-00000000"

    def sync(self, at: int = 0) -> Synced | None:
        result = None
        with death(at):
            result = ask(self.side("server"), table.SYNC, SyncRequest())
            self.edited = {"folder": set(), "server": set()}
        return result

    def check(self) -> None:
        """See that both are equal, and that nothing is lost or came back."""
        assert self.sync() is not None
        before = self.both()
        assert before[0] == before[1]
        again = self.sync()
        assert again is not None
        assert again.records == ()
        assert before == self.both()
        kept = {memory.id: memory for memory in self.side("server").memories.find()}
        for identifier, texts in self.said.items():
            if identifier in self.purged:
                assert identifier not in kept, "what was deleted for good came back"
                continue
            told = repr(kept.get(identifier))
            assert all(text in told for text in texts), "what somebody said is lost"

    def both(self) -> tuple[dict[str, bytes], dict[str, bytes]]:
        return self.records("folder"), self.records("server")

    def records(self, name: str) -> dict[str, bytes]:
        if name == "folder":
            return {os.path.basename(path)[:-5]: data for path, data in tree(self.root).items()}
        return {memory.id: dump(memory) for memory in self.side(name).memories.find()}


sides = st.sampled_from(["folder", "server"])
places = st.integers(0, 9)
deeds = st.one_of(
    st.tuples(st.just("add"), sides),
    st.tuples(st.just("edit"), sides, places),
    st.tuples(st.just("tag"), sides, places),
    st.tuples(st.just("remove"), sides, places),
    st.tuples(st.just("purge"), sides, places),
    st.tuples(st.just("sync"), st.integers(0, 12)),
)


@settings(max_examples=examples(120))
@given(story=st.lists(deeds, min_size=3, max_size=14))
def test_any_edits_on_both_sides_and_any_interruption_end_equal(
    story: list[tuple[Any, ...]], new_project: Callable[[], Server]
) -> None:
    base = tempfile.mkdtemp()
    try:
        initialise(os.path.join(base, "memory"))
        two = TwoSides(os.path.join(base, "memory"), new_project())
        for number, (deed, *values) in enumerate(story):
            text = f"Said as number {number}."
            if deed in ("add", "edit"):
                values.append(text)
            if deed == "tag":
                values.append(f"tag-{number}")
            getattr(two, deed)(*values)
        two.check()
    finally:
        shutil.rmtree(base)


@pytest.fixture
def two(root: str, new_project: Callable[[], Server]) -> TwoSides:
    return TwoSides(root, new_project())


@pytest.mark.parametrize("at", range(1, 11))
def test_a_count_is_added_up_once_wherever_a_sync_dies(two: TwoSides, at: int) -> None:
    two.add("folder", "The queue is RabbitMQ.")
    two.sync()
    (identifier,) = two.said
    for name, many in (("folder", 2), ("server", 3)):
        workspace = two.side(name)
        with workspace.transaction():
            memory = workspace.memories.get(identifier)
            used = type(memory.access)(count=memory.access.count + many, last_at=two.tick())
            workspace.memories.put(type(memory)(**{**fields(memory), "access": used}))
    two.sync(at)
    two.check()
    assert two.side("folder").memories.get(identifier).access.count == 5


@pytest.mark.some(8)
@pytest.mark.parametrize("at", range(1, 11))
@pytest.mark.parametrize("added", ["folder", "server"])
def test_a_deletion_for_good_is_not_undone_wherever_the_sync_before_it_died(
    two: TwoSides, added: str, at: int
) -> None:
    two.add(added, "The queue is RabbitMQ.")
    two.sync(at)
    was_there = bool(two.records("server"))
    two.edit("server", 0, "The queue is NATS.")
    two.purge("server", 0)
    two.check()
    assert bool(two.records("folder")) is not was_there


def test_a_connection_that_is_cut_at_any_statement_of_a_sync_is_made_up_for(two: TwoSides) -> None:
    cut = 0
    for at in count(1, 2):
        two.add("folder", f"Here before {at}.")
        two.add("server", f"There before {at}.")
        with termination(two.server, at) as passed, suppress(Unreachable, Unfinished):
            two.sync()
            cut -= 1
        cut += 1
        if passed[0] < at:
            break
    assert cut > 5
    two.check()


def fields(memory: Memory) -> dict[str, Any]:
    return {name: getattr(memory, name) for name in memory.__struct_fields__}


def test_a_dry_run_says_what_would_be_done_and_does_nothing(two: TwoSides) -> None:
    two.add("folder", "Here.")
    two.add("server", "There.")
    before = two.both()
    planned = ask(two.side("server"), table.SYNC, SyncRequest(dry_run=True))
    assert [record.fate for record in planned.records] == ["to_server", "to_folder"]
    assert before == two.both()
    done = two.sync()
    assert done is not None
    assert planned.records == done.records


def test_python_makes_both_sides_equal_as_the_command_does(two: TwoSides) -> None:
    two.add("folder", "Here.")
    address, key = two.server.address, two.server.project
    project = Project(two.root, now=two.tick(), database=address, database_project=key)
    (planned,) = project.sync(dry_run=True).records
    assert project.database_status().records == 0
    assert project.sync().records == (planned,)
    assert project.database_status().records == 1
    assert project.sync().records == ()


def test_a_contradiction_is_one_that_check_reports_and_settle_settles(two: TwoSides) -> None:
    two.add("folder", "The queue is RabbitMQ.")
    two.sync()
    two.edit("folder", 0, "The queue is Kafka.")
    two.edit("server", 0, "The queue is NATS.")
    done = two.sync()
    assert done is not None
    assert [record.conflicts for record in done.records] == [("content",)]
    from pmem.upkeep.integrity import CheckRequest

    for name in ("folder", "server"):
        found = ask(two.side(name), table.CHECK, CheckRequest())
        assert "conflict" in {finding.code for finding in found.findings}
    two.check()


def test_what_was_deleted_does_not_come_back_from_a_folder_that_never_synced(
    two: TwoSides, tmp_path: Any
) -> None:
    two.add("folder", "The old secret plan.")
    two.sync()
    late = str(tmp_path / "late")
    shutil.copytree(two.root, late, ignore=shutil.ignore_patterns("local"))
    two.purge("folder", 0)
    two.sync()
    other = TwoSides(late, two.server)
    other.purged = set(two.purged)
    other.check()
    assert tree(late) == {}


def test_a_file_that_cannot_be_read_is_left_and_told_and_the_rest_goes_on(two: TwoSides) -> None:
    two.add("folder", "Sound.")
    write(os.path.join(two.root, STORES[Memory], "mjwaid1q-00000009.json"), b"{")
    done = two.sync()
    assert done is not None
    assert [record.fate for record in done.records] == ["to_server"]
    assert "mjwaid1q-00000009" in done.left[0].message
    assert done.left[0].code == "damaged"


def test_keys_that_this_version_does_not_know_survive_both_ways(two: TwoSides) -> None:
    two.add("folder", "Known.")
    (path,) = tree(two.root)
    data = tree(two.root)[path].replace(b'"schema": 1,', b'"schema": 1,\n  "later": [1.50, "x"],')
    write(os.path.join(two.root, path), data)
    two.sync()
    two.edit("server", 0, "Known better.")
    two.sync()
    assert b'"later": [1.5, "x"]' in tree(two.root)[path]


def test_saved_states_of_threads_go_along(two: TwoSides) -> None:
    two.side("folder").own.checkpoints.save("review", "", b'{"step": 3}', NOW)
    done = two.sync()
    assert done is not None
    assert done.checkpoints == 1
    found = two.side("server").own.checkpoints.load("review", "")
    assert found is not None
    assert found[1] == b'{"step": 3}'
    again = two.sync()
    assert again is not None
    assert again.checkpoints == 0
