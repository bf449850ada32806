"""Two handles, an editor and death on one folder, against a dictionary that remembers it all."""

import contextlib
import json
import os
import shutil
import tempfile
from collections.abc import Callable
from typing import Any

import msgspec
import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from pmem.conversation.conversations import SayRequest, StartRequest
from pmem.core.record_keys import twin_keys
from pmem.errors import InvalidValue, Locked, NotFound, PmemError
from pmem.memory import conversations
from pmem.memory.changes import RecordsRequest, RestoreRequest
from pmem.memory.conversations import LookRequest
from pmem.memory.lifecycle import PurgeRequest
from pmem.memory.requests import AddAllRequest, AddRequest, EditRequest, LinkRequest
from pmem.operations import table
from pmem.project.setup import initialise
from pmem.project.workspace import Workspace
from pmem.storage.files.recordfile import parse, serialise
from pmem.values.records import LATER, Record, dump, dump_line
from tests.asking import ask
from tests.effort import examples
from tests.storage import faults
from tests.storage.folders import (
    contents,
    copied,
    fixed_chance,
    opened,
    path_of,
    strays,
    tree,
    twins,
    write,
)

Command = Callable[[Workspace], object]
texts = st.sampled_from(["Use tabs.", "use TABS.", "Ship on Friday.", "Ünïcödé [{", "x" * 300])
places = st.integers(0, 50)
handles = st.integers(0, 1)
UNKNOWN = ("new_key", {"later": [1, None, "ü"]})


