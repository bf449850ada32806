"""Two handles on one server whose connections die now and then, against a dictionary."""

import os
import shutil
import tempfile
from collections.abc import Callable
from typing import Any

import psycopg
import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    rule,
    run_state_machine_as_test,
)

from pmem.core.retrieval.documents import entries
from pmem.errors import InvalidValue, NotFound, Unreachable
from pmem.memory.changes import RecordsRequest, RestoreRequest
from pmem.memory.lifecycle import PurgeRequest
from pmem.memory.requests import AddAllRequest, AddRequest, EditRequest, LinkRequest
from pmem.operations import table
from pmem.project.setup import initialise
from pmem.project.workspace import Workspace
from pmem.search.hits import SearchRequest
from pmem.storage.postgres.server import Server
from pmem.values.records import Memory
from tests.asking import ask
from tests.database.test_guarantees import termination
from tests.effort import examples
from tests.postgres import served

texts = st.sampled_from(["Use tabs.", "use TABS.", "Ship on Friday.", "Ünïcödé [{", "x" * 300])
places = st.integers(0, 50)
handles = st.integers(0, 1)
blows = st.sampled_from([0, 0, 0, 3, 7, 11, 15, 20])


class OnServer(RuleBasedStateMachine):
    """The model is what each memory must say."""

    made: Callable[[], Server]

    @initialize()
    def start(self) -> None:
        self.base = tempfile.mkdtemp()
        self.root = os.path.join(self.base, "memory")
        initialise(self.root)
        self.first = type(self).made()
        second = Server(self.first.address, self.first.project, lambda: 5.0)
        self.servers = (self.first, second)
        self.model: dict[str, Memory] = {}

    def teardown(self) -> None:
        self.servers[1].close()
        shutil.rmtree(self.base)

    def some(self, place: int) -> str:
        known = sorted(self.model)
        return known[place % len(known)] if known else "0-00000000"

    def change(
        self, handle: int, blow: int, touched: set[str] | None, command: Callable[[Workspace], Any]
    ) -> None:
        """Run a command, and see that it did all of what it should, or nothing."""
        workspace = served(self.root, self.servers[handle])
        with termination(self.first, blow):
            try:
                command(workspace)
                done = True
            except (NotFound, InvalidValue, Unreachable):
                done = False
        now = self.learn()
        for identifier, memory in self.model.items():
            if not done or (touched is not None and identifier not in touched):
                assert now.get(identifier) == memory, "an acknowledged write is lost"
        if not done:
            assert now.keys() == self.model.keys(), "something is there by half"
        self.model = now

    def learn(self) -> dict[str, Memory]:
        found = served(self.root, self.first).memories.find()
        return {memory.id: memory for memory in found}

    @rule(handle=handles, blow=blows, text=texts, force=st.booleans())
    def add(self, handle: int, blow: int, text: str, force: bool) -> None:
        request = AddRequest(content=text, force=force)
        self.change(handle, blow, None, lambda w: ask(w, table.ADD, request))

    @rule(handle=handles, blow=blows, wanted=st.lists(texts, min_size=2, max_size=4))
    def add_several(self, handle: int, blow: int, wanted: list[str]) -> None:
        several = tuple(AddRequest(content=text, force=True) for text in wanted)
        before = len(self.model)
        self.change(
            handle, blow, None,
            lambda w: list(ask(w, table.ADD_ALL, AddAllRequest(memories=several)).items),
        )  # fmt: skip
        assert len(self.model) - before in (0, len(wanted)), "a batch is all or nothing"

    @rule(handle=handles, blow=blows, place=places, text=texts)
    def edit(self, handle: int, blow: int, place: int, text: str) -> None:
        identifier = self.some(place)
        request = EditRequest(reference=identifier, content=text)
        self.change(handle, blow, {identifier}, lambda w: ask(w, table.EDIT, request))

    @rule(handle=handles, blow=blows, one=places, other=places)
    def link(self, handle: int, blow: int, one: int, other: int) -> None:
        start, end = self.some(one), self.some(other)
        request = LinkRequest(start=start, end=end)
        self.change(handle, blow, {start, end}, lambda w: ask(w, table.LINK, request))

    @rule(handle=handles, blow=blows, place=places)
    def remove_and_restore(self, handle: int, blow: int, place: int) -> None:
        identifier = self.some(place)
        gone, back = (
            RecordsRequest(references=(identifier,)),
            RestoreRequest(references=(identifier,)),
        )
        self.change(handle, blow, {identifier}, lambda w: ask(w, table.REMOVE, gone))
        self.change(1 - handle, 0, {identifier}, lambda w: ask(w, table.RESTORE, back))

    @rule(handle=handles, blow=blows, place=places)
    def purge(self, handle: int, blow: int, place: int) -> None:
        identifier = self.some(place)
        request = PurgeRequest(references=(identifier,), force=True)
        self.change(handle, blow, None, lambda w: ask(w, table.PURGE, request))

    @rule(text=texts)
    def search(self, text: str) -> None:
        found = ask(
            served(self.root, self.first), table.SEARCH, SearchRequest(query=text, top_k=99)
        )
        assert {hit.id for hit in found.hits} <= self.model.keys()

    @invariant()
    def postings_are_what_the_records_say(self) -> None:
        wanted = {
            (entry.document.number, term, many)
            for memory in self.model.values()
            for entry in entries(memory)
            for term, many in entry.frequencies.items()
        }
        with psycopg.connect(self.first.address) as connection:
            query = "select document, term, count from pmem.posting where project = %s"
            found = set(connection.execute(query, (self.first.number,)).fetchall())
            query = "select coalesce(sum(documents), 0) from pmem.total where project = %s"
            assert connection.execute(query, (self.first.number,)).fetchone() == (len(self.model),)
        assert found == wanted


def test_whatever_happens_to_connections_nothing_acknowledged_is_lost(
    new_project: Callable[[], Server], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(OnServer, "made", staticmethod(new_project), raising=False)
    run_state_machine_as_test(
        OnServer, settings=settings(max_examples=examples(60), stateful_step_count=14)
    )