class Folder(RuleBasedStateMachine):
    """The model is what each record's file must say, key by key."""

    def __init__(self) -> None:
        super().__init__()
        self.base = tempfile.mkdtemp()
        self.root = os.path.join(self.base, "memory")
        self.model: dict[str, dict[str, Any]] = {}
        self.seed = 0

    @initialize()
    def start(self) -> None:
        initialise(self.root)
        self.handles = [opened(self.root), opened(self.root)]

    def teardown(self) -> None:
        shutil.rmtree(self.base)

    def some_memory(self, place: int) -> str:
        """Return one of the memories' ids, or one that there is not."""
        known = sorted(id_ for id_, value in self.model.items() if "content" in value)
        return known[place % len(known)] if known else "0-00000000"

    def run(self, handle: int, command: Command) -> bool:
        """Run a command that may be refused for a reason; tell whether it was done."""
        self.seed += 1
        with fixed_chance(self.seed):
            try:
                command(self.handles[handle])
            except (NotFound, InvalidValue):
                return False
        return True

    def learn(self) -> dict[str, dict[str, Any]]:
        """Return what the files say now, read with the standard library."""
        return {
            os.path.basename(path).removesuffix(".json"): json.loads(data)
            for path, data in tree(self.root).items()
            if "/." not in path
        }

    def change(self, handle: int, command: Command, *touched: str) -> None:
        """Run a command and check that it touched what it should, and nothing else."""
        done = self.run(handle, command)
        now = self.learn()
        for id_, value in self.model.items():
            if id_ not in touched or not done:
                assert value == now.get(id_), "an acknowledged write is lost"
            elif id_ in now and UNKNOWN[0] in value:
                assert value[UNKNOWN[0]] == now[id_][UNKNOWN[0]]
        self.model = now

    @rule(handle=handles, text=texts, force=st.booleans())
    def add(self, handle: int, text: str, force: bool) -> None:
        before = set(self.model)
        self.change(handle, lambda w: ask(w, table.ADD, AddRequest(content=text, force=force)))
        made = [self.model[id_] for id_ in set(self.model) - before]
        assert [text] == [value["content"] for value in made] or not (force or made)

    @rule(handle=handles, wanted=st.lists(texts, min_size=2, max_size=4))
    def add_several(self, handle: int, wanted: list[str]) -> None:
        requests = [AddRequest(content=text, force=True) for text in wanted]
        before = set(self.model)
        self.change(
            handle, lambda w: ask(w, table.ADD_ALL, AddAllRequest(memories=tuple(requests))).items
        )
        made = [self.model[id_]["content"] for id_ in set(self.model) - before]
        assert sorted(wanted) == sorted(made)

    @rule(handle=handles, place=places, text=texts)
    def edit(self, handle: int, place: int, text: str) -> None:
        id_ = self.some_memory(place)
        is_active = self.model.get(id_, {}).get("state") == "active"
        self.change(
            handle, lambda w: ask(w, table.EDIT, EditRequest(reference=id_, content=text)), id_
        )
        assert not is_active or text == self.model[id_]["content"]

    @rule(handle=handles, place=places, back=st.booleans())
    def remove_or_restore(self, handle: int, place: int, back: bool) -> None:
        id_ = self.some_memory(place)
        gone, there = RecordsRequest(references=(id_,)), RestoreRequest(references=(id_,))
        if back:
            self.change(handle, lambda w: ask(w, table.RESTORE, there), id_)
        else:
            self.change(handle, lambda w: ask(w, table.REMOVE, gone), id_)
        state = "active" if back else "soft_deleted"
        assert id_ not in self.model or state == self.model[id_]["state"]

    @rule(handle=handles, place=places)
    def purge(self, handle: int, place: int) -> None:
        id_ = self.some_memory(place)
        linking = [
            other
            for other, value in self.model.items()
            if any(link["target"] == id_ for link in value.get("relationships", ()))
        ]
        self.change(
            handle,
            lambda w: ask(w, table.PURGE, PurgeRequest(references=(id_,), force=True)),
            id_,
            *linking,
        )
        assert id_ not in self.model
        linked = [value.get("relationships", ()) for value in self.model.values()]
        assert id_ not in {link["target"] for links in linked for link in links}

    @rule(handle=handles, start=places, end=places)
    def link(self, handle: int, start: int, end: int) -> None:
        first, last = self.some_memory(start), self.some_memory(end)
        self.change(handle, lambda w: ask(w, table.LINK, LinkRequest(start=first, end=last)), first)

    @rule(handle=handles)
    def start_talking(self, handle: int) -> None:
        self.change(handle, lambda w: ask(w, table.START, StartRequest()))

    @rule(handle=handles, text=texts)
    def say(self, handle: int, text: str) -> None:
        talk = conversations.current(opened(self.root))
        said = (
            ask(opened(self.root), table.TRANSCRIPT, LookRequest(conversation=talk.id)).messages
            if talk
            else ()
        )
        touched = [talk.id] if talk else []
        self.change(handle, lambda w: ask(w, table.SAY, SayRequest(content=text)), *touched)
        if talk:
            now = ask(opened(self.root), table.TRANSCRIPT, LookRequest(conversation=talk.id))
            assert [*(message.content for message in said), text] == [
                message.content for message in now.messages
            ]
            assert now.conversation.turns == len(now.messages)

    @rule(place=places, text=texts, in_place=st.booleans())
    @precondition(lambda self: self.model)
    def edit_outside(self, place: int, text: str, in_place: bool) -> None:
        """An editor, or a newer pmem, changes a file and knows nothing of the lock."""
        id_ = self.some_memory(place)
        if id_ not in self.model:
            return
        value = self.model[id_] | {"content": text, UNKNOWN[0]: UNKNOWN[1]}
        path = path_of(self.root, id_)
        write(path if in_place else path + "~", json.dumps(value, indent=4).encode())
        if not in_place:
            os.replace(path + "~", path)
        self.model[id_] = value

    @rule(place=places)
    def delete_outside(self, place: int) -> None:
        id_ = self.some_memory(place)
        if self.model.pop(id_, None) is not None:
            os.unlink(path_of(self.root, id_))

    @rule(handle=handles, place=places, texts=st.lists(texts, max_size=3), step=st.integers(1, 60))
    def die(self, handle: int, place: int, texts: list[str], step: int) -> None:
        """Die at any call of a command; what it would have done is seen on a copy."""
        commands: list[Command] = [
            lambda w: ask(
                w,
                table.PURGE,
                PurgeRequest(references=(self.some_memory(place),), force=True),
            ),
            lambda w: ask(w, table.SAY, SayRequest(content="last words")),
            lambda w: ask(
                w,
                table.ADD_ALL,
                AddAllRequest(memories=tuple([AddRequest(content=t, force=True) for t in texts])),
            ),
        ]
        command = commands[place % 3]
        self.seed += 1
        copy = copied(self.root, os.path.join(self.base, f"copy{self.seed}"))
        twin = opened(copy)
        there = self.handles[handle].shared
        twin.shared._last_moment = there._last_moment  # ids go on where the handle is
        with fixed_chance(self.seed), contextlib.suppress(PmemError):
            command(twin)
        allowed = [tree(self.root), tree(copy)]
        try:
            harmless = contextlib.suppress(PmemError)
            with fixed_chance(self.seed), faults.fault(step, faults.dying), harmless:
                command(self.handles[handle])
            allowed = allowed[1:]
        except faults.Death:
            self.handles[handle] = opened(self.root)
            self.handles[handle].memories.ids()  # whoever opens next finishes it
        assert tree(self.root) in allowed
        self.model = self.learn()

    @rule(handle=handles)
    def reopen(self, handle: int) -> None:
        self.handles[handle] = opened(self.root)

    @invariant()
    def every_record_reads_as_the_model_says(self) -> None:
        """Both handles, old as they are, see every record, and no file is bad or stray."""
        assert self.model == self.learn()
        for workspace in self.handles:
            found = {record.id: record for store in workspace.stores for record in store.find()}
            assert set(self.model) == set(found)
            assert workspace.problems == []
        for path in tree(self.root):
            record = found[os.path.basename(path).removesuffix(".json")]
            self._check_bytes(os.path.join(self.root, path), record)
        if os.path.isdir(os.path.join(self.root, "local")):
            assert strays(self.root) in ([], ["index.sqlite3-journal"])

    def _check_bytes(self, path: str, record: Record) -> None:
        saved = serialise(record, contents(path), path)
        again = parse(saved, type(record), path)
        assert saved == serialise(again, saved, path)
        said = msgspec.json.decode(dump_line(record))
        unsaid = {key: said[key] for key in LATER & said.keys() if not said[key]}
        known = {key: self.model[record.id].get(key, unsaid.get(key)) for key in said}
        assert known == said or dump(record) != contents(path)

    @invariant()
    def the_index_answers_as_a_look_at_every_file_does(self) -> None:
        for workspace in self.handles:
            records = list(workspace.memories.find())
            for key in ("content:use tabs.", "content:ship on friday."):
                expected = [record.id for record in records if key in twin_keys(record)]
                found = twins(workspace.backend, key)
                assert expected == [record.id for record in found]


TestFolder = Folder.TestCase
TestFolder.settings = settings(max_examples=examples(25), stateful_step_count=50)


def _replace(workspace: Workspace, id_: str, meanwhile: Callable[[], None]) -> None:
    """Change a record, and let something happen between the read and the write."""
    with workspace.transaction():
        memory = workspace.memories.get(id_)
        meanwhile()
        workspace.memories.put(msgspec.structs.replace(memory, content="mine"))


@pytest.mark.parametrize("in_place", [True, False], ids=["in place", "renamed"])
def test_an_edit_between_our_read_and_our_write_is_not_overwritten(
    root: str, in_place: bool
) -> None:
    workspace = opened(root)
    kept = ask(workspace, table.ADD, AddRequest(content="ours")).memory
    path = path_of(root, kept.id)
    theirs = contents(path).replace(b"ours", b"theirs")

    def edit() -> None:
        write(path if in_place else path + "~", theirs)
        if not in_place:
            os.replace(path + "~", path)

    with pytest.raises(Locked, match="was changed by another program"):
        _replace(workspace, kept.id, edit)
    assert theirs == contents(path)


def test_a_removal_between_our_read_and_our_write_is_not_undone(root: str) -> None:
    workspace = opened(root)
    kept = ask(workspace, table.ADD, AddRequest(content="ours")).memory
    path = path_of(root, kept.id)
    with pytest.raises(Locked, match="was removed by another program"):
        _replace(workspace, kept.id, lambda: os.unlink(path))
    assert not os.path.exists(path)


def test_a_new_record_does_not_take_the_place_of_another(root: str) -> None:
    workspace = opened(root)
    kept = ask(workspace, table.ADD, AddRequest(content="ours")).memory

    def put() -> None:
        with workspace.transaction():
            workspace.memories.put(msgspec.structs.replace(kept, content="mine"))

    with pytest.raises(Locked, match="was made by another program"):
        put()
    assert opened(root).memories.get(kept.id) == kept
